/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of schedules share: shapes, all ranks' schedules of a query,
 * a random number that is the same in every run, and an algorithm of two lanes
 * and scratch, which no algorithm of the library has yet. */
#ifndef T_SCHED_H
#define T_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/verify.h"

#define T_RANKS_MAX 10000

/* Under a sanitizer, which looks for other faults, half the way. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define T_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(T_SANITIZED)
#define T_SMALL 17
#define T_LARGE 64
#else
#define T_SMALL 33
#define T_LARGE 256
#endif

/* Ranks on nodes and in domains. */
struct t_shape {
	struct tutti_shape shape;	/* first */
	int node[T_RANKS_MAX], domain[T_RANKS_MAX];
};

enum t_layout {
	T_ONE_NODE,
	T_INTERLEAVED,		/* rank after rank on node after node */
	T_UNEVEN,		/* two blocks */
	T_BLOCKS,		/* as alike as can be, one after the other */
	T_SINGLES,		/* half of the ranks alone, the others together */
	T_SOCKETS,		/* one node, two domains */
	T_DOMAINS,		/* two nodes of two domains */
	T_LAYOUTS
};

void t_shape_init(struct t_shape *s, int ranks, enum t_layout layout);

/* A query for rank 0, or for a message from rank 0 to the last. */
struct tutti_query t_query(const struct tutti_algo *algo,
			   const struct tutti_shape *shape, bool mapped,
			   int root);

/* Schedules of all ranks; NULL where a rank has no part.  Ends the test if
 * that fails. */
struct tutti_sched **t_build(const struct tutti_algo *algo,
			     const struct tutti_query *q);
void t_free(struct tutti_sched **scheds, int ranks);

/* A deep copy, to be freed like any other. */
struct tutti_sched *t_copy(const struct tutti_sched *s);

uint32_t t_random(uint64_t *state);

/* all_reduce of `T_LANES_PIECES` pieces: lane 0 adds each piece into the one
 * chunk of scratch, lane 1 brings it to OUT, and each waits for the other. */
#define T_LANES_PIECES 3
extern const struct tutti_algo_entry t_two_lanes;

#endif
