/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof of the prover: faults are planted in correct schedules, one at a
 * time, and the verifier must catch at least 99 % of them.
 *
 * Every fault is planted in every record and span of every rank's schedule,
 * once as it was built and once with its runs unrolled (so that it strikes one
 * repetition only).  A fault is caught if any setting of the verifier reports
 * a breach: in place or not, two credits, or four and two slices.  The digest
 * and the cost of the sound schedule are given, as tutti_algo_verify does.
 *
 * Not counted, because nothing is wrong with it, is a schedule that
 *  - is the same work: its operations, unrolled, have the same sources and
 *    targets one by one, taking no account of what carries no meaning: the
 *    order of targets, of the pairs of each, of awaited notifications; the
 *    piece where IN or OUT tells it; each of one pair for a plain copy; a
 *    tree of so few sources that it is what adding from the left is; or
 *  - swaps two neighbours that are independent, in a schedule of one lane:
 *    neither touches memory that the other writes, they send to no common
 *    rank and receive from none, and in a mapped schedule neither is a
 *    notification; or
 *  - waits for a later operation of the same lane than the sound one, which
 *    orders more and not less.
 * The first is decided before the verifier runs, the others only excuse what
 * it let pass.
 *
 * What tutti_scheds_prove concludes instead of running it is run here: other
 * settings than two credits and one slice, and, where one run stands for in
 * place and apart, both of these, after every fault.  What is said to follow
 * from the sound strict set, or from that of several nodes, has to be sound.
 */
#include "config.h"

#include "base/bits.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 64		/* sources or targets of one operation */
#define OPS_MAX 128

/* ---- A schedule as the work it is -------------------------------------- */

struct side {
	uint32_t n;
	struct tutti_spot spot[SIDE_MAX];
};

struct work {
	uint32_t lane, kind, flags, nchunks, piece;
	int64_t wait_lane, wait_op;
	struct side src, dst;
};

struct works {
	uint32_t n;
	struct work work[OPS_MAX];
};

static bool side_of(const struct tutti_sched *s, const struct tutti_ref *refs,
		    uint32_t n, uint32_t iter, struct side *side)
{
	side->n = 0;
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t i = 0; i < refs[r].count; i++) {
			if (side->n == SIDE_MAX)
				return false;
			side->spot[side->n++] =
				tutti_ref_at(s, &refs[r], i, iter);
		}
	return true;
}

static int spot_cmp(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct tutti_spot));
}

static void side_sort(struct side *side)
{
	qsort(side->spot, side->n, sizeof(*side->spot), spot_cmp);
}

/* Sort the pairs of each by target. */
static void pairs_sort(struct work *w)
{
	for (uint32_t i = 1; i < w->dst.n; i++)
		for (uint32_t j = i; j > 0 && spot_cmp(&w->dst.spot[j],
						       &w->dst.spot[j - 1]) < 0;
		     j--) {
			struct tutti_spot d = w->dst.spot[j];
			struct tutti_spot s = w->src.spot[j];

			w->dst.spot[j] = w->dst.spot[j - 1];
			w->src.spot[j] = w->src.spot[j - 1];
			w->dst.spot[j - 1] = d;
			w->src.spot[j - 1] = s;
		}
}

static bool work_of(const struct tutti_sched *s, int lane, uint32_t index,
		    struct work *w)
{
	uint32_t iter;
	const struct tutti_op *op = tutti_sched_op(s, lane, index, &iter);
	const struct tutti_ref *refs = &s->refs[op->ref];

	memset(w, 0, sizeof(*w));
	w->lane = (uint32_t)lane;
	w->kind = op->kind;
	w->flags = op->flags;
	w->nchunks = op->nchunks;
	w->piece = op->nchunks ? tutti_op_piece(s, op, 0, iter) : 0;
	w->wait_lane = op->wait_lane;
	w->wait_op = op->wait_lane < 0 ? 0 :
		     op->wait_op + (int64_t)iter * op->wait_iter;
	if (!side_of(s, refs, op->nsrc, iter, &w->src) ||
	    !side_of(s, refs + op->nsrc, op->ndst, iter, &w->dst))
		return false;
	if (w->kind == TUTTI_EACH && w->src.n == 1 && w->dst.n == 1)
		w->kind = TUTTI_COMBINE;
	if (w->kind == TUTTI_EACH) {
		w->piece = 0;
		if (w->src.n == w->dst.n)
			pairs_sort(w);
		return true;
	}
	if (w->src.n <= 3)
		w->flags &= ~TUTTI_TREE;
	side_sort(&w->dst);
	if (!w->nchunks)
		side_sort(&w->src);
	return true;
}

/* False if it is too large to compare. */
static bool works_of(const struct tutti_sched *s, struct works *ws)
{
	ws->n = 0;
	for (uint32_t l = 0; l < s->nlanes; l++)
		for (uint32_t i = 0; i < s->lanes[l].nops; i++)
			if (ws->n == OPS_MAX ||
			    !work_of(s, (int)l, i, &ws->work[ws->n++]))
				return false;
	return true;
}

static bool same_work(const struct tutti_sched *a, const struct tutti_sched *b)
{
	static struct works x, y;

	if (a->pieces != b->pieces || a->scratch != b->scratch)
		return false;
	return works_of(a, &x) && works_of(b, &y) && x.n == y.n &&
	       !memcmp(x.work, y.work, x.n * sizeof(*x.work));
}

/* ---- Independent operations --------------------------------------------- */

/* Whether two places are the same memory, in place or not. */
static bool may_meet(const struct tutti_spot *a, const struct tutti_spot *b,
		     uint32_t nchunks)
{
	bool scratch = a->place == TUTTI_SCRATCH;

	if (a->place == TUTTI_MAIL || b->place == TUTTI_MAIL ||
	    a->rank != b->rank || scratch != (b->place == TUTTI_SCRATCH))
		return false;
	/* IN and OUT of unlike sizes are one memory at another index. */
	if (a->place != b->place)
		return true;
	return a->chunk < b->chunk + nchunks && b->chunk < a->chunk + nchunks;
}

static bool sides_meet(const struct side *a, const struct side *b, bool mail,
		       uint32_t nchunks)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t j = 0; j < b->n; j++) {
			const struct tutti_spot *x = &a->spot[i];
			const struct tutti_spot *y = &b->spot[j];

			if (mail ? x->place == TUTTI_MAIL &&
				   y->place == TUTTI_MAIL &&
				   x->rank == y->rank :
				   may_meet(x, y, nchunks))
				return true;
		}
	return false;
}

/* An all-to-all is never in place, and nobody writes IN. */
static void forget_in(struct side *side)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < side->n; i++)
		if (side->spot[i].place != TUTTI_IN)
			side->spot[n++] = side->spot[i];
	side->n = n;
}

static bool independent(const struct tutti_sched *s, uint32_t index)
{
	static struct work a, b;
	uint32_t n;

	if (s->nlanes != 1 || !work_of(s, 0, index, &a) ||
	    !work_of(s, 0, index + 1, &b))
		return false;
	n = tutti_max(a.nchunks, b.nchunks);
	if (s->coll == TUTTI_ALLTOALL) {
		forget_in(&a.src);
		forget_in(&b.src);
	}
	if (s->mapped && (!a.nchunks || !b.nchunks))
		return false;
	return !sides_meet(&a.dst, &b.dst, false, n) &&
	       !sides_meet(&a.src, &b.dst, false, n) &&
	       !sides_meet(&a.dst, &b.src, false, n) &&
	       !sides_meet(&a.src, &b.src, true, n) &&
	       !sides_meet(&a.dst, &b.dst, true, n);
}

/* ---- Faults ------------------------------------------------------------ */

enum fault {
	DROP_OP, DUPLICATE_OP, SWAP_OPS, TOGGLE_FINAL, TOGGLE_TREE, TOGGLE_KIND,
	MORE_CHUNKS, FEWER_CHUNKS, OTHER_PIECE, DROP_WAIT, EARLIER_WAIT,
	LATER_WAIT, OTHER_WAIT_STEP, MORE_TIMES, FEWER_TIMES,
	DROP_SPAN, DUPLICATE_SPAN, SWAP_SPANS, SHORTER_SPAN, LONGER_SPAN,
	OTHER_PLACE, OTHER_PLACE2, OTHER_PLACE3, RANK_UP, RANK_DOWN,
	RANK_STEP_UP, RANK_STEP_DOWN, RANK_ITER_UP, CHUNK_UP, CHUNK_DOWN,
	CHUNK_STEP_UP, CHUNK_STEP_DOWN, CHUNK_ITER_UP, CHUNK_ITER_DOWN,
	SOURCE_TO_TARGET, TARGET_TO_SOURCE, LESS_SCRATCH, FEWER_PIECES,
	FAULTS
};

#define FIRST_OF_SPANS DROP_SPAN
#define FIRST_OF_ALL LESS_SCRATCH

static const char *const fault_names[FAULTS] = {
	"operation dropped", "operation twice", "operations swapped",
	"final flag flipped", "tree flag flipped", "kind changed",
	"more chunks", "fewer chunks",
	"other piece", "wait dropped", "wait for an earlier operation",
	"wait for a later operation", "wait moves on otherwise",
	"run once more", "run once less", "span dropped", "span twice",
	"spans swapped", "span shorter", "span longer", "place + 1",
	"place + 2", "place + 3", "rank + 1", "rank - 1", "rank step + 1",
	"rank step - 1", "rank moves on by 1 more", "chunk + 1", "chunk - 1",
	"chunk step + 1", "chunk step - 1", "chunk moves on by 1 more",
	"chunk moves on by 1 less", "source made target",
	"target made source", "less scratch", "fewer pieces",
};

/* Remove (or insert a copy of) the operation at index of s->ops. */
static void splice_op(struct tutti_sched *s, uint32_t index, bool insert)
{
	uint32_t tail = s->nops - index - 1;

	if (insert) {
		s->ops = realloc(s->ops, (s->nops + 1) * sizeof(*s->ops));
		cr_assert_not_null(s->ops);
		memmove(&s->ops[index + 1], &s->ops[index],
			(tail + 1) * sizeof(*s->ops));
		s->nops++;
	} else {
		memmove(&s->ops[index], &s->ops[index + 1],
			tail * sizeof(*s->ops));
		s->nops--;
	}
	for (uint32_t r = 0; r < s->nruns; r++) {
		struct tutti_run *run = &s->runs[r];

		if (run->first > index)
			run->first += insert ? 1 : -1;
		else if (index < run->first + run->nops)
			run->nops += insert ? 1 : -1;
	}
}

/* Put the places of one operation at the end of the list, with room for one
 * more. */
static struct tutti_ref *own_refs(struct tutti_sched *s, struct tutti_op *op)
{
	uint32_t n = (uint32_t)op->nsrc + op->ndst;

	s->refs = realloc(s->refs, (s->nrefs + n + 1) * sizeof(*s->refs));
	cr_assert_not_null(s->refs);
	memcpy(&s->refs[s->nrefs], &s->refs[op->ref], n * sizeof(*s->refs));
	op->ref = s->nrefs;
	s->nrefs += n + 1;
	memset(&s->refs[s->nrefs - 1], 0, sizeof(*s->refs));
	s->refs[s->nrefs - 1].count = 1;
	return &s->refs[op->ref];
}

static void drop_span(struct tutti_op *op, struct tutti_ref *refs,
		      uint32_t span)
{
	uint32_t n = (uint32_t)op->nsrc + op->ndst;

	memmove(&refs[span], &refs[span + 1],
		(n - span - 1) * sizeof(*refs));
	if (span < op->nsrc)
		op->nsrc--;
	else
		op->ndst--;
}

static void duplicate_span(struct tutti_op *op, struct tutti_ref *refs,
			   uint32_t span)
{
	uint32_t n = (uint32_t)op->nsrc + op->ndst;

	memmove(&refs[span + 1], &refs[span], (n - span) * sizeof(*refs));
	if (span < op->nsrc)
		op->nsrc++;
	else
		op->ndst++;
}

/* Exchange with the next span of the same side; false if there is none. */
static bool swap_spans(const struct tutti_op *op, struct tutti_ref *refs,
		       uint32_t span)
{
	uint32_t end = span < op->nsrc ? op->nsrc :
		       (uint32_t)op->nsrc + op->ndst;
	struct tutti_ref t = refs[span];

	if (span + 1 >= end)
		return false;
	refs[span] = refs[span + 1];
	refs[span + 1] = t;
	return true;
}

/* Change one number of a span. */
static void bend_span(struct tutti_ref *ref, enum fault f)
{
	switch (f) {
	case SHORTER_SPAN: ref->count--; break;
	case LONGER_SPAN: ref->count++; break;
	case OTHER_PLACE:
	case OTHER_PLACE2:
	case OTHER_PLACE3:
		ref->place = (uint8_t)((ref->place + 1 + f - OTHER_PLACE) %
				       TUTTI_PLACES);
		break;
	case RANK_UP: ref->rank++; break;
	case RANK_DOWN: ref->rank--; break;
	case RANK_STEP_UP: ref->rank_step++; break;
	case RANK_STEP_DOWN: ref->rank_step--; break;
	case RANK_ITER_UP: ref->rank_iter++; break;
	case CHUNK_UP: ref->chunk++; break;
	case CHUNK_DOWN: ref->chunk--; break;
	case CHUNK_STEP_UP: ref->chunk_step++; break;
	case CHUNK_STEP_DOWN: ref->chunk_step--; break;
	case CHUNK_ITER_UP: ref->chunk_iter++; break;
	case CHUNK_ITER_DOWN: ref->chunk_iter--; break;
	default: break;
	}
}

/* Plant a fault in a span; false if it does not apply. */
static bool hurt_span(struct tutti_sched *s, uint32_t index, uint32_t span,
		      enum fault f)
{
	struct tutti_op *op = &s->ops[index];
	struct tutti_ref *refs = own_refs(s, op);

	switch (f) {
	case DROP_SPAN:
		drop_span(op, refs, span);
		return true;
	case DUPLICATE_SPAN:
		duplicate_span(op, refs, span);
		return true;
	case SWAP_SPANS:
		return swap_spans(op, refs, span);
	case SOURCE_TO_TARGET:
		if (span + 1 != op->nsrc)
			return false;
		op->nsrc--;
		op->ndst++;
		return true;
	case TARGET_TO_SOURCE:
		if (span != op->nsrc)
			return false;
		op->nsrc++;
		op->ndst--;
		return true;
	default:
		bend_span(&refs[span], f);
		return true;
	}
}

/* Plant a fault in an operation; false if it does not apply. */
static bool hurt_op(struct tutti_sched *s, uint32_t index, enum fault f)
{
	struct tutti_op *op = &s->ops[index], t = *op;
	struct tutti_run *run = s->runs;

	while (index >= run->first + run->nops)
		run++;
	switch (f) {
	case DROP_OP:
	case DUPLICATE_OP:
		splice_op(s, index, f == DUPLICATE_OP);
		return true;
	case SWAP_OPS:
		if (index + 1 >= run->first + run->nops)
			return false;
		*op = op[1];
		op[1] = t;
		return true;
	case TOGGLE_FINAL: op->flags ^= TUTTI_FINAL; return true;
	case TOGGLE_TREE: op->flags ^= TUTTI_TREE; return true;
	case TOGGLE_KIND: op->kind = !op->kind; return true;
	case MORE_CHUNKS: op->nchunks++; return true;
	case FEWER_CHUNKS: op->nchunks--; return t.nchunks > 0;
	case OTHER_PIECE: op->piece++; return true;
	case DROP_WAIT: op->wait_lane = -1; return t.wait_lane >= 0;
	case EARLIER_WAIT: op->wait_op--; return t.wait_lane >= 0;
	case LATER_WAIT: op->wait_op++; return t.wait_lane >= 0;
	case OTHER_WAIT_STEP: op->wait_iter++; return t.wait_lane >= 0;
	case MORE_TIMES: run->times++; return index == run->first;
	case FEWER_TIMES: run->times--; return index == run->first;
	default: return false;
	}
}

static bool hurt(struct tutti_sched *s, uint32_t index, uint32_t span,
		 enum fault f)
{
	bool applies = true;

	if (f == LESS_SCRATCH) {
		applies = s->scratch > 0;
		s->scratch--;
	} else if (f == FEWER_PIECES) {
		applies = s->pieces > 1;
		s->pieces--;
	} else if (f >= FIRST_OF_SPANS) {
		applies = hurt_span(s, index, span, f);
	} else {
		applies = hurt_op(s, index, f);
	}
	for (uint32_t l = 0; l < s->nlanes; l++) {
		const struct tutti_run *run = &s->runs[s->lanes[l].first];

		s->lanes[l].nops = 0;
		for (uint32_t r = 0; r < s->lanes[l].nruns; r++)
			s->lanes[l].nops += run[r].nops * run[r].times;
	}
	return applies;
}

/* ---- Planting ---------------------------------------------------------- */

struct field {
	struct tutti_sched **scheds;
	int ranks;
	const struct tutti_query *q;
	struct tutti_cost cost;
	uint64_t digest;
	/* Sets that are sound, and how others follow from them. */
	struct tutti_sched **base[2];
	uint32_t followed;
	uint32_t planted, caught, excused;
	uint32_t shown;
};

static bool sound(struct field *f, uint32_t credits, uint32_t slices,
		  bool in_place, struct tutti_verify_report *rep)
{
	struct tutti_verify_args args = {
		.credits = credits,
		.slices = slices,
		.in_place = in_place,
		.cost = &f->cost,
		.digest = f->digest ? &f->digest : NULL,
	};
	tuttiResult_t rc = tutti_sched_verify(f->scheds, f->ranks, &args, rep);

	cr_assert(rc == tuttiSuccess || rc == tuttiInternalError);
	cr_assert_eq(rc == tuttiSuccess, rep->why[0] == 0, "%s", rep->why);
	return rc == tuttiSuccess;
}

/* Two parts; costs are not compared then. */
static bool sound_in_parts(struct field *f, bool in_place)
{
	struct tutti_verify_args args = {
		.credits = 2, .parts = 2, .in_place = in_place
	};

	return tutti_sched_verify(f->scheds, f->ranks, &args, NULL) ==
	       tuttiSuccess;
}

/* In place and apart by one run. */
static bool sound_both(struct field *f)
{
	struct tutti_verify_args args = {
		.credits = 2, .slices = 1, .both = true, .cost = &f->cost,
		.digest = f->digest ? &f->digest : NULL,
	};

	return tutti_sched_verify(f->scheds, f->ranks, &args, NULL) ==
	       tuttiSuccess;
}

/* What passes with two credits and one slice passes with every other setting:
 * tutti_scheds_prove rests on this. */
static bool slips_through(struct field *f)
{
	struct tutti_verify_report rep;
	bool two_places = f->q->coll != TUTTI_BARRIER &&
			  f->q->coll != TUTTI_SENDRECV, both = false;

	if (two_places)
		both = sound_both(f);
	for (int in_place = 0; in_place <= two_places; in_place++) {
		if (!sound(f, 2, 1, in_place, &rep)) {
			cr_assert_not(both, "%s, but not by one run", rep.why);
			return false;
		}
		cr_assert(sound(f, 4, 2, in_place, &rep), "%s", rep.why);
		cr_assert(sound(f, 0, 3, in_place, &rep), "%s", rep.why);
		cr_assert(sound_in_parts(f, in_place));
	}
	return true;
}

/* Where in the lane the record stands, the first time it runs. */
static uint32_t lane_index(const struct tutti_sched *s, uint32_t index)
{
	uint32_t at = 0;

	for (uint32_t r = 0; r < s->nruns; r++) {
		const struct tutti_run *run = &s->runs[r];

		if (index < run->first + run->nops)
			return at + index - run->first;
		at += run->nops * run->times;
	}
	return at;
}

static bool excused(const struct tutti_sched *was, uint32_t index,
		    enum fault fault)
{
	if (fault == SWAP_OPS)
		return independent(was, lane_index(was, index));
	return fault == LATER_WAIT || fault == OTHER_WAIT_STEP;
}

static void show(struct field *f, int rank, uint32_t index, uint32_t span,
		 enum fault fault)
{
	char *text = tutti_sched_print(f->scheds[rank]);

	if (text && f->shown++ < 5)
		fprintf(stderr,
			"survived: %s, operation %u, span %u of rank %d of %d, root %d:\n%s",
			fault_names[fault], index, span, rank, f->ranks,
			f->q->root, text);
	free(text);
}

/* As a default set from a strict one, or from one without a meeting. */
static bool follows(const struct field *f)
{
	for (unsigned int how = 0; how < 4; how++) {
		int base = how & TUTTI_FOLLOWS_LEFT ? 0 : 1;

		if (f->base[base] &&
		    tutti_scheds_follow(f->base[base], f->scheds, f->ranks,
					how))
			return true;
	}
	return false;
}

/* Sound, though perhaps by other sums than those of the set it was made of. */
static bool sound_alone(struct field *f)
{
	uint64_t digest = f->digest;
	bool ok;

	f->digest = 0;
	ok = slips_through(f);
	f->digest = digest;
	return ok;
}

static void plant(struct field *f, int rank, uint32_t index, uint32_t span,
		  enum fault fault)
{
	struct tutti_sched *was = f->scheds[rank], *s = t_copy(was);

	if (hurt(s, index, span, fault) && !same_work(was, s)) {
		f->scheds[rank] = s;
		if (!slips_through(f)) {
			f->planted++;
			f->caught++;
			cr_assert(!follows(f) || sound_alone(f),
				  "%s, operation %u, span %u of rank %d of %d",
				  fault_names[fault], index, span, rank,
				  f->ranks);
		} else if (excused(was, index, fault)) {
			f->excused++;
		} else {
			f->planted++;
			show(f, rank, index, span, fault);
		}
		f->scheds[rank] = was;
	}
	tutti_sched_free(s);
}

static void plant_all(struct field *f, int rank)
{
	const struct tutti_sched *s = f->scheds[rank];

	for (uint32_t i = 0; i < s->nops; i++) {
		uint32_t spans = (uint32_t)s->ops[i].nsrc + s->ops[i].ndst;

		for (int k = 0; k < FIRST_OF_SPANS; k++)
			plant(f, rank, i, 0, (enum fault)k);
		for (uint32_t r = 0; r < spans; r++)
			for (int k = FIRST_OF_SPANS; k < FIRST_OF_ALL; k++)
				plant(f, rank, i, r, (enum fault)k);
	}
	for (int k = FIRST_OF_ALL; k < FAULTS; k++)
		plant(f, rank, 0, 0, (enum fault)k);
}

/* Each repetition as a record of its own. */
static struct tutti_sched *unroll(const struct tutti_sched *s)
{
	struct tutti_sched *u = t_copy(s);
	uint32_t n = 0;

	for (uint32_t l = 0; l < s->nlanes; l++)
		n += s->lanes[l].nops;
	u->ops = realloc(u->ops, (n + 1) * sizeof(*u->ops));
	u->refs = realloc(u->refs, (n + 1) * SIDE_MAX * sizeof(*u->refs));
	u->runs = realloc(u->runs, TUTTI_LANES_MAX * sizeof(*u->runs));
	cr_assert(u->ops && u->refs && u->runs);
	u->nops = u->nrefs = u->nruns = 0;
	for (uint32_t l = 0; l < s->nlanes; l++) {
		u->lanes[l] = (struct tutti_lane){ u->nruns, 1,
						   s->lanes[l].nops };
		u->runs[u->nruns++] = (struct tutti_run){ u->nops,
							  s->lanes[l].nops,
							  1 };
		for (uint32_t i = 0; i < s->lanes[l].nops; i++) {
			uint32_t iter;
			struct tutti_op op = *tutti_sched_op(s, (int)l, i,
							     &iter);
			uint32_t refs = (uint32_t)op.nsrc + op.ndst;

			for (uint32_t r = 0; r < refs; r++) {
				struct tutti_ref ref = s->refs[op.ref + r];

				ref.rank += ref.rank_iter * (int32_t)iter;
				ref.chunk += ref.chunk_iter * (int32_t)iter;
				ref.rank_iter = ref.chunk_iter = 0;
				u->refs[u->nrefs + r] = ref;
			}
			op.ref = u->nrefs;
			op.piece += op.piece_iter * (int32_t)iter;
			op.wait_op += op.wait_iter * (int32_t)iter;
			op.piece_iter = op.wait_iter = 0;
			u->nrefs += refs;
			u->ops[u->nops++] = op;
		}
	}
	return u;
}

/* The strict form, and the one of several nodes, if these are others. */
static void build_bases(struct field *f, const struct tutti_algo *algo,
			const struct tutti_query *q)
{
	struct tutti_shape many = { .ranks = f->ranks, .nodes = 2 };
	struct tutti_query strict = *q, apart = *q;

	strict.strict = true;
	apart.shape = &many;
	apart.mapped = false;
	f->base[0] = f->base[1] = NULL;
	if (!q->strict && tutti_coll_reduces(q->coll) &&
	    algo->serves(&strict))
		f->base[0] = t_build(algo, &strict);
	if (q->shape->nodes == 1 && !q->mapped && algo->serves(&apart) &&
	    q->coll != TUTTI_SENDRECV)
		f->base[1] = t_build(algo, &apart);
	f->followed += follows(f);
}

static void attack(struct field *f, const struct tutti_algo *algo,
		   const struct tutti_query *q)
{
	struct tutti_verify_report rep;

	f->q = q;
	f->ranks = q->shape->ranks;
	f->scheds = t_build(algo, q);
	f->cost = algo->cost(q);
	f->digest = 0;
	cr_assert(sound(f, 2, 1, false, &rep), "%s", rep.why);
	f->digest = rep.digest;
	/* One run is enough, or it would spare nothing. */
	cr_assert(q->coll == TUTTI_SENDRECV || q->coll == TUTTI_BARRIER ||
		  sound_both(f));
	build_bases(f, algo, q);
	for (int r = 0; r < f->ranks; r++) {
		struct tutti_sched *s = f->scheds[r];

		if (!s)
			continue;
		plant_all(f, r);
		f->scheds[r] = unroll(s);
		cr_assert(same_work(s, f->scheds[r]));
		cr_assert(sound(f, 2, 1, false, &rep), "%s", rep.why);
		if (f->scheds[r]->nops != s->nops)
			plant_all(f, r);
		tutti_sched_free(f->scheds[r]);
		f->scheds[r] = s;
	}
	t_free(f->scheds, f->ranks);
	for (int i = 0; i < 2; i++)
		if (f->base[i])
			t_free(f->base[i], f->ranks);
}

static void attack_ranks(struct field *f, const struct tutti_algo *algo,
			 int ranks, int radix)
{
	bool rooted = tutti_coll_rooted(algo->coll);

	for (int nodes = 1; nodes <= 2; nodes++)
		for (int mapped = 0; mapped < 2; mapped++)
			for (int root = 0; root < ranks; root += ranks - 1) {
				struct tutti_shape shape = {
					.ranks = ranks, .nodes = nodes
				};
				struct tutti_query q = t_query(algo, &shape,
							       mapped, root);

				q.radix = radix;
				if (root && (!rooted || nodes > 1))
					break;
				if (mapped && !(algo->flags &
						TUTTI_HAS_MAPPED))
					break;
				if (nodes > 1 && !(algo->flags &
						   TUTTI_HAS_MAPPED))
					break;
				if (algo->serves(&q))
					attack(f, algo, &q);
				q.strict = true;
				if (tutti_coll_reduces(q.coll) &&
				    algo->serves(&q))
					attack(f, algo, &q);
			}
}

/* On layouts that have groups. */
static void attack_composed(struct field *f, const struct tutti_algo *algo)
{
	static const int layouts[] = { T_INTERLEAVED, T_SINGLES, T_DOMAINS };
	static struct t_shape shape;

	for (int ranks = 3; ranks <= 6; ranks++)
		for (size_t i = 0; i < tutti_countof(layouts); i++) {
			struct tutti_query q;

			t_shape_init(&shape, ranks, (enum t_layout)layouts[i]);
			q = t_query(algo, &shape.shape, false, ranks / 2);
			if (algo->serves(&q))
				attack(f, algo, &q);
		}
}

static void attack_algorithm(const struct tutti_algo_entry *a)
{
	static const int sizes[] = { 2, 3, 4, 5, 7 };
	static const int more[] = { 5, 6, 7, 8, 12 };
	struct field f = { 0 };

	for (size_t i = 0; i < tutti_countof(sizes); i++)
		attack_ranks(&f, a->algo, sizes[i], 0);
	if (a->algo->flags & TUTTI_COMPOSED)
		attack_composed(&f, a->algo);
	for (size_t i = 0; !strcmp(a->name, "recursive") &&
			   i < tutti_countof(more); i++)
		for (int radix = 2; radix < 4; radix++)
			attack_ranks(&f, a->algo, more[i], radix);
	fprintf(stderr, "%s %s: %u faults, %u caught, %u excused\n",
		tutti_coll_name(a->algo->coll), a->name, f.planted, f.caught,
		f.excused);
	cr_assert_gt(f.planted, 50);
	cr_assert(f.followed || strcmp(a->name, "direct2"));
	cr_assert_geq(100 * (uint64_t)f.caught, 99 * (uint64_t)f.planted,
		      "%s %s: only %u of %u faults were caught",
		      tutti_coll_name(a->algo->coll), a->name, f.caught,
		      f.planted);
}

/* The parameter of a test is an index into the registry. */
static int indexes[64];

ParameterizedTestParameters(sched_mutate, every_algorithm)
{
	size_t n = 0;

	for (; tutti_algos[n].name && n < tutti_countof(indexes); n++)
		indexes[n] = (int)n;
	return cr_make_param_array(int, indexes, n);
}

ParameterizedTest(int *index, sched_mutate, every_algorithm)
{
	attack_algorithm(&tutti_algos[*index]);
}

Test(sched_mutate, two_lanes_and_scratch)
{
	attack_algorithm(&t_two_lanes);
}

/* ---- Turns -------------------------------------------------------------- */

/* The verdicts on a set by its first rank alone and by all ranks. */
static void compare_verdicts(struct tutti_sched **scheds, int ranks,
			     const struct tutti_cost *cost,
			     uint32_t *turned, uint32_t *caught)
{
	if (!tutti_scheds_turned(scheds, ranks))
		return;
	for (int places = 0; places < 3; places++) {
		struct tutti_verify_args args = {
			.credits = 2, .slices = 1, .in_place = places == 1,
			.both = places == 2, .cost = cost,
		};
		struct tutti_verify_report all, one;
		tuttiResult_t rc;

		rc = tutti_sched_verify(scheds, ranks, &args, &all);
		args.turned = true;
		cr_assert_eq(tutti_sched_verify(scheds, ranks, &args, &one),
			     rc, "all: \"%s\", one: \"%s\"", all.why, one.why);
		cr_assert(!rc || one.turned || strstr(one.why, "record") ||
			  strstr(one.why, "schedule"));
		++*turned;
		*caught += rc != tuttiSuccess;
	}
}

/* The same fault in the schedule of every rank. */
static void hurt_all(const struct tutti_algo *algo,
		     const struct tutti_query *q, uint32_t *turned,
		     uint32_t *caught)
{
	struct tutti_sched **sound = t_build(algo, q), **scheds;
	struct tutti_cost cost = algo->cost(q);
	int ranks = q->shape->ranks;

	scheds = calloc((size_t)ranks, sizeof(*scheds));
	cr_assert_not_null(scheds);
	compare_verdicts(sound, ranks, &cost, turned, caught);
	cr_assert_eq(*caught, 0);
	for (uint32_t i = 0; *turned && i < sound[0]->nops; i++)
		for (int k = 0; k < FAULTS; k++) {
			const struct tutti_op *op = &sound[0]->ops[i];
			uint32_t spans = (uint32_t)op->nsrc + op->ndst;

			for (uint32_t at = 0; at < (k < FIRST_OF_SPANS ||
						    k >= FIRST_OF_ALL ? 1 :
						    spans); at++) {
				bool applies = true;

				for (int r = 0; r < ranks; r++) {
					scheds[r] = t_copy(sound[r]);
					applies &= hurt(scheds[r], i, at,
							(enum fault)k);
				}
				if (applies)
					compare_verdicts(scheds, ranks, &cost,
							 turned, caught);
				for (int r = 0; r < ranks; r++)
					tutti_sched_free(scheds[r]);
			}
		}
	free(scheds);
	t_free(sound, ranks);
}

/* One rank alone tells of a turned set what all together do. */
Test(sched_mutate, turned)
{
	uint32_t sets = 0, all = 0;

	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++)
		for (int n = 2; n <= 7; n++)
			for (int form = 0; form < 3; form++) {
				struct tutti_shape shape = {
					.ranks = n, .nodes = 1 + form / 2
				};
				struct tutti_query q = t_query(a->algo, &shape,
							       form == 1, 0);
				uint32_t turned = 0, caught = 0;

				if (q.coll == TUTTI_SENDRECV ||
				    !a->algo->serves(&q))
					continue;
				hurt_all(a->algo, &q, &turned, &caught);
				sets += turned > 0;
				all += turned;
			}
	fprintf(stderr, "%u sets are turned, and %u with faults\n", sets, all);
	cr_assert_gt(sets, 50);
	cr_assert_gt(all, 5000);
}
