#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 40, 42, 43, 45, 46 and 47.  CASES_FULL=1 does every large count, and
# reductions of them, which takes minutes.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

for where in "-n 1" "-n 3" "-n 3 --nodes 2+1"; do
	# shellcheck disable=SC2086 # options
	well run $where --timeout 90 "$cases" meaning_zero meaning_kept \
		meaning_place
done
well run -n 5 --nodes 0,1,0,0,1 --timeout 90 "$cases" meaning_zero meaning_place
# By levels, where they would not be chosen.
TUTTI_ALGO=all_reduce:leader:0-4K,all_reduce:hier,reduce:hier,broadcast:hier \
	well run -n 3 --nodes 2+1 --timeout 90 "$cases" \
	meaning_zero meaning_kept meaning_place
for where in "-n 2" "-n 2 --nodes 1+1"; do
	# shellcheck disable=SC2086
	expect_status 0 run $where --timeout 90 "$cases" meaning_head
	cat "$work/err"
done

# case 45
well run -n 2 --timeout 280 "$cases" \
	meaning_large
[ -z "${CASES_FULL-}" ] ||
	well run -n 2 --nodes 1+1 --timeout 280 "$cases" meaning_large

# case 42: rank 2 of 4 does not come; on the same node it is named.
TUTTI_WARN_AFTER=1 TUTTI_TIMEOUT=3 expect_status 0 \
	run -n 4 --timeout 90 "$cases" meaning_absent
expect_line "$work/err" \
	"all_reduce of 1 float, sum, operation 2,.*not yet called by: rank 2" \
	"a warning that names rank 2"
expect "$(grep -c 'has taken' "$work/err")" 3 "ranks that warn"
grep -v 'has taken' "$work/err"
TUTTI_WARN_AFTER=0 TUTTI_TIMEOUT=3 expect_status 0 \
	run -n 3 --nodes 1+1+1 --timeout 90 "$cases" meaning_absent
expect "$(grep -c 'has taken' "$work/err")" 0 "ranks that warn when asked not to"
grep -v 'has taken' "$work/err"
export TUTTI_WARN_AFTER=0 TUTTI_WAIT=sleep
well run -n 4 --timeout 90 "$cases" meaning_absent_each
well run -n 4 --nodes 2+2 --timeout 90 "$cases" meaning_absent_each
finish
