/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall by Bruck's algorithm: in the step of distance h, a power of two,
 * every rank passes on to the rank h above all blocks whose way has h in its
 * binary digits.  So few messages go, but blocks are passed on several times.
 *
 * A block with the way i is on rank r chunk r + i of IN before its first hop,
 * and chunk r - i of OUT from then on, where at last it belongs.  Those that go
 * together are collected in one half of SCRATCH, and what comes is put back
 * from the other.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: about n/2 blocks a step.
 * Limits: none; short messages, many ranks.  SCRATCH of all blocks.
 *
 * 4 ranks, a0..a3 the blocks of rank 0's IN, and so on; what each rank gives:
 *
 *	rank        0           1           2           3
 *	distance 1  a1 a3 to 1  b2 b0 to 2  c3 c1 to 3  d0 d2 to 0
 *	distance 2  a2 d2 to 2  b3 a3 to 3  c0 b0 to 0  d1 c1 to 1
 *	OUT         a0 b0 c0 d0 a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3
 */
#include "config.h"

#include "sched/emit.h"

#define SPANS_MAX 32		/* of one operation; half of them are targets */

/* How many of first, first + step, ... are below n. */
static int below(int first, int step, int n)
{
	return first < n ? (n - 1 - first) / step + 1 : 0;
}

/* One side of a collection. */
struct pile {
	bool collect;		/* into SCRATCH, or out of it */
	int at, height;		/* of what is in SCRATCH */
	int spans;		/* of the operation that is open */
};

static void flush(struct tutti_emit *e, struct pile *p)
{
	if (p->spans)
		tutti_emit_each(e, 1);
	p->spans = 0;
}

/* Blocks with the ways first, first + step, ...; `fresh`: still in IN. */
static void move(struct tutti_emit *e, struct pile *p, int first, int step,
		 int count, bool fresh)
{
	int me = e->q->rank;
	struct tutti_ref there = tutti_chunks(TUTTI_OUT, me, me - first, count);
	struct tutti_ref here = tutti_chunks(TUTTI_SCRATCH, me,
					     p->at + p->height, count);

	if (count == 0)
		return;
	there.chunk_step = -step;
	if (fresh && p->collect) {
		there = tutti_chunks(TUTTI_IN, me, me + first, count);
		there.chunk_step = step;
	}
	tutti_emit_src(e, p->collect ? there : here);
	tutti_emit_dst(e, p->collect ? here : there);
	p->height += count;
	if (++p->spans == SPANS_MAX)
		flush(e, p);
}

/* All blocks whose way has h in it, in as few spans as may be: those with one
 * remainder, or those in a row.  Returns their number. */
static int move_all(struct tutti_emit *e, int n, int h, bool collect)
{
	struct pile p = { .collect = collect, .at = collect ? 0 : n / 2 };
	int rows = below(h, 2 * h, n);

	move(e, &p, h, 2 * h, rows, true);
	if (h <= rows) {
		for (int i = h + 1; i < 2 * h; i++)
			move(e, &p, i, 2 * h, below(i, 2 * h, n), false);
	} else {
		for (int i = h + 1; i < n; i += 2 * h)
			move(e, &p, i, 1,
			     n - i < h - 1 ? n - i : h - 1, false);
	}
	flush(e, &p);
	return p.height;
}

static void step(struct tutti_emit *e, int n, int h)
{
	int me = e->q->rank;
	uint32_t count = (uint32_t)move_all(e, n, h, true);

	tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
	tutti_emit_dst(e, tutti_mail(me + h));
	tutti_emit_combine(e, 0, count);
	tutti_emit_src(e, tutti_mail(me - h));
	tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, n / 2));
	tutti_emit_combine(e, 0, count);
	move_all(e, n, h, false);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 2 * ((uint32_t)n / 2));
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, me));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_combine(&e, 0, 1);
	for (int h = 1; h < n; h *= 2)
		step(&e, n, h);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	int n = q->shape->ranks;
	struct tutti_cost c = { 0 };

	for (int h = 1; h < n; h *= 2) {
		int rest = n % (2 * h) - h;

		c.steps++;
		c.chunks_sent += (uint64_t)(n / (2 * h) * h +
					    (rest > 0 ? rest : 0));
	}
	return c;
}

const struct tutti_algo tutti_algo_alltoall_bruck = {
	.coll = TUTTI_ALLTOALL,
	.help = "log2 n steps of one message, n/2 log2 n blocks: blocks are passed on together; short messages, many ranks",
	/* Not as a part: blocks of one message are not neighbours. */
	.serves = tutti_emit_serves_whole,
	.build = build,
	.cost = cost,
};
