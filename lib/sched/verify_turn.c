/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules that are turns of one another: rank r's is rank 0's with every
 * rank r further and every chunk of a place r times that place's stride
 * further.  A turn maps ranks, buffers and what the collective promises onto
 * themselves, so to let all ranks fire operation k one after the other is an
 * order that the rule of sched.h allows if rank 0 may fire it, and since one
 * order stands for all, rank 0 alone need be run: what rank d sends to it, or
 * does to its memory, is what it sends to rank -d, or does to that rank's
 * memory, turned by d.  Accesses of one operation by several ranks are never
 * ordered, and the clocks, turned likewise, tell so.
 *
 * All schedules are there and are compared one by one; nothing is taken on
 * trust.
 *
 * From a proven set another follows that differs in one of these only:
 *  - No operation of it adds as a tree, though some of the proven one do.  The
 *    expression of a tree over n operands tells the operands and their order,
 *    since every combine of several ends with its mark (step).  So results
 *    that are equal with trees are equal without, the contributions are the
 *    same, in the same order and in as many combines; and nothing else depends
 *    on the expressions.
 *  - It begins with a meeting: every rank notifies all others, then awaits
 *    them all.  All ranks can, since no message is under way, and when they
 *    have, none is again; an operation of no chunks is a fence, so everything
 *    else begins where the proven set does, one message deeper.  Only of one
 *    lane and by mail, where nothing runs beside the meeting, and not of a
 *    barrier, whose proof is about who knows of whom.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

#include <stdlib.h>
#include <string.h>

/* a and b + by * stride are the same modulo n. */
static bool same_turned(int64_t a, int64_t b, int by, uint32_t stride,
			uint32_t n)
{
	int64_t d = a - b;

	return n == 0 ? d == 0 :
	       (d - (int64_t)by % n * (stride % n)) % (int64_t)n == 0;
}

static bool same_ref(const struct tutti_sched *s, const struct tutti_ref *a,
		     const struct tutti_ref *b, const struct tutti_turn *t,
		     int by)
{
	uint32_t n = (uint32_t)s->ranks;
	uint32_t chunks = a->place == TUTTI_MAIL ? 0 :
			  tutti_sched_chunks(s, a->place);

	return a->place == b->place && a->count == b->count &&
	       same_turned(a->rank, b->rank, by, 1, n) &&
	       same_turned(a->rank_step, b->rank_step, 0, 0, n) &&
	       same_turned(a->rank_iter, b->rank_iter, 0, 0, n) &&
	       same_turned(a->chunk, b->chunk, by, t->stride[a->place],
			   chunks) &&
	       same_turned(a->chunk_step, b->chunk_step, 0, 0, chunks) &&
	       same_turned(a->chunk_iter, b->chunk_iter, 0, 0, chunks);
}

/* The pieces of an operation.  Those of each are compared where a span of
 * either side begins: in between they go on alike. */
static bool same_pieces(const struct tutti_sched *s, const struct tutti_op *a,
			const struct tutti_sched *zero,
			const struct tutti_op *b, const struct tutti_turn *t,
			int by)
{
	uint32_t n = (uint32_t)a->nsrc + a->ndst, at = 0;

	if (!same_turned(a->piece_iter, b->piece_iter, 0, 0, s->pieces))
		return false;
	for (uint32_t i = 0; a->nchunks && i < n; i++) {
		if (i == a->nsrc)
			at = 0;
		if (tutti_op_piece(s, a, at, 0) !=
		    tutti_turn_piece(t, s, tutti_op_piece(zero, b, at, 0), by))
			return false;
		at += a->kind == TUTTI_EACH ? s->refs[a->ref + i].count : 0;
	}
	return true;
}

static bool same_op(const struct tutti_sched *s, const struct tutti_op *a,
		    const struct tutti_sched *zero, const struct tutti_op *b,
		    const struct tutti_turn *t, int by)
{
	uint32_t n = (uint32_t)a->nsrc + a->ndst;

	if (a->kind != b->kind || (a->flags ^ b->flags) & ~t->any_flags ||
	    a->nsrc != b->nsrc || a->ndst != b->ndst ||
	    a->nchunks != b->nchunks || a->wait_lane != b->wait_lane ||
	    a->wait_op != b->wait_op || a->wait_iter != b->wait_iter)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_ref(s, &s->refs[a->ref + i], &zero->refs[b->ref + i],
			      t, by))
			return false;
	return same_pieces(s, a, zero, b, t, by);
}

/* Whether a schedule is another one, turned by so many ranks. */
static bool same_sched(const struct tutti_sched *s,
		       const struct tutti_sched *zero,
		       const struct tutti_turn *t, int by)
{
	if (s->coll != zero->coll || s->ranks != zero->ranks ||
	    s->mapped != zero->mapped || s->pieces != zero->pieces ||
	    s->blocks_in != zero->blocks_in ||
	    s->blocks_out != zero->blocks_out || s->nlanes != zero->nlanes ||
	    s->nruns != zero->nruns || s->nops != zero->nops ||
	    s->scratch != zero->scratch || s->widest != zero->widest)
		return false;
	for (uint32_t l = 0; l < s->nlanes; l++)
		if (s->lanes[l].first != zero->lanes[l].first ||
		    s->lanes[l].nruns != zero->lanes[l].nruns)
			return false;
	for (uint32_t i = 0; i < s->nruns; i++)
		if (s->runs[i].first != zero->runs[i].first ||
		    s->runs[i].nops != zero->runs[i].nops ||
		    s->runs[i].times != zero->runs[i].times)
			return false;
	for (uint32_t i = 0; i < s->nops; i++)
		if (!same_op(s, &s->ops[i], zero, &zero->ops[i], t, by))
			return false;
	return true;
}

/* Strides that leave the collective's promise as it is.  Pieces of a block
 * that all ranks have may turn or stay, and so may chunks of SCRATCH: bits 0
 * and 1 of `variant`.  False if there is no such variant. */
static bool strides(const struct tutti_sched *s, unsigned int variant,
		    struct tutti_turn *t)
{
	uint32_t n = (uint32_t)s->ranks;

	*t = (struct tutti_turn){ 0 };
	if (variant & 2) {
		if (!s->scratch || s->scratch % n)
			return false;
		t->stride[TUTTI_SCRATCH] = s->scratch / n;
	}
	if (variant & 1) {
		if (s->pieces % n || s->blocks_in != 1 || s->blocks_out != 1)
			return false;
		t->piece = s->pieces / n;
	}
	switch (s->coll) {
	case TUTTI_ALL_REDUCE:
	case TUTTI_REDUCE:
	case TUTTI_BROADCAST:
		t->stride[TUTTI_IN] = t->piece;
		t->stride[TUTTI_OUT] = t->piece;
		return true;
	case TUTTI_ALL_GATHER:
	case TUTTI_GATHER:
		t->stride[TUTTI_OUT] = s->pieces;
		return true;
	case TUTTI_REDUCE_SCATTER:
	case TUTTI_SCATTER:
		t->stride[TUTTI_IN] = s->pieces;
		return true;
	case TUTTI_ALLTOALL:
		t->stride[TUTTI_IN] = s->pieces;
		t->stride[TUTTI_OUT] = s->pieces;
		return true;
	case TUTTI_BARRIER:
		return true;
	default:
		return false;
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Consecutive chunks go over the end of a place on no rank.  They begin, over
 * all ranks, wherever they do modulo gcd(stride, chunks). */
static bool stays_inside(const struct tutti_sched *s,
			 const struct tutti_ref *ref, uint32_t nchunks,
			 uint32_t times, const struct tutti_turn *t)
{
	uint32_t stride = t->stride[ref->place], g;

	if (ref->place == TUTTI_MAIL || nchunks < 2 || !stride)
		return true;
	g = gcd(stride, tutti_sched_chunks(s, ref->place));
	for (uint32_t iter = 0; iter < times; iter++)
		for (uint32_t i = 0; i < ref->count; i++)
			if (tutti_ref_at(s, ref, i, iter).chunk % g + nchunks >
			    g)
				return false;
	return true;
}

static bool all_inside(const struct tutti_sched *s, const struct tutti_turn *t)
{
	for (uint32_t r = 0; r < s->nruns; r++)
		for (uint32_t i = 0; i < s->runs[r].nops; i++) {
			const struct tutti_op *op =
				&s->ops[s->runs[r].first + i];

			for (uint32_t k = 0; k < (uint32_t)op->nsrc + op->ndst;
			     k++)
				if (!stays_inside(s, &s->refs[op->ref + k],
						  op->nchunks,
						  s->runs[r].times, t))
					return false;
		}
	return true;
}

static bool all_turned(struct tutti_sched *const *scheds, int ranks,
		       const struct tutti_turn *t)
{
	if (!all_inside(scheds[0], t))
		return false;
	for (int r = 1; r < ranks; r++)
		if (!same_sched(scheds[r], scheds[0], t, r))
			return false;
	return true;
}

bool tutti_turn_find(struct tutti_sched *const *scheds, int ranks,
		     struct tutti_turn *t)
{
	bool found = ranks > 1 && !tutti_coll_rooted(scheds[0]->coll);

	for (int r = 0; r < ranks && found; r++)
		found = scheds[r] && scheds[r]->ranks == ranks &&
			scheds[r]->rank == r;
	for (unsigned int variant = 0; found && variant < 4; variant++)
		if (strides(scheds[0], variant, t) &&
		    all_turned(scheds, ranks, t)) {
			t->on = true;
			return true;
		}
	*t = (struct tutti_turn){ 0 };
	return false;
}

bool tutti_scheds_turned(struct tutti_sched *const *scheds, int ranks)
{
	struct tutti_turn t;

	return tutti_turn_find(scheds, ranks, &t);
}

/* All of a, turned by `by`, are b. */
static bool sets_turned(struct tutti_sched *const *a,
			struct tutti_sched *const *b, int ranks, int by,
			const struct tutti_turn *t)
{
	for (int r = 0; r < ranks; r++) {
		const struct tutti_sched *to = b[(r + by) % ranks];

		if (!a[r] != !to)
			return false;
		if (a[r] && ((by && !all_inside(a[r], t)) ||
			     !same_sched(to, a[r], t, by)))
			return false;
	}
	return true;
}

/* With any flags of these. */
static bool same_sets(struct tutti_sched *const *a,
		      struct tutti_sched *const *b, int ranks,
		      uint8_t any_flags)
{
	int by = 0;

	if (!a[0] || !b[0])
		return false;
	if (tutti_coll_rooted(a[0]->coll))
		by = (b[0]->root - a[0]->root + ranks) % ranks;
	for (unsigned int variant = 0; variant < (by ? 4 : 1); variant++) {
		struct tutti_turn t;

		if (!strides(a[0], variant, &t))
			continue;
		t.any_flags = any_flags;
		if (sets_turned(a, b, ranks, by, &t))
			return true;
	}
	return false;
}

bool tutti_scheds_same(struct tutti_sched *const *a,
		       struct tutti_sched *const *b, int ranks)
{
	return same_sets(a, b, ranks, 0);
}

/* ---- What follows ------------------------------------------------------- */

static bool has_trees(struct tutti_sched *const *scheds, int ranks)
{
	for (int r = 0; r < ranks; r++)
		for (uint32_t i = 0; scheds[r] && i < scheds[r]->nops; i++)
			if (scheds[r]->ops[i].flags & TUTTI_TREE)
				return true;
	return false;
}

/* A notification to (or from) all others, each once. */
static bool notifies_all(const struct tutti_sched *s,
			 const struct tutti_op *op, bool sends)
{
	const struct tutti_ref *ref = &s->refs[op->ref];

	return op->kind == TUTTI_COMBINE && !op->flags && !op->nchunks &&
	       op->nsrc == !sends && op->ndst == sends &&
	       op->wait_lane < 0 && ref->place == TUTTI_MAIL &&
	       ref->count == (uint32_t)s->ranks - 1 && ref->rank_step == 1 &&
	       tutti_wrap(ref->rank, (uint32_t)s->ranks) ==
		       (uint32_t)(s->rank + 1) % (uint32_t)s->ranks;
}

/* The schedule behind its meeting: shares records with s, but for its runs,
 * which are to be freed.  False if there is no such meeting, or no memory. */
static bool behind_meeting(const struct tutti_sched *s,
			   struct tutti_sched *out)
{
	const struct tutti_run *first = s ? s->runs : NULL;
	uint32_t gone;

	if (!s || s->mapped || s->nlanes != 1 || s->ranks < 2 || !s->nruns ||
	    s->coll == TUTTI_BARRIER || first->times != 1 || first->nops < 2 ||
	    first->first || !notifies_all(s, &s->ops[0], true) ||
	    !notifies_all(s, &s->ops[1], false))
		return false;
	gone = first->nops == 2;
	*out = *s;
	out->ops += 2;
	out->nops -= 2;
	out->nruns -= gone;
	out->lanes[0].nruns -= gone;
	out->lanes[0].nops -= 2;
	out->runs = calloc(out->nruns + 1, sizeof(*out->runs));
	if (!out->runs)
		return false;
	memcpy(out->runs, s->runs + gone, out->nruns * sizeof(*out->runs));
	for (uint32_t i = 0; i < out->nruns; i++)
		out->runs[i].first -= tutti_min(out->runs[i].first, 2u);
	if (!gone)
		out->runs[0].nops -= 2;
	return true;
}

static bool follows_meeting(struct tutti_sched *const *a,
			    struct tutti_sched *const *b, int ranks,
			    uint8_t any_flags)
{
	struct tutti_sched *part = calloc((size_t)ranks, sizeof(*part));
	struct tutti_sched **rest = calloc((size_t)ranks, sizeof(*rest));
	bool ok = part && rest;
	int n = 0;

	for (; ok && n < ranks; n++) {
		ok = behind_meeting(b[n], &part[n]);
		rest[n] = &part[n];
	}
	ok = ok && same_sets(a, rest, ranks, any_flags);
	for (int r = 0; part && r < n; r++)
		free(part[r].runs);
	free(part);
	free(rest);
	return ok;
}

bool tutti_scheds_follow(struct tutti_sched *const *a,
			 struct tutti_sched *const *b, int ranks,
			 unsigned int how)
{
	uint8_t any_flags = 0;

	if (how & TUTTI_FOLLOWS_LEFT && !has_trees(b, ranks))
		any_flags = TUTTI_TREE;
	return how & TUTTI_FOLLOWS_MEETING ?
		       follows_meeting(a, b, ranks, any_flags) :
		       same_sets(a, b, ranks, any_flags);
}

static uint32_t turned(uint32_t c, int by, uint32_t stride, int ranks,
		       uint32_t chunks)
{
	uint64_t turns = (uint64_t)(by < 0 ? by + ranks : by);

	return stride && c < chunks ?
	       (uint32_t)((c + turns * stride) % chunks) : c;
}

uint32_t tutti_turn_piece(const struct tutti_turn *t,
			  const struct tutti_sched *s, uint32_t piece, int by)
{
	return turned(piece, by, t->piece, s->ranks, s->pieces);
}

uint32_t tutti_turn_chunk(const struct tutti_turn *t,
			  const struct tutti_sched *s, int place,
			  uint32_t chunk, int by)
{
	return turned(chunk, by, t->stride[place], s->ranks,
		      tutti_sched_chunks(s, place));
}
