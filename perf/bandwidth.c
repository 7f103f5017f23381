/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf bandwidth: rank 0 sends messages to the last rank, one after the
 * other; an iteration ends with a byte that says that all have arrived.
 */
#include "perf.h"

static tuttiResult_t call(struct perf_run *run)
{
	int last = run->info.count - 1;

	if (run->info.rank == 0)
		return tuttiSend(run->send, run->count, run->type->type, last,
				 run->comm, NULL);
	if (run->info.rank == last)
		return tuttiRecv(run->recv, run->count, run->type->type, 0,
				 run->comm, NULL);
	return tuttiSuccess;
}

static tuttiResult_t close_batch(struct perf_run *run)
{
	int last = run->info.count - 1;

	if (run->info.rank == last)
		return tuttiSend(&run->ack, 1, tuttiChar, 0, run->comm, NULL);
	if (run->info.rank == 0)
		return tuttiRecv(&run->ack, 1, tuttiChar, last, run->comm,
				 NULL);
	return tuttiSuccess;
}

static size_t check(const struct perf_run *run)
{
	if (run->info.rank == run->info.count - 1)
		return perf_expect_rank(run, 0, 0, run->count);
	return perf_expect_untouched(run, 0, run->count);
}

const struct perf_op perf_bandwidth = {
	.name = "bandwidth",
	.size_text = "bytes of a message",
	.bus = 1,
	.note = "from rank 0 to the last rank; an iteration is at least 16 "
		"messages and one byte back",
	.ranks_min = 2,
	.table = PERF_BANDWIDTH,
	.bytes_default = true,
	.max_default = 8 << 20,
	.calls_min = 16,
	.call = call,
	.close = close_batch,
	.check = check,
};
