#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program's --help and its page speak of the same options.
. "$(dirname "$0")/checklib.sh"

# Options at the head of a line: "  -n N, --ranks N  help".
helped() {
	sed -nE 's/^ +(-[^ ].*)/\1/p' |
		sed -E 's/(^|, *)(--?[A-Za-z][A-Za-z-]*)[^,]*/ \2/; s/, *(--?[A-Za-z][A-Za-z-]*).*/ \1/' |
		grep -oE -- ' --?[A-Za-z][A-Za-z-]*' | tr -d ' ' | sort -u
}

# Options in the tags of a page.
paged() {
	awk '/^\.TP/ { tag = 1; next } tag { print; tag = 0 }' "$1" |
		sed 's/\\-/-/g; s/\\f[A-Z]//g' |
		grep -oE -- '(^|[ ,"])--?[A-Za-z][A-Za-z-]*' |
		tr -d ' ,"' | sort -u
}

compare() {
	local page=man/man1/$1.1
	shift
	if [ ! -x "$build/$1" ]; then
		return
	fi
	"$build/$1" "${@:2}" --help 2>&1 | helped >"$scratch/help"
	paged "$page" >"$scratch/page"
	fault_lines < <(comm -23 "$scratch/help" "$scratch/page" |
		sed "s|^|$page: does not know |")
	fault_lines < <(comm -13 "$scratch/help" "$scratch/page" |
		grep -vxE -- '-h|--help|-V|--version' |
		sed "s|^|$page: $1 ${*:2} --help does not know |")
}

compare tutti tools/tutti
compare tutti-run tools/tutti run
compare tutti-info tools/tutti info
compare tutti-perf perf/tutti-perf
compare tutti-train tools/tutti-train
finish
