# SPDX-License-Identifier: BSD-3-Clause
if CRITERION
net_tests = tests/unit/net_stream tests/unit/net_tcp
check_PROGRAMS += $(net_tests)
TESTS += $(net_tests)
tests_unit_net_stream_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_net_stream_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_net_tcp_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_net_tcp_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif
