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
	int *work;		/* ranks + 1, for the algorithm's file */
};

/* One composition, from the plan to the end of the schedule. */
struct tutti_compose {
	struct tutti_query own;	/* of the rank that is laid now */
	const struct tutti_query *q;	/* that one */
	struct tutti_groups g;
	int mine, index, size;	/* this rank's group, number in it, ranks */
	/* For the algorithm's file: rails, and whether it is for short
	 * messages, which the rule of levels heeds. */
	int rails;
	bool brief;
	uint32_t unit;
	/* Level algorithms' widest operation over their pieces, the largest. */
	uint32_t wide_num, wide_den;
	char levels[TUTTI_LEVELS][TUTTI_LEVELS_MAX];
	bool used[TUTTI_LEVELS];
	int asked[TUTTI_COLLS];	/* groups that were looked at */
	int *across;		/* ranks of the phase across */
	bool measuring;		/* nothing is emitted */
	/* Pieces of a block of the whole, and scratch chunks of the
	 * composition's own: for the plan to set.  The levels' scratch lies
	 * behind it. */
	uint32_t pieces, scratch_own, scratch;
	const char *why;	/* what does not fit, the end of a sentence */
	struct tutti_emit e;	/* for operations of the composition itself */
};

/* What an algorithm's file says. */
struct tutti_form {
	const struct tutti_algo *algo;	/* the descriptor */
	/* Ask for all level algorithms, then set pieces and scratch_own; false
	 * if it cannot serve c->q. */
	bool (*plan)(struct tutti_compose *c);
	/* Emit all phases of rank c->q->rank, in order. */
	void (*lay)(struct tutti_compose *c);
	/* The same for strict; NULL: does not serve it. */
	bool (*plan_strict)(struct tutti_compose *c);
	void (*lay_strict)(struct tutti_compose *c);
};

/* For a descriptor's functions, in algo/composed.inc. */
bool tutti_compose_serves(const struct tutti_form *form,
			  const struct tutti_query *q);
tuttiResult_t tutti_compose_build(const struct tutti_form *form,
				  struct tutti_sink *k,
				  const struct tutti_query *q);
/* Counted on the schedules of all ranks. */
struct tutti_cost tutti_compose_cost(const struct tutti_algo *algo,
				     const struct tutti_query *q);

/* This composition has phases of `coll` inside a group (asked from the first
 * group on), or across: find their algorithms, and the unit.  False if there
 * is none that serves. */
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

static inline int tutti_group_size(const struct tutti_compose *c, int group)
{
	return c->g.first[group + 1] - c->g.first[group];
}

/* Groups of one size, each of consecutive ranks. */
bool tutti_groups_alike(const struct tutti_compose *c);

/* The member of rail `rail` in this rank's group. */
static inline int tutti_rail_index(const struct tutti_compose *c, int rail)
{
	return rail % c->size;
}

#endif
