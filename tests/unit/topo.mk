# SPDX-License-Identifier: BSD-3-Clause
TOPO_FIXTURES = \
	tests/fixtures/0s8l2-16c.xml \
	tests/fixtures/1s2c.xml \
	tests/fixtures/1s2d-12c.xml \
	tests/fixtures/1s4l3-16c.xml \
	tests/fixtures/1s8c-smt2.xml \
	tests/fixtures/2s16c-nic.xml \
	tests/fixtures/2s16c-odd.xml \
	tests/fixtures/2s16c.xml \
	tests/fixtures/2s4n-16c-smt2.xml \
	tests/fixtures/2s8c-uneven.xml \
	tests/fixtures/2s8l3-32c.xml \
	tests/fixtures/2s8n-32c.xml \
	tests/fixtures/4s32c.xml \
	tests/fixtures/8s32c.xml
EXTRA_DIST += $(TOPO_FIXTURES) tests/fixtures/README.md tests/proc/topo.sh
TESTS += tests/proc/topo.sh

# Any bytes, for a while: `tests/fuzz/topo SECONDS [SEED]`.
check_PROGRAMS += tests/fuzz/topo
TESTS += tests/fuzz/topo
tests_fuzz_topo_LDADD = libtutti-core.la

if CRITERION
TOPO_TESTS = tests/unit/topo_load tests/unit/topo_place
check_PROGRAMS += $(TOPO_TESTS)
TESTS += $(TOPO_TESTS)
tests_unit_topo_load_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_topo_load_LDADD = libtutti-core.la $(CRITERION_LIBS)
tests_unit_topo_place_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_topo_place_LDADD = libtutti-core.la $(CRITERION_LIBS)
endif
