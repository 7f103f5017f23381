#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Shared memory where it is scarce, private, interrupted or left behind: cases
# 12 to 15 and 19.
. "${top_srcdir:-.}/tests/proc/proc.sh"
cases=$(cd "${top_builddir:-.}" && pwd)/tests/proc/cases
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

well() {
	expect_status 0 "$@"
	cat "$work/err"
}

# Case 19.
well run -n 2 --timeout 60 "$cases" life_timer
CASES_COUNT=5 well run -n 2 --nodes 1+1 --timeout 60 "$cases" life_timer

# Case 13: kill all at some moment; nothing with a name is left.
names() {
	find /dev/shm /tmp -maxdepth 1 -newer "$work/mark" \
		-iname '*tutti*' 2>/dev/null
}
: >"$work/mark"
for ms in 005 010 020 040 080 150 300 600; do
	run -n 4 "$cases" life_churn >"$work/out" 2>"$work/err" </dev/null &
	sleep "0.$ms"
	for pid in $(marked "$mark"); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
done
within 5 none_marked "$mark" || fault "ranks outlive their launcher"
expect "$(names)" "" "names left behind"

# Namespaces, where a user may make them.
inside() {
	env PROC_MARK="$mark" unshare --user --map-root-user "$@"
}
if inside --mount mount -t tmpfs -o size=100k none /dev/shm \
	2>"$work/err"; then
	# Case 12.
	for size in 100k 1m 8m; do
		# shellcheck disable=SC2016 # for the inner shell
		CASES_COUNT=3 well inside --mount sh -c \
			'mount -t tmpfs -o size="$1" none /dev/shm &&
			exec "$2" run -n 8 --timeout 60 "$3" life_churn' \
			sh "$size" "$tutti" "$cases"
	done
	# Case 14: each rank has a /dev/shm of its own.
	# shellcheck disable=SC2016
	CASES_COUNT=3 well inside --mount sh -c \
		'exec "$0" run -n 2 --timeout 60 unshare --mount sh -c \
			"mount -t tmpfs none /dev/shm && exec \$0 life_churn" \
			"$1"' "$tutti" "$cases"
	# Case 15: each rank is in a user namespace of its own.
	CASES_COUNT=3 well run -n 2 --timeout 60 \
		unshare --user --map-root-user "$cases" life_churn memory_kinds
else
	echo "no namespaces here: $(cat "$work/err")"
fi
finish
