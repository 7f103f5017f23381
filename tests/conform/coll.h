/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective, once, with everything checked. */
#ifndef TESTS_CONFORM_COLL_H
#define TESTS_CONFORM_COLL_H

#include <stdbool.h>

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

#endif
