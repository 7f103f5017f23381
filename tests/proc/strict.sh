#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Determinism.  With TUTTI_DETERMINISM=strict the result of an all-reduce with
# cancellation over 5 ranks has one SHA-256, whatever the algorithm, the nodes,
# the transport, the kernels, the slices and the pieces it is done in, and
# however busy the machine is; algorithms that cannot promise it refuse.  By
# default all ranks have the same bits, in every run.
#
# STRICT_RUNS=50 makes so many runs under noise, instead of a few.
. "${top_srcdir:-.}/tests/proc/proc.sh"
program=${top_builddir:-.}/tests/proc/strict
runs=${STRICT_RUNS:-2}
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

algorithms() {
	"$tutti" info --algorithms | awk -v op="$1" '
		/^[a-z]/ { on = $1 == op } on && /^  [a-z]/ { print $1 }'
}

# Maps of 5 ranks on which an algorithm can serve: composed ones need nodes of
# several ranks.
maps() {
	case $1 in
	hier | leader) echo 2+3 0,1,0,1,0 1+4 ;;
	*) echo 1 2+3 0,1,0,1,0 5 ;;
	esac
}

# The digest of a run of the program: type, then arguments of `tutti run`.
digest() {
	type=$1
	shift
	rm -f "$work/vector"
	expect_status 0 run --timeout 120 "$@" -- \
		"$program" vector "$work/vector" "$type"
	grep FAULT "$work/err"
	sum=$(sha256sum "$work/vector" 2>/dev/null)
	sum=${sum%% *}
}

# The same, and it must be what the first of this type gave.
same() {
	digest "$@"
	[ -n "$first" ] || first=$sum
	[ -n "$sum" ] || sum=nothing
	expect "$sum" "$first" "digest of type $* with ${TUTTI_ALGO:-no algorithm}"
}

noise() {
	for _ in 1 2 3; do
		while :; do :; done &
		noises="$noises $!"
	done
}

quiet() {
	# shellcheck disable=SC2086 # a list
	kill $noises
	noises=
}
noises=

# ---- Strict ------------------------------------------------------------------
export TUTTI_DETERMINISM=strict
serving=
for algo in $(algorithms all_reduce); do
	map=$(maps "$algo")
	env PROC_MARK="$mark" TUTTI_ALGO="all_reduce:$algo" "$tutti" run -n 5 \
		--nodes "${map%% *}" --timeout 60 "$program" vector "$work/vector" \
		>"$work/out" 2>"$work/err"
	status=$?
	if [ $status -eq 0 ]; then
		serving="$serving $algo"
	else
		expect_line "$work/err" "as $algo, which cannot serve this call (TUTTI_DETERMINISM=strict.*those that can are.*direct1" \
			"refusal of $algo"
	fi
done
for algo in direct1 direct2 recursive binomial hier leader; do
	case "$serving " in
	*" $algo "*) ;;
	*) fault "all_reduce as $algo does not serve strict" ;;
	esac
done
case "$serving " in
*" ring "*) fault "all_reduce as ring claims to serve strict" ;;
esac

# float32 by every algorithm on every map.
first=
for algo in $serving; do
	export TUTTI_ALGO="all_reduce:$algo"
	for map in $(maps "$algo"); do
		same 7 -n 5 --nodes "$map"
	done
done
unset TUTTI_ALGO
for map in 1 2 1+4 2+1+2 0,0,1,2,1 4+1; do
	same 7 -n 5 --nodes $map
done
TUTTI_TRANSPORTS=self,tcp same 7 -n 5
TUTTI_KERNELS=scalar same 7 -n 5
TUTTI_SLICE=1K same 7 -n 5 --nodes 2+3
TUTTI_SHM_DIRECT=0 same 7 -n 5
noise
for _ in $(seq "$runs"); do
	same 7 -n 5 --nodes 2+3
	same 7 -n 5
done
quiet
echo "strict: $((2 * runs)) runs under noise: $first"
echo "float32, 5 ranks, by$serving: $first"

# bfloat16, float16 and fp8 the same way, on fewer maps.
for type in 9 6 10; do
	first=
	for algo in $serving; do
		map=$(maps "$algo")
		TUTTI_ALGO="all_reduce:$algo" same "$type" -n 5 --nodes "${map%% *}"
		TUTTI_ALGO="all_reduce:$algo" same "$type" -n 5 --nodes 0,1,0,1,0
	done
	TUTTI_KERNELS=scalar TUTTI_SLICE=1K same "$type" -n 5 --nodes 5
	echo "type $type, 5 ranks, by$serving: $first"
done

# All collectives, operators and types, against the tree worked out bit by bit.
for n in 1 2 3 4 6 7 8; do
	expect_status 0 run -n $n --timeout 120 "$program" all
done
for map in 3+1 0,1,0,1; do
	expect_status 0 run -n 4 --nodes $map --timeout 120 "$program" all
done
for algo in direct1 direct2 binomial; do
	TUTTI_ALGO="reduce:$algo" \
		expect_status 0 run -n 5 --nodes 2+3 --timeout 120 \
		"$program" all
done

# The setting must agree.
cat >"$work/differ" <<'END'
[ "$TUTTI_RANK" = 1 ] && TUTTI_DETERMINISM=default
exec "$@"
END
expect_status 3 run -n 3 --timeout 60 sh "$work/differ" "$program" all
expect_line "$work/err" "TUTTI_DETERMINISM is strict on rank 0 and default on rank 1" \
	"differing settings"

# ---- Default -----------------------------------------------------------------
export TUTTI_DETERMINISM=default
for algo in $(algorithms all_reduce); do
	first=
	export TUTTI_ALGO="all_reduce:$algo"
	map=$(maps "$algo")
	same 7 -n 5 --nodes "${map%% *}"
	same 7 -n 5 --nodes "${map%% *}"
	expect_status 0 run -n 5 --nodes "${map%% *}" --timeout 120 "$program" all
done
unset TUTTI_ALGO
noise
first=
for _ in $(seq "$runs"); do
	same 7 -n 5
done
first=
for _ in $(seq "$runs"); do
	same 7 -n 5 --nodes 2+3
done
quiet
echo "default: 2 x $runs runs under noise, on one node and on two"
finish
