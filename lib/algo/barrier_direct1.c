/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier, one shot: every rank notifies every other, and awaits them all.
 *
 * Steps: 1.  Sent by each rank: n - 1 notifications.  Limits: none; few ranks.
 *
 * 4 ranks:
 *
 *	rank       0        1        2        3
 *	notifies   1,2,3    2,3,0    3,0,1    0,1,2
 *	awaits     1,2,3    2,3,0    3,0,1    0,1,2
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_meet(&e);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	return (struct tutti_cost){ .steps = q->shape->ranks > 1 };
}

const struct tutti_algo tutti_algo_barrier_direct1 = {
	.coll = TUTTI_BARRIER,
	.help = "1 step: everyone notifies everyone; few ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
