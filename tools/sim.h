/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `tutti sim`: schedules without a byte moved. */
#ifndef TUTTI_TOOLS_SIM_H
#define TUTTI_TOOLS_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/compose.h"
#include "sched/verify.h"

/* What the command line asks for. */
struct sim_args {
	int ranks_min, ranks_max;	/* 0: not given */
	int coll;			/* -1: all */
	const char *algo;		/* NULL: all, or the first that serves */
	int shape;			/* -1: all; see sim_shape_names */
	const char *nodes;		/* text of --nodes; NULL: one node */
	const char *file, *svg, *csv;
	int64_t random, seed, max;	/* random 0: not asked for */
	int64_t bytes;			/* SIZE */
	int root, rank;			/* rank -1: all */
	int threads;
	double alpha, beta;		/* of --draw: steps a message takes, and
					 * each of its chunks */
	bool mapped, exhaustive, json;
};

/* Each returns the exit status. */
int sim_verify(const struct sim_args *args);
int sim_verify_file(const struct sim_args *args);
int sim_count(const struct sim_args *args);
int sim_print(const struct sim_args *args);
int sim_draw(const struct sim_args *args);
int sim_curve(const struct sim_args *args);

/* A sentence on stderr; 1. */
int sim_fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- One query (sim_query.c) -------------------------------------------- */

/* The query and the algorithm that OP, --ranks, --nodes, --algo, --root and
 * --mapped name. */
struct sim_query {
	struct tutti_query q;
	struct tutti_shape shape;
	const struct tutti_algo_entry *entry;
	int *node;
};

/* False if there is none; told. */
bool sim_query_init(struct sim_query *s, const struct sim_args *args);
void sim_query_fini(struct sim_query *s);

/* ---- Shapes to prove on (sim_shape.c) ----------------------------------- */

enum sim_shape {
	SIM_ONE,		/* one node */
	SIM_BLOCKS,		/* even blocks */
	SIM_INTERLEAVED,
	SIM_UNEVEN,
	SIM_SINGLE,		/* one rank a node */
	SIM_DOMAINS,		/* blocks on two nodes, of two domains each */
	SIM_SHAPES
};

extern const char *const sim_shape_names[SIM_SHAPES];

/* node and domain: room for `ranks` numbers each. */
void sim_shape_init(struct tutti_shape *s, enum sim_shape kind, int ranks,
		    int *node, int *domain);

/* ---- What is proven (sim_prove.c) --------------------------------------- */

/* An algorithm to prove, and what came of it.  Filled by several threads, under
 * one lock. */
struct sim_target {
	const struct tutti_algo_entry *entry;
	bool composed;		/* of levels: looks at more than the number of
				 * nodes, and needs more than one */
	uint32_t levels;	/* choices of level algorithms */
	uint32_t counts;	/* rank counts with a proof for every query */
	int counts_min, counts_max;
	uint64_t queries;	/* that it serves */
	uint64_t sets;		/* of schedules that were run */
	uint64_t turned;	/* of them, by the first rank alone */
	uint64_t thorough;	/* with all settings */
	uint64_t schedules;	/* of single ranks */
	uint32_t over;		/* rank counts with a query over the budget */
	int over_min, over_max;
	uint64_t over_events;	/* of the largest such query */
	uint32_t faults;
};

/* One rank count of one algorithm: all roots, shapes and forms. */
struct sim_job {
	struct sim_target *target;
	int ranks;
	bool all_shapes, thorough;
	int all_roots;		/* to this count; beyond, three */
	int shape;		/* -1: all */
	uint64_t budget;	/* messages and chunks of one query */
};

/* Adds to `out`, which is the caller's own.  Tells faults on stderr.  False
 * without memory. */
bool sim_prove(const struct sim_job *job, struct sim_target *out);

#endif
