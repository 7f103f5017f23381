/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What TUTTI_UNEVEN promises of an algorithm: one piece a block, the two ends of
 * every message name the same blocks, and each end knows their lengths.
 */
#include "config.h"

#include "base/bits.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 20

/* Messages of one channel, as one end believes them. */
struct list {
	uint32_t messages;
	uint64_t blocks;	/* a hash of them all, in order */
};

static struct list sent[RANKS][RANKS][TUTTI_LANES_MAX];
static struct list wanted[RANKS][RANKS][TUTTI_LANES_MAX];

/* Which block of all ranks' it is; -1: this rank does not know its length. */
static int block_of(const struct tutti_sched *s, int place, uint32_t at)
{
	int n = s->ranks, chunk = (int)at;
	bool in = place == TUTTI_IN;

	switch ((int)s->coll) {
	case TUTTI_ALL_GATHER:
		return in ? s->rank : chunk;
	case TUTTI_REDUCE_SCATTER:
		return in ? chunk : s->rank;
	case TUTTI_GATHER:
		if (in)
			return s->rank;
		return s->rank == s->root ? chunk : -1;
	case TUTTI_SCATTER:
		if (!in)
			return s->rank;
		return s->rank == s->root ? chunk : -1;
	default:
		return in ? s->rank * n + chunk : chunk * n + s->rank;
	}
}

/* The blocks of `n` chunks. */
static uint64_t blocks_of(const struct tutti_sched *s, struct tutti_spot at,
			  uint32_t n)
{
	uint64_t h = 1;

	for (uint32_t i = 0; i < n; i++) {
		int block = block_of(s, at.place, at.chunk + i);

		cr_assert_geq(block, 0, "%s %s, rank %d of %d, root %d: a "
			      "block of unknown length", tutti_coll_name(s->coll),
			      s->algo, s->rank, s->ranks, s->root);
		h = tutti_mix(h, (uint64_t)block);
	}
	return h;
}

static void add(struct list *l, uint64_t blocks)
{
	l->messages++;
	l->blocks = tutti_mix(l->blocks, blocks);
}

/* One place of an operation whose chunks are `blocks`. */
static void note(const struct tutti_sched *s, int lane, uint32_t nchunks,
		 struct tutti_spot spot, uint64_t blocks, bool source)
{
	if (spot.place == TUTTI_MAIL)
		add(source ? &wanted[spot.rank][s->rank][lane] :
			     &sent[s->rank][spot.rank][lane], blocks);
	else if (spot.place != TUTTI_SCRATCH)
		cr_assert_eq(blocks_of(s, spot, nchunks), blocks,
			     "%s %s, rank %d of %d: blocks of different "
			     "length in one operation",
			     tutti_coll_name(s->coll), s->algo, s->rank,
			     s->ranks);
}

static void note_op(const struct tutti_sched *s, int lane, uint32_t index)
{
	uint32_t iter, place = 0, nsrc;
	const struct tutti_op *op = tutti_sched_op(s, lane, index, &iter);
	const struct tutti_ref *ref = &s->refs[op->ref];

	if (!op->nchunks)
		return;
	nsrc = tutti_refs_count(ref, op->nsrc);
	for (uint32_t k = 0; k < (uint32_t)op->nsrc + op->ndst; k++)
		for (uint32_t i = 0; i < ref[k].count; i++, place++) {
			uint32_t pair = op->kind == TUTTI_EACH ?
						place % nsrc : 0;

			note(s, lane, op->nchunks,
			     tutti_ref_at(s, &ref[k], i, iter),
			     blocks_of(s, tutti_op_length(s, op, pair, iter),
				       op->nchunks), k < op->nsrc);
		}
}

static void note_all(const struct tutti_algo *a, struct tutti_query *q)
{
	memset(sent, 0, sizeof(sent));
	memset(wanted, 0, sizeof(wanted));
	for (q->rank = 0; q->rank < q->shape->ranks; q->rank++) {
		struct tutti_sched *s;

		cr_assert_eq(tutti_sched_build(&s, a, q), tuttiSuccess);
		cr_assert_eq(s->pieces, 1, "%s %s cuts blocks",
			     tutti_coll_name(s->coll), s->algo);
		for (uint32_t lane = 0; lane < s->nlanes; lane++)
			for (uint32_t i = 0; i < s->lanes[lane].nops; i++)
				note_op(s, (int)lane, i);
		tutti_sched_free(s);
	}
}

static void check_channels(const struct tutti_algo *a, int n, int root)
{
	bool common = a->coll == TUTTI_ALL_GATHER ||
		      a->coll == TUTTI_REDUCE_SCATTER;

	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++)
			for (int lane = 0; lane < TUTTI_LANES_MAX; lane++) {
				struct list *x = &sent[from][to][lane];
				struct list *y = &wanted[from][to][lane];

				cr_assert(x->messages == y->messages &&
					  x->blocks == y->blocks,
					  "%s %s, %d ranks, root %d: %d sends "
					  "other blocks to %d than that awaits",
					  tutti_coll_name(a->coll),
					  tutti_algo_name(a), n, root, from,
					  to);
				/* Ranks cut these into as many parts as their
				 * own blocks want, each part in order. */
				cr_assert(common || x->messages <= 1,
					  "%s %s: %u operations between a pair",
					  tutti_coll_name(a->coll),
					  tutti_algo_name(a), x->messages);
			}
}

static int check_algo(const struct tutti_algo *a)
{
	static struct t_shape shape;
	int queries = 0;

	for (int n = 1; n <= RANKS; n++)
		for (int layout = 0; layout < T_LAYOUTS; layout++)
			for (int root = 0; root < n; root++) {
				struct tutti_query q;

				t_shape_init(&shape, n, layout);
				q = t_query(a, &shape.shape, false, root);
				q.uneven = true;
				if (!a->serves(&q) ||
				    (root && !tutti_coll_rooted(a->coll)))
					continue;
				note_all(a, &q);
				check_channels(a, n, root);
				queries++;
			}
	return queries;
}

Test(sched_uneven, promise)
{
	int served[TUTTI_COLLS] = { 0 };

	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++)
		if (e->algo->flags & TUTTI_UNEVEN)
			served[e->algo->coll] += check_algo(e->algo);
	cr_assert_gt(served[TUTTI_ALL_GATHER], 0);
	cr_assert_gt(served[TUTTI_REDUCE_SCATTER], 0);
	cr_assert_gt(served[TUTTI_ALLTOALL], 0);
	cr_assert_gt(served[TUTTI_GATHER], 0);
	cr_assert_gt(served[TUTTI_SCATTER], 0);
}
