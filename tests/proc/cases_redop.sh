#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Operators that a program makes: with every algorithm that reduces, on one
# node and on several, by default and strict.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

# "all_reduce:ring", for all algorithms that reduce.
algorithms=$("$tutti" info --algorithms | awk '
	/^[a-z]/ { op = $1 }
	/^  [a-z]/ && op ~ /reduce/ { print op ":" $1 }')
[ -n "$algorithms" ] || fault "no algorithm is listed"

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

for algo in $algorithms; do
	# Composed ones need nodes of several ranks.
	case $algo in
	*:hier | *:leader) map=2+3 ;;
	*) map=1 ;;
	esac
	TUTTI_ALGO=$algo well run -n 5 --nodes $map --timeout 120 \
		"$cases" redop_premul redop_user
	TUTTI_ALGO=$algo well run -n 4 --nodes 0,1,0,1 --timeout 120 \
		"$cases" redop_premul redop_user
done
for n in 1 2 3 7; do
	well run -n $n --timeout 120 "$cases" redop_premul redop_user
	TUTTI_DETERMINISM=strict well run -n $n --timeout 120 \
		"$cases" redop_premul redop_user
done
TUTTI_DETERMINISM=strict well run -n 5 --nodes 0,1,0,1,0 --timeout 120 \
	"$cases" redop_premul redop_user
TUTTI_SLICE=1K well run -n 4 --nodes 3+1 --timeout 120 \
	"$cases" redop_premul redop_user
TUTTI_KERNELS=scalar TUTTI_DETERMINISM=strict well run -n 4 --timeout 120 \
	"$cases" redop_premul redop_user
for n in 1 3; do
	well run -n $n --timeout 60 "$cases" redop_wrong
done
well run -n 3 --timeout 60 "$cases" redop_differ
well run -n 3 --nodes 3 --timeout 60 "$cases" redop_differ
finish
