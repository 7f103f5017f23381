#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Case 48 and splitting, on one node, on two and on threads.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

well() {
	expect_status 0 "$@"
	cat "$work/out" "$work/err"
}

for where in "-n 2" "-n 3" "-n 5 --nodes 3+2" "-n 3 --nodes 0,1,0"; do
	# shellcheck disable=SC2086 # options
	well run $where --timeout 90 "$cases" split_shapes split_wrong \
		split_orders split_churn
done
for where in "-n 4" "-n 4 --nodes 3+1"; do
	# shellcheck disable=SC2086
	well run $where --timeout 60 "$cases" split_abort split_waits
done
well run -n 2 --timeout 60 "$cases" split_config
well "$cases" --threads 4 split_shapes split_orders split_churn split_abort \
	split_waits

# One rank has few descriptors, or little memory, which a sanitizer needs.
well run -n 3 --timeout 120 "$cases" split_files
well run -n 3 --nodes 1+1+1 --timeout 120 "$cases" split_files
if "$cases" --plain; then
	well run -n 3 --timeout 120 "$cases" split_memory
	TUTTI_TRANSPORTS=self,shm well run -n 3 --timeout 120 "$cases" \
		split_memory
fi
finish
