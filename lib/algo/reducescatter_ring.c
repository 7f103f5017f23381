/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter on a ring: partial sums travel once round, the sum of block p
 * ends on rank p.  Every rank speaks to its two neighbours only.
 *
 * Steps: n - 1.  Sent by each rank: n - 1 blocks.  Limits: none; long
 * messages.  Block c is added from rank c + 1 round to rank c.
 *
 * 4 ranks; a1 is block 1 of rank 0, and so on; what each rank sends to the
 * next, and at last keeps:
 *
 *	step   0            1            2            3
 *	1      a3           b0           c1           d2
 *	2      d2+a2        a3+b3        b0+c0        c1+d1
 *	3      c1+d1+a1     d2+a2+b2     a3+b3+c3     b0+c0+d0
 *	OUT    b0+c0+d0+a0  c1+d1+a1+b1  d2+a2+b2+c2  a3+b3+c3+d3
 */
#include "config.h"

#include "algo/round.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_round_sums(&e);
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	tutti_emit_combine(&e, TUTTI_FINAL, 1);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){ .steps = n - 1, .chunks_sent = n - 1 };
}

const struct tutti_algo tutti_algo_reducescatter_ring = {
	.coll = TUTTI_REDUCE_SCATTER,
	.help = "n-1 steps, n-1 blocks: partial sums go once round; long messages",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
