#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual's page of settings is what the program gives, and every TUTTI_
# name that the manual speaks of is in the table.
. "$(dirname "$0")/checklib.sh"

if [ -x "$build/tools/tutti" ]; then
	sh man/mksettings "$build/tools/tutti" >"$scratch/page" ||
		fault "man/mksettings failed"
	fault_lines < <(diff -u man/man7/tutti-settings.7 "$scratch/page" |
		sed '1,2d' | grep '^[-+]')
	[ "$faults" -eq 0 ] || echo \
		"run: man/mksettings tools/tutti >man/man7/tutti-settings.7"
fi

sed -n 's/^X(\([A-Z0-9_]*\),.*/TUTTI_\1/p' lib/base/settings.def |
	sort -u >"$scratch/known"
# Names that are no settings: constants of tutti.h.
grep -oE '\bTUTTI_[A-Z0-9_]+' include/tutti.h | sort -u >"$scratch/others"
mapfile -t pages < <(files_like 'man/man[0-9]/.*|README\.md')
fault_lines < <(grep -noE '\bTUTTI_[A-Z0-9_]*[A-Z0-9]\b' "${pages[@]}" |
	sort -t : -k 3 | awk -F : -v known="$scratch/known" \
	-v others="$scratch/others" '
	BEGIN {
		while ((getline line <known) > 0) ok[line] = 1
		while ((getline line <others) > 0) ok[line] = 1
	}
	!($3 in ok) { print $1 ":" $2 ": " $3 " is not in the table" }')
finish
