# SPDX-License-Identifier: BSD-3-Clause
# The reduction kernels: every implementation against a plain reference.
reduce_check = \
	tests/unit/reduce_check.c tests/unit/reduce_check.h \
	tests/unit/reduce_reference.c tests/unit/reduce_reference.h

if CRITERION
REDUCE_UNIT = \
	tests/unit/reduce_dispatch \
	tests/unit/reduce_kernels \
	tests/unit/reduce_values
check_PROGRAMS += $(REDUCE_UNIT)
TESTS += $(REDUCE_UNIT)
tests_unit_reduce_dispatch_SOURCES = tests/unit/reduce_dispatch.c
tests_unit_reduce_dispatch_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_reduce_dispatch_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_reduce_kernels_SOURCES = tests/unit/reduce_kernels.c $(reduce_check)
tests_unit_reduce_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_reduce_kernels_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_reduce_kernels_LDADD = libtutti-core.la $(CRITERION_LIBS) -lm
tests_unit_reduce_values_SOURCES = tests/unit/reduce_values.c \
	tests/unit/reduce_reference.c tests/unit/reduce_reference.h
tests_unit_reduce_values_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_reduce_values_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_reduce_values_LDADD = libtutti-core.la $(CRITERION_LIBS) -lm
endif

# The same checks without Criterion, here and cross-compiled for Arm.
STRESS += tests/stress/kernels
tests_stress_kernels_SOURCES = tests/stress/kernels.c $(reduce_check)
tests_stress_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_stress_kernels_LDADD = libtutti-core.la -lm

TESTS += tests/proc/neon.sh
EXTRA_DIST += tests/proc/neon.sh
