#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm of the list has its paragraph in the manual, under its
# operation, and every such paragraph has its algorithm.
. "$(dirname "$0")/checklib.sh"

page=man/man7/tutti-algorithms.7
# lib/algo/allreduce_ring.c: "allreduce ring"; operations without their _.
sed -n 's|.*lib/algo/\([a-z]*\)_\([a-z0-9_]*\)\.c.*|\1 \2|p' lib/algo/local.mk |
	sort -u >"$scratch/list"
[ -s "$scratch/list" ] || skip "no algorithms here"
awk '
	/^\.SH/ { on = /^\.SH ALGORITHMS/ }
	!on { next }
	/^\.SS/ { op = $2; gsub(/_/, "", op) }
	tag { print op, $2; tag = 0 }
	/^\.TP/ { tag = 1 }' "$page" | sort -u >"$scratch/page"
fault_lines < <(comm -23 "$scratch/list" "$scratch/page" |
	sed "s|\$|: not in $page|")
fault_lines < <(comm -13 "$scratch/list" "$scratch/page" |
	sed "s|\$|: in $page, not in lib/algo/local.mk|")
finish
