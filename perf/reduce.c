/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf reduce: the root gets the reduction of all buffers. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiReduce(run->send, run->recv, run->count, run->type->type,
			   run->redop->op, run->root, run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	if (run->info.rank == run->root)
		return perf_expect_reduced(run, 0, 0, run->count);
	return perf_expect_untouched(run, 0, run->count);
}

const struct perf_op perf_reduce = {
	.name = "reduce",
	.size_text = "bytes of each rank's send buffer",
	.bus = 1,
	.reduces = true,
	.rooted = true,
	.in_place = true,
	.result = PERF_RESULT_ROOT,
	.call = call,
	.check = check,
};
