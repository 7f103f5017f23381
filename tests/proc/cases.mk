# SPDX-License-Identifier: BSD-3-Clause
# Failures that people had elsewhere, through the public calls.
# By itself it runs threads, for ThreadSanitizer.
STRESS += tests/proc/cases
check_PROGRAMS += tests/proc/cases_load
tests_proc_cases_SOURCES = \
	tests/proc/cases.c tests/proc/cases.h \
	tests/proc/cases_differ.c tests/proc/cases_differ.h \
	tests/proc/cases_differ_any.c \
	tests/proc/cases_fault.c \
	tests/proc/cases_group.c \
	tests/proc/cases_input.c \
	tests/proc/cases_life.c \
	tests/proc/cases_meaning.c \
	tests/proc/cases_memory.c \
	tests/proc/cases_number.c \
	tests/proc/cases_redop.c \
	tests/proc/cases_split.c \
	tests/proc/cases_topo.c \
	tests/conform/number.c tests/conform/number.h
tests_proc_cases_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_proc_cases_LDADD = libtutti.la -lm -lpthread
tests_proc_cases_load_SOURCES = tests/proc/cases_load.c
tests_proc_cases_load_LDADD = -ldl

PROC_CASES = \
	tests/proc/cases_differ.sh \
	tests/proc/cases_fault.sh \
	tests/proc/cases_group.sh \
	tests/proc/cases_input.sh \
	tests/proc/cases_life.sh \
	tests/proc/cases_meaning.sh \
	tests/proc/cases_memory.sh \
	tests/proc/cases_number.sh \
	tests/proc/cases_redop.sh \
	tests/proc/cases_shm.sh \
	tests/proc/cases_split.sh \
	tests/proc/cases_topo.sh

TESTS += $(PROC_CASES)
EXTRA_DIST += $(PROC_CASES)
$(PROC_CASES:.sh=.log): tests/proc/cases$(EXEEXT) \
	tests/proc/cases_load$(EXEEXT) tools/tutti$(EXEEXT)
tests/proc/cases_topo.log: tests/conform/matrix$(EXEEXT)
