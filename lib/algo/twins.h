/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two binary trees of n ranks with the same root, which has one child.  Who has
 * children in one of them has none in the other, so that all links are at work
 * once each tree carries half of a block.
 */
#ifndef TUTTI_ALGO_TWINS_H
#define TUTTI_ALGO_TWINS_H

#include "sched/emit.h"

/* -1: no such rank; a rank with children has child[0]. */
struct tutti_twin {
	int parent, child[2];
};

/*
 * A rank's place in the first tree or the second.  Numbered from the root on,
 * which is 0, the first is in order: child[0] and its subtree lie below a rank
 * and child[1] above.  The second is the same with number v in the place of
 * v - 1, and 1 in that of the last.
 */
struct tutti_twin tutti_twin_tree(int n, int root, int rank, int second);

/* The root: its chunk, and the sum of its child if there are sums, to OUT; and
 * to the child, unless only the root gets a result. */
void tutti_twin_root(struct tutti_emit *e, int chunk, struct tutti_twin t);
/* Another rank: what the parent sends to OUT, and on to the children. */
void tutti_twin_down(struct tutti_emit *e, int chunk, struct tutti_twin t);

/*
 * Half of the block on each tree: up as sums if the collective reduces, down
 * unless only the root gets a result.  Steps: log2 n, rounded up, each way.
 *
 * One lane does both.  A rank sends first where it is a leaf, since that waits
 * for nobody, and takes last where it is a leaf, since nobody waits for that.
 */
tuttiResult_t tutti_twins_build(struct tutti_sink *k,
				const struct tutti_query *q);

#endif
