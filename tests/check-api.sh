#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A prototype, its twin, its two lines in the symbol map and its page exist
# together; a page has all its headings in order and the header's prototype.
. "$(dirname "$0")/checklib.sh"

headings='NAME,SYNOPSIS,DESCRIPTION,RETURN VALUE,ERRORS,CONCURRENCY,EXAMPLE'
headings+=',SEE ALSO'

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

# Prototypes as "function prototype", all white space as single blanks.
prototypes() {
	tr -s ' \t\n' ' ' | sed 's/( /(/g; s/;/;\n/g' |
		sed -nE 's/^.*[ >}] *((const )?[A-Za-z_]+ \**(tutti[A-Z][A-Za-z]*)\([^;]*;)$/\3 \1/p' |
		sort
}
bare_header | prototypes >"$scratch/prototypes"

# A page as "NAME words" for every word under NAME, "SYNOPSIS prototype",
# and "HEADINGS all of them".
digest() {
	awk '
		/^\.SH/ {
			name = $0
			sub(/^\.SH +/, "", name)
			gsub(/"/, "", name)
			all = all (all == "" ? "" : ",") name
			next
		}
		name == "NAME" {
			gsub(/,/, "")
			for (i = 1; i <= NF && $i != "\\-"; i++)
				print "NAME " $i
		}
		END { print "HEADINGS " all }' "$1"
	awk '/^\.SH/ { on = /SYNOPSIS/; next } on && !/^[.#]/' "$1" |
		prototypes | sed 's/^/SYNOPSIS /'
}

check_page() {
	local function=$1 page=$2
	grep -qx "NAME $function" "$scratch/digest" ||
		fault "$page: $function is not under NAME"
	sed -n "s/^$function //p" "$scratch/prototypes" >"$scratch/here"
	grep -qxF "SYNOPSIS $function $(cat "$scratch/here")" \
		"$scratch/digest" ||
		fault "$page: SYNOPSIS is not the prototype" \
			"$(cat "$scratch/here")"
}

while IFS= read -r function; do
	page=man/man3/$function.3
	if [ ! -f "$page" ]; then
		fault "$page: no such page"
		continue
	fi
	read -r first <"$page"
	target=
	case $first in
	'.so man3/'*) target=man/man3/${first#.so man3/} ;;
	esac
	if [ -n "$target" ] && [ ! -f "$target" ]; then
		fault "$page: $target is not there"
		continue
	fi
	digest "${target:-$page}" >"$scratch/digest"
	check_page "$function" "${target:-$page}"
	grep -qx "HEADINGS $headings" "$scratch/digest" ||
		fault "${target:-$page}: headings are:" \
			"$(sed -n 's/^HEADINGS //p' "$scratch/digest")"
done <"$scratch/public"

for page in man/man3/*.3; do
	function=${page##*/}
	grep -qx "${function%.3}" "$scratch/public" ||
		fault "$page: page of nothing in tutti.h"
	[ -f "$page" ] && ! grep -qF "$page" man/local.mk &&
		fault "$page: not in man/local.mk"
done
finish
