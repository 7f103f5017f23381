#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every shell script passes shellcheck.
. "$(dirname "$0")/checklib.sh"
need shellcheck

mapfile -t scripts < <(source_files | while IFS= read -r f; do
	case $f in
	*.sh) printf '%s\n' "$f" && continue ;;
	esac
	head -n 1 "$f" | tr -d '\0' | grep -qE '^#!.*[ /](ba|da)?sh( |$)' &&
		printf '%s\n' "$f"
done)
shellcheck "${scripts[@]}" || fault "see above"
finish
