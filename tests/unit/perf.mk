# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
check_PROGRAMS += tests/unit/perf_measure
TESTS += tests/unit/perf_measure
tests_unit_perf_measure_SOURCES = tests/unit/perf_measure.c perf/measure.h
tests_unit_perf_measure_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/perf
tests_unit_perf_measure_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_perf_measure_LDADD = $(CRITERION_LIBS) -lm
endif
