#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `tutti info`: its tables hold what they should, its JSON is JSON, its roff
# is what the manual has, and secrets are not shown.
. "${top_srcdir:-.}/tests/proc/proc.sh"
src=${top_srcdir:-.}

# JSON is parsed where there is something to parse it with.
if command -v python3 >/dev/null; then
	json() {
		python3 -c 'import json, sys; json.load(sys.stdin)'
	}
else
	json() {
		grep -q '^{' && return
	}
fi

expect_status 0 "$tutti" info
expect_line "$work/out" '^tutti [0-9]' 'version'
expect_line "$work/out" '^  kernels .*scalar.* in use$' 'kernels'
expect_line "$work/out" '^  CPUs  *[0-9]* usable' 'CPUs'
for what in '' --settings --algorithms; do
	# shellcheck disable=SC2086 # none or one
	expect_status 0 "$tutti" info $what --json
	json <"$work/out" || fault "info $what --json is not JSON"
done

# CPUs that this process may not use do not count (case 73).
if command -v taskset >/dev/null; then
	first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	expect_status 0 taskset -c "$first" "$tutti" info
	expect_line "$work/out" '^  CPUs  *1 usable' 'one CPU allowed'
fi

# Every setting of the table, with its value if it has one.
expect_status 0 env TUTTI_TIMEOUT=7.5 TUTTI_SLICE=8M TUTTI_WAIT=often \
	TUTTI_SECRET=0123456789abcdef0123456789abcdef "$tutti" info --settings
names=$(sed -n 's/^X(\([A-Z_]*\),.*/\1/p' "$src/lib/base/settings.def")
for name in $names; do
	expect_line "$work/out" "^[* ] TUTTI_$name " "setting $name"
done
expect_line "$work/out" '^\* TUTTI_TIMEOUT .* default 600$' 'given setting'
expect_line "$work/out" '^      now "7.5"$' 'value of a setting'
expect_line "$work/out" '^      now "often": not valid$' 'wrong value'
! grep -q 89abcdef "$work/out" || fault 'info --settings shows a secret'
expect_status 0 env TUTTI_SECRET=0123456789abcdef0123456789abcdef \
	"$tutti" info --settings --json
! grep -q 89abcdef "$work/out" || fault 'info --settings --json shows a secret'

# The page of the manual is made from the same table.
expect_status 0 "$tutti" info --settings --man
sed -n '/^\.SS/,/^\.SH/p' "$src/man/man7/tutti-settings.7" | sed '$d' |
	diff - "$work/out" || fault 'tutti-settings.7 differs from the table'

# Every operation has an algorithm, under the names that TUTTI_ALGO takes.
expect_status 0 "$tutti" info --algorithms
for op in all_reduce reduce broadcast all_gather reduce_scatter barrier; do
	sed -n "/^$op\$/,/^\$/p" "$work/out" >"$work/op"
	expect_line "$work/op" '^  [a-z0-9]*$' "algorithms of $op"
done

wrong() {
	expect_status 2 "$tutti" info "$@"
	expect "$(wc -l <"$work/err")" 2 "lines of: info $*"
}
wrong --setings
expect_line "$work/err" 'did you mean --settings?' 'suggestion'
wrong nonsense
wrong --settings --algorithms
wrong --man
wrong --settings --man --json
expect_status 0 "$tutti" info --help
if [ -w /dev/full ]; then
	"$tutti" info >/dev/full 2>"$work/err"
	expect "$?" 1 'status when the output cannot be written'
	expect_line "$work/err" 'cannot write the output' 'full disk'
fi

finish
