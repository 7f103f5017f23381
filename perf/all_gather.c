/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf all_gather: every rank gets the blocks of all ranks. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiAllGather(run->send, run->recv, run->count,
			      run->type->type, run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	size_t wrong = 0;
	int rank;

	for (rank = 0; rank < run->info.count; rank++)
		wrong += perf_expect_rank(run, (size_t)rank * run->count, rank,
					  run->count);
	return wrong;
}

const struct perf_op perf_all_gather = {
	.name = "all_gather",
	.size_text = "bytes of each rank's receive buffer, all blocks",
	.bus = 1,
	.bus_share = true,
	.in_place = true,
	.recv_total = true,
	.result = PERF_RESULT_SAME,
	.call = call,
	.check = check,
};
