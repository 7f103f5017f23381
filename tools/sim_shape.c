/* SPDX-License-Identifier: BSD-3-Clause */
/* The node shapes on which `tutti sim --verify` proves. */
#include "config.h"

#include "sim.h"

#include "base/bits.h"

const char *const sim_shape_names[SIM_SHAPES] = {
	[SIM_ONE] = "one",
	[SIM_BLOCKS] = "blocks",
	[SIM_INTERLEAVED] = "interleaved",
	[SIM_UNEVEN] = "uneven",
	[SIM_SINGLE] = "single",
	[SIM_DOMAINS] = "domains",
};

/* Nodes of even shapes: 2 to 8, more with more ranks. */
static int nodes_of(int ranks)
{
	int nodes = 2;

	while (nodes < 8 && nodes * nodes * 2 <= ranks)
		nodes++;
	return tutti_min(nodes, ranks);
}

/* Uneven: of three nodes the first has half of the ranks, the last one. */
static int uneven(int rank, int ranks)
{
	if (rank < (ranks + 1) / 2)
		return 0;
	return rank < ranks - 1 || ranks < 3 ? 1 : 2;
}

static int node_of(enum sim_shape kind, int rank, int ranks)
{
	int nodes = kind == SIM_DOMAINS ? tutti_min(2, ranks) :
					  nodes_of(ranks);

	switch (kind) {
	case SIM_BLOCKS:
	case SIM_DOMAINS:
		return (int)((int64_t)rank * nodes / ranks);
	case SIM_INTERLEAVED:
		return rank % nodes;
	case SIM_UNEVEN:
		return uneven(rank, ranks);
	case SIM_SINGLE:
		return rank;
	default:
		return 0;
	}
}

void sim_shape_init(struct tutti_shape *s, enum sim_shape kind, int ranks,
		    int *node, int *domain)
{
	*s = (struct tutti_shape){ .ranks = ranks, .nodes = 1 };
	for (int r = 0; r < ranks; r++) {
		node[r] = node_of(kind, r, ranks);
		s->nodes = tutti_max(s->nodes, node[r] + 1);
	}
	if (s->nodes > 1)
		s->node = node;
	if (kind != SIM_DOMAINS || ranks < 4)
		return;
	/* Two a node, one after the other. */
	for (int r = 0; r < ranks; r++)
		domain[r] = (int)((int64_t)r * 4 / ranks);
	for (int r = 0; r < ranks; r++)
		domain[r] = 2 * node[r] + domain[r] % 2;
	s->domain = domain;
	s->domains = 4;
}
