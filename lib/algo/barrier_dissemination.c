/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier by dissemination: in step i every rank notifies the rank 2^i above
 * it, so what a rank knows of doubles with every step.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: as many notifications.
 * Limits: none; many ranks.
 *
 * 5 ranks, whom each notifies:
 *
 *	rank       0        1        2        3        4
 *	step 1     1        2        3        4        0
 *	step 2     2        3        4        0        1
 *	step 3     4        0        1        2        3
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	for (int64_t far = 1; far < n; far *= 2) {
		tutti_emit_dst(&e, tutti_mail((int)((q->rank + far) % n)));
		tutti_emit_combine(&e, 0, 0);
		tutti_emit_src(&e, tutti_mail((int)((q->rank + n - far) % n)));
	}
	if (n > 1)
		tutti_emit_combine(&e, 0, 0);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_ceil((uint32_t)q->shape->ranks),
	};
}

const struct tutti_algo tutti_algo_barrier_dissemination = {
	.coll = TUTTI_BARRIER,
	.help = "log2 n steps: what a rank knows of doubles with every step; many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
