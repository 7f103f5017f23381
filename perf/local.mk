# SPDX-License-Identifier: BSD-3-Clause
bin_PROGRAMS += perf/tutti-perf
perf_tutti_perf_SOURCES = \
	perf/all_gather.c \
	perf/all_reduce.c \
	perf/alltoall.c \
	perf/bandwidth.c \
	perf/barrier.c \
	perf/broadcast.c \
	perf/check.c \
	perf/data.c \
	perf/engine.c \
	perf/gather.c \
	perf/hash.c \
	perf/latency.c \
	perf/main.c \
	perf/measure.h \
	perf/memory.c \
	perf/options.c \
	perf/output.c \
	perf/perf.h \
	perf/reduce.c \
	perf/reduce_scatter.c \
	perf/scatter.c \
	perf/sendrecv.c
# The public header alone, so that it shows how the library is used.
perf_tutti_perf_CPPFLAGS = -I$(top_srcdir)/include
perf_tutti_perf_LDADD = libtutti.la $(CRYPTO_LIBS) -lm

include perf/compare/local.mk
