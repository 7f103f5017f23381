#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Case 46 and groups, on one node, on two, over TCP alone and on threads.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

all="group_head group_pairs group_many group_self group_mixed group_two"
all="$all group_rules group_abort group_uneven"
for where in "-n 2" "-n 3" "-n 3 --nodes 2+1" "-n 2 --nodes 1+1"; do
	# shellcheck disable=SC2086 # lists
	well run $where --timeout 120 "$cases" $all group_differ
done
for where in "-n 2" "-n 2 --nodes 1+1"; do
	# shellcheck disable=SC2086
	well run $where --timeout 60 "$cases" group_without group_late
done
# shellcheck disable=SC2086
well "$cases" --threads 3 $all
well run -n 1 --timeout 60 "$cases" group_self group_rules group_many
well run -n 8 --timeout 120 "$cases" group_pairs group_two
well run -n 6 --nodes 1+2+3 --timeout 120 "$cases" group_pairs group_mixed group_uneven
finish
