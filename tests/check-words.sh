#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Words that have no place in the library: `volatile` taken for ordering
# (case 18), output and ends of the process outside the log, handlers of
# signals, functions with a better sister, macros that leave a function.
. "$(dirname "$0")/checklib.sh"

mapfile -t lib < <(files_like 'lib/.*\.[ch]')
strip_c "${lib[@]}" >"$scratch/code"

# Faults for lines of the library's code that hold a word of $1.
words() {
	fault_lines < <(grep -E "^[^:]*:[0-9]+:(.*[^A-Za-z0-9_.>])?($1)" "$2" |
		sed -E "s|^([^:]*:[0-9]+):[[:space:]]*|\1: $3: |")
}

output='(stdout|stderr)([^A-Za-z0-9_]|$)'
output+='|(v?printf|puts|putchar|perror)[[:space:]]*\('
output+='|(exit|_exit|_Exit|quick_exit|abort)[[:space:]]*\('
signals='(signal|sigaction|sigprocmask|raise|kill|alarm|setitimer)[[:space:]]*\('
better='(v?sprintf|strcat|strtok|gets|alloca|rand|srand|system|popen|gethostbyname)[[:space:]]*\('

grep -v '^lib/base/log\.c:' "$scratch/code" >"$scratch/not-log"
words 'volatile([^A-Za-z0-9_]|$)' "$scratch/code" 'use C11 atomics'
words "$output" "$scratch/not-log" 'only lib/base/log.c may do this'
words "$signals" "$scratch/code" 'a library leaves signals alone'
words "$better" "$scratch/code" 'there is a safer function'

# A definition with its continued lines as one line.
fault_lines < <(awk '
	{
		at = $0
		sub(/^[^:]*:[0-9]+:/, "")
		at = substr(at, 1, length(at) - length($0) - 1)
	}
	/^[ \t]*#[ \t]*define/ || more {
		text = more ? text " " $0 : $0
		more = /\\$/
		if (!more && text ~ /[^A-Za-z0-9_](return|goto)[^A-Za-z0-9_]/)
			print at ": macro with return or goto"
	}' "$scratch/code")

# Unfinished work, anywhere.
mapfile -t all < <(files_like '.*\.([ch]|cc|sh|mk|ac|am|def|[1-9])')
fault_lines < <(grep -nEw 'TO''DO|FIX''ME|XX''X|HA''CK' "${all[@]}" /dev/null)
finish
