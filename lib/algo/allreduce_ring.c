/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce on a ring: partial sums travel once round the ring, then the sums
 * do.  Every rank speaks to its two neighbours only.
 *
 * Steps: 2 (n - 1).  Sent by each rank: 2 (n - 1) pieces of 1/n block.  Limits:
 * none; long messages.  Piece c is added from rank c + 1 round to rank c.
 *
 * 4 ranks; a1 is piece 1 of rank 0, and so on; what each rank sends to the
 * next:
 *
 *	step   0            1            2            3
 *	1      a3           b0           c1           d2
 *	2      d2+a2        a3+b3        b0+c0        c1+d1
 *	3      c1+d1+a1     d2+a2+b2     a3+b3+c3     b0+c0+d0
 *	4      s0=..+a0     s1=..+b1     s2=..+c2     s3=..+d3
 *	5      s3           s0           s1           s2
 *	6      s2           s3           s0           s1
 */
#include "config.h"

#include "algo/round.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, (uint32_t)q->shape->ranks, 0);
	tutti_round_sums(&e);
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, q->rank));
	tutti_round(&e, TUTTI_FINAL);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = 2 * (n - 1),
		.chunks_sent = 2 * (uint64_t)(n - 1),
	};
}

const struct tutti_algo tutti_algo_allreduce_ring = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2(n-1) steps, 2(n-1)/n blocks: once round for sums, once for results; long messages",
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
