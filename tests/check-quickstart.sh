#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# quickstart and .ci/run refuse what they do not know, and quickstart counts
# tests rightly: Criterion's own numbers, one for any other program.
. "$(dirname "$0")/checklib.sh"

# expect STATUS COMMAND...: also, a word on how to use it.
expect() {
	local status=$1
	shift
	"$@" >"$scratch/out" 2>&1 </dev/null
	[ $? -eq "$status" ] || fault "$*: ended not with $status"
	grep -q 'usage' "$scratch/out" || fault "$*: no usage"
}

expect 2 ./quickstart
expect 2 ./quickstart nonsense
expect 2 ./quickstart check now
expect 0 ./quickstart help
expect 2 .ci/run no-such-lane

# result NAME VERDICT [PASSED FAILED CRASHED]
result() {
	printf ':test-result: %s\n:global-test-result: %s\n' "$2" "$2" \
		>"$scratch/tests/$1.trs"
	: >"$scratch/tests/$1.log"
	[ $# -lt 5 ] || printf '[\e[34m====\e[0m] Synthesis: Tested: \e[34m%d\e[0m | Passing: \e[32m%d\e[0m | Failing: \e[31m%d\e[0m | Crashing: \e[31m%d\e[0m\n' \
		$(($3 + $4 + $5)) "$3" "$4" "$5" >"$scratch/tests/$1.log"
}

# counts STATUS LINE: what make check's status and the results give.
counts() {
	local line
	line=$(cd "$scratch" && bash -c "$(sed -n '/^count_results()/,/^}/p' \
		"$OLDPWD/quickstart")"'; count_results "$1"' count "$1")
	[ "$line" = "$2" ] || fault "counted \"$line\", not \"$2\""
}

mkdir "$scratch/tests"
result plain PASS
result shell SKIP
result unit PASS 7 0 0
counts 0 '8 passed, 0 failed, 1 skipped'
result expected XFAIL
result red FAIL 3 1 2
counts 1 '12 passed, 3 failed, 1 skipped'
result leak FAIL 4 0 0
result broken ERROR
counts 1 '16 passed, 5 failed, 1 skipped'
rm "$scratch"/tests/*
result plain PASS
counts 1 '1 passed, 1 failed, 0 skipped'
finish
