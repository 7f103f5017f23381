/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather by parallel aggregated trees: the block of every rank goes down a
 * binomial tree of its own, all trees at once.  Far hops come first: in the
 * first step ranks farthest apart pass one block, in the last neighbours pass
 * half of all.
 *
 * In the step of distance h a rank has the blocks of the ranks 2 h i below
 * it, in order in SCRATCH, and gives all but those that would go once round to
 * the rank h above.  What it gets from the rank h below fits between them, and
 * both are put in another area of SCRATCH in turns, or after the last step in
 * OUT.  So each step is one message.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: n - 1 blocks.  Limits: none;
 * short messages, since blocks are copied in every step, where far hops are
 * slow or narrow.  SCRATCH of all blocks and a quarter.
 *
 * 5 ranks with a to e; what each rank has, nearest first:
 *
 *	rank        0        1        2        3        4
 *	            a        b        c        d        e
 *	distance 4  ab       bc       cd       de       ea
 *	distance 2  adb      bec      cad      dbe      eca
 *	distance 1  aedcb    baedc    cbaed    dcbae    edcba
 */
#include "config.h"

#include "sched/emit.h"

/* Where the blocks lie that a step of distance h finds: in turns in two areas,
 * the last in the lower; and where it puts what comes, between them. */
static int area(int n, int h)
{
	return tutti_log2_floor((uint32_t)h) % 2 ? n : 0;
}

static struct tutti_ref arrivals(int n, int me, int count)
{
	return tutti_chunks(TUTTI_SCRATCH, me, tutti_halved(n, 1), count);
}

/* Put the `old` blocks and the `came` new ones in turns into the other area, or
 * at the end where they belong.  One's own may be there already. */
static void mesh(struct tutti_emit *e, int n, int h, int old, int came,
		 int far)
{
	int me = e->q->rank, at = area(n, h), to = n - at;
	int own = h == 1 || 4 * h <= far;
	int place = h > 1 ? TUTTI_SCRATCH : TUTTI_OUT, step = h > 1 ? 2 : -2;
	struct tutti_ref even, odd;

	if (h == 1)
		to = me;
	even = tutti_chunks(place, me, to + own * step, old - own);
	odd = tutti_chunks(place, me, to + step / 2, came);
	even.chunk_step = odd.chunk_step = step;
	if (h == far)
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	else
		tutti_emit_src(e, tutti_chunks(TUTTI_SCRATCH, me, at + own,
					       old - own));
	tutti_emit_src(e, arrivals(n, me, came));
	tutti_emit_dst(e, even);
	tutti_emit_dst(e, odd);
	tutti_emit_each(e, 1);
}

static void step(struct tutti_emit *e, int n, int h, int far)
{
	int me = e->q->rank, old = (n - 1) / (2 * h) + 1;
	int came = (n - 1 - h) / (2 * h) + 1;

	if (h == far) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	} else {
		tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, area(n, h)));
	}
	tutti_emit_dst(e, tutti_mail(me + h));
	tutti_emit_combine(e, 0, (uint32_t)came);

	tutti_emit_src(e, tutti_mail(me - h));
	if (n == 2)
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me - 1));
	else
		tutti_emit_dst(e, arrivals(n, me, 1));
	tutti_emit_combine(e, 0, (uint32_t)came);
	if (n > 2)
		mesh(e, n, h, old, came, far);
}

static uint32_t scratch(int n)
{
	return (uint32_t)(n > 4 ? n + tutti_halved(n, 2) : n > 2 ? n : 0);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	int far = n > 1 ? 1 << tutti_log2_floor((uint32_t)n - 1) : 0;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, scratch(n));
	for (int h = far; h > 0; h /= 2)
		step(&e, n, h, far);
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(&e, 0, 1);
	}
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

const struct tutti_algo tutti_algo_allgather_pat = {
	.coll = TUTTI_ALL_GATHER,
	.help = "log2 n steps of one message, n-1 blocks, few over far hops: a tree for each block; short messages, slow far hops",
	/* Not as a part: blocks of one message are not neighbours. */
	.serves = tutti_emit_serves_whole,
	.build = build,
	.cost = cost,
};
