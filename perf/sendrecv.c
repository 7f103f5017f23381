/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf sendrecv: each rank sends to the next one around the ring and
 * receives from the one before it, both at once in a group.
 */
#include "perf.h"

static int before(const struct perf_run *run)
{
	return (run->info.rank + run->info.count - 1) % run->info.count;
}

/* The group is ended also after an error, which its end returns. */
static tuttiResult_t call(struct perf_run *run)
{
	int next = (run->info.rank + 1) % run->info.count;
	tuttiResult_t rc = tuttiGroupStart();

	if (rc)
		return rc;
	rc = tuttiSend(run->send, run->count, run->type->type, next,
		       run->comm, NULL);
	if (!rc)
		tuttiRecv(run->recv, run->count, run->type->type, before(run),
			  run->comm, NULL);
	return tuttiGroupEnd();
}

static size_t check(const struct perf_run *run)
{
	return perf_expect_rank(run, 0, before(run), run->count);
}

const struct perf_op perf_sendrecv = {
	.name = "sendrecv",
	.size_text = "bytes that each rank sends, and receives",
	.bus = 1,
	.note = "a call is a send and a receive at once, in a group",
	.ranks_min = 2,
	.result = PERF_RESULT_OWN,
	.call = call,
	.check = check,
};
