/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast on a double binary tree: each half of the block goes down a binary
 * tree of its own.  It is the way down of allreduce_dbtree.c, with ranks
 * numbered from the root: who has children in one tree has none in the other,
 * so each rank sends at most as much as it takes.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: at most 2 halves of the block.
 * Limits: none; long messages, many ranks.
 *
 * 5 ranks, root 0 with a0 and a1:
 *
 *	rank    0           1             2            3            4
 *	first   a0 to 4                   from 4       from 2       from 0
 *	                    from 2        to 1 and 3                to 2
 *	second  a1 to 1     from 0        from 3       from 1       from 3
 *	                    to 3                       to 2 and 4
 */
#include "config.h"

#include "algo/twins.h"

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n > 1 ? 2 : 0,
	};
}

const struct tutti_algo tutti_algo_broadcast_dbtree = {
	.coll = TUTTI_BROADCAST,
	.help = "log2 n steps, 1 block: halves go down two binary trees; long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = tutti_twins_build,
	.cost = cost,
};
