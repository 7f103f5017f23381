/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pen of the builders.  Holds the places of one operation at a time and
 * passes the finished record to the sink; after an error it writes no more.
 */
#include "config.h"

#include "base/fail.h"
#include "sched/emit.h"

static int32_t wrap(int64_t v, uint32_t n)
{
	if (n == 0)
		return 0;
	v %= (int64_t)n;
	return (int32_t)(v < 0 ? v + (int64_t)n : v);
}

static void clear(struct tutti_emit *e)
{
	e->nsrc = 0;
	e->ndst = 0;
	e->wait_lane = -1;
	e->wait_op = 0;
	e->wait_iter = 0;
	e->piece = 0;
	e->piece_iter = 0;
}

void tutti_emit_begin(struct tutti_emit *e, struct tutti_sink *sink,
		      const struct tutti_query *q, uint32_t pieces,
		      uint32_t scratch)
{
	uint32_t in, out;

	tutti_coll_blocks(q->coll, q->shape->ranks, q->sending, &in, &out);
	e->sink = sink;
	e->q = q;
	e->chunks[TUTTI_IN] = in * pieces;
	e->chunks[TUTTI_OUT] = out * pieces;
	e->chunks[TUTTI_SCRATCH] = scratch;
	e->chunks[TUTTI_MAIL] = 0;
	clear(e);
	e->rc = sink->begin(sink, q, pieces, scratch);
	tutti_emit_lane(e);
}

void tutti_emit_widest(struct tutti_emit *e, int nchunks)
{
	if (!e->rc && e->sink->widest)
		e->sink->widest(e->sink, (uint32_t)nchunks);
}

void tutti_emit_lane(struct tutti_emit *e)
{
	if (!e->rc)
		e->rc = e->sink->lane(e->sink);
}

void tutti_emit_run(struct tutti_emit *e, int times)
{
	if (!e->rc)
		e->rc = e->sink->run(e->sink, (uint32_t)times);
}

/* Insert before position `at` of the list. */
static bool add(struct tutti_emit *e, unsigned int at, struct tutti_ref ref)
{
	unsigned int n = (unsigned int)e->nsrc + e->ndst;

	if (ref.count == 0 || e->rc)
		return false;
	if (n == TUTTI_EMIT_REFS) {
		e->rc = tutti_fail(tuttiInternalError,
				   "an operation of %s has more than %d spans",
				   tutti_coll_name(e->q->coll),
				   TUTTI_EMIT_REFS);
		return false;
	}
	ref.rank = wrap(ref.rank, (uint32_t)e->q->shape->ranks);
	ref.chunk = wrap(ref.chunk, e->chunks[ref.place]);
	if (ref.count == 1) {
		ref.rank_step = 0;
		ref.chunk_step = 0;
	}
	for (unsigned int i = n; i > at; i--)
		e->refs[i] = e->refs[i - 1];
	e->refs[at] = ref;
	return true;
}

void tutti_emit_src(struct tutti_emit *e, struct tutti_ref ref)
{
	if (add(e, e->nsrc, ref))
		e->nsrc++;
}

void tutti_emit_dst(struct tutti_emit *e, struct tutti_ref ref)
{
	if (add(e, (unsigned int)e->nsrc + e->ndst, ref))
		e->ndst++;
}

void tutti_emit_src_in_order(struct tutti_emit *e, struct tutti_ref own)
{
	int n = e->q->shape->ranks, me = e->q->rank;

	tutti_emit_src(e, tutti_ranks(TUTTI_MAIL, 0, 0, 0, me));
	tutti_emit_src(e, own);
	tutti_emit_src(e, tutti_ranks(TUTTI_MAIL, me + 1, 0, 0, n - 1 - me));
}

void tutti_emit_wait(struct tutti_emit *e, int lane, int op, int iter)
{
	e->wait_lane = lane;
	e->wait_op = op;
	e->wait_iter = iter;
}

void tutti_emit_piece(struct tutti_emit *e, int piece, int iter)
{
	uint32_t in = e->chunks[TUTTI_IN], out = e->chunks[TUTTI_OUT];

	e->piece = wrap(piece, in > out ? in : out);
	e->piece_iter = iter;
}

static void emit(struct tutti_emit *e, enum tutti_op_kind kind,
		 unsigned int flags, uint32_t nchunks)
{
	struct tutti_op op = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.nsrc = e->nsrc,
		.ndst = e->ndst,
		.nchunks = nchunks,
		.piece = e->piece,
		.piece_iter = e->piece_iter,
		.wait_lane = e->wait_lane,
		.wait_op = e->wait_op,
		.wait_iter = e->wait_iter,
	};

	if (!e->rc)
		e->rc = e->sink->op(e->sink, &op, e->refs);
	clear(e);
}

void tutti_emit_combine(struct tutti_emit *e, unsigned int flags,
			uint32_t nchunks)
{
	emit(e, TUTTI_COMBINE, flags, nchunks);
}

void tutti_emit_each(struct tutti_emit *e, uint32_t nchunks)
{
	emit(e, TUTTI_EACH, 0, nchunks);
}

void tutti_emit_meet(struct tutti_emit *e)
{
	if (e->q->shape->ranks == 1)
		return;
	tutti_emit_dst(e, tutti_mail_others(e->q));
	tutti_emit_combine(e, 0, 0);
	tutti_emit_src(e, tutti_mail_others(e->q));
	tutti_emit_combine(e, 0, 0);
}

tuttiResult_t tutti_emit_end(struct tutti_emit *e)
{
	return e->rc;
}

/* ---- What descriptors share ---------------------------------------------- */

tuttiResult_t tutti_emit_either(struct tutti_sink *k,
				const struct tutti_query *q, uint32_t pieces,
				void (*mapped)(struct tutti_emit *e, int n,
					       int me),
				void (*mail)(struct tutti_emit *e, int n,
					     int me))
{
	int n = q->shape->ranks;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, pieces, 0);
	if (q->mapped || tutti_emit_may_map(q))
		tutti_emit_meet(&e);
	if (q->mapped || n == 1)
		mapped(&e, n, q->rank);
	else
		mail(&e, n, q->rank);
	if (q->mapped)
		tutti_emit_meet(&e);
	return tutti_emit_end(&e);
}

struct tutti_cost tutti_either_cost(const struct tutti_query *q,
				    uint32_t steps, uint64_t mail,
				    uint64_t mapped)
{
	if (q->shape->ranks == 1)
		return (struct tutti_cost){ 0 };
	if (q->mapped)
		return (struct tutti_cost){ 2, mapped };
	return (struct tutti_cost){ steps + tutti_emit_may_map(q), mail };
}

tuttiResult_t tutti_emit_binomial(struct tutti_sink *k,
				  const struct tutti_query *q,
				  void (*root)(struct tutti_emit *e, int n,
					       int me),
				  void (*node)(struct tutti_emit *e, int v,
					       int size))
{
	int n = q->shape->ranks, v = tutti_from_root(q);
	int size = tutti_binomial_size(v, n);
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, v && size > 1 ? (uint32_t)size : 0);
	if (n > 1)
		tutti_emit_widest(&e, tutti_binomial_largest(n));
	if (v)
		node(&e, v, size);
	else
		root(&e, n, q->rank);
	return tutti_emit_end(&e);
}

bool tutti_emit_serves_strict(const struct tutti_query *q)
{
	return !q->mapped || q->shape->nodes <= 1;
}

bool tutti_emit_serves(const struct tutti_query *q)
{
	return !(q->strict && tutti_coll_reduces(q->coll)) &&
	       tutti_emit_serves_strict(q);
}

bool tutti_emit_serves_whole(const struct tutti_query *q)
{
	return !q->part && tutti_emit_serves(q);
}

/* ---- Circulant scheme ---------------------------------------------------- */

/* The first round of sums, which alone reads IN; a range that wraps is cut. */
static void first_sums(struct tutti_emit *e, int n, int me, int skip)
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

/* So many of the next `count` sums go in one message.  The pieces of a part of
 * a schedule are not all there are, so a range that wraps is cut. */
static int at_once(const struct tutti_emit *e, int piece, int count)
{
	return e->q->part ? tutti_stretch(piece, count, e->q->shape->ranks) :
			    count;
}

static void more_sums(struct tutti_emit *e, int me, int last, int skip)
{
	int count = last - skip, part;

	for (int i = 0; i < count; i += part) {
		part = at_once(e, me + skip + i, count - i);
		tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, skip + i));
		tutti_emit_dst(e, tutti_mail(me + skip));
		tutti_emit_piece(e, me + skip + i, 0);
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
	for (int i = 0; i < count; i += part) {
		struct tutti_ref sums = tutti_chunk(TUTTI_SCRATCH, me, i);

		part = at_once(e, me + i, count - i);
		tutti_emit_src(e, tutti_mail(me - skip));
		tutti_emit_src(e, sums);
		tutti_emit_dst(e, sums);
		tutti_emit_piece(e, me + i, 0);
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
}

/* Of two sums, give the second; what to add to the first stays in the pen. */
static void last_sum(struct tutti_emit *e, int me, int place, int keep,
		     int give)
{
	tutti_emit_src(e, tutti_chunk(place, me, give));
	tutti_emit_dst(e, tutti_mail(me + 1));
	tutti_emit_piece(e, me + 1, 0);
	tutti_emit_combine(e, 0, 1);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_src(e, tutti_chunk(place, me, keep));
}

void tutti_emit_circulate_sums(struct tutti_emit *e)
{
	int n = e->q->shape->ranks, me = e->q->rank;
	int skip = tutti_halved(n, 1);

	if (n == 1) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me));
	} else if (n == 2) {
		last_sum(e, me, TUTTI_IN, me, me + 1);
	} else {
		first_sums(e, n, me, skip);
		for (int half; skip > 2; skip = half) {
			half = tutti_halved(skip, 1);
			more_sums(e, me, skip, half);
		}
		last_sum(e, me, TUTTI_SCRATCH, 0, 1);
	}
}

/* One of the two messages of a round; the range is cut where it wraps. */
static void pass_on(struct tutti_emit *e, int peer, int chunk, int count,
		    int n, bool sending)
{
	int me = e->q->rank;

	for (int part; count > 0; chunk += part, count -= part) {
		struct tutti_ref own = tutti_chunk(TUTTI_OUT, me, chunk % n);

		part = tutti_stretch(chunk, count, n);
		tutti_emit_src(e, sending ? own : tutti_mail(peer));
		tutti_emit_dst(e, sending ? tutti_mail(peer) : own);
		tutti_emit_combine(e, 0, (uint32_t)part);
	}
}

void tutti_emit_circulate(struct tutti_emit *e, int first, int n,
			  unsigned int flags)
{
	int ranks = e->q->shape->ranks;
	int me = (e->q->rank - first + 2 * ranks) % ranks;
	int rounds = tutti_log2_ceil((uint32_t)n);

	if (n > 1)
		tutti_emit_dst(e, tutti_mail(first + (me + n - 1) % n));
	tutti_emit_combine(e, flags, 1);
	for (int k = rounds; k > 0; k--) {
		int skip = tutti_halved(n, k);
		int count = tutti_halved(n, k - 1) - skip;

		if (k < rounds)
			pass_on(e, first + (me + n - skip) % n, me, count, n,
				true);
		pass_on(e, first + (me + skip) % n, me + skip, count, n,
			false);
	}
}
