/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather, one shot: every rank gives its block to all.  Mapped, it stores
 * the block into every rank's OUT; by mail it sends it.
 *
 * Steps: 1 by mail, and one more on one node (see allreduce_direct2.c); mapped
 * 2, since ranks meet before and after.  Moved by each rank: n - 1 blocks.
 * Limits: mapped on one node.
 *
 * 4 ranks with a to d:
 *
 *	rank       0            1            2            3
 *	gives      a to 1,2,3   b to 2,3,0   c to 3,0,1   d to 0,1,2
 *	OUT        a b c d      a b c d      a b c d      a b c d
 */
#include "config.h"

#include "sched/emit.h"

static void mapped(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_ranks(TUTTI_OUT, me, me, 0, n));
	tutti_emit_combine(e, 0, 1);
}

static void mail(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_dst(e, tutti_mail_others(e->q));
	tutti_emit_combine(e, 0, 1);

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

const struct tutti_algo tutti_algo_allgather_direct1 = {
	.coll = TUTTI_ALL_GATHER,
	.help = "1 step, n-1 blocks: everyone gives its block to everyone; one node, few ranks",
	.flags = TUTTI_HAS_MAPPED | TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
