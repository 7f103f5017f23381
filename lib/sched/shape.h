/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sits where, in plain integers: all that an algorithm knows of a
 * machine.  Any shape can be made up in a test. */
#ifndef TUTTI_SCHED_SHAPE_H
#define TUTTI_SCHED_SHAPE_H

struct tutti_shape {
	int ranks;
	int nodes;
	const int *node;	/* of each rank; NULL: all on node 0 */
};

#endif
