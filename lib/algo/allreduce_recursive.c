/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_reduce by recursive multiplying: in each stage, groups of f ranks tell
 * each other what they have and all add it in rank order, so after stages of
 * f1, f2, ... ranks everyone has the sum of f1 f2 ... ranks.  The first stage
 * joins neighbours, so every sum is over consecutive ranks, and it is the same
 * expression everywhere.
 *
 * The factors are at most the radix (4 if the query leaves it open).  If the
 * number of ranks has a larger prime factor, it is folded to a smaller m that
 * has not: the first 2 (n - m) ranks go in pairs, of which the odd one gives
 * its block to the even one and gets the result back.
 *
 * Strict, sums wait in SCRATCH, and the ranks must divide so that the sums are
 * those of the balanced tree: by 2, 4, ... up to the radix, and at last by an
 * odd number, at most the radix (7 if left open).  Other numbers of ranks are
 * not served.
 *
 * Steps: the number of factors, and if folded 2 more, or 1 if so few are
 * folded that no chain of messages begins and ends with a pair.  Sent by the
 * busiest rank: the sum of f - 1 over the factors, and 1 more if folded, in
 * blocks.  Limits: none; short messages.  Radix 2 and a power of two is
 * recursive doubling.
 *
 * 5 ranks with a to e, radix 2: m = 4, ranks 0 and 1 are a pair:
 *
 *	rank       0          1         2          3          4
 *	fold       a+b        to 0      c          d          e
 *	stage 1    (ab)+c               (ab)+c     d+e        d+e
 *	stage 2    (abc)+(de)           (abc)+(de) (abc)+(de) (abc)+(de)
 *	unfold     to 1       from 0
 */
#include "config.h"

#include "sched/emit.h"

#define RADIX 4
#define RADIX_ODD 7
#define STAGES_MAX 32

struct plan {
	int m;			/* ranks after folding */
	int stages;
	int factor[STAGES_MAX];
};

/* Cut m into as few factors of at most `radix` as greed finds; false if it
 * has a larger prime factor. */
static bool factorize(int m, int radix, struct plan *p)
{
	p->m = m;
	p->stages = 0;
	while (m > 1) {
		int f = radix < m ? radix : m;

		while (f > 1 && m % f)
			f--;
		if (f == 1)
			return false;
		p->factor[p->stages++] = f;
		m /= f;
	}
	return true;
}

/*
 * Powers of two up to the radix, and the odd part last.  Every sum but the
 * last is then over 2^k ranks, and the last splits where the tree over all
 * ranks does.  False if the odd part is too large.
 */
static bool factorize_strict(int n, const struct tutti_query *q,
			     struct plan *p)
{
	int radix = q->radix ? q->radix : RADIX, two = n & -n, f;

	p->m = n;
	p->stages = 0;
	for (; two > 1; two /= f, n /= f) {
		f = 1 << tutti_log2_floor((uint32_t)radix);
		f = f < two ? f : two;
		p->factor[p->stages++] = f;
	}
	if (n > 1)
		p->factor[p->stages++] = n;
	return n <= (q->radix ? q->radix : RADIX_ODD);
}

/* The plan with the fewest stages, of those the one that folds least. */
static void make_plan(const struct tutti_query *q, struct plan *best)
{
	int n = q->shape->ranks, radix = q->radix ? q->radix : RADIX;
	struct plan p;

	if (q->strict) {
		factorize_strict(n, q, best);
		return;
	}
	if (factorize(n, radix, best))
		return;
	best->stages = STAGES_MAX + 1;
	for (int m = n - 1; 2 * m >= n; m--)
		if (factorize(m, radix, &p) && p.stages < best->stages)
			*best = p;
}

/* The rank that is number v after folding: the even one of a pair. */
static int rank_of(int v, int n, int m)
{
	return v < n - m ? 2 * v : v + n - m;
}

/* Mail of group members `from` to `to` - 1 of the group of v; at most two
 * spans, of folded pairs and of single ranks. */
static void add_members(struct tutti_emit *e, bool targets, int first,
			int stride, int from, int to, int n, int m)
{
	while (from < to) {
		int v = first + from * stride, count = 1, step;
		struct tutti_ref ref = tutti_mail(rank_of(v, n, m));

		step = rank_of(v + stride, n, m) - ref.rank;
		while (from + count < to &&
		       rank_of(v + count * stride, n, m) ==
		       ref.rank + count * step)
			count++;
		ref.count = (uint32_t)count;
		ref.rank_step = step;
		if (targets)
			tutti_emit_dst(e, ref);
		else
			tutti_emit_src(e, ref);
		from += count;
	}
}

/* Where a rank stands in one stage. */
struct stage {
	int factor, stride;
	int digit;		/* of this rank in its group */
	int first;		/* number of the group's first member */
};

static struct stage stage_of(const struct plan *p, int v, int i)
{
	struct stage s = { .factor = p->factor[i], .stride = 1 };

	for (int j = 0; j < i; j++)
		s.stride *= p->factor[j];
	s.digit = v / s.stride % s.factor;
	s.first = v - s.digit * s.stride;
	return s;
}

/* The group's other members as targets, or all of it as sources with `own` in
 * this rank's place. */
static void to_group(struct tutti_emit *e, struct stage s, int n, int m)
{
	add_members(e, true, s.first, s.stride, 0, s.digit, n, m);
	add_members(e, true, s.first, s.stride, s.digit + 1, s.factor, n, m);
}

static void from_group(struct tutti_emit *e, struct stage s, int n, int m,
		       struct tutti_ref own)
{
	add_members(e, false, s.first, s.stride, 0, s.digit, n, m);
	tutti_emit_src(e, own);
	add_members(e, false, s.first, s.stride, s.digit + 1, s.factor, n, m);
}

/* A rank that takes part in the stages; `folded` if it serves an odd one. */
static void active(struct tutti_emit *e, const struct plan *p, int v,
		   bool folded)
{
	uint8_t place = e->q->strict ? TUTTI_SCRATCH : TUTTI_OUT;
	int n = e->q->shape->ranks, me = e->q->rank;
	struct tutti_ref own = tutti_chunk(TUTTI_IN, me, 0);

	tutti_emit_src(e, own);
	if (folded) {
		tutti_emit_src(e, tutti_mail(me + 1));
		own.place = place;
		tutti_emit_dst(e, own);
	}
	for (int i = 0; i < p->stages; i++) {
		struct stage s = stage_of(p, v, i);

		to_group(e, s, n, p->m);
		tutti_emit_combine(e, i ? tutti_emit_tree(e->q) : 0, 1);
		from_group(e, s, n, p->m, own);
		own.place = i + 1 < p->stages ? place : TUTTI_OUT;
		tutti_emit_dst(e, own);
	}
	if (p->stages == 0 && !folded)
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	if (folded)
		tutti_emit_dst(e, tutti_mail(me + 1));
	tutti_emit_combine(e, TUTTI_FINAL | tutti_emit_tree(e->q), 1);
}

/* The odd one of a pair. */
static void passive(struct tutti_emit *e, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_mail(me - 1));
	tutti_emit_combine(e, 0, 1);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, 0));
	tutti_emit_combine(e, 0, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int me = q->rank, pairs;
	struct tutti_emit e;
	struct plan p;

	make_plan(q, &p);
	pairs = q->shape->ranks - p.m;
	tutti_emit_begin(&e, k, q, 1, q->strict && p.stages > 1);
	if (me >= 2 * pairs)
		active(&e, &p, me - pairs, false);
	else if (me % 2 == 0)
		active(&e, &p, me / 2, true);
	else
		passive(&e, me);
	return tutti_emit_end(&e);
}

static bool serves(const struct tutti_query *q)
{
	struct plan p;

	return tutti_emit_serves_strict(q) &&
	       (q->radix == 0 || q->radix >= 2) &&
	       (!q->strict || factorize_strict(q->shape->ranks, q, &p));
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	struct tutti_cost c = { 0 };
	struct plan p;
	int pairs;

	make_plan(q, &p);
	pairs = q->shape->ranks - p.m;
	c.steps = (uint32_t)p.stages;
	for (int i = 0; i < p.stages; i++)
		c.chunks_sent += (uint64_t)p.factor[i] - 1;
	if (!pairs)
		return c;
	/* A chain that gains a message in every stage ends on a rank that
	 * differs from its first in every digit.  The first two such numbers
	 * are 0..011..1 and 0..0100..0, the last factor's stride. */
	c.steps += 1 + (pairs > p.m / p.factor[p.stages - 1]);
	c.chunks_sent++;
	return c;
}

const struct tutti_algo tutti_algo_allreduce_recursive = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "log n steps, (k-1) log n blocks: groups of k ranks, then groups of groups; short messages, many ranks",
	.flags = TUTTI_IN_ORDER,
	.serves = serves,
	.build = build,
	.cost = cost,
};
