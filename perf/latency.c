/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf latency: a message from rank 0 to the last rank and one back.
 * The time reported is half of that.  Rank 0 and the last rank, because these
 * sit on different nodes if any two do.  The ranks between them wait in the
 * barrier.
 */
#include "perf.h"

static tuttiResult_t give(struct perf_run *run, int peer)
{
	return tuttiSend(run->send, run->count, run->type->type, peer,
			 run->comm, NULL);
}

static tuttiResult_t take(struct perf_run *run, int peer)
{
	return tuttiRecv(run->recv, run->count, run->type->type, peer,
			 run->comm, NULL);
}

static tuttiResult_t call(struct perf_run *run)
{
	int last = run->info.count - 1;
	tuttiResult_t rc = tuttiSuccess;

	if (run->info.rank == 0) {
		rc = give(run, last);
		if (!rc)
			rc = take(run, last);
	} else if (run->info.rank == last) {
		rc = take(run, 0);
		if (!rc)
			rc = give(run, 0);
	}
	return rc;
}

static size_t check(const struct perf_run *run)
{
	int last = run->info.count - 1;

	if (run->info.rank == 0)
		return perf_expect_rank(run, 0, last, run->count);
	if (run->info.rank == last)
		return perf_expect_rank(run, 0, 0, run->count);
	return perf_expect_untouched(run, 0, run->count);
}

const struct perf_op perf_latency = {
	.name = "latency",
	.size_text = "bytes of a message",
	.bus = 1,
	.note = "between rank 0 and the last rank; time = half a round trip",
	.ranks_min = 2,
	.table = PERF_LATENCY,
	.bytes_default = true,
	.iterations_default = 1000,
	.max_default = 64 << 10,
	.messages = 2,
	.call = call,
	.check = check,
};
