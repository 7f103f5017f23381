/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce, composed, by leaders: inside every group (node, or domain of the
 * only node) all is added up at the first member (reduce), the leaders add up
 * across the groups (all_reduce), and each gives the result to its group
 * (broadcast).  Of each group one rank only sends to others.
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.  Short
 * messages; for long ones allreduce_hier.c shares the work.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another:
 *
 *	rank    0           1           2           3
 *	inside  a+b         b to 0      c+d         d to 2
 *	across  ab+cd                   ab+cd
 *	inside  to 1        from 0      to 3        from 2
 */
#include "config.h"

#include "algo/rails.h"

static bool plan(struct tutti_compose *c)
{
	c->brief = true;
	return tutti_rails_plan(c, 1);
}

static bool plan_strict(struct tutti_compose *c)
{
	return tutti_rails_strict_plan(c, 1);
}

extern const struct tutti_algo tutti_algo_allreduce_leader;

static const struct tutti_form form = {
	.algo = &tutti_algo_allreduce_leader,
	.plan = plan, .lay = tutti_rails_lay,
	.plan_strict = plan_strict, .lay_strict = tutti_rails_strict_lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_allreduce_leader = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "levels: one rank of each node adds for it and speaks for it; several nodes, short messages",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
