#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program's --help and its page speak of the same options, and of the same
# defaults where the help says "(default: ...)".
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

# "--option VALUE" for each default in a help text.
helped_defaults() {
	awk '/^ +-/ { if (all != "") print all; all = "" } { all = all " " $0 }
		END { print all }' | tr -s ' ' |
		sed -nE 's/^ (--[a-z-]+).*\(default: (.*)$/\1 \2/p' |
		sed -E 's/(, or .*|\).*)$//'
}

# The same for each paragraph of a page, as "--option text of it".
paged_text() {
	awk '/^\.TP/ { if (all != "") print all; all = ""; next }
		/^\.(SH|SS)/ { next }
		{ sub(/^\.[A-Z]+ /, ""); all = all " " $0 }
		END { print all }' "$1" | tr -s ' ' |
		sed 's/\\-/-/g; s/\\f[A-Z]//g; s/\\ / /g; s/^ //'
}

compare_defaults() {
	local page=man/man1/$1.1 option value
	paged_text "$page" >"$scratch/text"
	while read -r option value; do
		grep -e "^$option " "$scratch/text" |
			grep -qF "default is $value" ||
			fault "$page: the default of $option is $value"
	done < <("$build/$2" "${@:3}" --help | helped_defaults)
}

compare() {
	local page=man/man1/$1.1
	[ -x "$build/$2" ] || return
	compare_defaults "$@"
	shift
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
compare tutti-sim tools/tutti sim
compare tutti-topo tools/tutti topo
compare tutti-perf perf/tutti-perf
compare tutti-train tools/tutti-train
finish
