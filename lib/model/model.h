/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm serves a call.  For now a rule by shape and size; whatever
 * replaces its numbers keeps this door.  Names no algorithm but in the rule's
 * table, and never looks at time or history.
 */
#ifndef TUTTI_MODEL_MODEL_H
#define TUTTI_MODEL_MODEL_H

#include "sched/compose.h"

struct tutti_choice {
	const struct tutti_algo_entry *entry;
	const char *reason;	/* why, as the end of a sentence; static */
	/* Build it with q->strict, which the query asks for, or which is how
	 * this algorithm keeps rank order. */
	bool strict;
	/* For q->levels of a composed algorithm; "" if it is left to that. */
	char levels[TUTTI_LEVELS_MAX];
};

/*
 * Choose for a call of `count` elements (of a block).  TUTTI_ALGO comes first:
 * operation:name[:MIN-MAX],... (of a composed algorithm name(INSIDE+ACROSS),
 * see sched/compose.h) with MIN and MAX in bytes of the larger of the
 * whole send and receive buffer, and the first match taken.  Depends only on
 * its arguments and the settings, so all ranks choose alike.
 * Errors: tuttiInvalidUsage if TUTTI_ALGO is malformed or names an algorithm
 * that cannot serve the call.
 */
tuttiResult_t tutti_choose(struct tutti_choice *out,
			   const struct tutti_query *q, size_t count,
			   tuttiDataType_t type, tuttiRedOp_t redop);

/* Whether an algorithm could be chosen for the call at all. */
bool tutti_can_serve(const struct tutti_algo *algo,
		     const struct tutti_query *q, tuttiDataType_t type,
		     tuttiRedOp_t redop);

#endif
