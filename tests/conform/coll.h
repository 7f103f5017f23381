/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective, once, with everything checked. */
#ifndef TESTS_CONFORM_COLL_H
#define TESTS_CONFORM_COLL_H

#include <stdbool.h>
#include <stddef.h>

#include "conform/world.h"
#include "sched/sched.h"

struct shot {
	enum tutti_coll coll;
	size_t count;
	tuttiDataType_t type;
	tuttiRedOp_t redop;
	int root;
	bool in_place;
	/* Memory of the buffers: 0 malloc, 1 tuttiMemAlloc, 2 malloc on odd
	 * ranks only. */
	int memory;
};

/* Run it on this rank and check: every element against a float64 reference,
 * bytes before and behind the buffers, the send buffer unchanged, the
 * receive buffer of ranks that get nothing untouched.  Returns 0, or the number
 * of faults after printing the first. */
int shoot(struct world *w, const struct shot *s);

/* The v-form of a collective, once, with everything checked; in coll_v.c. */
struct shot_v {
	struct shot s;		/* the count is not used */
	unsigned int seed;	/* of the counts, some of which are 0 */
	/* 0: without displacements; 1: gaps between blocks; 2: and blocks from
	 * the last to the first. */
	int layout;
};
int shoot_v(struct world *w, const struct shot_v *v);

/* ---- Between the two ---------------------------------------------------- */

#define GUARD 128
#define FILL 0x5a

struct buffer {
	char *base;		/* of the allocation */
	char *data;
	size_t bytes;
	bool shared;
};

/* All FILL, with guards before and behind. */
int buffer_make(struct buffer *b, size_t bytes, bool shared);
void buffer_free(struct buffer *b);
/* Is the memory of this rank's buffers from tuttiMemAlloc? */
bool buffer_shared(const struct world *w, const struct shot *s);

/* Element i of what rank r gives, and of the reduction. */
double shot_value(const struct shot *s, int ranks, int r, size_t i);
double shot_reduced(const struct shot *s, int ranks, size_t i);

#endif
