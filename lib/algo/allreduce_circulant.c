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
 * OUT.  A message whose pieces go on with piece 0 after the last is cut in two
 * there.
 *
 * Steps: 2 log2 n, rounded up.  Sent by each rank: 2 (n - 1) pieces of 1/n
 * block.  Limits: none; any number of ranks costs what the next power of two
 * would, in steps, and not more in bytes.
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

/* Give pieces from `chunk` on, cut where they wrap. */
static void give(struct tutti_emit *e, int place, int chunk, int count,
		 int peer)
{
	int n = e->q->shape->ranks;

	for (int part; count > 0; chunk += part, count -= part) {
		part = tutti_stretch(chunk, count, n);
		tutti_emit_src(e, tutti_chunk(place, e->q->rank, chunk));
		tutti_emit_dst(e, tutti_mail(peer));
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
}

/* The places of one stretch of a sum: what came, and what is there. */
static void add(struct tutti_emit *e, int place, int chunk, int peer)
{
	int me = e->q->rank;

	tutti_emit_src(e, tutti_mail(peer));
	tutti_emit_src(e, tutti_chunk(place, me, chunk));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, chunk));
}

/* All but the last sum, of distance 1, whose places are left in the pen. */
static void reduce_half(struct tutti_emit *e, int n, int me)
{
	int place = TUTTI_IN, last = n, skip, count, chunk, part;

	for (; last > 1; last = skip, place = TUTTI_OUT) {
		skip = tutti_halved(last, 1);
		count = last - skip;
		give(e, place, me + skip, count, me + skip);
		for (chunk = me; skip > 1 && count > 0; count -= part) {
			part = tutti_stretch(chunk, count, n);
			add(e, place, chunk, me - skip);
			tutti_emit_combine(e, 0, (uint32_t)part);
			chunk += part;
		}
		/* The piece that nobody gave to: IN is not kept for it. */
		if (place == TUTTI_IN && last % 2 && skip > 1) {
			tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, chunk));
			tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, chunk));
			tutti_emit_combine(e, 0, 1);
		}
	}
	add(e, n == 2 ? TUTTI_IN : TUTTI_OUT, me, me - 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, (uint32_t)n, 0);
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
	} else {
		reduce_half(&e, n, me);
	}
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
