#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 59, 61, 62, 65 to 68, 70, 71 and 82.
. "${top_srcdir:-.}/tests/proc/proc.sh"
build=$(cd "${top_builddir:-.}" && pwd)
cases=$build/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

# Case 59.
well run -n 3 --timeout 60 "$cases" life_churn
CASES_COUNT=50 well run -n 2 --nodes 1+1 --timeout 60 "$cases" life_churn
CASES_COUNT=100 well "$cases" --threads 3 life_churn
for i in 1 2 3 4 5 6 7 8; do
	well run -n 4 --timeout 60 "$cases" life_leave
	well run -n 4 --nodes $((i % 3 + 1))+$((3 - i % 3)) --timeout 60 \
		"$cases" life_leave
done

# Cases 61, 62, 65 and 66.
well run -n 2 --timeout 60 "$cases" life_many life_user life_signals
well run -n 3 --nodes 2+1 --timeout 60 "$cases" \
	life_many life_user life_signals life_mixed
well "$cases" --threads 2 life_many
well run -n 2 --timeout 60 "$cases" life_mixed
well "$cases" life_first
lib=$build/.libs/libtutti.so
if [ -e "$lib" ]; then
	well "$build/tests/proc/cases_load" "$lib"
else
	echo "no shared library was built"
fi

# Case 70.
well taskset -c "$(taskset -cp $$ | sed 's/.*[^0-9]//')" \
	env PROC_MARK="$mark" "$tutti" run -n 16 --timeout 60 "$cases" \
	life_crowd

if "$cases" --plain; then
	# Case 68.
	well run -n 2 --timeout 90 "$cases" life_growth
	CASES_COUNT=100 well run -n 2 --nodes 1+1 --timeout 90 "$cases" life_growth

	# Case 71.
	well run -n 32 --timeout 60 "$cases" life_footprint
	sum=$(awk '/^pss/ { s += $2; n++ } END { print n == 32 ? s : -1 }' "$work/out")
	echo "32 ranks use $sum KiB"
	if [ "$sum" -le 0 ] || [ "$sum" -ge $((512 * 1024)) ]; then
		fault "32 ranks use $sum KiB"
	fi
fi

# Case 67: soft and hard limit, since the soft one may be raised.
for limit in 64 32; do
	for how in "" "--nodes 16+16"; do
		# shellcheck disable=SC2016,SC2086 # inner shell; options
		well run -n 32 $how --timeout 60 sh -c \
			'ulimit -n "$1" && exec "$0" life_scarce' "$cases" $limit
	done
done

# Case 82: one warning, however many communicators.
TUTTI_TIMEOUTT=5 CASES_COUNT=3 expect_status 0 "$cases" life_churn
expect "$(grep -c TUTTI_TIMEOUTT "$work/err")" 1 "warnings about a name"
expect_line "$work/err" "TUTTI_TIMEOUTT.*TUTTI_TIMEOUT" "the nearest name"
finish
