/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce on a binomial tree.  Ranks are numbered from the root upwards, the
 * root is 0; number v has the children v+1, v+2, v+4, ... as long as these are
 * below v's lowest set bit, and its parent is v without that bit.  Each rank
 * adds its own block and the sums of its children, in this order, so every sum
 * is over consecutive ranks from the root on.
 *
 * Strict, the tree stands on rank 0, where it is the balanced tree over rank
 * order, and rank 0 gives the result to the root.
 *
 * Steps: the largest number of set bits below n, which is log2 n rounded down;
 * strict, 1 more if the root is not rank 0.  Sent by each rank: at most 1
 * block.  Limits: none.
 *
 * 5 ranks with a to e, root 0:
 *
 *	rank       0              1         2         3         4
 *	step 1                    b to 0              d to 2    e to 0
 *	step 2                              c+d to 0
 *	OUT        a+b+(c+d)+e
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, v, bit;
	struct tutti_emit e;
	bool top, handed = q->strict && q->root != 0;

	v = handed ? q->rank : tutti_from_root(q);
	top = v == 0;
	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	for (bit = 1; v + bit < n && !(v & bit); bit *= 2)
		tutti_emit_src(&e, tutti_mail(q->rank + bit));
	if (!top)
		tutti_emit_dst(&e, tutti_mail(q->rank - (v & -v)));
	else if (handed)
		tutti_emit_dst(&e, tutti_mail(q->root));
	else
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	tutti_emit_combine(&e, top ? TUTTI_FINAL : 0, 1);
	if (handed && q->rank == q->root) {
		tutti_emit_src(&e, tutti_mail(0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
		tutti_emit_combine(&e, 0, 1);
	}
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_floor(n) +
			 (q->strict && q->root != 0),
		.chunks_sent = n > 1,
	};
}

const struct tutti_algo tutti_algo_reduce_binomial = {
	.coll = TUTTI_REDUCE,
	.help = "log2 n steps, 1 block: sums go up a binomial tree; many ranks",
	.serves = tutti_emit_serves_strict,
	.build = build,
	.cost = cost,
};
