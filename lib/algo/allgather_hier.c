/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather, composed.  Where groups (nodes, or domains of the only node) have
 * as many ranks each and stand side by side, members of one number give each
 * other their blocks across the groups (all_gather), and then every group
 * gathers inside what its members got, one other group's blocks at a time
 * (all_gather).  So every block comes to a node once, and all members share
 * the work.
 *
 * Elsewhere blocks go one by one: to one member of every group (broadcast),
 * and from it to the group (broadcast); block after block by another member.
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another; what each has:
 *
 *	rank    0           1           2           3
 *	across  a c         b d         a c         b d
 *	inside  a b c       a b d       a b c       a b d
 *	inside  a b c d     a b c d     a b c d     a b c d
 */
#include "config.h"

#include "sched/compose.h"

static bool plan(struct tutti_compose *c)
{
	bool alike = tutti_groups_alike(c);
	enum tutti_coll coll = alike ? TUTTI_ALL_GATHER : TUTTI_BROADCAST;

	for (int g = 0; g < c->g.groups; g++)
		if (!tutti_compose_inside(c, coll, g))
			return false;
	if (!tutti_compose_across(c, coll))
		return false;
	c->rails = alike ? c->size : 0;
	c->pieces = c->unit;
	c->scratch_own = alike ? c->unit * (uint32_t)c->g.groups : 0;
	return true;
}

static void gather(struct tutti_compose *c)
{
	uint32_t rails = (uint32_t)c->rails * c->unit;
	struct tutti_phase p = {
		.coll = TUTTI_ALL_GATHER,
		.in = tutti_area(TUTTI_IN, 0),
		.out = tutti_area(TUTTI_SCRATCH, 0),
		.chunk = (uint32_t)c->index * c->unit,
		.chunk_step = rails,
	};

	tutti_phase_across(c, c->index, &p);
	p.chunk_step = c->unit;
	for (uint32_t g = 0; g < (uint32_t)c->g.groups; g++) {
		p.in = (int)g == c->mine ? tutti_area(TUTTI_IN, 0) :
			tutti_area(TUTTI_SCRATCH, g * c->unit);
		p.out = tutti_area(TUTTI_OUT, g * rails);
		p.chunk = g * rails;
		tutti_phase_inside(c, &p);
	}
}

static void lay(struct tutti_compose *c)
{
	if (c->rails) {
		gather(c);
		return;
	}
	for (int r = 0; r < c->q->shape->ranks; r++) {
		uint32_t block = (uint32_t)r * c->unit;
		struct tutti_phase p = {
			.coll = TUTTI_BROADCAST,
			.root = c->g.group[r],
			.in = tutti_area(TUTTI_IN, 0),
			.out = tutti_area(TUTTI_OUT, block),
			.chunk = block,
		};

		tutti_phase_across(c, c->g.index[r], &p);
		p.root = tutti_rail_index(c, c->g.index[r]);
		p.in = p.out;
		tutti_phase_inside(c, &p);
	}
}

extern const struct tutti_algo tutti_algo_allgather_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_allgather_hier,
	.plan = plan, .lay = lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_allgather_hier = {
	.coll = TUTTI_ALL_GATHER,
	.help = "levels: blocks cross between nodes once, and are told inside; several nodes",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
