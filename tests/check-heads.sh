#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every source begins with its licence, and every C file says what it owns.
# White space: no line ends in a blank, every file ends in a newline.
. "$(dirname "$0")/checklib.sh"

mapfile -t sources < <(source_files | grep -E \
	'\.([ch]|cc|sh|mk|m4|ac|am|def|map|[1-9]|gp)$' | sort)
mapfile -t scripts < <(source_files | while IFS= read -r f; do
	case $(head -c 2 "$f" | tr -d '\0') in '#!') printf '%s\n' "$f" ;; esac
done)

fault_lines < <(awk '
	function judge() {
		if (file == "")
			return
		if (!licence)
			print file ":1: no SPDX line"
		if (file ~ /\.[ch]$/ && !comment)
			print file ":2: no comment on what the file owns"
	}
	FNR == 1 { judge(); file = FILENAME; licence = comment = 0 }
	FNR <= 3 && /SPDX-License-Identifier: BSD-3-Clause/ { licence = 1 }
	FNR == 2 && /^\/\*/ { comment = 1 }
	END { judge() }' "${sources[@]}" "${scripts[@]}")
for file in "${sources[@]}" "${scripts[@]}"; do
	[ -z "$(tail -c 1 "$file" | tr -d '\n')" ] ||
		fault "$file: no newline at the end"
done
fault_lines < <(grep -nE '[[:blank:]]$' "${sources[@]}" "${scripts[@]}" |
	sed 's/$/: blank at the end of the line/')
finish
