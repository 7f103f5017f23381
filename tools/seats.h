/* SPDX-License-Identifier: BSD-3-Clause */
/* Which machine is asked about, and where ranks would sit on it. */
#ifndef TUTTI_TOOLS_SEATS_H
#define TUTTI_TOOLS_SEATS_H

#include <stdbool.h>

#include "sched/shape.h"
#include "topo/topo.h"

#define TOOL_RANKS_MAX 4096

struct tool_seat {
	int pu_first, pu_count;		/* in topo->pus */
	struct tutti_topo_place place;
};

/* Every node is a machine as described. */
struct tool_seats {
	struct tutti_shape shape;
	struct tool_seat *seat;
	int *node, *domain;		/* of the shape */
	char why[256];			/* of node 0, what divides it or not */
};

/* Seat `ranks` ranks on nodes as --nodes has it (NULL: one).  False with the
 * end of a sentence. */
bool tool_seats_make(struct tool_seats *s, const struct tutti_topo *t,
		     int ranks, const char *nodes, char *why, size_t cap);
void tool_seats_free(struct tool_seats *s);

/* "this machine, vm", "machine.xml", "the synthetic machine \"...\"". */
const char *tool_topo_title(const struct tutti_topo_from *from, char *out,
			    size_t cap);

/* "0-3,8" of the CPUs in a range, by their OS numbers: the allowed ones, or
 * all. */
const char *tool_topo_cpus(const struct tutti_topo *t, int first, int count,
			   bool all, char *out, size_t cap);

/* "2 nodes of 8 ranks, 4 domains". */
const char *tool_shape_text(const struct tutti_shape *shape, char *out,
			    size_t cap);

#endif
