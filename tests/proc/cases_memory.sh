#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Kinds of memory, on processes and threads (case 39).
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

all="memory_kinds memory_register memory_again"
# shellcheck disable=SC2086 # a list
for how in "-n 2" "-n 3" "-n 3 --nodes 2+1"; do
	expect_status 0 run $how --timeout 60 "$cases" $all
	cat "$work/err"
done
# shellcheck disable=SC2086
TUTTI_SHM_DIRECT=0 expect_status 0 run -n 2 --timeout 60 "$cases" $all
cat "$work/err"
# Direct, and known to be: what is registered is not copied.
TUTTI_DEBUG=INFO expect_status 0 run -n 2 --timeout 60 "$cases" memory_register
expect "$(grep -c 'will be copied' "$work/err")" 0 "buffers that stay copied"
finish
