/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce, composed: inside every group (node, or domain of the only node) all
 * is added up at one member, in the root's group at the root (reduce); these
 * members' sums go to the root (reduce).
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another, root 1:
 *
 *	rank    0           1           2           3
 *	inside  a to 1      a+b         c to 3      c+d
 *	across              ab+cd                   cd to 1
 */
#include "config.h"

#include "sched/compose.h"

static bool plan(struct tutti_compose *c)
{
	for (int g = 0; g < c->g.groups; g++)
		if (!tutti_compose_inside(c, TUTTI_REDUCE, g))
			return false;
	if (!tutti_compose_across(c, TUTTI_REDUCE))
		return false;
	c->pieces = c->unit;
	/* A member that is not the root and adds up keeps the sum. */
	if (c->size > 1 && c->q->rank != c->q->root &&
	    c->index == tutti_rail_index(c, c->g.index[c->q->root]))
		c->scratch_own = c->unit;
	return true;
}

static void lay(struct tutti_compose *c)
{
	/* The root's number in its group names the members. */
	int root = c->q->root, rail = c->g.index[root];
	struct tutti_area sum = tutti_area(c->q->rank == root ? TUTTI_OUT :
								TUTTI_SCRATCH, 0);
	struct tutti_phase p = {
		.coll = TUTTI_REDUCE,
		.root = tutti_rail_index(c, rail),
		.in = tutti_area(TUTTI_IN, 0),
		.out = sum,
	};

	if (c->size > 1) {
		tutti_phase_inside(c, &p);
		p.in = sum;
	}
	p.root = c->g.group[root];
	p.out = tutti_area(TUTTI_OUT, 0);
	p.final = true;
	tutti_phase_across(c, rail, &p);
}

extern const struct tutti_algo tutti_algo_reduce_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_reduce_hier,
	.plan = plan, .lay = lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_reduce_hier = {
	.coll = TUTTI_REDUCE,
	.help = "levels: sums are made inside nodes, and these go to the root; several nodes",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
