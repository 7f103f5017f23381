/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast on a double binary tree: each half of the block goes down a binary
 * tree of its own.  It is the way down of allreduce_dbtree.c, with ranks
 * numbered from the root: who has children in one tree has none in the other,
 * so each rank sends at most as much as it takes.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: at most 2 halves of the block.
 * Limits: none; long messages, many ranks.
 *
 * 5 ranks, root 0 with a0 and a1:
 *
 *	rank    0           1             2            3            4
 *	first   a0 to 4                   from 4       from 2       from 0
 *	                    from 2        to 1 and 3                to 2
 *	second  a1 to 1     from 0        from 3       from 1       from 3
 *	                    to 3                       to 2 and 4
 */
#include "config.h"

#include "sched/emit.h"

static void root(struct tutti_emit *e, int half, struct tutti_twin t)
{
	int me = e->q->rank;

	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, half));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, half));
	if (t.child[0] >= 0)
		tutti_emit_dst(e, tutti_mail(t.child[0]));
	tutti_emit_combine(e, 0, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, leaf;
	struct tutti_twin t[2];
	struct tutti_emit e;

	for (int half = 0; half < 2; half++)
		t[half] = tutti_twin_tree(n, q->root, q->rank, half);
	tutti_emit_begin(&e, k, q, 2, 0);
	if (q->rank == q->root) {
		root(&e, 0, t[0]);
		root(&e, 1, t[1]);
	} else {
		/* Last where nobody waits for this rank. */
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
		.steps = (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n > 1 ? 2 : 0,
	};
}

const struct tutti_algo tutti_algo_broadcast_dbtree = {
	.coll = TUTTI_BROADCAST,
	.help = "log2 n steps, 1 block: halves go down two binary trees; long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
