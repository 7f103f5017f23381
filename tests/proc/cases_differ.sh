#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Case 41 on shared memory, on two nodes, over TCP alone, and on threads.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

all="differ_small differ_large differ_message differ_counts"
# shellcheck disable=SC2086 # a list
{
	expect_status 0 run -n 4 --timeout 120 "$cases" $all
	cat "$work/err"
	expect_status 0 run -n 2 --timeout 120 "$cases" $all
	cat "$work/err"
	expect_status 0 run -n 4 --nodes 3+1 --timeout 120 "$cases" $all
	cat "$work/err"
	expect_status 0 run -n 2 --nodes 1+1 --timeout 120 "$cases" $all
	cat "$work/err"
	expect_status 0 "$cases" --threads 3 $all
	cat "$work/err"
}
finish
