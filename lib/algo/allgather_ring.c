/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather on a ring: every block travels once round, and every rank speaks
 * to its two neighbours only.
 *
 * Steps: n - 1.  Sent by each rank: n - 1 blocks.  Limits: none; long
 * messages.
 *
 * 4 ranks with a to d; what each rank sends to the next:
 *
 *	step   0     1     2     3
 *	1      a     b     c     d
 *	2      d     a     b     c
 *	3      c     d     a     b
 */
#include "config.h"

#include "algo/round.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, q->rank));
	tutti_round(&e, 0);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){ .steps = n - 1, .chunks_sent = n - 1 };
}

const struct tutti_algo tutti_algo_allgather_ring = {
	.coll = TUTTI_ALL_GATHER,
	.help = "n-1 steps, n-1 blocks: blocks go once round; long messages",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
