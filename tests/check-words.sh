#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Words that have no place in the library: `volatile` taken for ordering
# (case 18), output and ends of the process outside the log, handlers of
# signals, functions with a better sister, macros that leave a function.
. "$(dirname "$0")/checklib.sh"

# Faults for lines of the stripped file $1 that hold a word of $2.
words() {
	strip_c "$1" | grep -nE "(^|[^A-Za-z0-9_.>])($2)" |
		sed -E "s|^([0-9]+):[[:space:]]*(.*)|$1:\1: $3: \2|"
}

output='(stdout|stderr)([^A-Za-z0-9_]|$)|(v?printf|puts|putchar|perror|exit|_exit|_Exit|quick_exit|abort)[[:space:]]*\('
signals='(signal|sigaction|sigprocmask|raise|kill|alarm|setitimer)[[:space:]]*\('
better='(v?sprintf|strcat|strtok|gets|alloca|rand|srand|system|popen|gethostbyname)[[:space:]]*\('

while IFS= read -r file; do
	words "$file" 'volatile([^A-Za-z0-9_]|$)' 'use C11 atomics'
	[ "$file" = lib/base/log.c ] ||
		words "$file" "$output" 'only lib/base/log.c may do this'
	words "$file" "$signals" 'a library leaves signals alone'
	words "$file" "$better" 'there is a safer function'
	# A definition with its continued lines as one line.
	strip_c "$file" | awk -v file="$file" '
		/^[ \t]*#[ \t]*define/ || more {
			text = more ? text " " $0 : $0
			more = /\\$/
			if (!more && text ~ /[^A-Za-z0-9_](return|goto)[^A-Za-z0-9_]/)
				print file ":" NR ": macro with return or goto"
		}'
done < <(files_like 'lib/.*\.[ch]') >"$scratch/found"
fault_lines <"$scratch/found"

# Unfinished work, anywhere.
mapfile -t all < <(files_like '.*\.([ch]|cc|sh|mk|ac|am|def|[1-9])')
fault_lines < <(grep -nEw 'TO''DO|FIX''ME|XX''X|HA''CK' "${all[@]}" /dev/null)
finish
