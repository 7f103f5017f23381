/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf reduce_scatter: each rank gets its block of the reduction. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiReduceScatter(run->send, run->recv, run->count,
				  run->type->type, run->redop->op, run->comm,
				  NULL);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_reduced(run, 0, (size_t)run->info.rank * run->count,
				   run->count);
}

const struct perf_op perf_reduce_scatter = {
	.name = "reduce_scatter",
	.size_text = "bytes of each rank's send buffer, all blocks",
	.bus = 1,
	.bus_share = true,
	.reduces = true,
	.in_place = true,
	.send_total = true,
	.result = PERF_RESULT_BLOCKS,
	.call = call,
	.check = check,
};
