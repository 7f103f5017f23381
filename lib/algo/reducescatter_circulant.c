/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter by a circulant scheme (J. L. Traeff): the first half of
 * allreduce_circulant.c, with blocks for pieces.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: n - 1 blocks.  Limits: none;
 * any number of ranks costs what the next power of two would, in steps.
 * SCRATCH of half the blocks.
 *
 * 5 ranks, distances 3, 2, 1; the blocks that each rank gives, and to whom:
 *
 *	rank        0          1          2          3          4
 *	distance 3  3 4 to 3   4 0 to 4   0 1 to 0   1 2 to 1   2 3 to 2
 *	distance 2  2 to 2     3 to 3     4 to 4     0 to 0     1 to 1
 *	distance 1  1 to 1     2 to 2     3 to 3     4 to 4     0 to 0
 *	sum of      0          1          2          3          4
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, tutti_circulate_scratch(q));
	tutti_emit_circulate_sums(&e);
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	tutti_emit_combine(&e, TUTTI_FINAL, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n - 1,
	};
}

const struct tutti_algo tutti_algo_reducescatter_circulant = {
	.coll = TUTTI_REDUCE_SCATTER,
	.help = "log2 n steps, n-1 blocks: half of the partial sums go on in each, any n alike; medium and long messages, many ranks",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
