# SPDX-License-Identifier: BSD-3-Clause
# What every transport must do, by walking the registry.
xport_suite = tests/conform/suite.c tests/conform/suite.h \
	tests/conform/xport_cases.c

if CRITERION
check_PROGRAMS += tests/conform/xport
TESTS += tests/conform/xport
tests_conform_xport_SOURCES = tests/conform/xport.c $(xport_suite)
tests_conform_xport_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_conform_xport_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_conform_xport_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif

# The same with ranks as threads, without Criterion, for ThreadSanitizer.
STRESS += tests/stress/xport
tests_stress_xport_SOURCES = tests/stress/xport.c $(xport_suite)
tests_stress_xport_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_stress_xport_LDADD = libtutti-core.la
