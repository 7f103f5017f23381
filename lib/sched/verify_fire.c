/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens when an operation of the verifier's machine fires: messages are
 * taken and compared, clocks joined, expressions read, added and stored, and
 * messages sent.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

#include <stdlib.h>
#include <string.h>

/* What the operation that fires knows and needs besides its values. */
struct hand {
	uint32_t depth;			/* messages that led here */
	struct tutti_msg *first, **last; /* that it took, in list order */
	struct tutti_snap *snap;	/* for the messages it sends */
};

/* Walk the places of some spans one by one. */
struct walk {
	const struct tutti_ref *ref, *end;
	uint32_t i;
};

static bool next_spot(struct tutti_verifier *v, struct walk *w,
		      struct tutti_spot *spot)
{
	while (w->ref < w->end && w->i == w->ref->count) {
		w->ref++;
		w->i = 0;
	}
	if (w->ref == w->end)
		return false;
	*spot = tutti_ref_at(v->scheds[v->rank], w->ref, w->i++, v->iter);
	return true;
}

static struct walk walk(const struct tutti_verifier *v, bool targets)
{
	const struct tutti_ref *refs =
		&v->scheds[v->rank]->refs[v->rec->ref];

	if (targets)
		return (struct walk){ refs + v->rec->nsrc,
				      refs + v->rec->nsrc + v->rec->ndst, 0 };
	return (struct walk){ refs, refs + v->rec->nsrc, 0 };
}

/* The slices that this firing is about. */
static void slice_range(const struct tutti_verifier *v, uint32_t *first,
			uint32_t *end)
{
	*first = v->rec->nchunks ? v->slice : 0;
	*end = v->rec->nchunks ? v->slice + 1 : v->slices;
}

static void learn_message(struct tutti_verifier *v, const struct tutti_msg *m,
			  int from, struct hand *h)
{
	uint32_t first, end;

	h->depth = tutti_max(h->depth, m->depth);
	if (!m->snap)
		return;
	slice_range(v, &first, &end);
	for (uint32_t s = first; s < end; s++)
		tutti_clock_learn(v, tutti_clock(v, v->rank, v->lane, s),
				  m->snap->clock + (size_t)s * v->mem.width,
				  from);
}

/* What operation `index` of another lane of this rank knew. */
static void learn_lane(struct tutti_verifier *v, uint32_t lane,
		       uint32_t index, struct hand *h)
{
	uint32_t first, end;
	size_t at;

	slice_range(v, &first, &end);
	at = v->mem.seen_base[(size_t)v->rank * v->lanes + lane] +
	     (size_t)index * v->slices;
	for (uint32_t s = first; s < end; s++) {
		h->depth = tutti_max(h->depth, v->depth_seen[at + s]);
		tutti_clock_join(v, tutti_clock(v, v->rank, v->lane, s),
				 v->mem.seen + (at + s) * v->mem.width);
	}
}

static void learn_lanes(struct tutti_verifier *v, struct hand *h)
{
	for (uint32_t l = 0; l < v->lanes; l++) {
		uint32_t last = tutti_part_before(v, l);

		if (last != UINT32_MAX)
			learn_lane(v, l, last, h);
	}
	if (v->rec->wait_lane >= 0)
		learn_lane(v, (uint32_t)v->rec->wait_lane, tutti_waited_op(v),
			   h);
}

/* The slice of the whole chunk that fires. */
static uint32_t whole_slice(const struct tutti_verifier *v)
{
	return v->part * v->slices + v->slice;
}

/* Time passes: this operation is the latest of its lane. */
static void start(struct tutti_verifier *v, struct hand *h)
{
	size_t lane = (size_t)v->rank * v->lanes + v->lane;
	uint32_t first, end;

	slice_range(v, &first, &end);
	for (uint32_t s = first; s < end; s++) {
		h->depth = tutti_max(h->depth, v->depth[lane * v->slices + s]);
		if (v->mem.clocks)
			tutti_clock(v, v->rank, v->lane, s)
				[v->mem.global ? lane : v->lane] = v->op + 2;
	}
}

/* Keep what it knows, for later operations and for those that wait for it. */
static void keep(struct tutti_verifier *v, const struct hand *h)
{
	size_t lane = (size_t)v->rank * v->lanes + v->lane;
	uint32_t first, end;
	size_t at;

	slice_range(v, &first, &end);
	for (uint32_t s = first; s < end; s++) {
		v->depth[lane * v->slices + s] = h->depth;
		if (!v->mem.seen)
			continue;
		at = v->mem.seen_base[lane] + (size_t)v->op * v->slices + s;
		v->depth_seen[at] = h->depth;
		memcpy(v->mem.seen + at * v->mem.width,
		       tutti_clock(v, v->rank, v->lane, s),
		       v->mem.width * sizeof(*v->mem.seen));
	}
}

/* The notifications that a further part leaves out must meet each other, or it
 * would stand still where the first did not. */
static bool both_begin(struct tutti_verifier *v, const struct tutti_msg *m,
		       int peer)
{
	uint32_t own = tutti_lane_state(v, v->rank, v->lane)->skip;
	uint32_t other = tutti_lane_state(v, peer, v->lane)->skip;

	if (v->part || (m->from_op < other) == (v->op < own))
		return true;
	return tutti_breach_op(v, "awaits a notification of rank %d's operation %u, and only one of the two is repeated for the next part",
			       peer, m->from_op);
}

/* Take the next message from a rank, and compare it with what is expected. */
static bool receive(struct tutti_verifier *v, int peer, uint32_t piece,
		    struct hand *h)
{
	struct tutti_way *w = tutti_way(v, peer, v->rank);
	struct tutti_msg *m = tutti_mail_pop(&v->mail, w);
	bool data = v->rec->nchunks > 0;
	uint32_t sent = tutti_turn_piece(&v->turn, v->any, m->piece, peer);

	w->claimed--;
	tutti_lane_enqueue(v, peer, v->lane);
	m->next = NULL;
	*h->last = m;
	h->last = &m->next;
	if (m->nchunks != v->rec->nchunks ||
	    (data && (sent != piece || m->slice != whole_slice(v))))
		return tutti_breach_op(v, "expects %u chunks of piece %u, slice %u, from rank %d, whose operation %u sent %u of piece %u, slice %u",
				       v->rec->nchunks, piece, whole_slice(v),
				       peer,
				       m->from_op, m->nchunks, sent,
				       m->slice);
	if (!data && !both_begin(v, m, peer))
		return false;
	learn_message(v, m, peer, h);
	if (v->args->watch)
		v->args->watch->took(v->args->watch, &(struct tutti_firing){
			v->rank, v->lane, v->op, v->slice, v->iter, v->rec
		}, peer, m->from_op);
	return true;
}

/* All messages come before anything is read: memory may be reachable only
 * since one of them. */
static bool receive_all(struct tutti_verifier *v, struct hand *h)
{
	const struct tutti_sched *s = v->scheds[v->rank];
	struct walk src = walk(v, false);
	struct tutti_spot spot;

	for (uint32_t i = 0; next_spot(v, &src, &spot); i++)
		if (spot.place == TUTTI_MAIL &&
		    !receive(v, spot.rank,
			     tutti_op_piece(s, v->rec, i, v->iter), h))
			return false;
	return true;
}

static bool send(struct tutti_verifier *v, int peer, uint32_t piece,
		 const uint32_t *values, const struct hand *h)
{
	struct tutti_way *w = tutti_way(v, v->rank, peer);
	struct tutti_msg *m = tutti_msg_new(&v->mail, v->rec->nchunks);

	if (!m)
		return tutti_verify_no_memory(v);
	m->from_op = v->op;
	m->slice = whole_slice(v);
	m->piece = piece;
	m->depth = h->depth + 1;
	m->snap = h->snap;
	if (m->snap)
		m->snap->users++;
	if (v->rec->nchunks)
		memcpy(m->values, values,
		       v->rec->nchunks * sizeof(*m->values));
	w->reserved--;
	tutti_mail_push(&v->mail, w, m);
	v->report->messages++;
	if (whole_slice(v) == 0)
		v->sent[v->rank] += v->rec->nchunks;
	tutti_lane_enqueue(v, peer, v->lane);
	return true;
}

/* A copy of this lane's clocks for messages to carry. */
static bool take_snap(struct tutti_verifier *v, struct hand *h)
{
	size_t n = (size_t)v->slices * v->mem.width;

	if (!v->mem.global || !v->rec->ndst)
		return true;
	h->snap = malloc(sizeof(*h->snap) + n * sizeof(*h->snap->clock));
	if (!h->snap)
		return tutti_verify_no_memory(v);
	h->snap->users = 1;
	memcpy(h->snap->clock, tutti_clock(v, v->rank, v->lane, 0),
	       n * sizeof(*h->snap->clock));
	return true;
}

/* a + b, if that is a sum that can still become a result. */
static uint32_t add(struct tutti_verifier *v, uint32_t a, uint32_t b)
{
	struct tutti_expr x = tutti_expr_get(&v->exprs, a);
	struct tutti_expr y = tutti_expr_get(&v->exprs, b);
	uint32_t sum;

	if (!v->reduces)
		return tutti_breach_op(v, "adds, but %s does not",
				       tutti_coll_name(v->any->coll));
	if (x.kind == TUTTI_EXPR_FINAL || y.kind == TUTTI_EXPR_FINAL)
		return tutti_breach_op(v, "adds to a final result");
	if (x.chunk != y.chunk)
		return tutti_breach_op(v, "adds chunk %u of IN to chunk %u",
				       y.chunk, x.chunk);
	if (x.leaves + y.leaves > (uint32_t)v->ranks)
		return tutti_breach_op(v, "adds %u contributions of %d ranks",
				       x.leaves + y.leaves, v->ranks);
	sum = tutti_expr_add(&v->exprs, a, b);
	if (!sum)
		tutti_verify_no_memory(v);
	return sum;
}

/* End a combine: round, and finish if it is marked so. */
static uint32_t finish(struct tutti_verifier *v, uint32_t e, bool several)
{
	if (several)
		e = tutti_expr_step(&v->exprs, e);
	if (e && v->rec->flags & TUTTI_FINAL) {
		if (!v->reduces ||
		    tutti_expr_get(&v->exprs, e).kind == TUTTI_EXPR_FINAL)
			return tutti_breach_op(v, "marks final what %s",
					       v->reduces ? "is final already" :
					       "is no reduction");
		if (!tutti_expr_complete(&v->exprs, e))
			return tutti_breach_op(v, "marks final what lacks or repeats a contribution");
		e = tutti_expr_final(&v->exprs, e);
	}
	if (!e)
		tutti_verify_no_memory(v);
	return e;
}

/* Chunk c after the one at spot. */
static struct tutti_spot next_chunk(struct tutti_spot spot, uint32_t c)
{
	spot.chunk += c;
	return spot;
}

static uint32_t next_piece(const struct tutti_verifier *v, uint32_t piece,
			   uint32_t c)
{
	return (piece + c) % v->any->pieces;
}

/* Read every chunk of one source into acc. */
static bool read_source(struct tutti_verifier *v, struct tutti_spot spot,
			uint32_t piece, uint32_t at, struct hand *h,
			uint32_t *acc)
{
	struct tutti_msg *m = NULL;
	uint32_t n = v->rec->nchunks;

	if (spot.place == TUTTI_MAIL) {
		m = h->first;
		h->first = m->next;
	}
	for (uint32_t c = 0; c < n && !v->failed; c++) {
		acc[c] = m ? tutti_expr_turn(&v->exprs, m->values[c],
					     spot.rank) :
			 tutti_memory_read(v, next_chunk(spot, c),
					   next_piece(v, piece, c), at + c);
		if (!m && spot.rank != v->rank && whole_slice(v) == 0)
			v->sent[v->rank]++;
	}
	if (m)
		tutti_msg_free(&v->mail, m);
	return !v->failed;
}

static bool write_target(struct tutti_verifier *v, struct tutti_spot spot,
			 uint32_t piece, uint32_t at, const struct hand *h,
			 const uint32_t *acc)
{
	if (spot.place == TUTTI_MAIL)
		return send(v, spot.rank, piece, acc, h);
	for (uint32_t c = 0; c < v->rec->nchunks; c++) {
		if (!tutti_memory_write(v, next_chunk(spot, c),
					next_piece(v, piece, c), at + c,
					acc[c]))
			return false;
		if (spot.rank != v->rank && whole_slice(v) == 0)
			v->sent[v->rank]++;
	}
	return true;
}

/* A copy onto itself, which is left alone, in place at least. */
static bool same_memory(struct tutti_verifier *v, struct tutti_spot a,
			struct tutti_spot b)
{
	const struct tutti_cell *cell;

	if (a.place == TUTTI_MAIL || b.place == TUTTI_MAIL ||
	    a.rank != b.rank || v->rec->flags & TUTTI_FINAL)
		return false;
	if (a.chunk >= tutti_sched_chunks(v->scheds[a.rank], a.place) ||
	    b.chunk >= tutti_sched_chunks(v->scheds[b.rank], b.place))
		return false;
	cell = tutti_cell(v, a.rank, a.place, a.chunk);
	return cell && cell == tutti_cell(v, b.rank, b.place, b.chunk);
}

/* Such a copy.  Of both ways to prove it is left alone in one only. */
static bool stay(struct tutti_verifier *v, struct tutti_spot from,
		 struct tutti_spot to, uint32_t piece, uint32_t at)
{
	bool ok = true;

	if (!v->both || (from.place == to.place && to.place != TUTTI_IN))
		return true;
	for (uint32_t c = 0; ok && c < v->rec->nchunks; c++)
		ok = tutti_memory_stay(v, next_chunk(from, c),
				       next_chunk(to, c),
				       next_piece(v, piece, c), at + c);
	return ok;
}

/* The last row of v->acc goes into the one before it; false after a
 * breach. */
static bool add_rows(struct tutti_verifier *v, uint32_t *depth)
{
	uint32_t *left, *right;

	--*depth;
	right = v->acc + (size_t)*depth * v->rec->nchunks;
	left = right - v->rec->nchunks;
	for (uint32_t c = 0; c < v->rec->nchunks && !v->failed; c++)
		left[c] = add(v, left[c], right[c]);
	return !v->failed;
}

/*
 * The sources, added into the first row of v->acc.  Of a tree the rows are
 * subtrees of 2^k sources with k falling, as the ones of a binary counter; what
 * is left at the end is added from right to left.
 */
static bool add_sources(struct tutti_verifier *v, uint32_t piece,
			struct hand *h, uint32_t *nsrc,
			struct tutti_spot *only)
{
	bool tree = v->rec->flags & TUTTI_TREE;
	struct walk src = walk(v, false);
	uint32_t depth = 0;

	for (*nsrc = 0; next_spot(v, &src, only); ++*nsrc) {
		if (!read_source(v, *only, piece, 0, h,
				 v->acc + (size_t)depth * v->rec->nchunks))
			return false;
		depth++;
		for (uint32_t n = *nsrc + 1; tree ? !(n & 1) : depth > 1;
		     n >>= 1)
			if (!add_rows(v, &depth))
				return false;
	}
	while (depth > 1)
		if (!add_rows(v, &depth))
			return false;
	return true;
}

static bool fire_combine(struct tutti_verifier *v, struct hand *h)
{
	uint32_t piece = tutti_op_piece(v->scheds[v->rank], v->rec, 0,
					v->iter);
	struct tutti_spot spot, only = { .place = TUTTI_MAIL };
	struct walk dst = walk(v, true);
	uint32_t nsrc;

	if (!add_sources(v, piece, h, &nsrc, &only))
		return false;
	for (uint32_t c = 0; c < v->rec->nchunks; c++) {
		v->acc[c] = finish(v, v->acc[c], nsrc > 1);
		if (!v->acc[c])
			return false;
	}
	while (next_spot(v, &dst, &spot))
		if (nsrc == 1 && same_memory(v, only, spot) ?
			    !stay(v, only, spot, piece, 0) :
			    !write_target(v, spot, piece, 0, h, v->acc))
			return false;
	return true;
}

/* All pairs are read before any is written, so that overlaps show. */
static bool fire_each(struct tutti_verifier *v, struct hand *h)
{
	const struct tutti_sched *s = v->scheds[v->rank];
	uint32_t pairs = tutti_refs_count(&s->refs[v->rec->ref], v->rec->nsrc);
	uint32_t n = v->rec->nchunks;
	struct walk src = walk(v, false), dst = walk(v, true);
	struct tutti_spot from, to;
	uint32_t *acc;
	bool ok = true;

	acc = calloc(pairs, n * sizeof(*acc));
	if (!acc)
		return tutti_verify_no_memory(v);
	for (uint32_t i = 0; ok && next_spot(v, &src, &from); i++)
		ok = read_source(v, from, tutti_op_piece(s, v->rec, i, v->iter),
				 i * n, h, acc + (size_t)i * n);
	src = walk(v, false);
	for (uint32_t i = 0; ok && next_spot(v, &dst, &to); i++) {
		uint32_t piece = tutti_op_piece(s, v->rec, i, v->iter);

		next_spot(v, &src, &from);
		ok = same_memory(v, from, to) ?
			     stay(v, from, to, piece, i * n) :
			     write_target(v, to, piece, i * n, h,
					  acc + (size_t)i * n);
	}
	free(acc);
	return ok;
}

bool tutti_op_fire(struct tutti_verifier *v)
{
	struct hand h = { .last = &h.first };
	bool ok;

	v->firing++;
	v->report->fired++;
	start(v, &h);
	learn_lanes(v, &h);
	ok = receive_all(v, &h);
	if (ok) {
		keep(v, &h);
		ok = take_snap(v, &h) &&
		     (v->rec->kind == TUTTI_EACH ? fire_each(v, &h) :
						   fire_combine(v, &h));
	}
	while (h.first) {
		struct tutti_msg *m = h.first;

		h.first = m->next;
		tutti_msg_free(&v->mail, m);
	}
	if (h.snap && --h.snap->users == 0)
		free(h.snap);
	if (ok && v->args->watch)
		v->args->watch->fired(v->args->watch, &(struct tutti_firing){
			v->rank, v->lane, v->op, v->slice, v->iter, v->rec
		});
	return ok;
}
