/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter on a binomial tree.  Ranks are numbered from the root upwards, the
 * root is 0; number v gets the blocks of consecutive numbers from v on from v
 * without its lowest set bit, and sends to v + bit, for every power of two
 * below that bit, those from there on, the largest subtree first.  At the root,
 * a message whose blocks go on with block 0 after the last is two.
 *
 * Steps: log2 n, rounded down.  Sent by the root: n - 1 blocks.  Limits: none;
 * short messages, many ranks.  SCRATCH for what a rank passes on.
 *
 * 5 ranks, root 0 with a0 to a4:
 *
 *	rank       0            1         2         3         4
 *	step 1     a4 to 4
 *	           a2 a3 to 2
 *	           a1 to 1
 *	step 2                            a3 to 3
 *	OUT        a0           a1        a2        a3        a4
 */
#include "config.h"

#include "sched/emit.h"

/* The largest power of two below `size`, which is more than 1. */
static int top(int size)
{
	return 1 << tutti_log2_floor((uint32_t)size - 1);
}

static void root(struct tutti_emit *e, int n, int me)
{
	for (int v = n > 1 ? top(n) : 0; v > 0; v /= 2) {
		int end = v + tutti_binomial_size(v, n), part;

		for (int i = v; i < end; i += part) {
			part = tutti_stretch(me + i, end - i, n);
			tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me + i));
			tutti_emit_dst(e, tutti_mail(me + v));
			tutti_emit_combine(e, 0, (uint32_t)part);
		}
	}
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(e, 0, 1);
}

/* Number v, which gets `size` blocks. */
static void node(struct tutti_emit *e, int v, int size)
{
	int n = e->q->shape->ranks, me = e->q->rank, part;
	int place = size > 1 ? TUTTI_SCRATCH : TUTTI_OUT;

	for (int i = 0; i < size; i += part) {
		/* Only the root cares for where blocks wrap. */
		part = v & (v - 1) ? size : tutti_stretch(me + i, size - i, n);
		tutti_emit_src(e, tutti_mail(me - (v & -v)));
		tutti_emit_dst(e, tutti_chunk(place, me, i));
		tutti_emit_piece(e, me + i, 0);
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
	if (size == 1)
		return;
	for (int bit = top(size); bit > 0; bit /= 2) {
		tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, bit));
		tutti_emit_dst(e, tutti_mail(me + bit));
		tutti_emit_piece(e, me + bit, 0);
		tutti_emit_combine(e, 0, (uint32_t)tutti_binomial_size(v + bit,
								       n));
	}
	tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(e, 0, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	return tutti_emit_binomial(k, q, root, node);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_floor(n),
		.chunks_sent = n - 1,
	};
}

const struct tutti_algo tutti_algo_scatter_binomial = {
	.coll = TUTTI_SCATTER,
	.help = "log2 n steps, n-1 blocks by the root: blocks go down a binomial tree together; short messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
