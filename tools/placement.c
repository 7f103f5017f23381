/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of --nodes.  Sizes and node numbers are read by one splitter; all
 * that is checked here is what a typing mistake makes wrong: sums, gaps, and
 * the number of entries.
 */
#include "config.h"

#include "placement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Take one number of at most `max` from *text.  False if there is none. */
static bool number(const char **text, int max, int *out)
{
	char *end;
	long n;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	n = strtol(*text, &end, 10);
	if (errno || n > max)
		return false;
	*text = end;
	*out = (int)n;
	return true;
}

static bool equal_blocks(int nodes, int nranks, int *node, char *why,
			 size_t cap)
{
	int rank = 0;

	if (nodes < 1 || nodes > nranks) {
		snprintf(why, cap, "but %d rank%s can sit on 1 to %d nodes",
			 nranks, nranks == 1 ? "" : "s", nranks);
		return false;
	}
	for (int n = 0; n < nodes; n++) {
		int size = nranks / nodes + (n < nranks % nodes);

		while (size-- > 0)
			node[rank++] = n;
	}
	return true;
}

static bool sized_blocks(const char *text, int nranks, int *node, char *why,
			 size_t cap)
{
	long sum = 0;
	int size;

	for (int n = 0; number(&text, 1000000, &size); n++) {
		if (size < 1) {
			snprintf(why, cap, "but a node needs at least one rank");
			return false;
		}
		for (int i = 0; i < size && sum + i < nranks; i++)
			node[sum + i] = n;
		sum += size;
		if (!*text && sum == nranks)
			return true;
		if (!*text) {
			snprintf(why, cap, "which is %ld ranks, but -n is %d",
				 sum, nranks);
			return false;
		}
		if (*text++ != '+')
			break;
	}
	snprintf(why, cap, "but sizes are written as in 3+1");
	return false;
}

static bool has_gap(const int *node, int nranks, char *why, size_t cap)
{
	int top = 0;

	for (int r = 0; r < nranks; r++)
		if (node[r] > top)
			top = node[r];
	for (int n = 0; n < top; n++) {
		int r = 0;

		while (r < nranks && node[r] != n)
			r++;
		if (r == nranks) {
			snprintf(why, cap, "which has node %d but no rank on "
				 "node %d", top, n);
			return true;
		}
	}
	return false;
}

static bool listed(const char *text, int nranks, int *node, char *why,
		   size_t cap)
{
	int count = 0, n;

	while (number(&text, 1000000, &n)) {
		if (count < nranks)
			node[count] = n;
		count++;
		if (!*text && count == nranks)
			return !has_gap(node, nranks, why, cap);
		if (!*text) {
			snprintf(why, cap, "which names the node of %d rank%s, "
				 "but -n is %d", count, count == 1 ? "" : "s",
				 nranks);
			return false;
		}
		if (*text++ != ',')
			break;
	}
	snprintf(why, cap, "but the nodes of the ranks are written as in "
		 "0,1,0,1");
	return false;
}

bool tool_placement_parse(const char *text, int nranks, int *node, char *why,
			  size_t cap)
{
	const char *p = text;
	int nodes;

	if (strchr(text, '+'))
		return sized_blocks(text, nranks, node, why, cap);
	if (strchr(text, ','))
		return listed(text, nranks, node, why, cap);
	if (number(&p, 1000000, &nodes) && !*p)
		return equal_blocks(nodes, nranks, node, why, cap);
	snprintf(why, cap, "but must be a number of nodes, sizes as in 3+1, or "
		 "the node of each rank as in 0,1,0,1");
	return false;
}

int tool_placement_local(const int *node, int rank)
{
	int local = 0;

	for (int r = 0; r < rank; r++)
		local += node[r] == node[rank];
	return local;
}
