/* SPDX-License-Identifier: BSD-3-Clause */
/* Double binary trees: see twins.h. */
#include "config.h"

#include "algo/twins.h"

/* Numbers 1 to `last` stand in order in a binary tree, a number with k zeros
 * at its end k levels above the leaves.  Numbers beyond `last` are left out,
 * and their children below put in their places. */
static int up(int x, int last)
{
	int low = x & -x;

	if (x == 1 << tutti_log2_floor((uint32_t)last))
		return 0;
	do {
		x = (x ^ low) | low << 1;
		low = x & -x;
	} while (x > last);
	return x;
}

static int below(int x)
{
	int low = x & -x;

	return low > 1 ? x - low / 2 : -1;
}

static int above(int x, int last)
{
	int half = (x & -x) / 2;

	x += half;
	while (x > last && half > 1) {
		half /= 2;
		x -= half;
	}
	return half && x <= last ? x : -1;
}

/* The rank of number x in the first or the second tree; -1 stays. */
static int seat(int x, int n, int root, int second)
{
	if (second && x > 0)
		x = x < n - 1 ? x + 1 : 1;
	return x < 0 ? -1 : (root + x) % n;
}

struct tutti_twin tutti_twin_tree(int n, int root, int rank, int second)
{
	int x = (rank - root + n) % n, last = n - 1;
	struct tutti_twin t = { -1, { -1, -1 } };

	if (n == 1)
		return t;
	if (second && x > 0)
		x = x > 1 ? x - 1 : last;
	if (x == 0) {
		t.child[0] = 1 << tutti_log2_floor((uint32_t)last);
	} else {
		t.parent = up(x, last);
		t.child[0] = below(x);
		t.child[1] = above(x, last);
	}
	t.parent = seat(t.parent, n, root, second);
	t.child[0] = seat(t.child[0], n, root, second);
	t.child[1] = seat(t.child[1], n, root, second);
	return t;
}

void tutti_twin_root(struct tutti_emit *e, int chunk, struct tutti_twin t)
{
	bool sums = tutti_coll_reduces(e->q->coll);
	int me = e->q->rank;

	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, chunk));
	if (sums && t.child[0] >= 0)
		tutti_emit_src(e, tutti_mail(t.child[0]));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, chunk));
	if (e->q->coll != TUTTI_REDUCE && t.child[0] >= 0)
		tutti_emit_dst(e, tutti_mail(t.child[0]));
	tutti_emit_combine(e, sums ? TUTTI_FINAL : 0, 1);
}

/* Chunk `chunk` of IN, added to what the children give, to the parent. */
static void up_tree(struct tutti_emit *e, int chunk, struct tutti_twin t)
{
	if (t.child[0] >= 0)
		tutti_emit_src(e, tutti_mail(t.child[0]));
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, e->q->rank, chunk));
	if (t.child[1] >= 0)
		tutti_emit_src(e, tutti_mail(t.child[1]));
	tutti_emit_dst(e, tutti_mail(t.parent));
	tutti_emit_combine(e, 0, 1);
}

void tutti_twin_down(struct tutti_emit *e, int chunk, struct tutti_twin t)
{
	tutti_emit_src(e, tutti_mail(t.parent));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, e->q->rank, chunk));
	for (int i = 0; i < 2; i++)
		if (t.child[i] >= 0)
			tutti_emit_dst(e, tutti_mail(t.child[i]));
	tutti_emit_combine(e, 0, 1);
}

tuttiResult_t tutti_twins_build(struct tutti_sink *k,
				const struct tutti_query *q)
{
	int root = tutti_coll_rooted(q->coll) ? q->root : 0, leaf;
	struct tutti_twin t[2];
	struct tutti_emit e;

	for (int half = 0; half < 2; half++)
		t[half] = tutti_twin_tree(q->shape->ranks, root, q->rank, half);
	tutti_emit_begin(&e, k, q, 2, 0);
	if (q->rank == root) {
		tutti_twin_root(&e, 0, t[0]);
		tutti_twin_root(&e, 1, t[1]);
		return tutti_emit_end(&e);
	}
	if (tutti_coll_reduces(q->coll)) {
		leaf = t[0].child[0] >= 0;
		up_tree(&e, leaf, t[leaf]);
		up_tree(&e, !leaf, t[!leaf]);
	}
	if (q->coll != TUTTI_REDUCE) {
		leaf = t[1].child[0] < 0;
		tutti_twin_down(&e, !leaf, t[!leaf]);
		tutti_twin_down(&e, leaf, t[leaf]);
	}
	return tutti_emit_end(&e);
}
