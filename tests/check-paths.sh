#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No file names a folder of the machine that it was written on.
. "$(dirname "$0")/checklib.sh"

source_files >"$scratch/files"
# The letter in brackets keeps this line from finding itself.
fault_lines < <(tr '\n' '\0' <"$scratch/files" |
	xargs -0 grep -nIE '(^|[^A-Za-z0-9_.$}*])/([w]ork|[r]oot|[h]ome)(/|[^A-Za-z0-9_-]|$)' \
		/dev/null)
finish
