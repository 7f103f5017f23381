#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# case 79: whatever ends the launcher ends every rank within 5 s, whatever the
# ranks are doing, with all that they started.  Every signal is tried with
# every kind of rank; those of one kind run side by side.
# shellcheck disable=SC2016 # ranks expand what is in single quotes
. "${top_srcdir:-.}/tests/proc/proc.sh"

# What a rank does, after it has told that it is ready.
ready='touch "$dir/ready.$TUTTI_RANK"'
computing="$ready; while :; do :; done"
blocked="$ready; exec sleep 60"
ignoring="trap '' INT TERM HUP QUIT; $ready; while :; do sleep 1; done"
stopped="$ready; kill -STOP \$\$; sleep 60"
# A child in the same group, one in a session of its own that ignores SIGTERM,
# and one whose parent has ended.
family="sleep 60 & setsid sh -c 'trap \"\" TERM; sleep 60' &
	(setsid sleep 60 & ) ; $ready; wait"

# One job: kind, what its ranks do, the signal, the status it should give.
one() {
	dir=$work/$1-$3
	tag=$mark-$1-$3
	mkdir "$dir"
	env dir="$dir" PROC_MARK="$tag" "$tutti" run -n 2 sh -c "$2" \
		</dev/null >"$dir/out" 2>"$dir/err" &
	launcher=$!
	within 20 all_exist "$dir"/ready.0 "$dir"/ready.1 || fault "$1: ranks do not start"
	[ "$1" != stopped ] || sleep 0.2
	start=$(now)
	kill -"$3" "$launcher"
	wait "$launcher"
	expect "$?" "$4" "$1, SIG$3: status"
	if [ "$3" != KILL ]; then
		none_marked "$tag" ||
			fault "$1, SIG$3: the launcher returned before its ranks"
	fi
	within 5 none_marked "$tag" || {
		fault "$1, SIG$3: left behind: $(marked "$tag" | tr '\n' ' ')"
		sed 's/^/    /' "$dir/err"
	}
	[ $(($(now) - start)) -lt 500 ] || fault "$1, SIG$3: took over 5 s"
	echo "$1, SIG$3: $(($(now) - start)) hundredths of a second"
	[ "$faults" -eq 0 ]
}

kind() {
	jobs=
	one "$1" "$2" INT 130 & jobs="$jobs $!"
	one "$1" "$2" TERM 143 & jobs="$jobs $!"
	one "$1" "$2" HUP 129 & jobs="$jobs $!"
	one "$1" "$2" KILL 137 & jobs="$jobs $!"
	for job in $jobs; do
		wait "$job" || faults=$((faults + 1))
	done
}

kind computing "$computing"
kind blocked "$blocked"
kind ignoring "$ignoring"
kind stopped "$stopped"
kind family "$family"

# A second signal does not wait for the grace; the same signal sent twice at
# once, as timeout(1) does, is one.
twice() {
	mkdir "$work/$1"
	env dir="$work/$1" PROC_MARK="$mark" "$tutti" run -n 2 sh -c "$3" \
		</dev/null 2>"$work/$1/err" &
	launcher=$!
	within 20 all_exist "$work/$1/ready.0" "$work/$1/ready.1" || fault "$1: ranks do not start"
	start=$(now)
	kill -INT "$launcher"
	sleep "$2"
	kill -INT "$launcher"
	wait "$launcher"
	expect "$?" 130 "$1: status"
	took=$(($(now) - start))
}
twice impatient 0.4 "$ignoring"
[ "$took" -lt 150 ] || fault "second signal: took $took hundredths"
twice doubled 0 'trap "sleep 0.5; touch \"$dir/saved.$TUTTI_RANK\"; exit 0" INT
	touch "$dir/ready.$TUTTI_RANK"; while :; do sleep 0.1; done'
all_exist "$work/doubled/saved.0" "$work/doubled/saved.1" ||
	fault 'a doubled signal cut the grace short'

# Other signals go to every rank, and do not end the job.
mkdir "$work/usr"
env dir="$work/usr" PROC_MARK="$mark" "$tutti" run -n 3 sh -c '
	trap "echo 1 >>\"$dir/usr1.$TUTTI_RANK\"" USR1
	trap "exit 0" USR2
	touch "$dir/ready.$TUTTI_RANK"; while :; do sleep 0.05; done' \
	</dev/null &
launcher=$!
within 20 all_exist "$work"/usr/ready.0 "$work"/usr/ready.1 \
	"$work"/usr/ready.2 || fault 'usr: ranks do not start'
kill -USR1 "$launcher"
within 5 all_exist "$work"/usr/usr1.0 "$work"/usr/usr1.1 \
	"$work"/usr/usr1.2 || fault 'SIGUSR1 did not reach all ranks'
kill -USR2 "$launcher"
wait "$launcher"
expect "$?" 0 'status after SIGUSR2'
expect "$(cat "$work"/usr/usr1.* | wc -l)" 3 'deliveries of SIGUSR1'

# The launcher's helper killed: the launcher ends the ranks itself.  Both at
# once: the kernel ends the ranks.
mkdir "$work/helper" "$work/both"
env dir="$work/helper" PROC_MARK="$mark" "$tutti" run -n 2 sh -c "$family" \
	</dev/null 2>"$work/helper/err" &
launcher=$!
within 20 all_exist "$work/helper/ready.0" "$work/helper/ready.1" ||
	fault 'helper: ranks do not start'
kill -KILL "$(keeper_of "$mark")" || fault 'no helper process found'
wait "$launcher"
expect "$?" 125 'status when the helper was killed'
expect_line "$work/helper/err" 'helper process was killed by SIGKILL' 'helper'
none_marked "$mark" ||
	fault "helper killed: left behind $(marked "$mark" | tr '\n' ' ')"

env dir="$work/both" PROC_MARK="$mark" "$tutti" run -n 2 sh -c "$ignoring" \
	</dev/null 2>"$work/both/err" &
launcher=$!
within 20 all_exist "$work/both/ready.0" "$work/both/ready.1" ||
	fault 'both: ranks do not start'
kill -KILL "$launcher" "$(keeper_of "$mark")"
wait "$launcher"
within 5 none_marked "$mark" ||
	fault "both killed: left behind $(marked "$mark" | tr '\n' ' ')"

# Success leaves no daemon behind either.
expect_status 0 run -n 2 sh -c 'setsid sleep 60 & :'
expect_line "$work/err" 'ending 2 processes that the ranks left running' 'daemons'

# nohup: SIGHUP is the user's to ignore.
mkdir "$work/nohup"
(
	trap '' HUP
	exec env dir="$work/nohup" PROC_MARK="$mark" "$tutti" run -n 2 \
		sh -c "$ready; sleep 1"
) </dev/null &
launcher=$!
within 20 all_exist "$work/nohup/ready.0" "$work/nohup/ready.1" || fault 'nohup: ranks do not start'
kill -HUP "$launcher"
wait "$launcher"
expect "$?" 0 'status under nohup'

finish
