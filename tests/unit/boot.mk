# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
check_PROGRAMS += tests/unit/boot
TESTS += tests/unit/boot
endif
tests_unit_boot_SOURCES = \
	tests/unit/boot_address.c \
	tests/unit/boot_env.c \
	tests/unit/boot_id.c \
	tests/unit/boot_lists.c
tests_unit_boot_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_boot_LDADD = libtutti-core.la $(CRITERION_LIBS)

STRESS += tests/stress/boot
tests_stress_boot_LDADD = libtutti-core.la

check_PROGRAMS += tests/proc/bootrank
tests_proc_bootrank_LDADD = libtutti-core.la
TESTS += tests/proc/boot.sh tests/proc/boot-netns.sh
EXTRA_DIST += tests/proc/boot.sh tests/proc/boot-netns.sh
