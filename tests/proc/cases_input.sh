#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Wrong arguments, on processes and threads.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=30 TUTTI_INIT_TIMEOUT=30

all="input_life input_calls input_overlap input_blocks input_fork input_memory"
for n in 1 2 3; do
	# shellcheck disable=SC2086 # a list
	expect_status 0 run -n $n --timeout 60 "$cases" $all
	cat "$work/err"
done
expect_status 0 "$cases" --threads 3 \
	input_life input_calls input_overlap input_blocks input_memory
cat "$work/err"
finish
