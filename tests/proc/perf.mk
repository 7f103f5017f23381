# SPDX-License-Identifier: BSD-3-Clause
# Process tests of tutti-perf, also of one whose all-reduce goes wrong on
# purpose: the checks must see it.
TESTS += tests/proc/perf.sh
EXTRA_DIST += tests/proc/perf.sh

check_PROGRAMS += tests/proc/perf_faulty
tests_proc_perf_faulty_SOURCES = tests/proc/perf_faulty.c \
	$(perf_tutti_perf_SOURCES)
tests_proc_perf_faulty_CPPFLAGS = $(perf_tutti_perf_CPPFLAGS)
tests_proc_perf_faulty_LDADD = $(perf_tutti_perf_LDADD)
