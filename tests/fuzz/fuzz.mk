# SPDX-License-Identifier: BSD-3-Clause
# Parsers with any bytes, a few seconds each; by hand longer:
#	tests/fuzz/text 600 SEED
fuzz_programs = tests/fuzz/algo tests/fuzz/text
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)
tests_fuzz_algo_LDADD = libtutti-core.la
tests_fuzz_text_LDADD = libtutti-core.la
