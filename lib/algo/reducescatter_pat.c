/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter by parallel aggregated trees: the sums of every block go up a
 * binomial tree of its own to the rank of the block, all trees at once.  It is
 * allgather_pat.c backwards: in the first step neighbours pass half of all, in
 * the last ranks farthest apart pass one block.
 *
 * In the step of distance h a rank has partial sums of the blocks of the ranks
 * h i below it; every second goes to the rank h below, and to the others it
 * adds what the rank h above gives.  They are sorted apart in SCRATCH first,
 * so each step is one message.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: n - 1 blocks.  Limits: none;
 * short messages, since blocks are copied in every step, where far hops are
 * slow or narrow.  SCRATCH of all blocks.
 *
 * 5 ranks; the blocks of which each has sums, and in brackets which it gives:
 *
 *	rank        0        1        2        3        4
 *	distance 1  0(4)3(2)1 1(0)4(3)2 2(1)0(4)3 3(2)1(0)4 4(3)2(1)0
 *	distance 2  0(3)1    1(4)2    2(0)3    3(1)4    4(2)0
 *	distance 4  0(1)     1(2)     2(3)     3(4)     4(0)
 *	sum of      0        1        2        3        4
 */
#include "config.h"

#include "sched/emit.h"

/* Sort partial sums apart, to `to`: the `keep` that stay, then the others. */
static void part(struct tutti_emit *e, int n, int h, int from, int to,
		 int keep)
{
	int me = e->q->rank, place = h > 1 ? TUTTI_SCRATCH : TUTTI_IN;
	int all = (n - 1) / h + 1, step = h > 1 ? 1 : -1;
	struct tutti_ref even, odd;

	even = tutti_chunks(place, me, h > 1 ? from : me, keep);
	odd = tutti_chunks(place, me, (h > 1 ? from : me) + step, all - keep);
	even.chunk_step = odd.chunk_step = 2 * step;
	tutti_emit_src(e, even);
	tutti_emit_src(e, odd);
	tutti_emit_dst(e, tutti_chunks(TUTTI_SCRATCH, me, to, all));
	tutti_emit_each(e, 1);
}

static void step(struct tutti_emit *e, int n, int h)
{
	int me = e->q->rank, keep = (n - 1) / (2 * h) + 1;
	int gone = (n - 1 - h) / (2 * h) + 1;
	/* Turn about in the two halves of SCRATCH, the first in the lower. */
	int upper = tutti_halved(n, 1);
	int to = tutti_log2_floor((uint32_t)h) % 2 ? upper : 0;
	struct tutti_ref sums = tutti_chunk(TUTTI_SCRATCH, me, to);

	part(e, n, h, upper - to, to, keep);
	tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, to + keep));
	tutti_emit_dst(e, tutti_mail(me - h));
	tutti_emit_combine(e, 0, (uint32_t)gone);
	tutti_emit_src(e, sums);
	tutti_emit_src(e, tutti_mail(me + h));
	tutti_emit_dst(e, sums);
	tutti_emit_combine(e, 0, (uint32_t)gone);
}

/* Two sums are left, the second for the rank h below. */
static void last_step(struct tutti_emit *e, int n, int h)
{
	int me = e->q->rank, place = h > 1 ? TUTTI_SCRATCH : TUTTI_IN;
	int at = tutti_log2_floor((uint32_t)h) % 2 ? 0 : tutti_halved(n, 1);
	int keep = h > 1 ? at : me, give = h > 1 ? at + 1 : me - 1;

	tutti_emit_src(e, tutti_chunk(place, me, give));
	tutti_emit_dst(e, tutti_mail(me - h));
	tutti_emit_combine(e, 0, 1);
	tutti_emit_src(e, tutti_chunk(place, me, keep));
	tutti_emit_src(e, tutti_mail(me + h));
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank, h;
	struct tutti_emit e;

	/* Two areas, but with few ranks the second is hardly used. */
	h = n > 4 ? 2 * tutti_halved(n, 1) : n > 2 ? n : 0;
	tutti_emit_begin(&e, k, q, 1, (uint32_t)h);
	for (h = 1; 2 * h < n; h *= 2)
		step(&e, n, h);
	if (n == 1)
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
	else
		last_step(&e, n, h);
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
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

const struct tutti_algo tutti_algo_reducescatter_pat = {
	.coll = TUTTI_REDUCE_SCATTER,
	.help = "log2 n steps of one message, n-1 blocks, few over far hops: a tree for each block; short messages, slow far hops",
	/* Not as a part: blocks of one message are not neighbours. */
	.serves = tutti_emit_serves_whole,
	.build = build,
	.cost = cost,
};
