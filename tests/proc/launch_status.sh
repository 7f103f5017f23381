#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `tutti run` returns the status of the first rank that fails and says which
# it was; wrong command lines are one sentence and start nothing.
# shellcheck disable=SC2016 # ranks expand what is in single quotes
. "${top_srcdir:-.}/tests/proc/proc.sh"

# ---- Statuses ----------------------------------------------------------
expect_status 0 run -n 3 true
expect_status 0 run -n 1 -- true
expect_status 7 run -n 1 sh -c 'exit 7'
expect_line "$work/err" '^tutti run: rank 0 (process [0-9]* on .*) ended with status 7$' 'single rank'
expect_status 42 run -n 4 sh -c '[ "$TUTTI_RANK" != 2 ] || exit 42'
expect_line "$work/err" 'rank 2 .* ended with status 42' 'one of four'
expect_status 137 run -n 2 sh -c '[ "$TUTTI_RANK" != 1 ] || kill -KILL $$'
expect_line "$work/err" 'rank 1 .* was killed by SIGKILL' 'killed rank'
expect_status 139 run -n 2 sh -c 'ulimit -c 0; [ "$TUTTI_RANK" != 1 ] || kill -SEGV $$'
expect_line "$work/err" 'rank 1 .* was killed by SIGSEGV' 'crashed rank'

# The first of several that end while the launcher does not look, although
# the kernel lists rank 0 first.
run -n 4 sh -c 'echo $$ >"$work/new.$TUTTI_RANK"
	mv "$work/new.$TUTTI_RANK" "$work/pid.$TUTTI_RANK"
	exec sleep 30' </dev/null 2>"$work/err" &
job=$!
within 20 all_exist "$work/pid.0" "$work/pid.1" "$work/pid.2" "$work/pid.3" ||
	fault 'four ranks do not start'
keeper=$(keeper_of "$mark")
kill -STOP "$keeper"
for rank in 2 0 3 1; do
	read -r pid <"$work/pid.$rank"
	kill -KILL "$pid"
	within 5 grep -q ' (sleep) Z' "/proc/$pid/stat" ||
		fault "rank $rank does not end"
done
kill -CONT "$keeper"
wait "$job"
expect "$?" 137 'four killed ranks'
expect_line "$work/err" 'rank 2 .* was killed by SIGKILL' 'first of four'
expect "$(grep -c 'rank' "$work/err")" 1 'lines about failing ranks'

# A rank that was killed is the cause, also if a peer that saw its connections
# close was quicker to end.
after_first() {
	rm -f "$work/first" "$work/second"
	expect_status "$1" run -n 2 sh -c 'ulimit -c 0
		if [ "$TUTTI_RANK" = 0 ]; then
			echo $$ >"$work/first"
			until [ -e "$work/second" ]; do :; done
			exit 6
		fi
		until [ -s "$work/first" ]; do :; done
		read -r pid <"$work/first"
		touch "$work/second"
		while kill -0 "$pid" 2>/dev/null; do :; done
		kill -'"$2"' $$'
}
after_first 137 KILL
expect_line "$work/err" 'rank 1 .* was killed by SIGKILL' 'killed soon after'
after_first 139 SEGV
# ... but not one that aborts because of the first.
after_first 6 ABRT
expect_line "$work/err" 'rank 0 .* ended with status 6' 'aborts soon after'

# Others get a moment to end by themselves, and no more.
start=$(now)
expect_status 3 run -n 3 sh -c '[ "$TUTTI_RANK" = 1 ] && exit 3; sleep 1; touch "$work/own.$TUTTI_RANK"'
for rank in 0 2; do
	[ -e "$work/own.$rank" ] || fault "no moment for rank $rank"
done
expect_status 3 run -n 3 sh -c '[ "$TUTTI_RANK" = 1 ] && exit 3; trap "" TERM; while :; do sleep 1; done'
[ $(($(now) - start)) -lt 800 ] || fault 'ending others took too long'
none_marked "$mark" || fault "ranks outlive their launcher: $(marked "$mark")"

# ---- --timeout ---------------------------------------------------------
start=$(now)
expect_status 124 run -n 2 --timeout 0.5 sleep 60
expect_line "$work/err" '^tutti run: the 0.5 s of --timeout are over' 'timeout'
expect_status 124 run -n 2 --timeout=0.2 sh -c 'trap "" TERM; while :; do sleep 1; done'
[ $(($(now) - start)) -lt 500 ] || fault '--timeout took too long'
expect_status 0 run -n 2 --timeout 30 true

# ---- Programs ----------------------------------------------------------
expect_status 127 run -n 2 no-such-program-here
expect_line "$work/err" '^tutti run: there is no program "no-such-program-here" in PATH$' 'missing program'
expect_status 127 run -n 2 ./no/such/program
printf 'x' >"$work/plain"
expect_status 126 run -n 2 "$work/plain"
expect_line "$work/err" 'cannot execute .*/plain: Permission denied' 'not executable'
expect_status 126 run -n 2 "$work"
expect_line "$work/err" 'Is a directory' 'directory'
printf '#!/no/such/interpreter\n' >"$work/script"
chmod +x "$work/script"
expect_status 127 run -n 3 "$work/script"
expect "$(wc -l <"$work/err")" 1 'lines about a missing interpreter'
printf 'exit 5\n' >"$work/script"
expect_status 5 run -n 1 "$work/script"
mkdir "$work/bin"
printf '#!/bin/sh\nexit 9\n' >"$work/bin/found-by-path"
chmod +x "$work/bin/found-by-path"
expect_status 9 env PATH="$work/bin:$PATH" "$tutti" run -n 1 found-by-path

# ---- Command lines -----------------------------------------------------
usage() {
	pattern=$1
	shift
	expect_status 2 "$@"
	expect_line "$work/err" "$pattern" "$*"
	expect "$(wc -l <"$work/err")" 2 "lines of: $*"
}
usage '-n is "0", but must be a whole number from 1 to 4096' run -n 0 true
usage '-n is "x"' run -n x true
usage '-n is "4097"' run -n 4097 true
usage '-n is "-1"' run -n -1 true
usage '-n is "99999999999999999999"' run -n 99999999999999999999 true
usage 'number of ranks is missing' run true
usage 'program to run is missing' run -n 2
usage 'program to run is missing' run -n 2 --
usage '-n needs a value' run -n
usage 'unknown option "--tiemout"; did you mean --timeout?' run -n 2 --tiemout 3 true
usage 'unknown option "--node=2"; did you mean --nodes?' run -n 2 --node=2 true
usage 'unknown option "-z"' run -z true
usage '--timeout is "0"' run -n 2 --timeout 0 true
usage '--timeout is "nan"' run -n 2 --timeout nan true
usage '--help takes no value' run --help=x
usage 'no command given' "$tutti"
usage 'no command "rnu"; did you mean "run"' "$tutti" rnu
usage 'no command "inof"; did you mean "info"' "$tutti" inof
expect_status 0 run --help
expect_status 0 "$tutti" --help
expect_status 0 "$tutti" --version
expect_line "$work/out" '^tutti [0-9]*\.[0-9]*\.[0-9]' 'version'

# A setting that no rank could use: told once, by the launcher.
expect_status 125 env TUTTI_TIMEOUT=soon "$tutti" run -n 3 true
expect_line "$work/err" '^tutti run: TUTTI_TIMEOUT is "soon", but must be' 'setting'
expect "$(wc -l <"$work/err")" 1 'lines about a wrong setting'

# Options after the program are the program's.
expect_status 0 run -n 1 echo -n --nodes 9
expect "$(cat "$work/out")" '--nodes 9' 'arguments of the program'

finish
