# SPDX-License-Identifier: BSD-3-Clause
# Scripts that read the tree: each is a test, one fault class each.
CHECKS = \
	tests/check-header.sh

TESTS += $(CHECKS)
EXTRA_DIST += $(CHECKS) tests/checklib.sh
