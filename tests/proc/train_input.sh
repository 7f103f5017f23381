#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What a user may get wrong: one sentence from all ranks together, a status
# that says so, and nothing half-written.
. "${top_srcdir:-.}/tests/proc/trainlib.sh"
make_data

# Status $1, and on stderr one sentence like $2; further words are flags.
wrong() {
	want=$1 like=$2
	shift 2
	train 3 "$want" "$@"
	expect "$(grep -c '^tutti-train:' "$work/err")" 1 "sentences: $*"
	expect_line "$work/err" "$like" "sentence: $*"
	! grep -q 'step 1' "$work/out" || fault "training began: $*"
}

# ---- Flags -------------------------------------------------------------
wrong 2 'did you mean --batch?' --bacth 64
wrong 2 'batch 0' --batch 0
wrong 2 'mode zero1' --mode zero1
wrong 2 'mlp:' --model gpt
wrong 2 'needs a value' --steps
expect_status 0 "$trainer" --help
expect_line "$work/out" '--checkpoint FILE' 'help'
expect_status 0 "$trainer" --version
expect_status 2 "$trainer" --sead 3
expect_line "$work/err" 'did you mean --seed?' 'without a launcher'

# ---- Data --------------------------------------------------------------
wrong 1 'dataset-fashion-mnist' --data "$work/none"
mkdir "$work/empty"
wrong 1 'dataset-fashion-mnist' --data "$work/empty"
file=$data/train-images-idx3-ubyte.gz
mv "$file" "$work/images"
wrong 1 'dataset-fashion-mnist'
head -c 20000 "$work/images" >"$file"
wrong 1 'damaged\|cut off'
cp "$data/t10k-images-idx3-ubyte.gz" "$file"
wrong 1 'labels for'
cp "$data/t10k-labels-idx1-ubyte.gz" "$file"
wrong 1 '0x00000801'
head -c 100 /dev/urandom >"$file"
wrong 1 'train-images'
mv "$work/images" "$file"

# Ranks with different data or flags do not train together.
mkdir "$work/other"
"$build/tests/proc/train_dataset" "$work/other" 2100 600 8
# shellcheck disable=SC2016 # ranks expand it
each='d=$1; [ "$TUTTI_RANK" != 1 ] || d=$2; shift 2
	exec "$0" --data "$d" --model mlp:8 --steps 4 "$@"'
expect_status 1 run -n 2 --timeout 60 -- sh -c "$each" "$trainer" "$data" \
	"$work/other"
expect_line "$work/err" 'rank 1 has another data set' 'other data'
# shellcheck disable=SC2016
each='exec "$0" --data "$1" --model mlp:8 --steps $((4 + TUTTI_RANK))'
expect_status 1 run -n 2 --timeout 60 -- sh -c "$each" "$trainer" "$data"
expect_line "$work/err" 'rank 1 has other flags' 'other flags'

# ---- Files to write: refused before training ---------------------------
wrong 1 "$work/none/run.ckpt" --checkpoint "$work/none/run.ckpt"
wrong 1 'not a regular file' --checkpoint /dev/null
wrong 1 'not a regular file' --checkpoint "$work/empty"
wrong 1 "$work/none/log" --json "$work/none/log"
wrong 2 'checkpoint FILE' --checkpoint-every 5
if [ "$(id -u)" -ne 0 ]; then
	chmod 500 "$work/empty"
	wrong 1 'Permission denied' --checkpoint "$work/empty/run.ckpt"
fi
if [ -w /dev/full ]; then
	train 2 1 --steps 5 --json /dev/full
	expect_line "$work/err" 'could not write all of the log' 'full disk'
fi

# ---- Divergence --------------------------------------------------------
train 2 1 --lr 1000 --momentum 1 --steps 500 --checkpoint "$work/run.ckpt"
expect_line "$work/err" 'diverged; try a smaller --lr' 'divergence'
[ ! -e "$work/run.ckpt" ] || fault 'a diverged run was saved'
[ ! -e "$work/run.ckpt.tmp" ] || fault 'a temporary file is left'

# ---- Drawing -----------------------------------------------------------
mkdir "$work/bin"
for word in sh env cat; do
	ln -s "$(command -v $word)" "$work/bin/$word"
done
expect_status 1 env PATH="$work/bin" "$trainer" --data "$data" \
	--steps 5 --plot "$work/plot.svg"
expect_line "$work/err" 'gnuplot-nox' 'no gnuplot'
! grep -q 'step 1' "$work/out" || fault 'training began without gnuplot'
if command -v gnuplot >/dev/null; then
	train 2 0 --epochs 3 --batch 100 --plot "$work/plot.svg"
	expect_line "$work/plot.svg" '</svg>' 'a drawing'
	expect_line "$work/plot.svg" 'Test accuracy' 'a drawing'
	train 2 0 --emulate-compute 1 --steps 5 --plot "$work/plot.svg"
	expect_line "$work/plot.svg" 'emulated' 'drawing of an emulation'
	wrong 1 "$work/none/plot.svg" --plot "$work/none/plot.svg"
	[ ! -e "$work/plot.svg.tmp" ] || fault 'a temporary file is left'
fi

# ---- What a person sees ------------------------------------------------
# Plain lines where there is no terminal.
train 2 0 --epochs 2 --batch 20
! tr '\r\033' '!!' <"$work/out" | grep -q '!' || fault 'control bytes'
[ "$(grep -c 'samples/s' "$work/out")" -le 12 ] || fault 'too many lines'
for line in '^2 ranks on 1 node' '2100 training and 600 test images' \
	'model 144-32-16-10: .* parameters' '^epoch 1, 105 steps: .*accuracy' \
	'^  computing  ' '^  communicating  ' '^  waiting  ' '^  other  ' \
	'^params_sha256 [0-9a-f]\{64\}, the same on all ranks'; do
	expect_line "$work/out" "$line" 'report'
done
train 2 0 --epochs 1 --batch 20 --quiet
! grep -q 'samples/s' "$work/out" || fault '--quiet speaks'

# A bar on a terminal.
if command -v script >/dev/null; then
	PROC_MARK=$mark script -qec "$tutti run -n 2 -- $trainer --data $data \
		--epochs 30 --batch 20 --model mlp:16" /dev/null \
		>"$work/out" </dev/null
	expect "$?" 0 'status on a terminal'
	tr '\r' '\n' <"$work/out" >"$work/lines"
	expect_line "$work/lines" '^\[#*\.*\] epoch .* left' 'progress bar'
	# Wider ones would wrap and could not be drawn over.
	awk '/samples.s/ { sub(/\033.*/, ""); if (length > 79) exit 1 }' \
		"$work/lines" || fault 'the bar is wider than 80 columns'
fi

finish
