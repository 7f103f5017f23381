# SPDX-License-Identifier: BSD-3-Clause
# Scripts that read the tree or the built files: each is a test, for one
# class of faults.  check-selftest.sh plants a fault for each.
CHECKS = \
	tests/check-algorithms.sh \
	tests/check-api.sh \
	tests/check-examples.sh \
	tests/check-header.sh \
	tests/check-heads.sh \
	tests/check-layers.sh \
	tests/check-paths.sh \
	tests/check-purity.sh \
	tests/check-quickstart.sh \
	tests/check-roff.sh \
	tests/check-selftest.sh \
	tests/check-settings.sh \
	tests/check-shell.sh \
	tests/check-sizes.sh \
	tests/check-spelling.sh \
	tests/check-symbols.sh \
	tests/check-usage.sh \
	tests/check-words.sh

TESTS += $(CHECKS)
EXTRA_DIST += $(CHECKS) tests/README.md tests/checklib.sh .shellcheckrc .clang-format \
	.editorconfig .gitignore
