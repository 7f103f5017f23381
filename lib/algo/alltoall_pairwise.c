/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall, pair by pair: in step i every rank gives its block to the rank i
 * above it and takes one from the rank i below, so at any time each rank has
 * one message to send and one to receive.
 *
 * Steps: n - 1.  Sent by each rank: n - 1 blocks.  Limits: none; long messages
 * on networks where many senders to one receiver get in each other's way.
 *
 * 4 ranks, a0..a3 the blocks of rank 0's IN, and so on; what each rank gives:
 *
 *	rank    0        1        2        3
 *	step 1  a1 to 1  b2 to 2  c3 to 3  d0 to 0
 *	step 2  a2 to 2  b3 to 3  c0 to 0  d1 to 1
 *	step 3  a3 to 3  b0 to 0  c1 to 1  d2 to 2
 */
#include "config.h"

#include "sched/emit.h"

/* The chunk or the mail of the rank `step` from this one, then of the next. */
static struct tutti_ref moving(int place, int me, int step)
{
	struct tutti_ref ref = { .place = (uint8_t)place, .count = 1 };

	ref.rank = place == TUTTI_MAIL ? me + step : me;
	ref.rank_iter = place == TUTTI_MAIL ? step : 0;
	ref.chunk = place == TUTTI_MAIL ? 0 : me + step;
	ref.chunk_iter = place == TUTTI_MAIL ? 0 : step;
	return ref;
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, me));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_combine(&e, 0, 1);

	tutti_emit_run(&e, n - 1);
	tutti_emit_src(&e, moving(TUTTI_IN, me, 1));
	tutti_emit_dst(&e, moving(TUTTI_MAIL, me, 1));
	tutti_emit_combine(&e, 0, 1);
	tutti_emit_src(&e, moving(TUTTI_MAIL, me, -1));
	tutti_emit_dst(&e, moving(TUTTI_OUT, me, -1));
	tutti_emit_combine(&e, 0, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){ .steps = n - 1, .chunks_sent = n - 1 };
}

const struct tutti_algo tutti_algo_alltoall_pairwise = {
	.coll = TUTTI_ALLTOALL,
	.help = "n-1 steps, n-1 blocks: one partner at a time; long messages between nodes",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
