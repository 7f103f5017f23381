/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf all_reduce: every rank gets the reduction of all buffers. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiAllReduce(run->send, run->recv, run->count,
			      run->type->type, run->redop->op, run->comm,
			      NULL);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_reduced(run, 0, 0, run->count);
}

const struct perf_op perf_all_reduce = {
	.name = "all_reduce",
	.size_text = "bytes of each rank's buffer",
	.bus = 2,
	.bus_share = true,
	.reduces = true,
	.in_place = true,
	.result = PERF_RESULT_SAME,
	.call = call,
	.check = check,
};
