/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather, one shot: every rank's block goes straight to the root.  Mapped, the
 * root reads every rank's IN; by mail the blocks travel.
 *
 * Steps: 1 by mail, and one more on one node (see allreduce_direct2.c); mapped
 * 2, since ranks meet before and after.  Moved: by mail 1 block by each rank
 * but the root, mapped n - 1 by the root.  Limits: mapped on one node.
 *
 * 4 ranks with a to d, root 1:
 *
 *	rank       0       1            2       3
 *	gives      a to 1               c to 1  d to 1
 *	OUT                a b c d
 */
#include "config.h"

#include "sched/emit.h"

static void mapped(struct tutti_emit *e, int n, int me)
{
	if (me == e->q->root) {
		tutti_emit_src(e, tutti_ranks(TUTTI_IN, me, 0, 0, n));
		tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me, n));
		tutti_emit_each(e, 1);
	}
}

static void mail(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	if (me == e->q->root) {
		tutti_emit_src(e, tutti_mail_others(e->q));
		tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me, n));
	} else {
		tutti_emit_dst(e, tutti_mail(e->q->root));
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

	return tutti_either_cost(q, 1, 1, n - 1);
}

const struct tutti_algo tutti_algo_gather_direct1 = {
	.coll = TUTTI_GATHER,
	.help = "1 step, 1 block: every block goes straight to the root",
	.flags = TUTTI_HAS_MAPPED | TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
