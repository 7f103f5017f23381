/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast as a scatter and an all_gather: the block is cut into one piece for
 * each rank but the root.  These are numbered 0 to m - 1 from the rank after
 * the root on.  The pieces go down a binomial tree, of which the root takes the
 * place of number 0 and gives number 0 its piece, too; then all but the root
 * gather by the circulant scheme of allgather_circulant.c.
 *
 * Steps: log2 m rounded down, at least 1, and log2 m rounded up.  Sent by the
 * root: 1 block; by others up to m - 2 pieces of 1/m block and the largest
 * subtree of the tree.  Limits: none; medium and long messages, many ranks.
 * SCRATCH for what a rank passes on.
 *
 * 5 ranks, root 0 with pieces a0 to a3, so number v is rank v + 1:
 *
 *	rank       0            1         2         3         4
 *	scatter    a2 a3 to 3
 *	           a1 to 2
 *	           a0 to 1                          a3 to 4
 *	gather                  a0 to 4   a1 to 1   a2 to 2   a3 to 3
 *	                        a0 a1     a1 a2     a2 a3     a3 a0
 *	                        to 3      to 4      to 1      to 2
 */
#include "config.h"

#include "sched/emit.h"

static void root(struct tutti_emit *e, int m, int me)
{
	int top = 1 << tutti_log2_floor((uint32_t)m);

	for (int v = top; v >= 0; v = v > 1 ? v / 2 : v - 1) {
		if (v >= m)
			continue;
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, v));
		tutti_emit_dst(e, tutti_mail(me + 1 + v));
		tutti_emit_combine(e, 0, v ? (uint32_t)tutti_binomial_size(v, m)
					   : 1);
	}
	tutti_emit_src(e, tutti_chunks(TUTTI_IN, me, 0, m));
	tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, 0, m));
	tutti_emit_each(e, 1);
}

/* Number v: pass on all but the first of its `size` pieces, then gather. */
static void node(struct tutti_emit *e, int m, int v, int size)
{
	int me = e->q->rank;
	struct tutti_ref from;

	from = tutti_mail(v & (v - 1) ? me - (v & -v) : e->q->root);
	tutti_emit_src(e, from);
	if (size > 1) {
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
		tutti_emit_piece(e, v, 0);
		tutti_emit_combine(e, 0, (uint32_t)size);
	}
	for (int bit = 1 << tutti_log2_floor((uint32_t)size); bit; bit /= 2) {
		if (bit >= size)
			continue;
		tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, bit));
		tutti_emit_dst(e, tutti_mail(me + bit));
		tutti_emit_piece(e, v + bit, 0);
		tutti_emit_combine(e, 0, (uint32_t)tutti_binomial_size(v + bit,
								       m));
	}
	if (size > 1)
		tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, v));
	tutti_emit_circulate(e, e->q->root + 1, m, 0);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int m = q->shape->ranks - 1, v = tutti_from_root(q) - 1;
	int size = v > 0 ? tutti_binomial_size(v, m) : 1;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, m ? (uint32_t)m : 1,
			 size > 1 ? (uint32_t)size : 0);
	if (m == 0) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
		tutti_emit_combine(&e, 0, 1);
		return tutti_emit_end(&e);
	}
	tutti_emit_widest(&e, m > 1 ? m / 2 : 1);
	if (v < 0)
		root(&e, m, q->rank);
	else
		node(&e, m, v, size);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	int m = q->shape->ranks - 1, passed;
	struct tutti_cost c = { .steps = (uint32_t)m,
				.chunks_sent = (uint64_t)m };

	if (m < 2)
		return c;
	c.steps = (uint32_t)(tutti_log2_floor((uint32_t)m) +
			     tutti_log2_ceil((uint32_t)m));
	passed = m - 2 + tutti_binomial_largest(m);
	if (passed > m)
		c.chunks_sent = (uint64_t)passed;
	return c;
}

const struct tutti_algo tutti_algo_broadcast_scag = {
	.coll = TUTTI_BROADCAST,
	.help = "2 log2 n steps, 1 to 1.5 blocks: pieces are scattered, then gathered by all; medium and long messages",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
