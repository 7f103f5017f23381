#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 55, 56, 57, 64 and 66.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=30 TUTTI_INIT_TIMEOUT=30
CASES_SHARED=$work/shared
export CASES_SHARED

before=$(find /dev/shm /tmp -maxdepth 1 -name '*utti*' 2>/dev/null | sort)

# A fresh page.
page() {
	dd if=/dev/zero of="$CASES_SHARED" bs=4096 count=1 2>"$work/dd"
}

# Rank 1 dies; a shell stands between it and the launcher, which would end the
# others.
dies() {
	page
	name=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	expect_status 0 run --timeout 60 "$@" sh -c \
		'"$0" "$@" || [ "$TUTTI_RANK" = 1 ]' "$cases" "$name"
	grep FAULT "$work/err"
	[ -z "${CASES_TELL-}" ] || cat "$work/err"
}

# case 55
dies fault_kill -n 4
CASES_MALLOC=1 dies fault_kill -n 4
dies fault_kill -n 3 --nodes 2+1

# case 56
page
expect_status 0 run -n 3 --timeout 60 "$cases" fault_abort
cat "$work/err"
expect_status 0 "$cases" --threads 2 fault_abort
cat "$work/err"
page
expect_status 0 run -n 3 --nodes 2+1 --timeout 60 "$cases" fault_abort
cat "$work/err"
for where in "-n 3" "-n 3 --nodes 1+1+1"; do
	page
	# shellcheck disable=SC2086
	expect_status 0 run $where --timeout 60 "$cases" fault_stopped
	cat "$work/err"
done

for where in "-n 3" "-n 3 --nodes 2+1"; do
	# shellcheck disable=SC2086
	expect_status 0 run $where --timeout 60 "$cases" fault_leave
	cat "$work/err"
done

# case 66
dies fault_exit -n 3
CASES_QUICK=1 dies fault_exit -n 3 --nodes 1+2

after=$(find /dev/shm /tmp -maxdepth 1 -name '*utti*' 2>/dev/null | sort)
expect "$after" "$before" "what is left behind"
finish
