#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The built library gives exactly the symbols of the map, each tuttiX as a
# weak name for the same address as ptuttiX.
. "$(dirname "$0")/checklib.sh"

library=$build/.libs/libtutti.so
[ -e "$library" ] || skip "no shared library was built"

${NM:-nm} -D --defined-only "$library" |
	awk '$2 != "A" { sub(/@.*/, "", $3); print $3, $2, $1 }' |
	sort >"$scratch/symbols"
cut -d ' ' -f 1 "$scratch/symbols" >"$scratch/names"
sed -n '/global:/,/local:/s/^[[:space:]]*\([^;:]*\);.*/\1/p' lib/libtutti.map |
	sort >"$scratch/map"
fault_lines < <(comm -13 "$scratch/map" "$scratch/names" |
	sed 's/$/: given by the library, not in the map/')
fault_lines < <(comm -23 "$scratch/map" "$scratch/names" |
	sed 's/$/: in the map, not given by the library/')

fault_lines < <(awk '
	{ kind[$1] = $2; at[$1] = $3 }
	END {
		for (name in kind) {
			if (name !~ /^tutti/)
				continue
			if (kind[name] != "W" && kind[name] != "V")
				print name ": not weak, cannot be replaced"
			else if (("p" name) in at && at[name] != at["p" name])
				print name ": not the same function as p" name
		}
	}' "$scratch/symbols")
finish
