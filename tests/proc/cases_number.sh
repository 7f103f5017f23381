#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 49 to 52 and 54, for every all-reduce and 2, 3, 4 and 7 ranks.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

algorithms_of() {
	"$tutti" info --algorithms | awk -v op="$1" '
		/^[a-z]/ { on = $1 == op } on && /^  [a-z]/ { print $1 }'
}
algorithms=$(algorithms_of all_reduce)
[ -n "$algorithms" ] || fault "no algorithm is listed"

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

all="number_nan number_small number_integer number_bits"
# shellcheck disable=SC2086 # a list
for algo in $algorithms; do
	export TUTTI_ALGO="all_reduce:$algo"
	case $algo in
	hier | leader)
		well run -n 3 --nodes 2+1 --timeout 60 "$cases" $all
		well run -n 7 --nodes 0,1,0,2,1,0,0 --timeout 60 "$cases" $all
		;;
	*)
		for n in 2 3 4 7; do
			well run -n $n --timeout 60 "$cases" $all
		done
		;;
	esac
	well run -n 4 --nodes 3+1 --timeout 60 "$cases" $all
done
# NaN in the other reductions.
for op in reduce reduce_scatter; do
	for algo in $(algorithms_of $op); do
		export TUTTI_ALGO="$op:$algo"
		well run -n 4 --nodes 3+1 --timeout 60 "$cases" number_nan_each
	done
done
unset TUTTI_ALGO
well run -n 4 --nodes 3+1 --timeout 60 "$cases" number_nan_each
# shellcheck disable=SC2086
for n in 1 3 7; do
	well run -n $n --timeout 60 "$cases" $all
done
well run -n 16 --timeout 60 "$cases" number_small
# shellcheck disable=SC2086
TUTTI_KERNELS=scalar well run -n 3 --timeout 60 "$cases" $all number_nan_each
finish
