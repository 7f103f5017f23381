/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-perf gather: the root gets the blocks of all ranks. */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	return tuttiGather(run->send, run->recv, run->count, run->type->type,
			   run->root, run->comm, NULL);
}

/* In place, the own block of a rank that is not the root is its input. */
static size_t check(const struct perf_run *run)
{
	bool root = run->info.rank == run->root;
	size_t wrong = 0;
	int rank;

	for (rank = 0; rank < run->info.count; rank++) {
		size_t at = (size_t)rank * run->count;

		if (root || (run->inplace && rank == run->info.rank))
			wrong += perf_expect_rank(run, at, rank, run->count);
		else
			wrong += perf_expect_poison(run, at, run->count);
	}
	return wrong;
}

const struct perf_op perf_gather = {
	.name = "gather",
	.size_text = "bytes of the root's receive buffer, all blocks",
	.bus = 1,
	.bus_share = true,
	.rooted = true,
	.in_place = true,
	.recv_total = true,
	.result = PERF_RESULT_ROOT,
	.call = call,
	.check = check,
};
