/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather by recursive multiplying: in each stage, groups of f ranks give
 * each other all the blocks they have.  The first stage joins neighbours, so
 * what a rank has is always one stretch of consecutive blocks and travels as
 * one message.
 *
 * Steps: the number of factors of n.  Sent by each rank: n - 1 blocks, in the
 * sum of f - 1 messages.  Limits: no prime factor of n above the radix (8 if
 * the query leaves it open).  Short messages, many ranks.
 *
 * 6 ranks with a to f, factors 3 and 2; what each rank has:
 *
 *	rank       0        1        2        3        4        5
 *	           a        b        c        d        e        f
 *	stage 1    abc      abc      abc      def      def      def
 *	stage 2    abcdef   abcdef   abcdef   abcdef   abcdef   abcdef
 */
#include "config.h"

#include "sched/emit.h"

#define RADIX 8

/* The largest factor of m that is at most the radix; 1 if there is none. */
static int factor_of(int m, int radix)
{
	int f = radix < m ? radix : m;

	while (f > 1 && m % f)
		f--;
	return f;
}

static int radix_of(const struct tutti_query *q)
{
	return q->radix ? q->radix : RADIX;
}

static bool serves(const struct tutti_query *q)
{
	int m = q->shape->ranks;

	if (!tutti_emit_serves(q) || (q->radix && q->radix < 2))
		return false;
	while (m > 1) {
		int f = factor_of(m, radix_of(q));

		if (f == 1)
			return false;
		m /= f;
	}
	return true;
}

/* Mail of `count` ranks, `stride` apart. */
static struct tutti_ref members(int rank, int stride, int count)
{
	struct tutti_ref ref = tutti_ranks(TUTTI_MAIL, rank, 0, 0, count);

	ref.rank_step = stride;
	return ref;
}

/* The stretches of `stride` blocks of `count` members. */
static struct tutti_ref stretches(int me, int block, int stride, int count)
{
	struct tutti_ref ref = tutti_chunks(TUTTI_OUT, me, block, count);

	ref.chunk_step = stride;
	return ref;
}

/* Give the stretch to the group and take the others' stretches. */
static void stage(struct tutti_emit *e, int stride, int factor)
{
	int me = e->q->rank, digit = me / stride % factor;
	int first = me - digit * stride, block = me / stride * stride;
	int base = block - digit * stride, after = factor - 1 - digit;

	if (stride == 1)
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	else
		tutti_emit_src(e, tutti_chunk(TUTTI_OUT, me, block));
	if (stride == 1)
		tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	tutti_emit_dst(e, members(me + stride, stride, after));
	tutti_emit_dst(e, members(first, stride, digit));
	tutti_emit_combine(e, 0, (uint32_t)stride);

	tutti_emit_src(e, members(me + stride, stride, after));
	tutti_emit_src(e, members(first, stride, digit));
	tutti_emit_dst(e, stretches(me, block + stride, stride, after));
	tutti_emit_dst(e, stretches(me, base, stride, digit));
	tutti_emit_each(e, (uint32_t)stride);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank, stride = 1;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(&e, 0, 1);
	}
	while (stride < n) {
		int factor = factor_of(n / stride, radix_of(q));

		stage(&e, stride, factor);
		stride *= factor;
	}
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	struct tutti_cost c = { 0 };
	int m = q->shape->ranks;

	c.chunks_sent = (uint64_t)m - 1;
	for (; m > 1; c.steps++)
		m /= factor_of(m, radix_of(q));
	return c;
}

const struct tutti_algo tutti_algo_allgather_recursive = {
	.coll = TUTTI_ALL_GATHER,
	.help = "log n steps, n-1 blocks: groups of k ranks, then groups of groups; short messages, n without large primes",
	.flags = TUTTI_UNEVEN,
	.serves = serves,
	.build = build,
	.cost = cost,
};
