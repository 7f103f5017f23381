#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `tutti sim`: numbers, text, pictures and proofs of schedules, and what it says
# to files and command lines that are wrong.
. "${top_srcdir:-.}/tests/proc/proc.sh"

ok() {
	expect_status 0 "$tutti" sim "$@"
}

# JSON and XML are parsed where there is something to parse them with.
if command -v python3 >/dev/null; then
	json() {
		python3 -c 'import json, sys; json.load(sys.stdin)'
	}
	xml() {
		python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$1"
	}
else
	json() {
		grep -q '^{'
	}
	xml() {
		grep -q '^<?xml' "$1" && tail -n 1 "$1" | grep -q '^</svg>$'
	}
fi

# ---- Numbers: 5 ranks, a ring has 8 steps and moves 8/5 of the block ---------
ok all_reduce 1000 --ranks 5 --algo ring
expect_line "$work/out" '^  steps  *8 ' 'steps of a ring'
expect_line "$work/out" '^  messages  *40  in all; 8 by the busiest' 'messages'
expect_line "$work/out" '^  bytes  *8000  in all; 1600 by the busiest' 'bytes'
expect_line "$work/out" 'by "ring", 5 ranks on 1 node, mail$' 'head'
ok all_reduce 1000 -n 5 --algo ring --json
json <"$work/out" || fault 'the count is not JSON'
expect_line "$work/out" '"steps": *8' 'steps as JSON'
ok broadcast 1M -n 9 --nodes 4+5
expect_line "$work/out" '9 ranks on 2 nodes' 'nodes'

# ---- Text, which --file reads back --------------------------------------------
ok reduce 64K --ranks 6 --root 2 --algo binomial --print
expect "$(grep -c '^schedule reduce binomial$' "$work/out")" 6 'schedules'
cp "$work/out" "$work/text"
ok reduce 64K --ranks 6 --root 2 --algo binomial --print --rank 3
expect "$(grep -c '^schedule ' "$work/out")" 1 'schedules of one rank'
expect_line "$work/out" '^ranks 6 rank 3 root 2 mail$' 'the one rank'
ok --verify --file "$work/text"
expect_line "$work/out" '6 schedules of reduce "binomial" for 6 ranks are proven' \
	'proof of a file'
ok --verify --file "$work/text" --json
json <"$work/out" || fault 'the proof of a file is not JSON'
ok all_gather 1M -n 4 --algo direct1 --mapped --print
expect_line "$work/out" ' mapped$' 'mapped form'

# A file that is wrong is told with the reason, on one line.
wrong_file() {
	expect_status 1 "$tutti" sim --verify --file "$1"
	expect "$(wc -l <"$work/err")" 1 "lines of: $2"
	expect_line "$work/err" "$2" "file $1"
}
sed '0,/ final/s/ final//' "$work/text" >"$work/final"
wrong_file "$work/final" 'final'
sed '$d' "$work/text" >"$work/short"
wrong_file "$work/short" 'waits for ever\|never receives\|never written'
sed 's/^lane$/line/' "$work/text" >"$work/word"
wrong_file "$work/word" 'begins in line 1, line 4 of the schedule: "line" is not'
sed '/rank 5 root/,$d' "$work/text" | sed '$d' >"$work/five"
wrong_file "$work/five" 'rank 5 has no schedule'
cat "$work/text" "$work/text" >"$work/twice"
wrong_file "$work/twice" 'rank 0 has a second schedule'
sed 's/^ranks 6 rank 4/ranks 7 rank 4/' "$work/text" >"$work/seven"
wrong_file "$work/seven" 'a schedule for 7 ranks among those for 6'
echo nothing >"$work/nothing"
wrong_file "$work/nothing" 'no line that begins with "schedule"'
printf 'schedule all_reduce x\n\0' >"$work/zero"
wrong_file "$work/zero" 'is no text'
wrong_file "$work/missing" 'cannot open'
wrong_file "$work" 'cannot read'
printf 'schedule all_reduce x\nranks 1 rank 0 root 0 mail\nblocks 1 1 pieces 9 scratch 268435456\nlane\n' \
	>"$work/huge"
wrong_file "$work/huge" 'too large to prove'
expect_status 1 "$tutti" sim --verify --file "$work/final" --json
json <"$work/out" || fault 'a breach is not JSON'
expect_line "$work/out" '"proven": *false' 'a breach as JSON'

# ---- Proofs -------------------------------------------------------------------
ok --verify --ranks 1..9
expect_line "$work/out" '^all_reduce  *ring  *9  1\.\.9 ' 'row of the ring'
expect_line "$work/out" '^All proven in ' 'verdict'
expect_line "$work/out" '^  - no deadlock' 'what was proven'
! grep -q FAILED "$work/out" || fault 'something is not proven'
ok --verify --ranks 2..5 --op barrier --json
json <"$work/out" || fault 'the report is not JSON'
expect "$(grep -c '"op": *"barrier"' "$work/out")" \
	"$("$tutti" info --algorithms | sed -n '/^barrier$/,/^$/p' |
		grep -c '^  [a-z0-9]*$')" 'algorithms of barrier'
ok --verify --ranks 7 --algo direct2 --shape uneven --threads 1
expect_line "$work/out" 'by 1 threads' 'one thread'
# The same seed gives the same counts, and what is too much is named.
ok --verify --random 3 --seed 5 --max 5000 --op all_reduce --algo ring
expect_line "$work/out" 'seed 5' 'seed'
sed 's/ in [0-9.]* s / /' "$work/out" >"$work/first"
ok --verify --random 3 --seed 5 --max 5000 --op all_reduce --algo ring
sed 's/ in [0-9.]* s / /' "$work/out" | diff "$work/first" - ||
	fault 'the same seed gives another result'
ok --verify --ranks 3000 --op all_reduce --algo direct1
expect_line "$work/out" \
	'^  all_reduce direct1: 3000, 1 count: a query has up to ' \
	'what is not proven'

# ---- Pictures -----------------------------------------------------------------
ok all_reduce 1M -n 8 --algo ring --draw "$work/ring.svg"
xml "$work/ring.svg" || fault 'the picture is not XML'
expect "$(grep -c 'marker-end' "$work/ring.svg")" 113 'arrows'
expect "$(grep -c '<title>rank [0-9]*, lane 0' "$work/ring.svg")" 120 'boxes'
ok broadcast 1M -n 9 --nodes 3 --root 4 --draw "$work/tree.svg" --alpha 2.5 \
	--beta 0.5
xml "$work/tree.svg" || fault 'the picture of a tree is not XML'
ok alltoall 1M -n 4 --algo direct1 --mapped --draw "$work/mapped.svg"
xml "$work/mapped.svg" || fault 'the picture of a mapped form is not XML'
expect_status 1 "$tutti" sim all_reduce 1M -n 4 --draw "$work/no/where.svg"
expect_line "$work/err" "cannot write $work/no/where.svg" 'no folder'
expect "$(wc -l <"$work/err")" 1 'lines of an error'
if [ -w /dev/full ]; then
	expect_status 1 "$tutti" sim all_reduce 1M -n 4 --draw /dev/full
	expect_line "$work/err" 'cannot write /dev/full' 'full disk'
fi
expect "$(find "$work" -name '*.svg.*')" '' 'temporary files left behind'

ok --curve "$work/curve.svg" --ranks 2..300 --algo ring,recursive \
	--csv "$work/curve.csv"
xml "$work/curve.svg" || fault 'the curve is not XML'
expect "$(wc -l <"$work/curve.csv")" 300 'lines of the CSV'
# 2 (n - 1) steps over 2 ceil(lg n): 299 / 9 is the most.
expect_line "$work/out" '^ring  *33\.2222  *300  *1\.0000' 'maxima of the ring'
expect_line "$work/curve.csv" '^5,1\.33333,1,' 'the ring of 5'
ok --curve "$work/curve.svg" --ranks 2..50 --json
json <"$work/out" || fault 'the curve is not JSON'

# ---- Wrong command lines --------------------------------------------------------
wrong() {
	expect_status 2 "$tutti" sim "$@"
	expect "$(wc -l <"$work/err")" 2 "lines of: sim $*"
}
wrong
wrong all_reduce
wrong all_reduce 1M
wrong all_reduce 1M -n 2..4
wrong all_reduce 1M extra -n 4
wrong all_reduce 1X -n 4
wrong allreduce 1M -n 4
expect_line "$work/err" 'did you mean "all_reduce"?' 'suggestion'
wrong all_reduce 1M -n 4 --root 4
wrong all_reduce 1M -n 4 --rank 1
wrong all_reduce 1M -n 4 --print --draw x
wrong all_reduce 1M -n 4 --print --json
wrong all_reduce 1M -n 4 --exhaustive
wrong all_reduce 1M -n 4 --alpha 1
wrong --verify all_reduce 1M
wrong --verify --print
wrong --verify --ranks 5..3
wrong --verify --ranks 0
wrong --verify --ranks 3..x
wrong --verify --shape round
wrong --verify --seed 3
wrong --verify --random 3 --ranks 4
wrong --verify --file x --op reduce
wrong --curve x --ranks 1..4
wrong --curve x --op reduce
wrong --exhaustive
expect_status 1 "$tutti" sim all_reduce 1M -n 4 --algo rings
expect_line "$work/err" 'has no algorithm "rings"' 'no such algorithm'
expect_status 1 "$tutti" sim all_reduce 1M -n 4 --algo ring --mapped
expect_status 1 "$tutti" sim all_reduce 1M -n 4 --nodes 3+2
expect_status 1 "$tutti" sim --curve x --algo ring,rings
[ ! -e x ] || fault 'a file was written'
ok --help

# ---- Costs in tutti info ----------------------------------------------------------
expect_status 0 "$tutti" info --algorithms -n 6
expect_line "$work/out" '^      6 ranks: 10 steps, 10 chunks by the busiest rank' \
	'cost of the ring'
expect_line "$work/out" '^      6 ranks on 2 nodes: 3 steps, 5 chunks by the busiest' \
	'cost of levels'
expect_status 0 "$tutti" info --algorithms --json --ranks 6
json <"$work/out" || fault 'info --algorithms --json -n 6 is not JSON'
expect_status 2 "$tutti" info --ranks 6

finish
