/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter by a circulant scheme (J. L. Traeff): the first half of
 * allreduce_circulant.c, with blocks for pieces.
 *
 * Partial sums live in SCRATCH, where chunk i is of block r + i on rank r, so
 * after the first round every message is one stretch.  In the first round a
 * message whose blocks go on with block 0 after the last is cut in two there.
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

/* The first round, from IN: `skip` is more than 1. */
static void first_round(struct tutti_emit *e, int n, int me, int skip)
{
	int count = n - skip, part;

	for (int i = skip; i < n; i += part) {
		part = tutti_stretch(me + i, n - i, n);
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me + i));
		tutti_emit_dst(e, tutti_mail(me + skip));
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
	for (int i = 0; i < count; i += part) {
		part = tutti_stretch(me + i, count - i, n);
		tutti_emit_src(e, tutti_mail(me - skip));
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me + i));
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, i));
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
	if (count == skip)
		return;
	/* The one that nobody gave to, so that all are in SCRATCH. */
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me + count));
	tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, count));
	tutti_emit_combine(e, 0, 1);
}

static void middle_round(struct tutti_emit *e, int me, int last, int skip)
{
	struct tutti_ref sums = tutti_chunk(TUTTI_SCRATCH, me, 0);
	uint32_t count = (uint32_t)(last - skip);

	tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, skip));
	tutti_emit_dst(e, tutti_mail(me + skip));
	tutti_emit_piece(e, me + skip, 0);
	tutti_emit_combine(e, 0, count);
	tutti_emit_src(e, tutti_mail(me - skip));
	tutti_emit_src(e, sums);
	tutti_emit_dst(e, sums);
	tutti_emit_piece(e, me, 0);
	tutti_emit_combine(e, 0, count);
}

/* `place` and `chunk`: of partial sums, the one to keep and the one to give. */
static void last_round(struct tutti_emit *e, int me, int place, int keep,
		       int give)
{
	tutti_emit_src(e, tutti_chunk(place, me, give));
	tutti_emit_dst(e, tutti_mail(me + 1));
	tutti_emit_piece(e, me + 1, 0);
	tutti_emit_combine(e, 0, 1);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_src(e, tutti_chunk(place, me, keep));
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank, skip = tutti_halved(n, 1);
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, n > 2 ? (uint32_t)skip : 0);
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
	} else if (n == 2) {
		last_round(&e, me, TUTTI_IN, me, me + 1);
	} else {
		first_round(&e, n, me, skip);
		for (int half; skip > 2; skip = half) {
			half = tutti_halved(skip, 1);
			middle_round(&e, me, skip, half);
		}
		last_round(&e, me, TUTTI_SCRATCH, 0, 1);
	}
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

const struct tutti_algo tutti_algo_reducescatter_circulant = {
	.coll = TUTTI_REDUCE_SCATTER,
	.help = "log2 n steps, n-1 blocks: half of the partial sums go on in each, any n alike; medium and long messages, many ranks",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
