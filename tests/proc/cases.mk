# SPDX-License-Identifier: BSD-3-Clause
# Failures that people had elsewhere, through the public calls.
check_PROGRAMS += tests/proc/cases
tests_proc_cases_SOURCES = \
	tests/proc/cases.c tests/proc/cases.h \
	tests/proc/cases_differ.c \
	tests/proc/cases_fault.c \
	tests/proc/cases_input.c \
	tests/proc/cases_meaning.c
tests_proc_cases_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_proc_cases_LDADD = libtutti.la -lm -lpthread

PROC_CASES = \
	tests/proc/cases_differ.sh \
	tests/proc/cases_fault.sh \
	tests/proc/cases_input.sh \
	tests/proc/cases_meaning.sh

TESTS += $(PROC_CASES)
EXTRA_DIST += $(PROC_CASES)
$(PROC_CASES:.sh=.log): tests/proc/cases$(EXEEXT) tools/tutti$(EXEEXT)
