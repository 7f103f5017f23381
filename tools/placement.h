/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node each rank shall believe it is on: the text of --nodes. */
#ifndef TUTTI_TOOLS_PLACEMENT_H
#define TUTTI_TOOLS_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Fill node[0 .. nranks - 1] from `text`: "3", blocks on three nodes, as
 * equal as possible; "3+1", the sizes of the blocks; "0,1,0,1", the node of
 * each rank.  False if it is none of these: `why` gets the end of a sentence
 * that begins with the option. */
bool tool_placement_parse(const char *text, int nranks, int *node, char *why,
			  size_t cap);

/* The place of `rank` on its node, from 0. */
int tool_placement_local(const int *node, int rank);

#endif
