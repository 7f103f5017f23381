/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `tutti topo`. */
#ifndef TUTTI_TOOLS_TOPO_H
#define TUTTI_TOOLS_TOPO_H

#include "seats.h"

/* All that is to be shown. */
struct topo_view {
	const struct tutti_topo *topo;
	const struct tutti_topo_from *from;
	const struct tool_seats *seats;	/* shape.ranks 0: no ranks */
};

void topo_text(const struct topo_view *v);
void topo_json(const struct topo_view *v);

/* Nested boxes with the ranks in them.  False with errno. */
bool topo_svg(const struct topo_view *v, const char *file);

/* "Package 0", "L3 2", "NUMA domain 1, 64 GiB". */
const char *topo_object_text(const struct tutti_topo_object *o, char *out,
			     size_t cap);

/* The next child of `parent` after `child` (-1: the first) that is no NUMA
 * domain; -1 if there is none. */
int topo_child(const struct tutti_topo *t, int parent, int child);

/* Ranks of a node that have a CPU in common with object `o`, as "0,1"; "" if
 * none has. */
const char *topo_ranks_at(const struct topo_view *v, int node,
			  const struct tutti_topo_object *o, char *out,
			  size_t cap);

#endif
