/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce, two shots: rank p adds piece p of all ranks in rank order, and gives
 * the sum to the root.
 *
 * Mapped, rank p reads its piece in every rank's IN and stores the sum to the
 * root's OUT.  By mail the pieces travel.  Both add by the same expression.
 *
 * Steps: 2, and one more by mail on one node (see allreduce_direct2.c).  Moved
 * by each rank but the root: n pieces of 1/n block.  Limits: mapped on one
 * node.
 *
 * 4 ranks, a0..a3 the pieces of rank 0's IN, and so on, root 1:
 *
 *	rank       0              1              2              3
 *	each       a1 a2 a3       b2 b3 b0       c3 c0 c1       d0 d1 d2
 *	  to        1  2  3        2  3  0        3  0  1        0  1  2
 *	combine    s0=a0+b0+c0+d0 s1=a1+b1+c1+d1 s2=a2+b2+c2+d2 s3=a3+b3+c3+d3
 *	  to       1              OUT            1              1
 *	OUT                       s0 s1 s2 s3
 * Strict, the one combine adds as a tree.
 */
#include "config.h"

#include "sched/emit.h"

static void mapped(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_ranks(TUTTI_IN, 0, me, 0, n));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, e->q->root, me));
	tutti_emit_combine(e, TUTTI_FINAL | tutti_emit_tree(e->q), 1);
}

static void mail(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunks(TUTTI_IN, me, me + 1, n - 1));
	tutti_emit_dst(e, tutti_mail_others(e->q));
	tutti_emit_each(e, 1);

	tutti_emit_src_in_order(e, tutti_chunk(TUTTI_IN, me, me));
	if (me != e->q->root) {
		tutti_emit_dst(e, tutti_mail(e->q->root));
		tutti_emit_combine(e, TUTTI_FINAL | tutti_emit_tree(e->q), 1);
		return;
	}
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_combine(e, TUTTI_FINAL | tutti_emit_tree(e->q), 1);
	tutti_emit_src(e, tutti_mail_others(e->q));
	tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me + 1, n - 1));
	tutti_emit_each(e, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	return tutti_emit_either(k, q, (uint32_t)q->shape->ranks, mapped, mail);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return tutti_either_cost(q, 2, n, n);
}

const struct tutti_algo tutti_algo_reduce_direct2 = {
	.coll = TUTTI_REDUCE,
	.help = "2 steps, 1 block: each rank adds one piece and gives it to the root; one node",
	.flags = TUTTI_HAS_MAPPED | TUTTI_ONE_COMBINE | TUTTI_IN_ORDER,
	.serves = tutti_emit_serves_strict,
	.build = build,
	.cost = cost,
};
