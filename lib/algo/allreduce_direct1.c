/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce, one shot: every rank sends all it has to every other, and every
 * rank adds all contributions in rank order.
 *
 * Steps: 1.  Sent by each rank: n - 1 blocks.  Limits: none; the adding is
 * repeated on every rank, so it is for short messages.
 *
 * 4 ranks with a, b, c, d:
 *
 *	rank       0            1            2            3
 *	sends      a to 1,2,3   b to 2,3,0   c to 3,0,1   d to 0,1,2
 *	OUT        a+b+c+d      a+b+c+d      a+b+c+d      a+b+c+d
 * Strict, the one combine adds as a tree.
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;
	int me = q->rank;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (q->shape->ranks > 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_mail_others(q));
		tutti_emit_combine(&e, 0, 1);
	}
	tutti_emit_src_in_order(&e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(&e, TUTTI_FINAL | tutti_emit_tree(q), 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){ .steps = n > 1, .chunks_sent = n - 1 };
}

const struct tutti_algo tutti_algo_allreduce_direct1 = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "1 step, n-1 blocks: everyone sends all to everyone; short messages",
	.flags = TUTTI_ONE_COMBINE | TUTTI_IN_ORDER,
	.serves = tutti_emit_serves_strict,
	.build = build,
	.cost = cost,
};
