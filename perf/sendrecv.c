/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf sendrecv: each rank sends to the next one and receives from the
 * one before it, around the ring.  Even ranks send first and odd ones receive
 * first, so somebody always receives, also in a ring of odd length.
 */
#include "perf.h"

static int before(const struct perf_run *run)
{
	return (run->info.rank + run->info.count - 1) % run->info.count;
}

static tuttiResult_t send_next(struct perf_run *run)
{
	return tuttiSend(run->send, run->count, run->type->type,
			 (run->info.rank + 1) % run->info.count, run->comm,
			 NULL);
}

static tuttiResult_t recv_before(struct perf_run *run)
{
	return tuttiRecv(run->recv, run->count, run->type->type, before(run),
			 run->comm, NULL);
}

static tuttiResult_t call(struct perf_run *run)
{
	bool even = run->info.rank % 2 == 0;
	tuttiResult_t rc = even ? send_next(run) : recv_before(run);

	if (rc)
		return rc;
	return even ? recv_before(run) : send_next(run);
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_rank(run, 0, before(run), run->count);
}

const struct perf_op perf_sendrecv = {
	.name = "sendrecv",
	.size_text = "bytes that each rank sends, and receives",
	.bus = 1,
	.note = "a call is a send and a receive, one after the other",
	.ranks_min = 2,
	.result = PERF_RESULT_OWN,
	.call = call,
	.check = check,
};
