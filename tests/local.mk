# SPDX-License-Identifier: BSD-3-Clause
# Every kind of test has its own fragment; see tests/README.md.

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; \
	top_srcdir='$(top_srcdir)'; top_builddir='$(top_builddir)'; \
	export CC CXX NM top_srcdir top_builddir;

# Plain programs that also run under ThreadSanitizer, which Criterion
# does not.
STRESS =

include tests/checks.mk
include tests/proc/cases.mk
include tests/proc/launch.mk
include tests/proc/strict.mk
include tests/proc/perf.mk
include tests/unit/perf.mk
include tests/unit/reduce.mk
include tests/unit/tools.mk
include tests/conform/local.mk
include tests/conform/coll.mk
include tests/proc/train.mk
include tests/unit/train.mk
include tests/unit/boot.mk
include tests/unit/net.mk
include tests/unit/topo.mk
include tests/unit/sched.mk
include tests/sched/sched.mk
include tests/fuzz/fuzz.mk
include tests/unit/base.mk

TESTS += $(STRESS)
check_PROGRAMS += $(STRESS)
