/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast on a binomial tree.  Ranks are numbered from the root upwards, the
 * root is 0; number v sends to v + bit for every power of two below v's lowest
 * set bit (all of them for the root), the largest subtree first.
 *
 * Steps: log2 n, rounded down.  Sent by the root: log2 n blocks, rounded up.
 * Limits: none; short messages, many ranks.
 *
 * 5 ranks, root 0 with a:
 *
 *	rank       0            1         2         3         4
 *	step 1     a to 4,2,1
 *	step 2                            a to 3
 *	OUT        a            a         a         a         a
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, v = tutti_from_root(q), bit;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (v == 0)
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	else
		tutti_emit_src(&e, tutti_mail(q->rank - (v & -v)));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	for (bit = 1; v + bit < n && !(v & bit); bit *= 2)
		;
	for (bit /= 2; bit; bit /= 2)
		tutti_emit_dst(&e, tutti_mail(q->rank + bit));
	tutti_emit_combine(&e, 0, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_floor(n),
		.chunks_sent = (uint64_t)tutti_log2_ceil(n),
	};
}

const struct tutti_algo tutti_algo_broadcast_binomial = {
	.coll = TUTTI_BROADCAST,
	.help = "log2 n steps, log2 n blocks: down a binomial tree; short messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
