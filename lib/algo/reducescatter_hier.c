/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter, composed.  Where groups (nodes, or domains of the only node)
 * have as many ranks each and stand side by side, every group adds up the
 * blocks of one group after the other, member i those of the other's member i
 * (reduce_scatter inside), and then members of one number add up what they
 * have for each other (reduce_scatter across).
 *
 * Elsewhere blocks go one by one: every group adds one up at a member (reduce),
 * and these sums go to the block's owner (reduce); block after block at another
 * member.
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another; a0..a3 the blocks of rank 0's
 * IN, and so on:
 *
 *	rank    0           1           2           3
 *	inside  a0+b0       a1+b1       c0+d0       c1+d1
 *	inside  a2+b2       a3+b3       c2+d2       c3+d3
 *	across  ab0+cd0     ab1+cd1     ab2+cd2     ab3+cd3
 */
#include "config.h"

#include "sched/compose.h"

static bool plan(struct tutti_compose *c)
{
	bool alike = tutti_groups_alike(c);
	enum tutti_coll coll = alike ? TUTTI_REDUCE_SCATTER : TUTTI_REDUCE;

	for (int g = 0; g < c->g.groups; g++)
		if (!tutti_compose_inside(c, coll, g))
			return false;
	if (!tutti_compose_across(c, coll))
		return false;
	c->rails = alike ? c->size : 0;
	c->pieces = c->unit;
	if (alike)
		c->scratch_own = c->unit * (uint32_t)c->g.groups;
	else if (c->size > 1)
		c->scratch_own = c->unit;
	return true;
}

static void scatter(struct tutti_compose *c)
{
	uint32_t rails = (uint32_t)c->rails * c->unit;
	struct tutti_phase p = {
		.coll = TUTTI_REDUCE_SCATTER, .chunk_step = c->unit,
	};

	for (uint32_t g = 0; g < (uint32_t)c->g.groups; g++) {
		p.in = tutti_area(TUTTI_IN, g * rails);
		p.out = tutti_area(TUTTI_SCRATCH, g * c->unit);
		p.chunk = g * rails;
		tutti_phase_inside(c, &p);
	}
	p.in = tutti_area(TUTTI_SCRATCH, 0);
	p.out = tutti_area(TUTTI_OUT, 0);
	p.chunk = (uint32_t)c->index * c->unit;
	p.chunk_step = rails;
	p.final = true;
	tutti_phase_across(c, c->index, &p);
}

static void lay(struct tutti_compose *c)
{
	if (c->rails) {
		scatter(c);
		return;
	}
	for (int r = 0; r < c->q->shape->ranks; r++) {
		uint32_t block = (uint32_t)r * c->unit;
		struct tutti_phase p = {
			.coll = TUTTI_REDUCE,
			.root = tutti_rail_index(c, c->g.index[r]),
			.in = tutti_area(TUTTI_IN, block),
			.out = tutti_area(TUTTI_SCRATCH, 0),
			.chunk = block,
		};

		if (c->size > 1) {
			tutti_phase_inside(c, &p);
			p.in = p.out;
		}
		p.root = c->g.group[r];
		p.out = tutti_area(TUTTI_OUT, 0);
		p.final = true;
		tutti_phase_across(c, c->g.index[r], &p);
	}
}

extern const struct tutti_algo tutti_algo_reducescatter_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_reducescatter_hier,
	.plan = plan, .lay = lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_reducescatter_hier = {
	.coll = TUTTI_REDUCE_SCATTER,
	.help = "levels: blocks are added inside nodes, and across only sums meet; several nodes",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
