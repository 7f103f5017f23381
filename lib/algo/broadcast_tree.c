/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast down a binary tree, in slices that follow one another.  Ranks are
 * numbered from the root upwards; the root sends to one, the others to two at
 * most, so a slice takes the time of two and not of log2 n.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: at most 2 blocks.  Limits:
 * none; medium messages, many ranks (for long ones dbtree sends half).
 *
 * 5 ranks, root 0 with a:
 *
 *	rank       0            1         2            3         4
 *	step 1     a to 4
 *	step 2                                                   a to 2
 *	step 3                            a to 1 and 3
 */
#include "config.h"

#include "algo/twins.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_twin t = tutti_twin_tree(q->shape->ranks, q->root,
					      q->rank, 0);
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (q->rank == q->root)
		tutti_twin_root(&e, 0, t);
	else
		tutti_twin_down(&e, 0, t);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n < 4 ? n > 1 : 2,
	};
}

const struct tutti_algo tutti_algo_broadcast_tree = {
	.coll = TUTTI_BROADCAST,
	.help = "log2 n steps, 2 blocks: slices go down a binary tree; medium messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
