#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No file names a folder of the machine that it was written on, and nothing
# that a build makes is kept.
. "$(dirname "$0")/checklib.sh"

source_files >"$scratch/files"
# The letter in brackets keeps this line from finding itself.
fault_lines < <(tr '\n' '\0' <"$scratch/files" |
	xargs -0 grep -nIE '(^|[^A-Za-z0-9_.$}*])/([w]ork|[r]oot|[h]ome)(/|[^A-Za-z0-9_-]|$)' \
		/dev/null)
if [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1; then
	fault_lines < <(git ls-files -i -c --exclude-standard |
		sed 's/$/: kept by git though .gitignore lists it/')
fi
finish
