/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast, composed: the root sends to one member of every other group
 * (node, or domain of the only node), and these give it to their groups, the
 * root to its own.
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another, root 1:
 *
 *	rank    0           1           2           3
 *	across              b to 3                  b
 *	inside  b           b to 0      b           b to 2
 */
#include "config.h"

#include "sched/compose.h"

static bool plan(struct tutti_compose *c)
{
	for (int g = 0; g < c->g.groups; g++)
		if (!tutti_compose_inside(c, TUTTI_BROADCAST, g))
			return false;
	if (!tutti_compose_across(c, TUTTI_BROADCAST))
		return false;
	c->pieces = c->unit;
	return true;
}

static void lay(struct tutti_compose *c)
{
	/* The root's number in its group names the members. */
	int root = c->q->root, rail = c->g.index[root];
	struct tutti_phase p = {
		.coll = TUTTI_BROADCAST,
		.root = c->g.group[root],
		.in = tutti_area(TUTTI_IN, 0),
		.out = tutti_area(TUTTI_OUT, 0),
	};

	tutti_phase_across(c, rail, &p);
	p.root = tutti_rail_index(c, rail);
	p.in = p.out;
	tutti_phase_inside(c, &p);
}

extern const struct tutti_algo tutti_algo_broadcast_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_broadcast_hier,
	.plan = plan, .lay = lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_broadcast_hier = {
	.coll = TUTTI_BROADCAST,
	.help = "levels: to one rank of each node, and from there inside; several nodes",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
