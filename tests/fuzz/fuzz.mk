# SPDX-License-Identifier: BSD-3-Clause
# Parsers with any bytes, ten seconds each; by hand longer:
#	tests/fuzz/text 600 SEED
check_PROGRAMS += tests/fuzz/text
TESTS += tests/fuzz/text
tests_fuzz_text_LDADD = libtutti-core.la
