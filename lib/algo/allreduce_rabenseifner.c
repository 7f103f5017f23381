/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce by recursive halving and doubling (R. Rabenseifner).  Ranks that
 * are 1, then 2, 4, ... apart exchange halves of what they hold and add, until
 * each has the sum of one piece; then the pieces go the same way back.
 *
 * If n is not a power of two it is folded to the next m below: the first
 * 2 (n - m) ranks go in pairs, of which the odd one gives its block to the even
 * one and gets the result back.
 *
 * Steps: 2 log2 m, and 2 more if folded.  Sent by the busiest rank: 2 (m - 1)
 * pieces of 1/m block, and if folded m more.  Limits: none, but circulant does
 * better for folded numbers; long messages.
 *
 * 5 ranks with a to e, m = 4, ranks 0 and 1 are a pair; a1 is piece 1 of a:
 *
 *	rank     0             1     2           3           4
 *	fold     a+b           to 0
 *	1 apart  (ab)+c 0 1          (ab)+c 2 3  d+e 0 1     d+e 2 3
 *	2 apart  abc+de 0            abc+de 2    abc+de 1    abc+de 3
 *	2 apart  0 1                 2 3         0 1         2 3
 *	1 apart  0 1 2 3             0 1 2 3     0 1 2 3     0 1 2 3
 *	unfold   to 1          from 0
 */
#include "config.h"

#include "sched/emit.h"

/* A rank in the exchanges: its number v of m, and the pieces it holds. */
struct half {
	int v, m, pairs;
	int first, count;
	int place;
};

/* The partner at a distance: the even one of a pair. */
static struct tutti_ref partner(const struct half *h, int bit)
{
	int v = h->v ^ bit;

	return tutti_mail(v < h->pairs ? 2 * v : v + h->pairs);
}

/* Give one half of what is held and add to the other; lower ranks first.  The
 * last sum goes to the partner, too. */
static void halve(struct tutti_emit *e, struct half *h, int bit)
{
	int me = e->q->rank, half = h->count / 2, keep = h->first;
	struct tutti_ref mail = partner(h, bit), own;

	if (h->v & bit)
		keep += half;
	tutti_emit_src(e, tutti_chunk(h->place, me,
				      h->v & bit ? h->first : h->first + half));
	tutti_emit_dst(e, mail);
	tutti_emit_combine(e, 0, (uint32_t)half);

	own = tutti_chunk(h->place, me, keep);
	tutti_emit_src(e, h->v & bit ? mail : own);
	tutti_emit_src(e, h->v & bit ? own : mail);
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, keep));
	if (half == 1)
		tutti_emit_dst(e, mail);
	tutti_emit_combine(e, half == 1 ? TUTTI_FINAL : 0, (uint32_t)half);
	h->first = keep;
	h->count = half;
	h->place = TUTTI_OUT;
}

static void twice(struct tutti_emit *e, struct half *h, int bit)
{
	int me = e->q->rank, n = h->count;
	int other = h->v & bit ? h->first - n : h->first + n;

	if (n > 1) {
		tutti_emit_src(e, tutti_chunk(TUTTI_OUT, me, h->first));
		tutti_emit_dst(e, partner(h, bit));
		tutti_emit_combine(e, 0, (uint32_t)n);
	}
	tutti_emit_src(e, partner(h, bit));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, other));
	tutti_emit_combine(e, 0, (uint32_t)n);
	if (h->v & bit)
		h->first = other;
	h->count = 2 * n;
}

static void active(struct tutti_emit *e, struct half *h, bool folded)
{
	int me = e->q->rank;

	if (folded) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_src(e, tutti_mail(me + 1));
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(e, 0, (uint32_t)h->m);
		h->place = TUTTI_OUT;
	}
	for (int bit = 1; bit < h->m; bit *= 2)
		halve(e, h, bit);
	for (int bit = h->m / 2; bit > 0; bit /= 2)
		twice(e, h, bit);
	if (folded) {
		tutti_emit_src(e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_dst(e, tutti_mail(me + 1));
		tutti_emit_combine(e, 0, (uint32_t)h->m);
	}
}

/* The odd one of a pair. */
static void passive(struct tutti_emit *e, int me, int m)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_mail(me - 1));
	tutti_emit_combine(e, 0, (uint32_t)m);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(e, 0, (uint32_t)m);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	int m = 1 << tutti_log2_floor((uint32_t)n), pairs = n - m;
	struct half h = { .m = m, .pairs = pairs, .count = m,
			  .place = TUTTI_IN };
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, (uint32_t)m, 0);
	if (pairs)
		tutti_emit_widest(&e, m);
	h.v = me < 2 * pairs ? me / 2 : me - pairs;
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(&e, TUTTI_FINAL, 1);
	} else if (me < 2 * pairs && me % 2) {
		passive(&e, me, m);
	} else {
		active(&e, &h, me < 2 * pairs);
	}
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;
	uint32_t rounds = (uint32_t)tutti_log2_floor(n), m = 1u << rounds;

	return (struct tutti_cost){
		.steps = 2 * rounds + (n > m ? 2 : 0),
		.chunks_sent = 2 * (uint64_t)(m - 1) + (n > m ? m : 0),
	};
}

const struct tutti_algo tutti_algo_allreduce_rabenseifner = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "2 log2 n steps, 2(n-1)/n blocks, 1 block more unless n is a power of two: halves are exchanged, then given; long messages",
	.flags = TUTTI_IN_ORDER,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
