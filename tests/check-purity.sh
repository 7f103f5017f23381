#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builders of schedules are pure: they call the schedule room, their own room
# and small arithmetic, nothing else.  Schedules and the model do no input or
# output and see neither clock nor environment.
. "$(dirname "$0")/checklib.sh"

grep -q 'fsanitize' "$build/config.status" 2>/dev/null &&
	skip "sanitizers add symbols of their own"

objects() {
	find "$build/lib/$1" -name '*.o' 2>/dev/null
}

undefined() {
	${NM:-nm} -A -u "$@" 2>/dev/null |
		sed -E "s|^$build/||; s/^([^:]*):.* [Uw] ([^@]*).*/\1 \2/"
}

mapfile -t builders < <(objects algo)
[ ${#builders[@]} -gt 0 ] || skip "no builders were compiled here"
mapfile -t friends < <(objects algo; objects sched;
	find "$build/lib/base" -name bits.o)
{
	${NM:-nm} --defined-only "${friends[@]}" | awk 'NF == 3 { print $3 }'
	printf '%s\n' memcpy memset memmove memcmp strcmp strncmp \
		__stack_chk_fail __assert_fail _GLOBAL_OFFSET_TABLE_
} | sort -u >"$scratch/friends"
fault_lines < <(undefined "${builders[@]}" | sort -k 2 |
	join -1 2 -v 1 - "$scratch/friends" |
	awk '{ print $2 ": a builder may not use " $1 }')

mapfile -t silent < <(objects sched; objects model)
fault_lines < <(undefined "${silent[@]}" | awk '
	$2 ~ /^(open|read|write|fopen|printf|puts|socket|send|recv|poll|getenv|secure_getenv|clock_gettime|gettimeofday|time|sleep|usleep|nanosleep|pthread_.*)$/ {
		print $1 ": no input, output, clock or environment: " $2
	}')
finish
