#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Operation x algorithm x ranks x count x type x operator x root x in place or
# not x memory x nodes.  Without arguments a sample with every pair of values,
# on some ranks and nodes; with --full everything, which takes hours.
#
#   tests/proc/matrix.sh [--full] [--seed N]
set -eu
build=${top_builddir:-.}
matrix=$build/tests/conform/matrix
run=$build/tools/tutti
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

full='' seed=${MATRIX_SEED:-1}
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=1 ;;
	--seed) seed=$2 && shift ;;
	*)
		echo "usage: $0 [--full] [--seed N]" >&2
		exit 2
		;;
	esac
	shift
done
RANDOM=$seed
echo "seed $seed"

say() {
	printf '%s\n' "$*"
	"$@"
}

# The node of each of $1 ranks, at random: up to $2 nodes, each with a rank.
random_map() {
	local map=() nodes=$2 i
	[ "$nodes" -le "$1" ] || nodes=$1
	for ((i = 0; i < $1; i++)); do
		if [ $i -lt "$nodes" ]; then
			map+=("$i")
		else
			map+=($((RANDOM % nodes)))
		fi
	done
	# Shuffled, and numbered by first appearance as the launcher wants.
	printf '%s\n' "${map[@]}" | shuf --random-source=<(yes "$RANDOM") |
		awk '{ if (!($1 in n)) n[$1] = k++; printf "%s%d", sep, n[$1]
			sep = "," }'
}

# Big rank 0's node and single others: as uneven as can be.
uneven() {
	printf '%d' $(($1 - $1 / 2))
	for ((i = 0; i < $1 / 2; i++)); do printf '+1'; done
}

sample() {
	say "$run" run -n "$1" ${2:+--nodes "$2"} --timeout 600 \
		"$matrix" --sample "$((seed + $1))"
}

if [ -n "$full" ]; then
	for n in 1 2 3 4 5 6 7 8 9 16 17; do
		for nodes in 1 2 3 "$(uneven $n)"; do
			[ "${nodes%%+*}" -le "$n" ] || continue
			say "$run" run -n $n --nodes "$nodes" "$matrix" --full
		done
	done
else
	sample 1 ''
	sample 2 ''
	sample 3 2
	sample 4 ''
	sample 5 3+1+1
	sample 6 3
	sample 7 ''
	sample 8 0,1,0,1,0,1,0,1
	sample 9 "$(uneven 9)"
	sample 17 3
fi

# Ranks anywhere: every operation, every root.
maps=${MATRIX_MAPS:-${full:+200}}
for ((k = 0; k < ${maps:-12}; k++)); do
	n=$((2 + RANDOM % 16))
	say "$run" run -n $n --nodes "$(random_map $n $((1 + RANDOM % 6)))" \
		--timeout 300 "$matrix" --roots
done
