# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
unit_sched_tests = tests/unit/model_choice tests/unit/sched_build
check_PROGRAMS += $(unit_sched_tests)
TESTS += $(unit_sched_tests)
tests_unit_model_choice_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_model_choice_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_sched_build_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_sched_build_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif
