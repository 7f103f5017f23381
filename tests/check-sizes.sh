#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lists the longest files and functions and the widest lines, to look at.
# Fails only if it finds no function at all.
. "$(dirname "$0")/checklib.sh"

mapfile -t files < <(files_like '(lib|tools|perf)/.*\.[ch]')
echo "Longest files (think again at 800):"
wc -l "${files[@]}" | grep -v ' total$' | sort -rn | head -n 10

echo "Longest functions (think again at 70):"
awk '
	FNR == 1 { start = 0 }
	/^[A-Za-z_].*\(/ && !/;$/ { name = $0; sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name) }
	/^\{/ { start = FNR }
	/^\}/ && start { printf "%6d %s %s:%d\n", FNR - start - 1, name,
		FILENAME, start; start = 0 }
' "${files[@]}" | sort -rn >"$scratch/functions"
head -n 15 "$scratch/functions"
[ -s "$scratch/functions" ] || fault "found no function"

echo "Lines of over 80 columns:"
for file in "${files[@]}"; do
	expand "$file" | awk -v f="$file" 'length > 80 { n++ }
		END { if (n) printf "%6d %s\n", n, f }'
done | sort -rn
finish
