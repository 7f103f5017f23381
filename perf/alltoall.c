/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf alltoall: every rank gives a block to every rank. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiAlltoAll(run->send, run->recv, run->count, run->type->type,
			     run->comm, NULL);
}

static size_t check(const struct perf_run *run)
{
	size_t mine = (size_t)run->info.rank * run->count, wrong = 0;
	int rank;

	for (rank = 0; rank < run->info.count; rank++)
		wrong += perf_expect_block(run, (size_t)rank * run->count,
					   rank, mine, run->count);
	return wrong;
}

const struct perf_op perf_alltoall = {
	.name = "alltoall",
	.size_text = "bytes of each rank's send buffer, all blocks",
	.bus = 1,
	.bus_share = true,
	.in_place = true,
	.send_total = true,
	.recv_total = true,
	.result = PERF_RESULT_OWN,
	.call = call,
	.check = check,
};
