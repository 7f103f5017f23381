#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A run that was cut, by a flag, by signals or by kill -9, and resumed ends
# with the bits of the unbroken one (case 84); whatever is wrong with the
# checkpoint is told in one sentence.
. "${top_srcdir:-.}/tests/proc/trainlib.sh"
make_data
ckpt=$work/run.ckpt
set -- --steps 60 --seed 1 --batch 64

# Status $1, and one line on stderr like $2; further words are flags.
refused() {
	want=$1 like=$2
	shift 2
	train 2 "$want" "$@"
	expect "$(grep -c '^tutti-train:' "$work/err")" 1 "sentences: $*"
	expect_line "$work/err" "$like" "sentence: $*"
}

for n in 2 4; do
	train "$n" 0 "$@" --json "$work/whole$n"
	rm -f "$ckpt"
	train "$n" 130 "$@" --checkpoint "$ckpt" --stop-after 30 \
		--json "$work/cut"
	expect_line "$work/out" "with --resume $ckpt" 'how to go on'
	expect "$(losses "$work/cut" | tail -n 1 | cut -d ' ' -f 1)" 30 'cut at'
	train "$n" 0 "$@" --resume "$ckpt" --json "$work/cut"
	expect_hash "$work/cut" "$(hash_of "$work/whole$n")"
	expect_close "$work/whole$n" "$work/cut" 0 60
done

# A shorter run is a run cut short, too.
train 2 0 --steps 30 --seed 1 --batch 64 --checkpoint "$ckpt"
train 2 0 "$@" --resume "$ckpt" --checkpoint "$ckpt" --json "$work/longer"
expect_hash "$work/longer" "$(hash_of "$work/whole2")"
# What is done is not done again, but measured.
train 2 0 "$@" --resume "$ckpt" --json "$work/done"
expect_hash "$work/done" "$(hash_of "$work/whole2")"
expect "$(accuracy_of "$work/done")" "$(accuracy_of "$work/whole2")" \
	'accuracy of a finished run'
# Another number of ranks may go on.
train 2 130 "$@" --checkpoint "$ckpt" --stop-after 30
train 3 0 "$@" --resume "$ckpt" --json "$work/more"
expect_line "$work/out" 'rounding will differ' 'a note on rounding'
expect_line "$work/out" 'test accuracy 9' 'other number of ranks'

# ---- Ctrl-C, kill, kill -9 ---------------------------------------------
# Start a run of two ranks that would take hours: it ends only by a signal.
start() {
	rm -f "$ckpt"
	PROC_MARK=$mark setsid "$tutti" run -n 2 -- "$trainer" --data "$data" \
		--model mlp:32,16 --epochs 100000 --seed 1 --batch 64 \
		--checkpoint "$ckpt" "$@" >"$work/out" 2>"$work/err" \
		</dev/null &
	started=$!
	within 20 all_exist "$ckpt" || fault 'no checkpoint within 20 s'
}

steps_done() {
	sed -n 's/^{"params_sha256".*"steps_done":\([0-9]*\).*/\1/p' "$1"
}

# The launcher, too, tells the signal that it got.
for signal in INT:130 TERM:143; do
	start --json "$work/signal"
	kill -"${signal%:*}" "$started"
	wait "$started"
	expect "$?" "${signal#*:}" "status after SIG$signal"
	expect_line "$work/out" 'interrupted after step' "line after SIG$signal"
	done=$(steps_done "$work/signal")
	train 2 0 --steps "$done" --batch 64 --json "$work/straight"
	expect_hash "$work/signal" "$(hash_of "$work/straight")"
	train 2 0 --steps "$done" --batch 64 --resume "$ckpt" \
		--json "$work/loaded"
	expect_hash "$work/loaded" "$(hash_of "$work/straight")"
done

# One rank alone: the other does not wait for it in vain.
start
# shellcheck disable=SC2046 # one id
kill -KILL $(marked "$mark" | while read -r pid; do
	tr '\0' '\n' <"/proc/$pid/environ" | grep -q '^TUTTI_RANK=1$' &&
		echo "$pid"
done)
wait "$started"
expect "$?" 137 'status after the death of a rank'
within 5 none_marked "$mark" || fault 'processes outlive a dead rank'

start --checkpoint-every 7
for pid in $(marked "$mark"); do
	kill -KILL "$pid" 2>/dev/null
done
wait "$started" 2>/dev/null
within 5 none_marked "$mark" || fault 'processes live after kill -9'
train 2 0 --epochs 1 --batch 64 --resume "$ckpt"
done=$(sed -n 's/.*: step \([0-9]*\), epoch.*/\1/p' "$work/out")
train 2 0 --steps "$((done + 40))" --batch 64 --json "$work/straight"
train 2 0 --steps "$((done + 40))" --batch 64 --resume "$ckpt" \
	--checkpoint "$ckpt" --json "$work/loaded"
expect_hash "$work/loaded" "$(hash_of "$work/straight")"
# What a killed writer may have left is gone after the next write.
[ ! -e "$ckpt.tmp" ] || fault 'a temporary file is left'

# ---- Checkpoints that do not serve -------------------------------------
train 2 130 "$@" --checkpoint "$ckpt" --stop-after 30
cp "$ckpt" "$work/good"
refused 1 'with --seed 1, not 2' --steps 60 --seed 2 --batch 64 \
	--resume "$ckpt"
refused 1 'with --batch 64, not 65' --steps 60 --seed 1 --batch 65 \
	--resume "$ckpt"
refused 1 'is of another model' "$@" --model mlp:32 --resume "$ckpt"
refused 1 'No such file' "$@" --resume "$work/nothing"
refused 1 'is not a checkpoint' "$@" --resume "$0"
size=$(wc -c <"$work/good")
head -c "$((size - 1))" "$work/good" >"$ckpt"
refused 1 'is damaged' "$@" --resume "$ckpt" --checkpoint "$ckpt"
expect "$(wc -c <"$ckpt")" "$((size - 1))" 'size of a refused checkpoint'
{
	head -c 5000 "$work/good"
	printf x
	tail -c "+5002" "$work/good"
} >"$ckpt"
refused 1 'is damaged' "$@" --resume "$ckpt"

finish
