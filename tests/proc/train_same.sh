#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The same training on any number of ranks (case 83): losses of every step
# agree, whatever batch, pieces and buckets; the same number of ranks gives
# the same bits again.
. "${top_srcdir:-.}/tests/proc/trainlib.sh"
make_data

for n in 1 2 4; do
	train "$n" 0 --steps 60 --seed 1 --batch 64 --json "$work/n$n"
	expect_line "$work/out" 'test accuracy 9' "learning on $n ranks"
done
expect_close "$work/n1" "$work/n2" 1e-4 60
expect_close "$work/n1" "$work/n4" 1e-4 60

# Again: the same bits.
train 4 0 --steps 60 --seed 1 --batch 64 --json "$work/again"
expect_hash "$work/again" "$(hash_of "$work/n4")"
# Another seed: others.
train 2 0 --steps 60 --seed 2 --batch 64 --json "$work/seed"
[ "$(hash_of "$work/seed")" != "$(hash_of "$work/n2")" ] ||
	fault 'two seeds, one result'

# Batches that the ranks do not divide, and over the end of an epoch with its
# smaller last batch; ranks without a sample (cases 83, 84).
train 1 0 --epochs 2 --batch 1001 --json "$work/u1"
train 3 0 --epochs 2 --batch 1001 --json "$work/u3"
expect_close "$work/u1" "$work/u3" 1e-4 6
train 1 0 --steps 20 --batch 3 --json "$work/t1"
train 5 0 --steps 20 --batch 3 --json "$work/t5"
expect_close "$work/t1" "$work/t5" 1e-4 20

# Pieces of a share, and buckets of any size.
train 2 0 --steps 60 --batch 64 --accumulate 5 --json "$work/pieces"
expect_close "$work/n1" "$work/pieces" 1e-4 60
train 2 0 --steps 10 --batch 64 --accumulate 50 --json "$work/tiny"
train 2 0 --steps 60 --batch 64 --bucket 1000 --json "$work/buckets"
expect_close "$work/n1" "$work/buckets" 1e-4 60
expect_line "$work/out" 'in 22 buckets' 'number of buckets'

# A batch over the whole data set is one step.
train 2 0 --epochs 3 --batch 5000 --json "$work/whole"
expect "$(losses "$work/whole" | wc -l)" 3 'steps of whole epochs'

# An emulated accelerator: no data, no losses, but steps that take time.
data=$work/none
train 2 0 --emulate-compute 5 --steps 20 --json "$work/emulated"
expect_line "$work/out" 'emulated' 'a word on emulation'
expect "$(losses "$work/emulated" | sort -u -k 2 | awk '{ print $2 }')" null \
	'losses of an emulation'
expect_line "$work/emulated" '"compute_ms":[5-9]\.' 'time of an emulated step'

# A rank that is 20 ms late: the others wait for it, it waits for nobody.
# shellcheck disable=SC2016 # ranks expand it
late='ms=5; [ "$TUTTI_RANK" != 1 ] || ms=25
	exec "$0" --emulate-compute $ms --steps 30 --json "$1"'
expect_status 0 run -n 2 --timeout 60 -- sh -c "$late" "$trainer" "$work/late"
tail -n 1 "$work/late" | sed 's/.*"rank_split":\[//; s/},{/\n/' |
	sed 's/.*"wait_ms":\([0-9.]*\).*/\1/' | tr '\n' ' ' >"$work/waits"
awk '{ exit !($1 > 15 && $1 < 40 && $2 < 5) }' "$work/waits" ||
	fault "waiting of two ranks, one 20 ms late: $(cat "$work/waits")"

finish
