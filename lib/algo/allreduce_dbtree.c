/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce on a double binary tree: each half of the block goes up a binary
 * tree of its own to rank 0 as a sum, and down again as the result.  Who has
 * children in one tree has none in the other, so all links are at work in both
 * directions once slices follow one another.
 *
 * The first tree is in rank order, and the odd ranks are its leaves; the second
 * is the same with every rank in the place of the one before it.  Rank 0 is the
 * root of both, so that the two never wait for one another.
 *
 * Steps: 2 log2 n, rounded up.  Sent by the busiest rank: 4 halves of its
 * block.  Limits: none; long messages, many ranks.
 *
 * 5 ranks with a to e; a0 and a1 are the halves of a.  The sums that go up,
 * and the way of the results down:
 *
 *	rank    0           1             2            3            4
 *	first               b0 to 2       b0+c0+d0     d0 to 2      (bcd)0+e0
 *	                                  to 4                      to 0
 *	        a0+(bcde)0 to 4           from 4       from 2       from 0
 *	                    from 2        to 1 and 3                to 2
 *	second              (cde)1+b1     c1 to 3      c1+d1+e1     e1 to 3
 *	                    to 0                       to 1
 *	        a1+(cdeb)1  from 0        from 3       from 1       from 3
 *	        to 1        to 3                       to 2 and 4
 */
#include "config.h"

#include "algo/twins.h"

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = 2 * (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n == 1 ? 0 : n < 4 ? n : 4,
	};
}

const struct tutti_algo tutti_algo_allreduce_dbtree = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2 log2 n steps, 2 blocks: halves go up and down two trees; long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = tutti_twins_build,
	.cost = cost,
};
