/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce on a double binary tree: each half of the block goes up a binary
 * tree of its own to rank 0 as a sum, and down again as the result.  Who has
 * children in one tree has none in the other, so all links are at work in both
 * directions once slices follow one another.
 *
 * The first tree is in rank order, and the odd ranks are its leaves; the second
 * is the same with every rank in the place of the one before it.  Rank 0 is the
 * root of both, so that the two never wait for one another.
 *
 * One lane does both.  A rank sends first where it is a leaf, since that waits
 * for nobody, and takes last where it is a leaf, since nobody waits for that.
 *
 * Steps: 2 log2 n, rounded up.  Sent by the busiest rank: 4 halves of its
 * block.  Limits: none; long messages, many ranks.
 *
 * 5 ranks with a to e; a0 and a1 are the halves of a.  The sums that go up,
 * and the way of the results down:
 *
 *	rank    0           1             2            3            4
 *	first               b0 to 2       b0+c0+d0     d0 to 2      (bcd)0+e0
 *	                                  to 4                      to 0
 *	        a0+(bcde)0 to 4           from 4       from 2       from 0
 *	                    from 2        to 1 and 3                to 2
 *	second              (cde)1+b1     c1 to 3      c1+d1+e1     e1 to 3
 *	                    to 0                       to 1
 *	        a1+(cdeb)1  from 0        from 3       from 1       from 3
 *	        to 1        to 3                       to 2 and 4
 */
#include "config.h"

#include "sched/emit.h"

static void root(struct tutti_emit *e, int tree, struct tutti_twin t)
{
	int me = e->q->rank;

	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, tree));
	if (t.child[0] >= 0)
		tutti_emit_src(e, tutti_mail(t.child[0]));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, tree));
	if (t.child[0] >= 0)
		tutti_emit_dst(e, tutti_mail(t.child[0]));
	tutti_emit_combine(e, TUTTI_FINAL, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_twin t[2];
	struct tutti_emit e;
	int leaf;

	for (int tree = 0; tree < 2; tree++)
		t[tree] = tutti_twin_tree(n, 0, me, tree);
	leaf = t[0].child[0] >= 0;
	tutti_emit_begin(&e, k, q, 2, 0);
	if (me == 0) {
		root(&e, 0, t[0]);
		root(&e, 1, t[1]);
	} else {
		tutti_emit_twin_up(&e, leaf, t[leaf]);
		tutti_emit_twin_up(&e, !leaf, t[!leaf]);
		leaf = t[1].child[0] < 0;
		tutti_emit_twin_down(&e, !leaf, t[!leaf]);
		tutti_emit_twin_down(&e, leaf, t[leaf]);
	}
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = 2 * (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n == 1 ? 0 : n < 4 ? n : 4,
	};
}

const struct tutti_algo tutti_algo_allreduce_dbtree = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2 log2 n steps, 2 blocks: halves go up and down two trees; long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
