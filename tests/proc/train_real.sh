#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Fashion-MNIST itself: 1, 2 and 4 ranks agree on every loss, and one epoch
# learns what it should.
. "${top_srcdir:-.}/tests/proc/trainlib.sh"
[ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] || {
	echo 'skipped: the package dataset-fashion-mnist is not installed'
	exit 77
}

real() {
	ranks=$1
	shift
	expect_status 0 run -n "$ranks" --timeout 120 -- "$trainer" "$@"
}

for n in 1 2 4; do
	real "$n" --steps 60 --seed 1 --batch 256 --json "$work/n$n"
done
expect_close "$work/n1" "$work/n2" 1e-4 60
expect_close "$work/n1" "$work/n4" 1e-4 60
real 2 --epochs 1 --json "$work/epoch"
accuracy_of "$work/epoch" | awk '{ exit !($1 > 0.82) }' ||
	fault "accuracy after an epoch: $(accuracy_of "$work/epoch")"

finish
