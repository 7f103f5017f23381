#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Case 41 on shared memory, on two nodes, over TCP alone, and on threads; with
# every algorithm; and that ranks tell each other nothing when nothing differs.
# DIFFER_ALL=1 tries every combination on every path, which takes an hour.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=${top_builddir:-.}/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60
export DIFFER_SEED="${DIFFER_SEED:-$(date +1%j)}"
fixed="differ_small differ_large differ_message differ_counts"
trials=${DIFFER_TRIALS:-12} few=2 limit=120
[ -z "${DIFFER_ALL:-}" ] || trials=0 few=0 limit=3600
export DIFFER_TRIALS="$trials"

# Say what the longest times were.
well() {
	expect_status 0 "$@"
	cat "$work/err"
	sed "s|^|$label: |" "$work/out" | tee -a "$work/times"
}

# "all_reduce:ring", for all algorithms.
algorithms=$("$tutti" info --algorithms | awk '
	/^[a-z]/ { op = $1 }
	/^  [a-z]/ { print op ":" $1 }')
[ -n "$algorithms" ] || fault "no algorithm is listed"

# shellcheck disable=SC2086 # lists
for way in "-n 4" "-n 2" "-n 4 --nodes 3+1" "-n 2 --nodes 1+1" \
	"-n 3 --nodes 1+1+1" "-n 5 --nodes 0,1,0,1,0"; do
	label=$way
	well run $way --timeout $limit "$cases" $fixed differ_any
done
label="threads"
# shellcheck disable=SC2086 # a list
well "$cases" --threads 3 $fixed differ_any
label="staged"
TUTTI_SHM_DIRECT=0 well run -n 3 --timeout $limit "$cases" differ_any

export DIFFER_TRIALS="$few" DIFFER_WHOLE=1
for algo in $algorithms; do
	op=${algo%%:*}
	map=1
	# Composed ones need nodes of several ranks.
	case $algo in
	barrier:* | sendrecv:*) continue ;;
	*:hier | *:leader) map=2+2 ;;
	esac
	label=$algo
	DIFFER_SEED=$((DIFFER_SEED + 1))
	DIFFER_COLL=$op TUTTI_ALGO=$algo well run -n 4 --nodes $map \
		--timeout $limit "$cases" differ_any
done

# How many news were told in a run, which writes what it does.
told() {
	rm -f "$work"/log.*
	TUTTI_DEBUG=TRACE TUTTI_DEBUG_FILE="$work/log.%r" \
		expect_status 0 run "$@"
	grep FAULT "$work/err"
	count=$(cat "$work"/log.* | grep -c "tells news")
}

for map in 1 2+1; do
	# A busy machine may hold a rank up for as long as makes others ask.
	for again in 1 2 3 4 5; do
		told -n 3 --nodes $map --timeout 60 "$cases" differ_quiet
		[ "$count" -gt 0 ] || break
	done
	[ "$count" -eq 0 ] ||
		fault "$count news in each of $again runs of 1000 calls"
done
# Two ranks wait 3 s in two operations.
told -n 3 --nodes 1 --timeout 60 "$cases" differ_late
[ "$count" -le 2 ] || fault "$count news for a long wait on one node"
told -n 3 --nodes 2+1 --timeout 60 "$cases" differ_late
[ "$count" -le 4 ] || fault "$count news for a long wait on two nodes"
echo "The longest:"
sed 's/.*at most \([0-9]*\) ms.*/\1 &/' "$work/times" | sort -n | tail -n 1 |
	cut -d ' ' -f 2-
finish
