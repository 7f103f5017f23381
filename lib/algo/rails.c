/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of a composed all_reduce; see rails.h. */
#include "config.h"

#include "algo/rails.h"

bool tutti_rails_plan(struct tutti_compose *c, int rails)
{
	c->rails = rails;
	for (int g = 0; g < c->g.groups; g++) {
		bool parts = tutti_group_size(c, g) == c->rails;

		if (!tutti_compose_inside(c, parts ? TUTTI_REDUCE_SCATTER :
						     TUTTI_REDUCE, g) ||
		    !tutti_compose_inside(c, parts ? TUTTI_ALL_GATHER :
						     TUTTI_BROADCAST, g))
			return false;
	}
	if (!tutti_compose_across(c, TUTTI_ALL_REDUCE))
		return false;
	c->pieces = c->unit * (uint32_t)c->rails;
	return true;
}

/* Of `coll`, inside or across, on rail r. */
static struct tutti_phase rail(const struct tutti_compose *c,
			       enum tutti_coll coll, int r)
{
	uint32_t first = c->unit * (uint32_t)r;

	return (struct tutti_phase){
		.coll = coll,
		.root = tutti_rail_index(c, r),
		.in = tutti_area(TUTTI_OUT, first),
		.out = tutti_area(TUTTI_OUT, first),
		.chunk = first,
	};
}

/* All rails at once, one for each member. */
static void all_rails(struct tutti_compose *c, enum tutti_coll coll)
{
	struct tutti_phase p = rail(c, coll, 0);
	uint32_t own = c->unit * (uint32_t)c->index;

	p.root = 0;
	p.chunk_step = c->unit;
	if (coll == TUTTI_REDUCE_SCATTER) {
		p.in = tutti_area(TUTTI_IN, 0);
		p.out = tutti_area(TUTTI_OUT, own);
	} else {
		p.in = tutti_area(TUTTI_OUT, own);
	}
	tutti_phase_inside(c, &p);
}

static void inside(struct tutti_compose *c, enum tutti_coll whole,
		   enum tutti_coll each)
{
	if (c->size == 1)
		return;
	if (c->size == c->rails) {
		all_rails(c, whole);
		return;
	}
	for (int r = 0; r < c->rails; r++) {
		struct tutti_phase p = rail(c, each, r);

		if (each == TUTTI_REDUCE)
			p.in.place = TUTTI_IN;
		tutti_phase_inside(c, &p);
	}
}

void tutti_rails_lay(struct tutti_compose *c)
{
	inside(c, TUTTI_REDUCE_SCATTER, TUTTI_REDUCE);
	for (int r = 0; r < c->rails; r++) {
		struct tutti_phase p = rail(c, TUTTI_ALL_REDUCE, r);

		p.root = 0;
		p.final = true;
		if (c->size == 1)
			p.in.place = TUTTI_IN;
		tutti_phase_across(c, r, &p);
	}
	inside(c, TUTTI_ALL_GATHER, TUTTI_BROADCAST);
}
