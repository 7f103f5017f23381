/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier, composed: every group (node, or domain of the only node) meets,
 * then the groups' first members do, then every group does again.
 *
 * Steps: those of the level algorithms, one phase after the other.  Limits: no
 * less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another, who meets:
 *
 *	rank    0           1           2           3
 *	inside  1           0           3           2
 *	across  2                       0
 *	inside  1           0           3           2
 */
#include "config.h"

#include "sched/compose.h"

static bool plan(struct tutti_compose *c)
{
	for (int g = 0; g < c->g.groups; g++)
		if (!tutti_compose_inside(c, TUTTI_BARRIER, g))
			return false;
	c->pieces = 1;
	return tutti_compose_across(c, TUTTI_BARRIER);
}

static void lay(struct tutti_compose *c)
{
	struct tutti_phase p = { .coll = TUTTI_BARRIER };

	tutti_phase_inside(c, &p);
	tutti_phase_across(c, 0, &p);
	tutti_phase_inside(c, &p);
}

extern const struct tutti_algo tutti_algo_barrier_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_barrier_hier,
	.plan = plan, .lay = lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_barrier_hier = {
	.coll = TUTTI_BARRIER,
	.help = "levels: nodes meet inside, one rank of each meets the others, nodes meet again; several nodes",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
