/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast along a chain from the root upwards: every rank passes on what it
 * gets.  Slices follow one another, so for long messages the time is that of
 * one block and not of n.
 *
 * Steps: n - 1.  Sent by each rank but the last: 1 block.  Limits: none; long
 * messages.
 *
 * 4 ranks, root 1 with b:
 *
 *	rank       0          1          2          3
 *	step 1                b to 2
 *	step 2                           b to 3
 *	step 3                                      b to 0
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, v = tutti_from_root(q);
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (v == 0)
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	else
		tutti_emit_src(&e, tutti_mail(q->rank - 1));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	if (v < n - 1)
		tutti_emit_dst(&e, tutti_mail(q->rank + 1));
	tutti_emit_combine(&e, 0, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){ .steps = n - 1, .chunks_sent = n > 1 };
}

const struct tutti_algo tutti_algo_broadcast_chain = {
	.coll = TUTTI_BROADCAST,
	.help = "n-1 steps, 1 block: slices go from rank to rank; long messages",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
