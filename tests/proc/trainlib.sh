# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the trainer's process tests share: a small data set, a run of a given
# number of ranks, and what its log says.
. "${top_srcdir:-.}/tests/proc/proc.sh"

build=$(cd "${top_builddir:-.}" && pwd)
trainer=$build/tools/tutti-train
[ -x "$trainer" ] || {
	echo "$trainer is not built"
	exit 99
}

# 2100 is no multiple of the batches below, nor are their last ones of the
# ranks.
data=$work/data
make_data() {
	mkdir "$data" && "$build/tests/proc/train_dataset" "$data" 2100 600 7 ||
		exit 99
}

# train RANKS STATUS FLAGS: a run that should end with this status; its
# output is in $work/out and $work/err.
train() {
	ranks=$1 status=$2
	shift 2
	expect_status "$status" run -n "$ranks" --timeout 60 -- "$trainer" \
		--data "$data" --model mlp:32,16 "$@"
	[ "$status" -ne 0 ] || [ ! -s "$work/err" ] || {
		fault "no error, but words on stderr: $*"
		cat "$work/err"
	}
}

# The steps and losses of a log, a line each.
losses() {
	sed -n 's/^{"step":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' "$1"
}

# A log that was appended to has several results: the last one counts.
hash_of() {
	sed -n 's/^{"params_sha256":"\([0-9a-f]*\)".*/\1/p' "$1" | tail -n 1
}

accuracy_of() {
	sed -n 's/^{"params_sha256".*"test_accuracy":\([0-9.]*\),.*/\1/p' "$1"
}

# Two logs with the same number of steps, losses within a relative $3, and
# at least $4 steps.
expect_close() {
	losses "$1" >"$work/a"
	losses "$2" >"$work/b"
	paste -d ' ' "$work/a" "$work/b" | awk -v limit="$3" -v least="$4" '
		NF != 4 || $1 != $3 { print "line " NR ": " $0; bad = 1; exit }
		{ d = ($2 - $4) / $2; d = d < 0 ? -d : d }
		!(d <= limit) { print "step " $1 ": " $2 " and " $4; bad = 1 }
		END { exit bad || NR < least }' ||
		fault "losses of $1 and $2 differ, or too few"
}

# A log whose last line has a hash, equal to the one given.
expect_hash() {
	expect "$(tail -n 1 "$1" | cut -c 1-17)" '{"params_sha256":' "end of $1"
	expect "$(hash_of "$1")" "$2" "hash of $1"
}
