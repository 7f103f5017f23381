/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf scatter: each rank gets its block of the root's buffer. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiScatter(run->send, run->recv, run->count, run->type->type,
			    run->root, run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_block(run, 0, run->root,
				 (size_t)run->info.rank * run->count,
				 run->count);
}

const struct perf_op perf_scatter = {
	.name = "scatter",
	.size_text = "bytes of the root's send buffer, all blocks",
	.bus = 1,
	.bus_share = true,
	.rooted = true,
	.in_place = true,
	.send_total = true,
	.result = PERF_RESULT_BLOCKS,
	.call = call,
	.check = check,
};
