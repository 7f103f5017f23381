/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall, one shot: block i of every rank goes straight to rank i.  Mapped,
 * every rank reads its block in every rank's IN; by mail the blocks travel.
 *
 * Steps: 1 by mail, and one more on one node (see allreduce_direct2.c); mapped
 * 2, since ranks meet before and after.  Moved by each rank: n - 1 blocks.
 * Limits: mapped on one node.
 *
 * 4 ranks, a0..a3 the blocks of rank 0's IN, and so on:
 *
 *	rank       0            1            2            3
 *	gives      a1 a2 a3     b2 b3 b0     c3 c0 c1     d0 d1 d2
 *	  to        1  2  3      2  3  0      3  0  1      0  1  2
 *	OUT        a0 b0 c0 d0  a1 b1 c1 d1  a2 b2 c2 d2  a3 b3 c3 d3
 */
#include "config.h"

#include "sched/emit.h"

static void mapped(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_ranks(TUTTI_IN, me, me, 0, n));
	tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me, n));
	tutti_emit_each(e, 1);
}

static void mail(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunks(TUTTI_IN, me, me, n));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_dst(e, tutti_mail_others(e->q));
	tutti_emit_each(e, 1);

	tutti_emit_src(e, tutti_mail_others(e->q));
	tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me + 1, n - 1));
	tutti_emit_each(e, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	return tutti_emit_either(k, q, 1, mapped, mail);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return tutti_either_cost(q, 1, n - 1, n - 1);
}

const struct tutti_algo tutti_algo_alltoall_direct1 = {
	.coll = TUTTI_ALLTOALL,
	.help = "1 step, n-1 blocks: every block goes straight to its rank",
	.flags = TUTTI_HAS_MAPPED | TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
