#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Operation x algorithm x ranks x count x type x operator x root x in place or
# not x memory x nodes.  Without arguments a sample with every pair of values,
# on some ranks and nodes; with --full everything, which takes hours.  Then
# ranks on nodes at random, every operation and root; with --maps only these, so
# many.  By hand, for 200 of them (the seed is printed and may be given):
#
#   tests/proc/matrix.sh --maps 200 [--seed N]
#   tests/proc/matrix.sh [--full] [--seed N]
set -eu
build=${top_builddir:-.}
matrix=$build/tests/conform/matrix
run=$build/tools/tutti
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

full='' sampled=1 maps='' seed=${MATRIX_SEED:-1}
while [ $# -gt 0 ]; do
	case $1 in
	--full) full=1 ;;
	--seed) seed=${2-} && shift ;;
	--maps) maps=${2-} sampled='' && shift ;;
	*) set -- ;;
	esac
	if [ $# -eq 0 ] || [[ ! $maps$seed =~ ^[0-9]+$ ]]; then
		echo "usage: $0 [--full | --maps N] [--seed N]" >&2
		exit 2
	fi
	shift
done
echo "seed $seed"

say() {
	printf '%s\n' "$*"
	"$@"
}

# Map number $1 of this seed: "RANKS MAP" with the node of each rank, 2 to 17 of
# them on 1 to 6 nodes, numbered by first appearance as the launcher wants.  The
# shell's own numbers are other ones in every subshell.
random_map() {
	awk -v x="$((seed * 1009 + $1 + 1))" '
	function below(n) {
		x = (x * 16807) % 2147483647
		return int(x / 11) % n
	}
	BEGIN {
		x = x % 2147483646 + 1
		below(2); below(2)
		ranks = 2 + below(16)
		nodes = 1 + below(6)
		if (nodes > ranks) nodes = ranks
		# Each node has a rank; then all are shuffled.
		for (i = 0; i < ranks; i++) at[i] = i < nodes ? i : below(nodes)
		for (i = ranks - 1; i > 0; i--) {
			k = below(i + 1)
			t = at[i]; at[i] = at[k]; at[k] = t
		}
		printf "%d ", ranks
		for (i = 0; i < ranks; i++) {
			if (!(at[i] in name)) name[at[i]] = many++
			printf "%s%d", i ? "," : "", name[at[i]]
		}
	}'
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

if [ -z "$sampled" ]; then
	:
elif [ -n "$full" ]; then
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
began=$SECONDS calls=0
maps=${maps:-${MATRIX_MAPS:-${full:+200}}}
maps=${maps:-12}
for ((k = 0; k < maps; k++)); do
	read -r n map < <(random_map "$k") || true
	said=$(say "$run" run -n "$n" --nodes "$map" --timeout 300 \
		"$matrix" --roots) || {
		printf '%s\n' "$said"
		exit 1
	}
	printf '%s\n' "$said"
	said=${said##*nodes: }
	calls=$((calls + ${said%% calls*}))
done
echo "$maps maps of 2..17 ranks onto 1..6 nodes, seed $seed: every operation" \
	"and root, $calls calls, all right, $((SECONDS - began)) s"
