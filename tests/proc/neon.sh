#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernels of 64-bit Arm on a machine that is none: cross-compiled with as
# little of the library as they need, and run under user-mode emulation.
# CROSS_CC and QEMU name other programs than Debian's.
set -eu

src=${top_srcdir:-.}
cc=${CROSS_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU:-qemu-aarch64}

skip() {
	echo "skipped: $1"
	exit 77
}

command -v "$cc" >/dev/null || skip "there is no cross compiler $cc"
command -v "$qemu" >/dev/null || skip "there is no emulator $qemu"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 'int main(void) { return 0; }' >"$dir/empty.c"
"$cc" -static -o "$dir/empty" "$dir/empty.c" -lm -lpthread 2>/dev/null ||
	skip "$cc has no static C library"

printf '#define HAVE_NEON 1\n' >"$dir/config.h"
lib=$src/lib
"$cc" -std=gnu11 -D_GNU_SOURCE -O2 -ffp-contract=off -Wall -static \
	-I"$dir" -I"$src/include" -I"$lib" -I"$src/tests" \
	-o "$dir/kernels" \
	"$src/tests/stress/kernels.c" \
	"$src/tests/unit/reduce_check.c" "$src/tests/unit/reduce_reference.c" \
	"$lib"/reduce/{average,convert,copy,dispatch,neon,scalar}.c \
	"$lib"/base/{bits,fail,log,settings}.c \
	-lm -lpthread
timeout 300 "$qemu" "$dir/kernels" -t "${THIN:-256}"
