/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce on a binomial tree.  Ranks are numbered from the root upwards, the
 * root is 0; number v has the children v+1, v+2, v+4, ... as long as these are
 * below v's lowest set bit, and its parent is v without that bit.  Each rank
 * adds its own block and the sums of its children, in this order, so every sum
 * is over consecutive ranks from the root on.
 *
 * Steps: the largest number of set bits below n, which is log2 n rounded down.
 * Sent by each rank: at most 1 block.  Limits: none.
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
	int n = q->shape->ranks, v = tutti_from_root(q), bit;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	for (bit = 1; v + bit < n && !(v & bit); bit *= 2)
		tutti_emit_src(&e, tutti_mail(q->rank + bit));
	if (v == 0)
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	else
		tutti_emit_dst(&e, tutti_mail(q->rank - (v & -v)));
	tutti_emit_combine(&e, v == 0 ? TUTTI_FINAL : 0, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_floor(n),
		.chunks_sent = n > 1,
	};
}

const struct tutti_algo tutti_algo_reduce_binomial = {
	.coll = TUTTI_REDUCE,
	.help = "log2 n steps, 1 block: sums go up a binomial tree; many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
