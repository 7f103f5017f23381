/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One phase of a composition: a level algorithm writes to a sink that
 * translates.  Ranks become the members, chunks become chunks of the areas,
 * and its scratch lies behind what the composition has for itself.
 *
 * What an operation moves must be known, because blocks of a level may have
 * different lengths in the whole (parts of one buffer; the last are short).
 * IN and OUT tell it; SCRATCH tells what was stored there; a composition below
 * says it.  A level algorithm that passes on what it does not name cannot
 * serve where that matters.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "sched/compose_impl.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX

/* A place of the level, in its own numbers and in those of the whole. */
struct spot {
	uint8_t place;
	int rank;
	uint32_t chunk;
	uint32_t data;		/* which chunk of the level's collective */
};

/* Operations of a run, kept until it ends. */
struct body {
	struct tutti_op *ops;
	struct tutti_ref *refs;
	uint32_t nops, ops_max, nrefs, refs_max, times;
};

struct translator {
	struct tutti_sink sink;		/* first */
	struct tutti_compose *c;
	const struct tutti_phase *p;
	const int *member;
	struct tutti_part part;
	struct tutti_sched sub;		/* the level's header */
	uint32_t width;			/* chunks of a piece of a block */
	uint32_t scratch;		/* the level's, in the whole */
	uint32_t *holds;		/* data of scratch chunks */
	uint32_t lanes;
	struct body body;
	struct spot *spots;
	struct tutti_ref *out;
	uint32_t spots_max;
};

/* `size` bytes times `need` at least. */
static bool grow(void *array, uint32_t *max, uint32_t need, size_t size)
{
	uint32_t n = *max ? *max : 16;
	void *p;

	if (need <= *max)
		return true;
	while (n < need)
		n *= 2;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, n * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*max = n;
	return true;
}

static tuttiResult_t no_memory(void)
{
	return tutti_fail(tuttiSystemError,
			  "no memory to compose a schedule; free some and retry");
}

static tuttiResult_t unfit(struct translator *t, const char *why)
{
	t->c->why = why;
	if (t->c->measuring)
		return tuttiInternalError;
	return tutti_fail(tuttiInternalError, "a composition of %s does not fit: %s",
			  tutti_coll_name(t->c->q->coll), why);
}

/* ---- What is moved ------------------------------------------------------ */

static bool many_blocks(enum tutti_coll coll)
{
	return coll == TUTTI_ALL_GATHER || coll == TUTTI_REDUCE_SCATTER;
}

/* The data of a place of IN or OUT. */
static uint32_t data_of(const struct translator *t, int place, uint32_t chunk)
{
	uint32_t mine = (uint32_t)t->part.q.rank * t->sub.pieces;

	if ((place == TUTTI_IN && t->p->coll == TUTTI_ALL_GATHER) ||
	    (place == TUTTI_OUT && t->p->coll == TUTTI_REDUCE_SCATTER))
		return mine + chunk;
	return chunk;
}

/* The chunk of the whole that a chunk of data begins with. */
static uint32_t whole_chunk(const struct translator *t, uint32_t data)
{
	return t->p->chunk + data / t->sub.pieces * t->p->chunk_step +
	       data % t->sub.pieces * t->width;
}

/* What operation `op` says of itself, where nothing else tells. */
static uint32_t stated(const struct translator *t, const struct tutti_op *op,
		       uint32_t iter)
{
	int64_t piece = op->piece + (int64_t)op->piece_iter * iter;
	int64_t all = t->sub.pieces;

	if (many_blocks(t->p->coll) &&
	    t->part.algo->flags & TUTTI_COMPOSED)
		all *= t->sub.ranks;
	piece %= all;
	return (uint32_t)(piece < 0 ? piece + all : piece);
}

/* Blocks of any number are as long as block 0, and nobody asks which. */
static bool blocks_alike(const struct translator *t)
{
	return !t->c->q->part && t->p->chunk_step % t->c->pieces == 0;
}

/* Unknown only if it matters. */
static uint32_t find_data(const struct translator *t, const struct tutti_op *op,
			  uint32_t iter, const struct spot *spots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (spots[i].data != UNKNOWN)
			return spots[i].data;
	if (!many_blocks(t->p->coll) ||
	    t->part.algo->flags & TUTTI_COMPOSED || blocks_alike(t))
		return stated(t, op, iter);
	return UNKNOWN;
}

/* ---- Places ------------------------------------------------------------- */

static struct spot spot_of(const struct translator *t,
			   const struct tutti_ref *ref, uint32_t i,
			   uint32_t iter, bool target)
{
	struct tutti_spot s = tutti_ref_at(&t->sub, ref, i, iter);
	struct spot spot = {
		.place = (uint8_t)s.place,
		.rank = t->member[s.rank],
		.chunk = s.chunk,
		.data = UNKNOWN,
	};
	const struct tutti_area *area = s.place == TUTTI_IN ? &t->p->in :
							      &t->p->out;

	if (s.place == TUTTI_MAIL)
		return spot;
	if (s.place == TUTTI_SCRATCH) {
		if (!target)
			spot.data = t->holds[s.chunk];
		spot.chunk = t->scratch + s.chunk * t->width;
		return spot;
	}
	spot.data = data_of(t, s.place, s.chunk);
	spot.place = area->place;
	spot.chunk = area->first + s.chunk / t->sub.pieces * t->c->unit +
		     s.chunk % t->sub.pieces * t->width;
	return spot;
}

/* All places of an operation in one repetition into t->spots. */
static tuttiResult_t unroll(struct translator *t, const struct tutti_op *op,
			    const struct tutti_ref *refs, uint32_t iter,
			    uint32_t *nsrc, uint32_t *ndst)
{
	uint32_t n, at = 0, max = t->spots_max;

	*nsrc = tutti_refs_count(refs, op->nsrc);
	*ndst = tutti_refs_count(refs + op->nsrc, op->ndst);
	n = *nsrc + *ndst;
	if (n > UINT16_MAX)
		return unfit(t, "an operation has too many places");
	if (!grow(&t->spots, &max, n, sizeof(*t->spots)) ||
	    !grow(&t->out, &t->spots_max, n, sizeof(*t->out)))
		return no_memory();
	for (uint32_t r = 0; r < (uint32_t)op->nsrc + op->ndst; r++)
		for (uint32_t i = 0; i < refs[r].count; i++)
			t->spots[at++] = spot_of(t, &refs[r], i, iter,
						 r >= op->nsrc);
	return tuttiSuccess;
}

/* Scratch of the level now holds this. */
static void keep(struct translator *t, const struct spot *dst, uint32_t data,
		 uint32_t nchunks)
{
	uint32_t first = (dst->chunk - t->scratch) / t->width;

	if (dst->place != TUTTI_SCRATCH || dst->chunk < t->scratch || !t->holds)
		return;
	for (uint32_t i = 0; i < nchunks && first + i < t->sub.scratch; i++)
		t->holds[first + i] = data == UNKNOWN ? UNKNOWN : data + i;
}

/* ---- Spans -------------------------------------------------------------- */

static bool goes_on(const struct tutti_ref *ref, const struct spot *s)
{
	int64_t n = ref->count;

	if (ref->place != s->place)
		return false;
	if (n == 1)
		return true;
	return ref->rank + n * ref->rank_step == s->rank &&
	       ref->chunk + n * ref->chunk_step == (int64_t)s->chunk;
}

/* As few spans as greed finds; how many. */
static uint32_t to_spans(struct tutti_ref *out, const struct spot *s,
			 uint32_t n)
{
	uint32_t nrefs = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct tutti_ref *last = &out[nrefs - (nrefs > 0)];

		if (!nrefs || !goes_on(last, &s[i])) {
			out[nrefs++] = tutti_chunk(s[i].place, s[i].rank,
						   (int)s[i].chunk);
			continue;
		}
		if (last->count == 1) {
			last->rank_step = s[i].rank - last->rank;
			last->chunk_step = (int)s[i].chunk - last->chunk;
		}
		last->count++;
	}
	return nrefs;
}

/* Spots src[0..nsrc) and dst[0..ndst) as one operation of the whole. */
static tuttiResult_t put(struct translator *t, enum tutti_op_kind kind,
			 unsigned int flags, uint32_t nchunks, uint32_t piece,
			 const struct spot *src, uint32_t nsrc,
			 const struct spot *dst, uint32_t ndst)
{
	struct tutti_op op = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.nchunks = nchunks,
		.piece = (int32_t)piece,
		.wait_lane = -1,
	};

	if (t->c->measuring)
		return tuttiSuccess;
	op.nsrc = (uint16_t)to_spans(t->out, src, nsrc);
	op.ndst = (uint16_t)to_spans(t->out + op.nsrc, dst, ndst);
	return t->c->e.sink->op(t->c->e.sink, &op, t->out);
}

/* ---- Operations --------------------------------------------------------- */

/* Several blocks in one operation are consecutive chunks of the whole only if
 * the level's blocks are. */
static bool crosses(const struct translator *t, uint32_t data, uint32_t n)
{
	if (n == 1 || data % t->sub.pieces + n <= t->sub.pieces)
		return false;
	if (!many_blocks(t->p->coll))
		return t->c->pieces != t->c->unit;
	return t->p->chunk_step != t->c->unit && !blocks_alike(t);
}

static bool same_place(const struct spot *a, const struct spot *b)
{
	return a->place == b->place && a->place != TUTTI_MAIL &&
	       a->rank == b->rank && a->chunk == b->chunk;
}

/* Areas may be one: forget targets that a copy would leave alone.  How many
 * are left. */
static uint32_t drop_same(const struct spot *src, struct spot *dst,
			  uint32_t ndst)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ndst; i++)
		if (!same_place(src, &dst[i]))
			dst[n++] = dst[i];
	return n;
}

static tuttiResult_t combine(struct translator *t, const struct tutti_op *op,
			     uint32_t iter, uint32_t nsrc, uint32_t ndst)
{
	uint32_t data = find_data(t, op, iter, t->spots, nsrc + ndst);
	unsigned int flags = op->flags;

	if (op->nchunks && data == UNKNOWN)
		return unfit(t, "a level algorithm passes on blocks that it does not name");
	if (op->nchunks && crosses(t, data, op->nchunks))
		return unfit(t, "a level algorithm moves several blocks at once that are not side by side");
	if (!t->p->final)
		flags &= ~TUTTI_FINAL;
	for (uint32_t i = 0; i < ndst; i++)
		keep(t, &t->spots[nsrc + i], data, op->nchunks);
	if (nsrc == 1 && !(flags & TUTTI_FINAL) && op->nchunks) {
		ndst = drop_same(t->spots, t->spots + nsrc, ndst);
		if (!ndst)
			return tuttiSuccess;
	}
	return put(t, TUTTI_COMBINE, flags, op->nchunks * t->width,
		   op->nchunks ? whole_chunk(t, data) : 0, t->spots, nsrc,
		   t->spots + nsrc, ndst);
}

/* Pairs [from, to) of an each. */
static tuttiResult_t pairs(struct translator *t, const struct tutti_op *op,
			   uint32_t iter, uint32_t n, uint32_t from,
			   uint32_t to)
{
	const struct spot both[2] = { t->spots[from], t->spots[n + from] };
	uint32_t data = find_data(t, op, iter, both, 2);

	return put(t, to - from == 1 ? TUTTI_COMBINE : TUTTI_EACH, 0,
		   op->nchunks * t->width, whole_chunk(t, data),
		   t->spots + from, to - from, t->spots + n + from, to - from);
}

static bool plain(const struct spot *a, const struct spot *b)
{
	return a->place <= TUTTI_OUT || b->place <= TUTTI_OUT;
}

/* A pair without a buffer needs its length stated, one by one. */
static tuttiResult_t each(struct translator *t, const struct tutti_op *op,
			  uint32_t iter, uint32_t n)
{
	const struct spot *s = t->spots;
	tuttiResult_t rc = tuttiSuccess;

	for (uint32_t i = 0; i < n; i++) {
		const struct spot both[2] = { s[i], s[n + i] };
		uint32_t data = find_data(t, op, iter, both, 2);

		if (data == UNKNOWN)
			return unfit(t, "a level algorithm passes on blocks that it does not name");
		if (crosses(t, data, op->nchunks))
			return unfit(t, "a level algorithm moves several blocks at once that are not side by side");
		keep(t, &s[n + i], data, op->nchunks);
	}
	for (uint32_t i = 0, next; i < n && !rc; i = next) {
		next = i + 1;
		if (same_place(&s[i], &s[n + i]))
			continue;
		while (next < n && !same_place(&s[next], &s[n + next]) &&
		       plain(&s[i], &s[n + i]) &&
		       plain(&s[next], &s[n + next]))
			next++;
		rc = pairs(t, op, iter, n, i, next);
	}
	return rc;
}

static tuttiResult_t translate(struct translator *t, const struct tutti_op *op,
			       const struct tutti_ref *refs, uint32_t iter)
{
	uint32_t nsrc, ndst;
	tuttiResult_t rc = unroll(t, op, refs, iter, &nsrc, &ndst);

	if (rc)
		return rc;
	if (op->wait_lane >= 0)
		return unfit(t, "a level algorithm has several lanes");
	if (op->kind == TUTTI_EACH)
		return each(t, op, iter, nsrc);
	return combine(t, op, iter, nsrc, ndst);
}

/* ---- The sink ----------------------------------------------------------- */

/* The run has ended: repeat it. */
static tuttiResult_t flush(struct translator *t)
{
	struct body *b = &t->body;
	tuttiResult_t rc = tuttiSuccess;

	for (uint32_t iter = 0; iter < b->times && !rc; iter++)
		for (uint32_t i = 0; i < b->nops && !rc; i++)
			rc = translate(t, &b->ops[i], b->refs + b->ops[i].ref,
				       iter);
	b->nops = 0;
	b->nrefs = 0;
	return rc;
}

static tuttiResult_t level_begin(struct tutti_sink *k,
				 const struct tutti_query *q, uint32_t pieces,
				 uint32_t scratch)
{
	struct translator *t = (struct translator *)k;
	struct tutti_compose *c = t->c;

	t->sub.ranks = q->shape->ranks;
	t->sub.rank = q->rank;
	t->sub.pieces = pieces;
	t->sub.scratch = scratch;
	tutti_coll_blocks(q->coll, q->shape->ranks, false, &t->sub.blocks_in,
			  &t->sub.blocks_out);
	if (c->unit % pieces)
		return unfit(t, "ranks of one level cut blocks differently");
	t->width = c->unit / pieces;
	t->scratch = c->scratch_own;
	if (scratch > INT32_MAX / t->width - c->scratch_own)
		return unfit(t, "it needs too much scratch");
	c->scratch = tutti_max(c->scratch, scratch * t->width);
	t->holds = malloc((scratch + 1) * sizeof(*t->holds));
	if (!t->holds)
		return no_memory();
	memset(t->holds, 0xff, scratch * sizeof(*t->holds));
	return tuttiSuccess;
}

static tuttiResult_t level_lane(struct tutti_sink *k)
{
	struct translator *t = (struct translator *)k;

	if (t->lanes++)
		return unfit(t, "a level algorithm has several lanes");
	t->body.times = 1;
	return tuttiSuccess;
}

static tuttiResult_t level_run(struct tutti_sink *k, uint32_t times)
{
	struct translator *t = (struct translator *)k;
	tuttiResult_t rc = flush(t);

	t->body.times = times;
	return rc;
}

static tuttiResult_t level_op(struct tutti_sink *k, const struct tutti_op *op,
			      const struct tutti_ref *refs)
{
	struct body *b = &((struct translator *)k)->body;
	uint32_t n = (uint32_t)op->nsrc + op->ndst;

	if (!grow(&b->ops, &b->ops_max, b->nops + 1, sizeof(*b->ops)) ||
	    !grow(&b->refs, &b->refs_max, b->nrefs + n, sizeof(*b->refs)))
		return no_memory();
	b->ops[b->nops] = *op;
	b->ops[b->nops++].ref = b->nrefs;
	if (n)
		memcpy(&b->refs[b->nrefs], refs, n * sizeof(*refs));
	b->nrefs += n;
	return tuttiSuccess;
}

/* ---- Phases ------------------------------------------------------------- */

static void run_phase(struct tutti_compose *c, const struct tutti_phase *p,
		      enum tutti_level level, const struct tutti_shape *shape,
		      const int *member, int me)
{
	struct translator t = {
		.sink = {
			.begin = level_begin,
			.lane = level_lane,
			.run = level_run,
			.op = level_op,
		},
		.c = c,
		.p = p,
		.member = member,
	};

	if (!tutti_part_find(&t.part, c, level, p->coll, shape)) {
		c->e.rc = tuttiInternalError;
		return;
	}
	t.part.q.rank = me;
	t.part.q.root = p->root;
	if (!c->measuring)
		c->e.rc = c->e.sink->run(c->e.sink, 1);
	if (!c->e.rc)
		c->e.rc = t.part.algo->build(&t.sink, &t.part.q);
	if (!c->e.rc)
		c->e.rc = flush(&t);
	free(t.holds);
	free(t.body.ops);
	free(t.body.refs);
	free(t.spots);
	free(t.out);
}

/* One rank alone: its contribution is the result. */
static void alone(struct tutti_compose *c, const struct tutti_phase *p)
{
	uint32_t step = tutti_compose_widest(c);
	bool same = p->in.place == p->out.place &&
		    p->in.first == p->out.first;

	if (c->measuring || p->coll == TUTTI_BARRIER || (same && !p->final))
		return;
	for (uint32_t i = 0; i < c->unit; i += step) {
		tutti_emit_piece(&c->e, (int)(p->chunk + i), 0);
		tutti_emit_src(&c->e, tutti_chunk(p->in.place, c->q->rank,
						  (int)(p->in.first + i)));
		tutti_emit_dst(&c->e, tutti_chunk(p->out.place, c->q->rank,
						  (int)(p->out.first + i)));
		tutti_emit_combine(&c->e, p->final ? TUTTI_FINAL : 0,
				   tutti_min(step, c->unit - i));
	}
}

void tutti_phase_inside(struct tutti_compose *c, const struct tutti_phase *p)
{
	struct tutti_shape shape = tutti_group_shape(&c->g, c->mine);

	if (c->e.rc)
		return;
	if (shape.ranks == 1)
		alone(c, p);
	else
		run_phase(c, p, TUTTI_INSIDE, &shape,
			  c->g.member + c->g.first[c->mine], c->index);
}

void tutti_phase_across(struct tutti_compose *c, int rail,
			const struct tutti_phase *p)
{
	struct tutti_shape shape = tutti_across_shape(&c->g);

	if (c->e.rc || tutti_rail_index(c, rail) != c->index)
		return;
	for (int i = 0; i < c->g.groups; i++) {
		int first = c->g.first[i];

		c->across[i] = c->g.member[first + rail %
						   (c->g.first[i + 1] - first)];
	}
	run_phase(c, p, TUTTI_ACROSS, &shape, c->across, c->mine);
}
