# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
check_PROGRAMS += tests/unit/tools_options
TESTS += tests/unit/tools_options
tests_unit_tools_options_SOURCES = tests/unit/tools_options.c \
	tools/json.c tools/options.c tools/placement.c
tests_unit_tools_options_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_unit_tools_options_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_tools_options_LDADD = $(CRITERION_LIBS)
endif
