/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce by a circulant scheme (J. L. Traeff): a reduce_scatter whose
 * distances are n halved again and again, rounded up, then the all_gather of
 * allgather_circulant.c, which is the same backwards.
 *
 * The block is cut into n pieces, and rank r ends with the sum of piece r.
 * Before the round of distance s, half of s' = 2 s or 2 s - 1, it holds partial
 * sums of pieces r to r + s' - 1; it gives the last s' - s of them to rank
 * r + s, and adds to its first what rank r - s gives.  Partial sums live in
 * SCRATCH, where chunk i is of piece r + i on rank r, so after the first round
 * every message is one stretch.  In the first round, and on the way back, a
 * message whose pieces go on with piece 0 after the last is cut in two there.
 *
 * Steps: 2 log2 n, rounded up.  Sent by each rank: 2 (n - 1) pieces of 1/n
 * block.  Limits: none; any number of ranks costs what the next power of two
 * would, in steps, and not more in bytes.  SCRATCH of half the block.
 *
 * 5 ranks, distances 3, 2, 1; the pieces that each rank gives, and to whom:
 *
 *	rank        0          1          2          3          4
 *	distance 3  3 4 to 3   4 0 to 4   0 1 to 0   1 2 to 1   2 3 to 2
 *	distance 2  2 to 2     3 to 3     4 to 4     0 to 0     1 to 1
 *	distance 1  1 to 1     2 to 2     3 to 3     4 to 4     0 to 0
 *	sum of      0          1          2          3          4
 *	distance 1  0 to 4     1 to 0     2 to 1     3 to 2     4 to 3
 *	distance 2  0 to 3     1 to 4     2 to 0     3 to 1     4 to 2
 *	distance 3  0 1 to 2   1 2 to 3   2 3 to 4   3 4 to 0   4 0 to 1
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, (uint32_t)n, tutti_circulate_scratch(q));
	tutti_emit_circulate_sums(&e);
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_circulate(&e, 0, n, TUTTI_FINAL);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = 2 * (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = 2 * (uint64_t)(n - 1),
	};
}

const struct tutti_algo tutti_algo_allreduce_circulant = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2 log2 n steps, 2(n-1)/n blocks: halves are added, then given, any n alike; medium and long messages, many ranks",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
