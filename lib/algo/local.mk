# SPDX-License-Identifier: BSD-3-Clause
# Algorithms: one line each.  The name before the first _ is the collective's,
# what follows is the algorithm's, and that is how users call it.
TUTTI_ALGOS = \
	lib/algo/allgather_bruck.c \
	lib/algo/allgather_circulant.c \
	lib/algo/allgather_direct1.c \
	lib/algo/allgather_hier.c \
	lib/algo/allgather_pat.c \
	lib/algo/allgather_recursive.c \
	lib/algo/allgather_ring.c \
	lib/algo/allreduce_binomial.c \
	lib/algo/allreduce_circulant.c \
	lib/algo/allreduce_dbtree.c \
	lib/algo/allreduce_direct1.c \
	lib/algo/allreduce_direct2.c \
	lib/algo/allreduce_hier.c \
	lib/algo/allreduce_leader.c \
	lib/algo/allreduce_rabenseifner.c \
	lib/algo/allreduce_recursive.c \
	lib/algo/allreduce_ring.c \
	lib/algo/alltoall_bruck.c \
	lib/algo/alltoall_direct1.c \
	lib/algo/alltoall_pairwise.c \
	lib/algo/barrier_direct1.c \
	lib/algo/barrier_dissemination.c \
	lib/algo/barrier_hier.c \
	lib/algo/broadcast_binomial.c \
	lib/algo/broadcast_chain.c \
	lib/algo/broadcast_dbtree.c \
	lib/algo/broadcast_direct1.c \
	lib/algo/broadcast_hier.c \
	lib/algo/broadcast_scag.c \
	lib/algo/broadcast_tree.c \
	lib/algo/gather_binomial.c \
	lib/algo/gather_direct1.c \
	lib/algo/reduce_binomial.c \
	lib/algo/reduce_dbtree.c \
	lib/algo/reduce_direct1.c \
	lib/algo/reduce_direct2.c \
	lib/algo/reduce_hier.c \
	lib/algo/reducescatter_circulant.c \
	lib/algo/reducescatter_direct1.c \
	lib/algo/reducescatter_hier.c \
	lib/algo/reducescatter_pat.c \
	lib/algo/reducescatter_ring.c \
	lib/algo/scatter_binomial.c \
	lib/algo/scatter_direct1.c \
	lib/algo/sendrecv_direct1.c

libtutti_core_la_SOURCES += lib/algo/registry.c lib/algo/composed.inc \
	lib/algo/rails.c lib/algo/rails.h lib/algo/rails-strict.c \
	lib/algo/round.c lib/algo/round.h lib/algo/twins.c lib/algo/twins.h \
	$(TUTTI_ALGOS)

nodist_libtutti_core_la_SOURCES += lib/algo/registry.inc
BUILT_SOURCES += lib/algo/registry.inc
CLEANFILES += lib/algo/registry.inc
lib/algo/registry.inc: lib/algo/local.mk lib/mkregistry
	@mkdir -p lib/algo
	$(AM_V_GEN)$(top_srcdir)/lib/mkregistry $(TUTTI_ALGOS) | \
		sed 's/(\([^_]*\)_\(.*\))/(\1_\2, \2)/' > $@.tmp && \
		mv $@.tmp $@
