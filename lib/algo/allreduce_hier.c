/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce, composed: the buffer is cut into rails.  Inside every group
 * (node, or domain of the only node) the members add up a rail each
 * (reduce_scatter), then the members that hold the same rail add it up across
 * the groups (all_reduce), and then give it to their group (all_gather).  So
 * what crosses between nodes is as little as can be, and all members share it.
 *
 * Groups need not be alike.  Of their sizes, that one is the number of rails
 * which leaves the busiest member the least to do; rail r is with member r mod
 * size of each group, and a group of another size adds rails up and gives them
 * out one by one (reduce, broadcast).
 *
 * Steps and chunks: those of the level algorithms, one phase after the other.
 * Limits: no less than two groups, of which one has two ranks.
 *
 * Ranks 0 and 1 on one node, 2 and 3 on another; a0, a1 are the rails of rank
 * 0's IN, and so on:
 *
 *	rank    0           1           2           3
 *	inside  a0+b0       a1+b1       c0+d0       c1+d1
 *	across  ab0+cd0     ab1+cd1     ab0+cd0     ab1+cd1
 *	inside  s0 s1       s0 s1       s0 s1       s0 s1
 */
#include "config.h"

#include "algo/rails.h"

/* Rails of the busiest member of a group, as a part of all, in 1/2^16. */
static uint64_t load(int size, int rails)
{
	return ((uint64_t)((rails + size - 1) / size) << 16) /
	       (uint64_t)rails;
}

/* The next larger size of a group; 0 if there is none. */
static int next_size(const struct tutti_compose *c, int size)
{
	int next = 0;

	for (int g = 0; g < c->g.groups; g++) {
		int m = tutti_group_size(c, g);

		if (m > size && (!next || m < next))
			next = m;
	}
	return next;
}

/* So many rails at most for one rank: each is an all_reduce of its own. */
#define RAILS_EACH_MAX 8

/* The number that gives the busiest member of all the least to do; of these
 * the one that gives the least in sum; of these the smallest. */
static int choose_rails(const struct tutti_compose *c)
{
	uint64_t best_most = UINT64_MAX, best_sum = UINT64_MAX;
	int best = 1, least = next_size(c, 0);

	for (int rails = least; rails && rails <= RAILS_EACH_MAX * least;
	     rails = next_size(c, rails)) {
		uint64_t most = 0, sum = 0;

		for (int g = 0; g < c->g.groups; g++) {
			uint64_t l = load(tutti_group_size(c, g), rails);

			most = l > most ? l : most;
			sum += l;
		}
		if (most < best_most || (most == best_most && sum < best_sum)) {
			best = rails;
			best_most = most;
			best_sum = sum;
		}
	}
	return best;
}

static bool plan(struct tutti_compose *c)
{
	return tutti_rails_plan(c, choose_rails(c));
}

static bool plan_strict(struct tutti_compose *c)
{
	return tutti_rails_strict_plan(c, choose_rails(c));
}

extern const struct tutti_algo tutti_algo_allreduce_hier;

static const struct tutti_form form = {
	.algo = &tutti_algo_allreduce_hier,
	.plan = plan, .lay = tutti_rails_lay,
	.plan_strict = plan_strict, .lay_strict = tutti_rails_strict_lay,
};

#include "algo/composed.inc"

const struct tutti_algo tutti_algo_allreduce_hier = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "levels: each member of a node adds a part, across nodes only parts meet; several nodes, long messages",
	.flags = TUTTI_COMPOSED,
	.serves = serves,
	.build = build,
	.cost = cost,
};
