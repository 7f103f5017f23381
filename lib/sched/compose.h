/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Composition: the schedule of many ranks made of schedules of few.
 *
 * A *level algorithm* is any registered one, in its mail form and of one lane.
 * It runs among the ranks of one group (*inside*) or among one rank of each
 * group (*across*), and is not aware of it: its ranks, blocks and pieces are
 * numbered from 0, and what it emits is translated into ranks, chunks and
 * places of the whole and appended to the one lane of the whole.  So phases
 * follow one another, and their slices overlap by the rule of sched.h.
 *
 * Groups are the nodes of the shape, or the domains of its only node.  A group
 * whose node has several domains is itself such a shape, so a composition may
 * be the level algorithm inside.
 *
 * Every phase moves blocks of `unit` chunks, a common multiple of the pieces
 * that the level algorithms cut their blocks into.
 */
#ifndef TUTTI_SCHED_COMPOSE_H
#define TUTTI_SCHED_COMPOSE_H

#include "sched/emit.h"

#define TUTTI_LEVELS_MAX 96	/* of the text, with the ending 0 */

enum tutti_level { TUTTI_INSIDE, TUTTI_ACROSS, TUTTI_LEVELS };

/*
 * The text of q->levels is "INSIDE+ACROSS", each the name of an algorithm or
 * nothing, which is the composition's own choice.  A name counts for every
 * phase of its level whose collective has an algorithm of that name; "direct2"
 * is direct1 where a phase is half of an all_reduce.  A composed algorithm may
 * have its own levels in parentheses: hier(direct1+ring)+ring.
 */

/* The collectives of the phases of a level, as bits 1 << collective. */
uint32_t tutti_level_colls(enum tutti_coll coll, enum tutti_level level);

/*
 * Texts of levels to prove: every level algorithm at each level with two
 * partners at the other, the composition's own choice included, and the same
 * below a composition inside.  The list is the same for all queries; the
 * algorithm says itself which of them serves one (q->levels = text).  False if
 * there is no number `i`, or the algorithm is not composed.
 */
bool tutti_levels_nth(const struct tutti_algo *algo, uint32_t i,
		      char text[TUTTI_LEVELS_MAX]);

/* What is wrong with a text, whatever the shape; NULL if nothing.  The reason
 * is the end of a sentence. */
const char *tutti_levels_fault(const struct tutti_algo *algo,
			       const char *text, char *reason, size_t cap);

/* ---- For the builders --------------------------------------------------- */

/* Ranks by group; groups in the order of their first rank. */
struct tutti_groups {
	int groups;
	int *first;		/* in member, of each group, and the end */
	int *member;		/* ranks, ascending inside a group */
	int *group, *index;	/* of each rank: group, and number in it */
	int *node;		/* of member i: its part of the group */
	int *nodes;		/* of each group: its parts */
	int *id;		/* 0, 1, 2, ...: every rank a part */
};

struct tutti_compose;
typedef void (*tutti_lay_fn)(struct tutti_compose *c);

/* One composition, from the plan to the end of the schedule. */
struct tutti_compose {
	const struct tutti_query *q;
	struct tutti_groups g;
	int mine, index, size;	/* this rank's group, number in it, ranks */
	uint32_t rails;		/* what the algorithm's file counts with */
	uint32_t unit;
	/* Level algorithms' widest operation over their pieces, the largest. */
	uint32_t wide_num, wide_den;
	char levels[TUTTI_LEVELS][TUTTI_LEVELS_MAX];
	bool used[TUTTI_LEVELS];
	int *across;		/* ranks of the phase across */
	bool measuring;		/* nothing is emitted */
	uint32_t scratch_own, scratch;
	struct tutti_emit e;	/* for operations of the composition itself */
};

/* Groups and levels' names; false if the shape has nothing to compose, a text
 * is wrong, or there is no memory (c->e.rc).  Fini in any case. */
bool tutti_compose_init(struct tutti_compose *c, const struct tutti_query *q);
void tutti_compose_fini(struct tutti_compose *c);

/* This composition has phases of `coll` inside the group (of all groups), or
 * across: find their algorithms.  False if one cannot serve. */
bool tutti_compose_inside(struct tutti_compose *c, enum tutti_coll coll,
			  int group);
bool tutti_compose_across(struct tutti_compose *c, enum tutti_coll coll);

/* Where a phase finds or leaves block b: `unit` chunks from first + b * unit
 * on. */
struct tutti_area {
	uint8_t place;
	uint32_t first;
};

static inline struct tutti_area tutti_area(int place, uint32_t first)
{
	return (struct tutti_area){ (uint8_t)place, first };
}

struct tutti_phase {
	enum tutti_coll coll;
	int root;		/* by number in the group, or of the group */
	struct tutti_area in, out;
	/* Chunk of the whole collective that block 0 begins with, and how far
	 * from it the next block begins. */
	uint32_t chunk, chunk_step;
	bool final;		/* what it adds has every contribution */
};

/* Emit this rank's part of a phase inside its group, or across: `rail` names
 * the members, number rail mod size of every group; nothing if this rank is
 * none. */
void tutti_phase_inside(struct tutti_compose *c, const struct tutti_phase *p);
void tutti_phase_across(struct tutti_compose *c, int rail,
			const struct tutti_phase *p);

/* The member of rail `rail` in this rank's group. */
static inline int tutti_rail_index(const struct tutti_compose *c, int rail)
{
	return rail % c->size;
}

/* Whether `lay` can be laid for q by all ranks: what serves() asks. */
bool tutti_compose_fits(struct tutti_compose *c, uint32_t pieces,
			uint32_t scratch, tutti_lay_fn lay);

/* Emit the whole: `pieces` of it a block, `scratch` chunks for itself. */
tuttiResult_t tutti_compose_emit(struct tutti_compose *c, struct tutti_sink *k,
				 uint32_t pieces, uint32_t scratch,
				 tutti_lay_fn lay);

/* The cost of a composition, counted on the schedules of all ranks. */
struct tutti_cost tutti_compose_cost(const struct tutti_algo *algo,
				     const struct tutti_query *q);

#endif
