/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce on a double binary tree: each half of the block goes up a binary tree
 * of its own to the root, as a sum.  It is the way up of allreduce_dbtree.c,
 * with ranks numbered from the root: who has children in one tree has none in
 * the other, so each rank takes as much as it sends.
 *
 * Steps: log2 n, rounded up.  Sent by each rank but the root: 2 halves of its
 * block.  Limits: none; long messages, many ranks.
 *
 * 5 ranks with a to e, root 0; a0 and a1 are the halves of a:
 *
 *	rank    0           1             2            3            4
 *	first               b0 to 2       b0+c0+d0     d0 to 2      (bcd)0+e0
 *	        a0+(bcde)0                to 4                      to 0
 *	second              (cde)1+b1     c1 to 3      c1+d1+e1     e1 to 3
 *	        a1+(cdeb)1  to 0                       to 1
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

const struct tutti_algo tutti_algo_reduce_dbtree = {
	.coll = TUTTI_REDUCE,
	.help = "log2 n steps, 1 block: halves go up two binary trees; long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = tutti_twins_build,
	.cost = cost,
};
