#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No word is spelled in a way that codespell knows to be wrong.
. "$(dirname "$0")/checklib.sh"
need codespell

mapfile -t files < <(source_files | grep -vE '\.(xml|svg|png)$')
fault_lines < <(codespell --ignore-regex '\\[abfnrtv]' -L "$(tr '\n' ',' <<'END'
bu
inout
nin
statics
END
)" "${files[@]}")
finish
