/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the composition share. */
#ifndef TUTTI_SCHED_COMPOSE_IMPL_H
#define TUTTI_SCHED_COMPOSE_IMPL_H

#include "sched/compose.h"

/* The level algorithm of a phase, and its query for rank 0. */
struct tutti_part {
	const struct tutti_algo *algo;
	struct tutti_query q;
	struct tutti_shape shape;
	char levels[TUTTI_LEVELS_MAX];	/* its own; q.levels is this */
};

/* Cut a text into c->levels; false if it is none. */
bool tutti_levels_split(struct tutti_compose *c, const char *text);

/* The algorithm of a phase on that shape: the named one, or what the rule
 * says.  False if the named one cannot serve; marks the name as used. */
bool tutti_part_find(struct tutti_part *part, struct tutti_compose *c,
		     enum tutti_level level, enum tutti_coll coll,
		     const struct tutti_shape *shape);

/* The shape of a group, and of one rank of each group. */
struct tutti_shape tutti_group_shape(const struct tutti_groups *g, int group);
struct tutti_shape tutti_across_shape(const struct tutti_groups *g);

/* The largest nchunks of any rank's operations. */
uint32_t tutti_compose_widest(const struct tutti_compose *c);

#endif
