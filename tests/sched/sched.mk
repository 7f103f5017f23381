# SPDX-License-Identifier: BSD-3-Clause
# Proofs over all algorithms, without a byte moved, and the proof of the
# prover: faults planted in schedules.
if CRITERION
T_SCHED = \
	tests/sched/golden \
	tests/sched/mutate \
	tests/sched/text \
	tests/sched/verify

check_PROGRAMS += $(T_SCHED)
TESTS += $(T_SCHED)

T_SCHED_COMMON = tests/sched/t_sched.c tests/sched/t_sched.h
T_SCHED_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sched \
	$(CRITERION_CFLAGS)
T_SCHED_LDADD = libtutti-core.la $(CRITERION_LIBS)

tests_sched_golden_SOURCES = tests/sched/golden.c $(T_SCHED_COMMON)
tests_sched_golden_CPPFLAGS = $(T_SCHED_CPPFLAGS)
tests_sched_golden_LDADD = $(T_SCHED_LDADD)
tests_sched_mutate_SOURCES = tests/sched/mutate.c $(T_SCHED_COMMON)
tests_sched_mutate_CPPFLAGS = $(T_SCHED_CPPFLAGS)
tests_sched_mutate_LDADD = $(T_SCHED_LDADD)
tests_sched_text_SOURCES = tests/sched/text.c $(T_SCHED_COMMON)
tests_sched_text_CPPFLAGS = $(T_SCHED_CPPFLAGS)
tests_sched_text_LDADD = $(T_SCHED_LDADD)
tests_sched_verify_SOURCES = tests/sched/verify.c $(T_SCHED_COMMON)
tests_sched_verify_CPPFLAGS = $(T_SCHED_CPPFLAGS)
tests_sched_verify_LDADD = $(T_SCHED_LDADD)
endif
