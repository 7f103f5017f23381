/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf broadcast: every rank gets the root's buffer. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiBroadcast(run->send, run->recv, run->count,
			      run->type->type, run->root, run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_rank(run, 0, run->root, run->count);
}

const struct perf_op perf_broadcast = {
	.name = "broadcast",
	.size_text = "bytes of the root's buffer",
	.bus = 1,
	.rooted = true,
	.in_place = true,
	.result = PERF_RESULT_SAME,
	.call = call,
	.check = check,
};
