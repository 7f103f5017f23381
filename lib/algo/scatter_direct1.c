/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter, one shot: the root's blocks go straight to their ranks.  Mapped,
 * every rank reads its block in the root's IN; by mail the blocks travel.
 *
 * Steps: 1 by mail, and one more on one node (see allreduce_direct2.c); mapped
 * 2, since ranks meet before and after.  Moved: by mail n - 1 blocks by the
 * root, mapped 1 by each other rank.  Limits: mapped on one node.
 *
 * 4 ranks, root 1 with b0..b3:
 *
 *	rank       0       1            2       3
 *	gives              b2 b3 b0
 *	  to                2  3  0
 *	OUT        b0      b1           b2      b3
 */
#include "config.h"

#include "sched/emit.h"

static void mapped(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, e->q->root, me));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(e, 0, 1);
}

static void mail(struct tutti_emit *e, int n, int me)
{
	if (me == e->q->root) {
		tutti_emit_src(e, tutti_chunks(TUTTI_IN, me, me, n));
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_dst(e, tutti_mail_others(e->q));
	} else {
		tutti_emit_src(e, tutti_mail(e->q->root));
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	}
	tutti_emit_each(e, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	return tutti_emit_either(k, q, 1, mapped, mail);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return tutti_either_cost(q, 1, n - 1, 1);
}

const struct tutti_algo tutti_algo_scatter_direct1 = {
	.coll = TUTTI_SCATTER,
	.help = "1 step, n-1 blocks: every block goes straight from the root",
	.flags = TUTTI_HAS_MAPPED | TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
