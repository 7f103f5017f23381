/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf barrier: the time of a barrier; no data move. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiBarrier(run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_untouched(run, 0, run->recv_count);
}

const struct perf_op perf_barrier = {
	.name = "barrier",
	.size_text = "0",
	.no_data = true,
	.call = call,
	.check = check,
};
