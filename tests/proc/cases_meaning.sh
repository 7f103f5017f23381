#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 40, 42, 45, 46 and 47.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

for where in "-n 3" "-n 3 --nodes 2+1"; do
	# shellcheck disable=SC2086 # options
	expect_status 0 run $where --timeout 90 "$cases" \
		meaning_zero meaning_kept
	cat "$work/err"
done
for where in "-n 2" "-n 2 --nodes 1+1"; do
	# shellcheck disable=SC2086
	expect_status 0 run $where --timeout 90 "$cases" meaning_head
	cat "$work/err"
done

# case 45
read -r _ free _ <<EOF
$(grep MemAvailable /proc/meminfo)
EOF
if [ "$free" -gt 8000000 ]; then
	expect_status 0 run -n 2 --timeout 90 "$cases" meaning_large
	cat "$work/err"
else
	echo "too little memory for large counts"
fi

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
finish
