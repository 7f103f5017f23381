/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of an algorithm.  One file in lib/algo defines one (or the
 * few collectives of one idea); the registry is made from the list of files.
 * Builders are pure: no clock, no environment, no memory of their own, no
 * pointers to data.
 */
#ifndef TUTTI_SCHED_ALGO_H
#define TUTTI_SCHED_ALGO_H

#include "sched/sched.h"

#define TUTTI_NEEDS_ONE_NODE	1u	/* all ranks share memory */
#define TUTTI_HAS_MAPPED	2u	/* has a mapped form as well */
/* Adds all contributions of an element in one combine, in rank order: what
 * the exact average of integers needs. */
#define TUTTI_ONE_COMBINE	4u
/* Serves queries with q->uneven: one piece a block, and no message holds a
 * block whose length one of its two ends cannot know.  Between two ranks is one
 * operation at most each way, unless all ranks know all lengths and so cut a
 * long operation into the same parts. */
#define TUTTI_UNEVEN		8u
/* Operands of every addition stand in rank order, though not in one combine:
 * what an operator that does not commute needs. */
#define TUTTI_IN_ORDER		16u
/* Made of other algorithms, one for each level: takes q->levels. */
#define TUTTI_COMPOSED		64u

/* What an algorithm's file states about itself; the verifier compares. */
struct tutti_cost {
	uint32_t steps;		/* longest chain of messages, one slice */
	/* Chunks that the busiest rank moves to or from others by its own
	 * operations: every target that is a message, and every source or
	 * target in another rank's memory. */
	uint64_t chunks_sent;
};

struct tutti_algo {
	enum tutti_coll coll;
	const char *help;	/* one line: steps, bytes, when it wins */
	unsigned int flags;
	/* Whether it can serve this query; q->rank does not matter. */
	bool (*serves)(const struct tutti_query *q);
	/* This and cost: only for a query that it serves. */
	tuttiResult_t (*build)(struct tutti_sink *k,
			       const struct tutti_query *q);
	/* For the busiest rank over all ranks (q->rank does not matter);
	 * unmapped form if !q->mapped. */
	struct tutti_cost (*cost)(const struct tutti_query *q);
};

/* A registry entry: the name comes from the file, allreduce_ring.c gives
 * "ring". */
struct tutti_algo_entry {
	const char *name;
	const struct tutti_algo *algo;
};

/* Ended by an entry with a NULL name.  In lib/algo/registry.c. */
extern const struct tutti_algo_entry tutti_algos[];

/* NULL if there is none. */
const struct tutti_algo_entry *tutti_algo_find(enum tutti_coll coll,
					       const char *name);

/* The name under which it is registered; "" if it is not. */
const char *tutti_algo_name(const struct tutti_algo *algo);

#endif
