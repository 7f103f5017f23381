# SPDX-License-Identifier: BSD-3-Clause
# Determinism: the same bits by every algorithm that promises it.
check_PROGRAMS += tests/proc/strict
tests_proc_strict_SOURCES = tests/proc/strict.c \
	tests/unit/reduce_reference.c tests/unit/reduce_reference.h
tests_proc_strict_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_proc_strict_LDADD = libtutti.la -lm

TESTS += tests/proc/strict.sh
EXTRA_DIST += tests/proc/strict.sh
tests/proc/strict.log: tests/proc/strict$(EXEEXT) tools/tutti$(EXEEXT)
