#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tutti.h needs no other header and no extension, in C99, C11, C++11 and
# later, with every warning an error.
. "$(dirname "$0")/checklib.sh"

try() {
	local out
	out=$("$@" 2>&1) || fault "$*: $out"
}

printf '#include <tutti.h>\nint main(void)\n{\n\treturn tuttiSuccess;\n}\n' \
	>"$scratch/alone.c"
cp "$scratch/alone.c" "$scratch/alone.cc"
flags=(-pedantic-errors -Wall -Wextra -Werror -Iinclude -fsyntax-only)

for std in c99 c11 c17; do
	# shellcheck disable=SC2086
	try ${CC:-cc} -std=$std -Wstrict-prototypes "${flags[@]}" \
		"$scratch/alone.c"
done
# shellcheck disable=SC2086
if ! command -v ${CXX:-c++} >/dev/null; then
	[ "$faults" -ne 0 ] || skip "no C++ compiler; C was checked"
fi
for std in c++11 c++17 c++20; do
	# shellcheck disable=SC2086
	try ${CXX:-c++} -std=$std "${flags[@]}" "$scratch/alone.cc"
done
finish
