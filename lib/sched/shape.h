/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sits where, in plain integers: all that an algorithm knows of a
 * machine.  Any shape can be made up in a test. */
#ifndef TUTTI_SCHED_SHAPE_H
#define TUTTI_SCHED_SHAPE_H

struct tutti_shape {
	int ranks;
	int nodes;
	const int *node;	/* of each rank; NULL: all on node 0 */
	/* Nodes divided: ranks of a domain share a cache, a NUMA domain or a
	 * socket.  Domains are numbered through over all nodes, and none has
	 * ranks of two nodes. */
	int domains;
	const int *domain;	/* of each rank; NULL: nodes are not divided */
};

#endif
