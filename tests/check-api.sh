#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A prototype, its twin, its two lines in the symbol map and its page exist
# together; a page has all its headings in order and the header's prototype.
. "$(dirname "$0")/checklib.sh"

headings='NAME
SYNOPSIS
DESCRIPTION
RETURN VALUE
ERRORS
CONCURRENCY
EXAMPLE
SEE ALSO'

# Lines of $1 that are not in $2, each as a fault with the text $3.
missing() {
	fault_lines < <(comm -23 "$1" "$2" | sed "s|\$|: $3|")
}

declared tutti >"$scratch/public"
declared ptutti >"$scratch/twins"
sed 's/^/p/' "$scratch/public" | sort >"$scratch/wanted-twins"
missing "$scratch/wanted-twins" "$scratch/twins" "not in tutti.h"
missing "$scratch/twins" "$scratch/wanted-twins" "twin of nothing in tutti.h"

sed -n '/global:/,/local:/s/^[[:space:]]*\([^;:]*\);.*/\1/p' lib/libtutti.map |
	sort >"$scratch/map"
sort "$scratch/public" "$scratch/twins" >"$scratch/both"
missing "$scratch/both" "$scratch/map" "not in lib/libtutti.map"
missing "$scratch/map" "$scratch/both" "in lib/libtutti.map, not in tutti.h"

# A section of a page, without its heading.
section() {
	awk -v want="$2" '
		/^\.SH/ { name = $0; sub(/^\.SH +/, "", name)
			  gsub(/"/, "", name); on = name == want; next }
		on' "$1"
}

# The prototype of a function, all white space as single blanks.
prototype() {
	tr -s ' \t\n' ' ' | sed 's/( /(/g; s/;/;\n/g' |
		grep -oE "[^;]*[ *]$1\([^;]*;" |
		sed 's/^.*#include <tutti.h>//; s/^ *//; s/^\(\.[A-Za-z]* \)*//'
}

# The header without its directives.
strip_c include/tutti.h | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' |
	sed '/^#/d' >"$scratch/header"

check_page() {
	local function=$1 page=$2
	section "$page" NAME | grep -qw "$function" ||
		fault "$page: $function is not under NAME"
	section "$page" SYNOPSIS | prototype "$function" >"$scratch/there"
	prototype "$function" <"$scratch/header" >"$scratch/here"
	cmp -s "$scratch/here" "$scratch/there" ||
		fault "$page: SYNOPSIS is not the prototype $(cat "$scratch/here")"
}

while IFS= read -r function; do
	page=man/man3/$function.3
	if [ ! -f "$page" ]; then
		fault "$page: no such page"
		continue
	fi
	target=$(sed -n '1s|^\.so man3/||p' "$page")
	if [ -n "$target" ]; then
		if [ -f "man/man3/$target" ]; then
			check_page "$function" "man/man3/$target"
		else
			fault "$page: man3/$target is not there"
		fi
		continue
	fi
	check_page "$function" "$page"
	found=$(sed -n 's/^\.SH *//p' "$page" | tr -d '"')
	[ "$found" = "$headings" ] ||
		fault "$page: headings are: $(tr '\n' ',' <<<"$found")"
done <"$scratch/public"

for page in man/man3/*.3; do
	grep -qx "$(basename "$page" .3)" "$scratch/public" ||
		fault "$page: page of nothing in tutti.h"
	[ -f "$page" ] && ! grep -qF "$page" man/local.mk &&
		fault "$page: not in man/local.mk"
done
finish
