/* SPDX-License-Identifier: BSD-3-Clause */
/* Which machine is asked about, and where ranks would sit on it. */
#ifndef TUTTI_TOOLS_SEATS_H
#define TUTTI_TOOLS_SEATS_H

#include <stdbool.h>

#include "options.h"

#include "sched/shape.h"
#include "topo/topo.h"

#define TOOL_RANKS_MAX 4096	/* that can be seated */

/* The machine that is asked about, and how many ranks sit on such nodes: what
 * --xml, --synthetic, --ranks and --nodes say; NULL or 0 where not given. */
struct tool_asked {
	struct tutti_topo_from from;
	const char *nodes;
	int ranks, ranks_max;
};

/* Take the option just returned, number `opt`; *mine: it is one of these four.
 * False if its value is wrong; told. */
bool tool_asked_take(const struct tool_args *a, int opt, struct tool_asked *q,
		     bool *mine);
/* Whether one machine is named at most; else told. */
bool tool_asked_check(const struct tool_args *a, const struct tool_asked *q);
/* Load it, or if none is named that of the settings, which becomes q->from.
 * NULL if a named one cannot be read or there is no memory; told. */
struct tutti_topo *tool_asked_load(const struct tool_args *a,
				   struct tool_asked *q);

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

/* Seat q->ranks ranks on nodes as q->nodes has it (NULL: one).  0, or the exit
 * status; told. */
int tool_seats_make(struct tool_seats *s, const struct tool_args *a,
		    const struct tool_asked *q, const struct tutti_topo *t);
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
