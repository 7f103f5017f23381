/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather on a binomial tree.  Ranks are numbered from the root upwards, the
 * root is 0; number v takes from v + bit for every power of two below v's
 * lowest set bit, and sends all it has, which is of consecutive numbers, to v
 * without that bit.  At the root, a message whose blocks go on with block 0
 * after the last is two.
 *
 * Steps: log2 n, rounded down.  Sent by the busiest rank: half of all blocks,
 * or the most that a child of the root has.  Limits: none; short messages, many
 * ranks.  SCRATCH for what a rank passes on.
 *
 * 5 ranks with a to e, root 0:
 *
 *	rank       0            1         2         3         4
 *	step 1                  b to 0              d to 2    e to 0
 *	step 2                            c d to 0
 *	OUT        a b c d e
 */
#include "config.h"

#include "sched/emit.h"

static void root(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_combine(e, 0, 1);
	for (int v = 1; v < n; v *= 2) {
		int end = v + tutti_binomial_size(v, n), part;

		for (int i = v; i < end; i += part) {
			part = tutti_stretch(me + i, end - i, n);
			tutti_emit_src(e, tutti_mail(me + v));
			tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me + i));
			tutti_emit_combine(e, 0, (uint32_t)part);
		}
	}
}

/* Number v, with `size` blocks in the end. */
static void node(struct tutti_emit *e, int v, int size)
{
	int n = e->q->shape->ranks, me = e->q->rank, part;
	int place = size > 1 ? TUTTI_SCRATCH : TUTTI_IN;

	if (size > 1) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
		tutti_emit_combine(e, 0, 1);
	}
	for (int bit = 1; bit < size; bit *= 2) {
		tutti_emit_src(e, tutti_mail(me + bit));
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, bit));
		tutti_emit_piece(e, me + bit, 0);
		tutti_emit_combine(e, 0, (uint32_t)tutti_binomial_size(v + bit,
								       n));
	}
	for (int i = 0; i < size; i += part) {
		/* Only the root cares for where blocks wrap. */
		part = v & (v - 1) ? size : tutti_stretch(me + i, size - i, n);
		tutti_emit_src(e, tutti_chunk(place, me, i));
		tutti_emit_dst(e, tutti_mail(me - (v & -v)));
		tutti_emit_piece(e, me + i, 0);
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	return tutti_emit_binomial(k, q, root, node);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	int n = q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_floor((uint32_t)n),
		.chunks_sent = n > 1 ? (uint64_t)tutti_binomial_largest(n) : 0,
	};
}

const struct tutti_algo tutti_algo_gather_binomial = {
	.coll = TUTTI_GATHER,
	.help = "log2 n steps, up to n/2 blocks: all that a rank has goes up a binomial tree; short messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
