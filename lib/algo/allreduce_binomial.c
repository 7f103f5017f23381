/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce on a binomial tree: sums go up to rank 0, the result comes down
 * the same way.  Rank v has the children v+1, v+2, v+4, ... as long as these
 * are below v's lowest set bit, and its parent is v without that bit.  Each
 * rank adds its own block and the sums of its children, in this order, which
 * makes the balanced tree over rank order; so it serves strict as it is.
 *
 * Steps: twice the largest number of set bits below n, which is log2 n rounded
 * down.  Sent by the busiest rank: log2 n blocks, rounded up.  Limits: none.
 * Slices of a long message follow one another up and down, each link at work
 * once in each direction, but rank 0 sends all of it to each of its children.
 *
 * 5 ranks with a to e:
 *
 *	rank       0              1         2             3         4
 *	step 1                    b to 0                  d to 2    e to 0
 *	step 2                              c+d to 0
 *	step 3     s=(a+b)+(c+d)+e to 1,2,4
 *	step 4                              s to 3
 */
#include "config.h"

#include "sched/emit.h"

/* The children of rank v are v + 1, v + 2, ...; how many. */
static int children(int n, int v)
{
	int count = 0;

	for (int bit = 1; v + bit < n && !(v & bit); bit *= 2)
		count++;
	return count;
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank, count = children(n, me);
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
	for (int i = 0; i < count; i++)
		tutti_emit_src(&e, tutti_mail(me + (1 << i)));
	if (me) {
		tutti_emit_dst(&e, tutti_mail(me - (me & -me)));
		tutti_emit_combine(&e, 0, 1);
		tutti_emit_src(&e, tutti_mail(me - (me & -me)));
	}
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
	/* The longest way down first. */
	for (int i = count - 1; i >= 0; i--)
		tutti_emit_dst(&e, tutti_mail(me + (1 << i)));
	tutti_emit_combine(&e, me ? 0 : TUTTI_FINAL, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = 2 * (uint32_t)tutti_log2_floor(n),
		.chunks_sent = (uint64_t)tutti_log2_ceil(n),
	};
}

const struct tutti_algo tutti_algo_allreduce_binomial = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2 log2 n steps, log2 n blocks: sums go up a binomial tree, the result comes down; many ranks",
	.flags = TUTTI_IN_ORDER,
	.serves = tutti_emit_serves_strict,
	.build = build,
	.cost = cost,
};
