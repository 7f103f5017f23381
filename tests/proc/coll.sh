#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every algorithm of every collective, forced, with everything checked: ranks
# as threads, as processes that share memory, over TCP alone, and on nodes that
# the launcher makes them believe in.
set -eu
build=${top_builddir:-.}
walk=$build/tests/conform/walk
run=$build/tools/tutti

# At most this long together; a hang is a failure, not a wait.
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60

say() {
	printf '%s\n' "$*"
	"$@"
}

# shellcheck disable=SC2086 # a list of rank counts
say "$walk" ${WALK_RANKS:-1 2 3 4 7}
say "$run" run -n 4 --timeout 600 "$walk" --launched
say "$run" run -n 5 --nodes 3+2 --timeout 600 "$walk" --launched
say "$run" run -n 4 --nodes 0,1,0,1 --timeout 600 "$walk" --launched
say env TUTTI_TRANSPORTS=self,tcp \
	"$run" run -n 3 --timeout 600 "$walk" --launched
say env TUTTI_DETERMINISM=strict \
	"$run" run -n 5 --nodes 0,1,0,1,0 --timeout 600 "$walk" --launched
say env TUTTI_DEBUG_SEQ_START=2147483600 TUTTI_SLICE=4K \
	"$run" run -n 3 --nodes 2+1 --timeout 600 "$walk" --launched
say env TUTTI_DEBUG_SEQ_START=9223372036854775700 TUTTI_WAIT=sleep \
	"$run" run -n 2 --timeout 600 "$walk" --launched
