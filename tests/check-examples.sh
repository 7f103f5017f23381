#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every C example of the manual and of README.md compiles as it stands, with
# warnings as errors; one with a main also links with the built library.
. "$(dirname "$0")/checklib.sh"

# The example between .EX and .EE below .SH EXAMPLE, without roff's escapes.
page_example() {
	awk '/^\.SH/ { on = /^\.SH EXAMPLE/ } !on { next }
		/^\.EX/ { code = 1; next } /^\.ta/ { next } /^\.EE/ { code = 0 } code' "$1" |
		sed 's/\\&//g; s/\\-/-/g; s/\\(aq/'\''/g; s/\\(ha/^/g; s/\\(ti/~/g; s/\\e/\\/g'
}

# The blocks of a Markdown file that are marked as C, one after another.
markdown_example() {
	awk '/^```/ { on = /^```c$/; next } on' "$1"
}

compile() {
	local from=$1 out
	[ -s "$scratch/example.c" ] || { fault "$from: no example"; return; }
	# shellcheck disable=SC2086
	out=$(${CC:-cc} -std=c11 -Wall -Wextra -Werror \
		-Wno-unused-parameter -Iinclude -c -o "$scratch/example.o" \
		"$scratch/example.c" 2>&1) || {
		fault "$from: $out"
		return
	}
	grep -q '\bmain(' "$scratch/example.c" || return
	[ -e "$build/.libs/libtutti.so" ] || return
	grep -q fsanitize "$build/config.status" 2>/dev/null && return
	# shellcheck disable=SC2086
	out=$(${CC:-cc} -o "$scratch/example" "$scratch/example.o" \
		-L"$build/.libs" -ltutti 2>&1) || fault "$from: $out"
}

mapfile -t pages < <(files_like 'man/man3/.*\.3')
for page in "${pages[@]}"; do
	head -n 1 "$page" | grep -q '^\.so' && continue
	page_example "$page" >"$scratch/example.c"
	compile "$page"
done
# Overviews need no example; what looks like C in them must be.
mapfile -t pages < <(files_like 'man/man7/.*\.7')
for page in "${pages[@]}"; do
	page_example "$page" >"$scratch/example.c"
	grep -q '#include' "$scratch/example.c" && compile "$page"
done
markdown_example README.md >"$scratch/example.c"
compile README.md
finish
