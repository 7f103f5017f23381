#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# case 79 with a terminal: `tutti run` under script(1), whose pseudo-terminal
# turns written control characters into signals, as a keyboard does.
# shellcheck disable=SC2016 # ranks expand what is in single quotes
. "${top_srcdir:-.}/tests/proc/proc.sh"

command -v script >/dev/null || {
	echo 'skipped: script(1) is not installed'
	exit 77
}
case $(script --version 2>&1) in
*util-linux*) ;;
*)
	echo 'skipped: script(1) is not that of util-linux'
	exit 77
	;;
esac

# The scripts that ranks run: name, text.
rank_script() {
	printf '%s\n' "$2" >"$work/$1"
}

# Run the script $work/$1 on a terminal that types what standard input says.
# By bash, which at Ctrl-C goes on or not by how its child ended.
on_terminal() {
	env PROC_MARK="$mark" tutti="$tutti" script -qefc "bash $work/$1" \
		/dev/null >"$work/$1.out"
	tr -d '\r' <"$work/$1.out" >"$work/$1.plain"
}

# Type when all ranks have made $work/$1.RANK: one argument, one moment.
type_when() {
	within 20 all_exist "$work/$1.0" "$work/$1.1"
	shift
	for keys; do
		sleep 0.3
		# shellcheck disable=SC2059 # it holds escapes
		printf "$keys"
	done
	# What is typed after that is the end of the input, which hangs up.
	within 5 none_marked "$mark"
}

# Ctrl-C reaches every rank once, from the terminal itself, and a shell's loop
# around the launcher ends too.
rank_script ranks_int '
	trap "echo 1 >>\"$work/int.$TUTTI_RANK\"; exit 1" INT
	touch "$work/key.$TUTTI_RANK"
	for i in 1 2 3 4 5; do
		sleep 0.5
	done'
rank_script int '
	for i in 1 2; do
		"$tutti" run -n 2 sh "$work/ranks_int"
		echo "again $?" >>"$work/again"
	done'
type_when key '\003' | on_terminal int
for rank in 0 1; do
	expect "$(wc -l <"$work/int.$rank")" 1 "Ctrl-C of rank $rank"
done
[ ! -e "$work/again" ] || fault 'a loop went on after Ctrl-C'
none_marked "$mark" || fault "Ctrl-C: left behind $(marked "$mark")"

# Ranks that ignore it are killed after the grace, at the second at once.
rank_script ranks_deaf '
	trap "" INT TERM
	touch "$work/deaf.$TUTTI_RANK"
	sleep 20
	sleep 20'
rank_script deaf '
	"$tutti" run -n 2 sh "$work/ranks_deaf"'
start=$(now)
type_when deaf '\003' '\003' | on_terminal deaf
[ $(($(now) - start)) -lt 200 ] || fault 'second Ctrl-C took too long'
none_marked "$mark" || fault "Ctrl-C: left behind $(marked "$mark")"

# A signal from elsewhere, although ranks share the terminal's group: they and
# their children get it from the launcher.
rank_script ranks_else '
	trap "echo 1 >>\"$work/else.got.$TUTTI_RANK\"" USR1
	sh -c "trap \"echo 1 >>\\\"$work/else.child.$TUTTI_RANK\\\"\" USR1
		touch \"$work/else.$TUTTI_RANK\"
		for i in 1 2 3 4 5 6; do sleep 0.2; done"
	exec sleep 20'
rank_script else '
	set -m
	"$tutti" run -n 2 sh "$work/ranks_else" &
	until [ -e "$work/else.0" ] && [ -e "$work/else.1" ]; do
		sleep 0.1
	done
	kill -USR1 $!
	sleep 2
	kill -TERM $!
	wait $!
	echo "status $?"'
type_when else | on_terminal else
expect_line "$work/else.plain" 'status 143$' 'status after SIGTERM'
for rank in 0 1; do
	expect "$(cat "$work/else.got.$rank" "$work/else.child.$rank" | wc -l)" \
		2 "SIGUSR1 of rank $rank and its child"
done
none_marked "$mark" || fault "SIGTERM: left behind $(marked "$mark")"

# Rank 0 may read the terminal, all may write it, also where background
# processes may not (stty tostop).
rank_script ranks_talk '
	touch "$work/talk.$TUTTI_RANK"
	read -r x
	echo "rank $TUTTI_RANK: $x"'
rank_script talk '
	stty tostop
	"$tutti" run -n 2 sh "$work/ranks_talk"
	echo "status $?"'
type_when talk 'spoken\n' | on_terminal talk
expect_line "$work/talk.plain" '^rank 0: spoken$' 'reading the terminal'
expect_line "$work/talk.plain" '^rank 1: $' 'writing the terminal'
expect_line "$work/talk.plain" '^status 0$' 'status'

# A failing rank is told also where background processes may not write.
rank_script no '
	stty tostop
	"$tutti" run -n 2 sh -c "touch \"\$work/no.\$TUTTI_RANK\"; exit 4"
	echo "status $?"'
type_when no | on_terminal no
expect_line "$work/no.plain" 'ended with status 4' 'message on the terminal'
expect_line "$work/no.plain" '^status 4$' 'status'

# Ctrl-Z stops launcher and ranks, fg continues them.
rank_script ranks_stop '
	touch "$work/stop.$TUTTI_RANK"
	n=0
	while [ $n -lt 10 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	exit 9'
rank_script stop '
	set -m
	"$tutti" run -n 2 sh "$work/ranks_stop"
	echo "stopped $?"
	for pid in $(grep -ls "PROC_MARK=$PROC_MARK" /proc/[0-9]*/environ |
			grep -o "[0-9]*"); do
		cut -d" " -f1-3 "/proc/$pid/stat"
	done
	fg
	echo "then $?"'
type_when stop '\032' | on_terminal stop
expect_line "$work/stop.plain" 'stopped 1[0-9][0-9]$' 'stopped'
expect "$(grep -c '(sh) T$' "$work/stop.plain")" 2 'ranks that are stopped'
expect_line "$work/stop.plain" '^then 9$' 'continued'

finish
