# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm of every collective, forced, with everything checked.
check_PROGRAMS += tests/conform/walk
tests_conform_walk_SOURCES = \
	tests/conform/coll.c tests/conform/coll.h \
	tests/conform/coll_v.c \
	tests/conform/number.c tests/conform/number.h \
	tests/conform/walk.c \
	tests/conform/world.c tests/conform/world.h
tests_conform_walk_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_conform_walk_LDADD = libtutti-core.la -lm

# A sample of the whole product of what a call can be.
check_PROGRAMS += tests/conform/matrix
tests_conform_matrix_SOURCES = \
	tests/conform/coll.c tests/conform/coll.h \
	tests/conform/coll_v.c \
	tests/conform/matrix.c \
	tests/conform/number.c tests/conform/number.h \
	tests/conform/pairs.c tests/conform/pairs.h \
	tests/conform/world.c tests/conform/world.h
tests_conform_matrix_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_conform_matrix_LDADD = libtutti-core.la -lm
TESTS += tests/proc/matrix.sh
EXTRA_DIST += tests/proc/matrix.sh
tests/proc/matrix.log: tests/conform/matrix$(EXEEXT) tools/tutti$(EXEEXT)

TESTS += tests/proc/coll.sh
EXTRA_DIST += tests/proc/coll.sh
tests/proc/coll.log: tests/conform/walk$(EXEEXT) tools/tutti$(EXEEXT)
