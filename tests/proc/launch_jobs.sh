#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Many jobs, many ranks, and machines that give too little: `tutti run` either
# does its work or says in one sentence why not, and leaves nothing.
# shellcheck disable=SC2016 # ranks expand what is in single quotes
. "${top_srcdir:-.}/tests/proc/proc.sh"

# case 72: jobs without a pause between them.  The launcher returns only when
# its ranks are gone, so none is ever seen afterwards.
touch "$work/before"
jobs=0
while [ $jobs -lt 200 ]; do
	run -n 8 true || fault "job $jobs failed"
	jobs=$((jobs + 1))
done </dev/null
none_marked "$mark" || fault 'ranks outlive their launcher'

# Many ranks, and fewer descriptors than ranks.
expect "$(run -n 300 sh -c 'echo "$TUTTI_RANK"' </dev/null | sort -n | tail -n 1)" 299 'last of 300 ranks'
(
	# shellcheck disable=SC3045 # known to every shell of Debian
	ulimit -n 40
	run -n 100 sh -c '[ "$TUTTI_RANK" != 77 ] || exit 7' \
		</dev/null 2>"$work/err"
)
expect "$?" 7 'status with few descriptors'
expect_line "$work/err" 'rank 77 .* ended with status 7' 'few descriptors'

# SIGCHLD ignored by whoever started the launcher.
(
	trap '' CHLD
	run -n 2 sh -c 'exit 6' </dev/null 2>/dev/null
)
expect "$?" 6 'status with SIGCHLD ignored'

# Nobody reads standard error: the launcher still ends its ranks.
run -n 2 sh -c '[ "$TUTTI_RANK" = 0 ] || exit 5; exec sleep 30' \
	</dev/null 2>&1 | true
within 5 none_marked "$mark" || fault 'closed standard error'

# case 69: the limit of processes is reached half-way.  A limit does not bind
# root, so root becomes somebody else, with a copy that one may execute.
set -- prlimit --nproc=30
if [ "$(id -u)" -eq 0 ]; then
	set -- "$@" setpriv --reuid 65534 --regid 65534 --clear-groups
fi
cp "$tutti" "$work/tutti"
chmod 755 "$work" "$work/tutti"
if "$@" true 2>/dev/null; then
	env PROC_MARK="$mark" "$@" "$work/tutti" run -n 200 sleep 10 \
		</dev/null >"$work/out" 2>"$work/err"
	expect "$?" 125 'status at the limit of processes'
	expect_line "$work/err" '^tutti run: cannot start .*Resource temporarily unavailable' 'limit of processes'
	expect "$(wc -l <"$work/err")" 1 'lines at the limit of processes'
	none_marked "$mark" || fault 'limit of processes: ranks left'
else
	echo 'limit of processes: not tried, prlimit(1) or setpriv(1) is missing'
fi

# No job above left a file.
left=$(find /dev/shm /tmp "${TMPDIR:-/tmp}" -maxdepth 1 -newer "$work/before" \
	-iname '*tutti*' 2>/dev/null)
expect "$left" '' 'files left behind'

finish
