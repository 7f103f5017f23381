# SPDX-License-Identifier: BSD-3-Clause
# Proofs over all algorithms, without a byte moved, and the proof of the
# prover: faults planted in schedules.
if CRITERION
sched_tests = tests/sched/compare tests/sched/levels tests/sched/mutate \
	tests/sched/text tests/sched/uneven tests/sched/verify
check_PROGRAMS += $(sched_tests)
TESTS += $(sched_tests)

sched_tests_common = tests/sched/t_sched.c tests/sched/t_sched.h
tests_sched_compare_SOURCES = tests/sched/compare.c $(sched_tests_common)
tests_sched_compare_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_compare_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_sched_levels_SOURCES = tests/sched/levels.c $(sched_tests_common)
tests_sched_levels_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_levels_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_sched_mutate_SOURCES = tests/sched/mutate.c $(sched_tests_common)
tests_sched_mutate_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_mutate_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_sched_text_SOURCES = tests/sched/text.c $(sched_tests_common)
tests_sched_text_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_text_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_sched_uneven_SOURCES = tests/sched/uneven.c $(sched_tests_common)
tests_sched_uneven_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_uneven_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_sched_verify_SOURCES = tests/sched/verify.c $(sched_tests_common)
tests_sched_verify_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_sched_verify_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif

EXTRA_DIST += \
	tests/sched/golden/all_gather-circulant.txt \
	tests/sched/golden/all_gather-direct1-mapped.txt \
	tests/sched/golden/all_gather-pat.txt \
	tests/sched/golden/all_gather-recursive.txt \
	tests/sched/golden/all_gather-ring.txt \
	tests/sched/golden/all_reduce-binomial.txt \
	tests/sched/golden/all_reduce-circulant.txt \
	tests/sched/golden/all_reduce-dbtree.txt \
	tests/sched/golden/all_reduce-direct1.txt \
	tests/sched/golden/all_reduce-direct2-mail.txt \
	tests/sched/golden/all_reduce-direct2-mapped.txt \
	tests/sched/golden/all_reduce-rabenseifner.txt \
	tests/sched/golden/all_reduce-recursive-folded.txt \
	tests/sched/golden/all_reduce-recursive-strict.txt \
	tests/sched/golden/all_reduce-recursive.txt \
	tests/sched/golden/all_reduce-ring.txt \
	tests/sched/golden/alltoall-bruck.txt \
	tests/sched/golden/alltoall-pairwise.txt \
	tests/sched/golden/barrier-dissemination.txt \
	tests/sched/golden/broadcast-binomial.txt \
	tests/sched/golden/broadcast-chain.txt \
	tests/sched/golden/broadcast-direct1-mapped.txt \
	tests/sched/golden/broadcast-scag.txt \
	tests/sched/golden/gather-binomial.txt \
	tests/sched/golden/one-rank.txt \
	tests/sched/golden/reduce-binomial-strict-root.txt \
	tests/sched/golden/reduce-binomial-strict.txt \
	tests/sched/golden/reduce-binomial.txt \
	tests/sched/golden/reduce-direct2-mail.txt \
	tests/sched/golden/reduce-direct2-mapped.txt \
	tests/sched/golden/reduce_scatter-circulant.txt \
	tests/sched/golden/reduce_scatter-direct1-mail.txt \
	tests/sched/golden/reduce_scatter-direct1-strict.txt \
	tests/sched/golden/reduce_scatter-pat.txt \
	tests/sched/golden/reduce_scatter-ring.txt \
	tests/sched/golden/scatter-binomial.txt \
	tests/sched/golden/sendrecv-receiver.txt
