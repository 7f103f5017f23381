# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the process tests share.  Each is a POSIX script that starts real
# processes by `tutti run`, tells every fault in a line, and ends 0, 1, or 77
# when the machine lacks something.  Processes carry a variable with a unique
# value, by which those left behind are found; they are ended by their ids.
set -u
LC_ALL=C
export LC_ALL

tutti=$(cd "${top_builddir:-.}" && pwd)/tools/tutti
[ -x "$tutti" ] || {
	echo "$tutti is not built"
	exit 99
}

faults=0
mark=launch-test-$$
work=$(mktemp -d) || exit 99
export work

# Only programs that a test starts carry the mark.
run() {
	env PROC_MARK="$mark" "$tutti" run "$@"
}

fault() {
	printf 'FAULT: %s\n' "$*"
	faults=$((faults + 1))
}

# Hundredths of a second since the machine started.
now() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# The ids of processes that carry a mark.
marked() {
	grep -ls "PROC_MARK=$1" /proc/[0-9]*/environ |
		sed 's|/proc/||; s|/environ||'
}

# The id of the launcher's second process of the one job with a mark.
keeper_of() {
	for pid in $(marked "$1"); do
		grep -q '(tutti-keeper)' "/proc/$pid/stat" && echo "$pid"
	done
}

# Call a command until it succeeds, at most $1 seconds.
within() {
	end=$(($(now) + $1 * 100))
	shift
	until "$@"; do
		[ "$(now)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

all_exist() {
	for file; do
		[ -e "$file" ] || return 1
	done
}

none_marked() {
	[ -z "$(marked "$1")" ]
}

# A value, what it should be, and what it is.
expect() {
	[ "$1" = "$2" ] || fault "$3: \"$1\" instead of \"$2\""
}

# A file that should hold a line like the pattern.
expect_line() {
	grep -q -- "$2" "$1" || {
		fault "$3: no line like \"$2\" in:"
		sed 's/^/    /' "$1"
	}
}

# Run a command whose status should be $1; output in $work/out and $work/err.
expect_status() {
	want=$1
	shift
	"$@" >"$work/out" 2>"$work/err" </dev/null
	expect "$?" "$want" "status of: $*"
}

clean_up() {
	for pid in $(marked "$mark"); do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT

finish() {
	none_marked "$mark" || fault "left behind: $(marked "$mark" | tr '\n' ' ')"
	[ "$faults" -eq 0 ] || {
		echo "$faults fault(s)"
		exit 1
	}
	exit 0
}
