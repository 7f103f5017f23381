#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual is well-formed: mandoc's lint where there is mandoc, else
# groff's warnings.
. "$(dirname "$0")/checklib.sh"

# Links to other pages have no text of their own.
mapfile -t pages < <(files_like 'man/man[1-9]/.*\.[1-9]' |
	tr '\n' '\0' | xargs -0 grep -L '^\.so ')
[ ${#pages[@]} -gt 0 ] || { fault "no pages"; finish; }
if command -v mandoc >/dev/null; then
	fault_lines < <(mandoc -T lint -W warning "${pages[@]}" 2>&1 |
		grep -vE 'referenced manual not found')
elif command -v groff >/dev/null; then
	for page in "${pages[@]}"; do
		fault_lines < <(cd man && groff -man -ww -z "../$page" 2>&1)
	done
else
	skip "neither mandoc nor groff is installed"
fi
finish
