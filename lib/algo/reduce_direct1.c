/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce, one shot: all send to the root, which adds in rank order.
 *
 * Steps: 1.  Sent by each rank but the root: 1 block.  Limits: none; the root
 * receives n - 1 blocks, so it is for short messages or few ranks.
 *
 * 4 ranks with a to d, root 2:
 *
 *	rank       0         1         2           3
 *	sends      a to 2    b to 2                d to 2
 *	OUT                            a+b+c+d
 * Strict, the one combine adds as a tree.
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;
	int me = q->rank;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (me == q->root) {
		tutti_emit_src_in_order(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(&e, TUTTI_FINAL | tutti_emit_tree(q), 1);
	} else {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_mail(q->root));
		tutti_emit_combine(&e, 0, 1);
	}
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	bool several = q->shape->ranks > 1;

	return (struct tutti_cost){ .steps = several, .chunks_sent = several };
}

const struct tutti_algo tutti_algo_reduce_direct1 = {
	.coll = TUTTI_REDUCE,
	.help = "1 step, 1 block: all send to the root, which adds; short messages",
	.flags = TUTTI_ONE_COMBINE | TUTTI_IN_ORDER,
	.serves = tutti_emit_serves_strict,
	.build = build,
	.cost = cost,
};
