# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
base_tests = tests/unit/base_settings tests/unit/base_log \
	tests/unit/base_io tests/unit/base_loop
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests)
tests_unit_base_settings_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_base_settings_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_base_log_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_base_log_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_base_io_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_base_io_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_base_loop_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_base_loop_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif

STRESS += tests/stress/loop
tests_stress_loop_LDADD = libtutti-core.la
