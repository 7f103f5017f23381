/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Firing one slice of one operation: are its messages there, where does it read
 * and write, and then the kernel that does it.  An operation fires as a whole
 * or leaves everything as it was.
 */
#include "config.h"

#include "base/bits.h"
#include "exec/job.h"

/*
 * Blocks of one length are the usual case and uneven ones the rare; `uneven`
 * is a constant wherever it is passed, so each case is compiled by itself and
 * the usual one asks once for each operation.
 */
#define FOR_BOTH static inline __attribute__((always_inline))

static size_t piece_len(const struct tutti_job *j, uint32_t piece, uint32_t g)
{
	size_t begin = piece * j->c->piece_elems + g * j->c->slice_elems;
	size_t end = piece * j->c->piece_elems +
		     tutti_min((g + 1) * j->c->slice_elems, j->c->piece_elems);

	end = tutti_min(end, j->r->count);
	return begin < end ? end - begin : 0;
}

/* Block `chunk` of IN or OUT of this rank. */
static const struct tutti_block *block_at(const struct tutti_job *j, int place,
					  uint32_t chunk)
{
	if (place == TUTTI_IN)
		return &j->r->in_blocks[chunk % j->c->p->blocks_in];
	return &j->r->out_blocks[chunk % j->c->p->blocks_out];
}

/* Elements of slice g of a chunk of IN or OUT. */
FOR_BOTH size_t chunk_len(const struct tutti_job *j, int place, uint32_t chunk,
			  uint32_t g, const bool uneven)
{
	size_t begin = g * j->c->slice_elems, len;

	if (!uneven)
		return piece_len(j, chunk % j->c->p->pieces, g);
	len = block_at(j, place, chunk)->len;
	return begin < len ? tutti_min(j->c->slice_elems, len - begin) : 0;
}

/* What the message of `n` chunks from this one on is marked with. */
static uint32_t uneven_tag(const struct tutti_job *j, int place,
			   uint32_t chunk, uint32_t n)
{
	uint64_t h = j->op_tag;

	for (uint32_t i = 0; i < n; i++)
		h = tutti_mix(h, block_at(j, place, chunk + i)->len);
	return (uint32_t)(h >> 32);
}

FOR_BOTH char *memory_at(const struct tutti_job *j, const struct tutti_spot *s,
			 uint32_t chunk, uint32_t g, const bool uneven)
{
	const struct tutti_program *p = j->c->p;
	size_t within = g * j->c->slice_elems;
	bool own = s->rank == p->rank;
	char *base;

	if (s->place == TUTTI_SCRATCH)
		return j->scratch + (chunk * j->c->piece_elems + within) * j->c->wire;
	if (s->place == TUTTI_IN)
		base = own ? (char *)j->in : j->in_of[s->rank];
	else
		base = own ? (char *)j->out : j->out_of[s->rank];
	if (uneven)
		return base + (block_at(j, s->place, chunk)->at + within) *
			      j->c->elem;
	return base + (chunk / p->pieces * j->r->count +
		       chunk % p->pieces * j->c->piece_elems + within) * j->c->elem;
}

/* Elements of all chunks of a combine. */
FOR_BOTH size_t op_len(const struct tutti_job *j, const struct tutti_xop *op,
		       uint32_t g, const bool uneven)
{
	uint32_t first = uneven ? op->length.chunk : op->piece;
	size_t len = 0;

	for (uint32_t i = 0; i < op->nchunks; i++)
		len += chunk_len(j, op->length.place, first + i, g, uneven);
	return len;
}

struct tutti_chan *tutti_job_chan(const struct tutti_job *j, int lane,
				  const struct tutti_spot *s)
{
	return tutti_exec_chan(j->exec, s->rank, j->c->p->lane + lane);
}

/* The next message from `s`, into *at. */
static enum tutti_fired look(struct tutti_job *j, int lane,
		       const struct tutti_spot *s, size_t bytes,
		       const void **at)
{
	struct tutti_chan *c = tutti_job_chan(j, lane, s);
	uint32_t tag = j->tag;

	*at = tutti_chan_rx(c, bytes, &tag);
	if (!*at) {
		j->waits_for = c;
		j->waits_bytes = bytes;
		j->waits_for_credit = false;
		return TUTTI_WAITING;
	}
	if (tag == j->tag)
		return TUTTI_FIRED;
	j->mismatch_peer = s->rank;
	return TUTTI_MISMATCH;
}

static bool can_send(struct tutti_job *j, int lane, const struct tutti_spot *s,
		     size_t bytes)
{
	struct tutti_chan *c = tutti_job_chan(j, lane, s);

	if (tutti_chan_can_send(c, bytes))
		return true;
	j->waits_for = c;
	j->waits_for_credit = true;
	return false;
}

static void post(struct tutti_job *j, int lane, const struct tutti_spot *s,
		 size_t bytes)
{
	struct tutti_chan *c = tutti_job_chan(j, lane, s);

	tutti_chan_post(c, bytes, j->tag);
	c->ops->kick(c);
}

static void release(struct tutti_job *j, int lane, const struct tutti_spot *s,
		    size_t bytes)
{
	struct tutti_chan *c = tutti_job_chan(j, lane, s);
	uint64_t before = c->rx_msg, quarter = c->lines / 4;

	tutti_chan_release(c, bytes);
	/* A sender out of credits may sleep; one out of lines has many out, so
	 * it need not hear of each. */
	if (tutti_chan_in_slot(c, bytes) || (c->rx_msg ^ before) / quarter)
		c->ops->kick(c);
}

/* All messages of an operation: have come, and may go. */
enum tutti_fired tutti_fire_ready(struct tutti_job *j, int lane,
			const struct tutti_xop *op, size_t bytes)
{
	for (uint32_t i = 0; i < op->nsrc; i++) {
		enum tutti_fired f;

		if (op->src[i].place != TUTTI_MAIL)
			continue;
		f = look(j, lane, &op->src[i], bytes, &j->mail[i]);
		if (f != TUTTI_FIRED)
			return f;
	}
	for (uint32_t i = 0; i < op->ndst; i++)
		if (op->dst[i].place == TUTTI_MAIL &&
		    !can_send(j, lane, &op->dst[i], bytes))
			return TUTTI_WAITING;
	return TUTTI_FIRED;
}

/* ---- Combine ------------------------------------------------------------- */

static void compute(struct tutti_job *j, const struct tutti_xop *op,
		    size_t elems)
{
	struct tutti_reduce_args r = {
		.dst = j->dst, .ndst = (int)op->ndst,
		.src = j->src, .nsrc = (int)op->nsrc,
		.count = elems,
		/* What was just read is in the cache: write it there. */
		.stream = j->r->stream && j->dst[0] != j->src[0],
	};
	bool average = j->r->redop == tuttiAvg && op->flags & TUTTI_FINAL;

	if (__builtin_expect(j->special || tutti_is_tree(j, op), 0)) {
		tutti_combine(j, op, elems);
		return;
	}
	if (op->nsrc == 1 && !average) {
		if (op->ndst == 1 && j->dst[0] == j->src[0])
			return;
		j->exec->kernels->copy(j->dst, (int)op->ndst, j->src[0],
				       elems * j->c->elem, r.stream);
		return;
	}
	r.divisor = average ? j->c->p->ranks : 0;
	j->r->reduce(&r);
}

/* Messages hold their chunks one after another; `at` is where chunk i is. */
FOR_BOTH void gather_pointers(struct tutti_job *j, int lane,
			      const struct tutti_xop *op, uint32_t i,
			      size_t at, size_t bytes, uint32_t g,
			      const bool uneven)
{
	for (uint32_t k = 0; k < op->nsrc; k++)
		j->src[k] = op->src[k].place == TUTTI_MAIL ?
				    (const char *)j->mail[k] + at :
				    memory_at(j, &op->src[k],
					      op->src[k].chunk + i, g, uneven);
	for (uint32_t k = 0; k < op->ndst; k++)
		j->dst[k] = op->dst[k].place == TUTTI_MAIL ?
				    (char *)tutti_chan_tx(
					    tutti_job_chan(j, lane, &op->dst[k]),
					    bytes) + at :
				    memory_at(j, &op->dst[k],
					      op->dst[k].chunk + i, g, uneven);
}

void tutti_fire_finish(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, size_t bytes)
{
	for (uint32_t i = 0; i < op->ndst; i++)
		if (op->dst[i].place == TUTTI_MAIL)
			post(j, lane, &op->dst[i], bytes);
	for (uint32_t i = 0; i < op->nsrc; i++)
		if (op->src[i].place == TUTTI_MAIL)
			release(j, lane, &op->src[i], bytes);
}

FOR_BOTH enum tutti_fired fire_combine(struct tutti_job *j, int lane,
				       const struct tutti_xop *op, uint32_t g,
				       const bool uneven)
{
	size_t bytes = op_len(j, op, g, uneven) * j->c->wire, at = 0;
	uint32_t first = uneven ? op->length.chunk : op->piece;
	enum tutti_fired f;

	if (op->nchunks && !bytes)
		return TUTTI_FIRED;
	if (uneven)
		j->tag = uneven_tag(j, op->length.place, first, op->nchunks);
	f = tutti_fire_ready(j, lane, op, bytes);
	if (f != TUTTI_FIRED)
		return f;
	for (uint32_t i = 0; i < op->nchunks && op->ndst; i++) {
		size_t elems = chunk_len(j, op->length.place, first + i, g,
					 uneven);

		if (!elems)
			continue;
		gather_pointers(j, lane, op, i, at, bytes, g, uneven);
		compute(j, op, elems);
		at += elems * j->c->wire;
	}
	tutti_fire_finish(j, lane, op, bytes);
	return TUTTI_FIRED;
}

/* ---- Each ---------------------------------------------------------------- */

/* The side of pair i that is a buffer tells the length. */
static const struct tutti_spot *pair_length(const struct tutti_xop *op,
					    uint32_t i)
{
	if (op->src[i].place <= TUTTI_OUT)
		return &op->src[i];
	return op->dst[i].place <= TUTTI_OUT ? &op->dst[i] : &op->length;
}

FOR_BOTH size_t pair_bytes(const struct tutti_job *j,
			   const struct tutti_xop *op, uint32_t i, uint32_t g,
			   const bool uneven)
{
	const struct tutti_spot *l = pair_length(op, i);
	size_t len = 0;

	for (uint32_t k = 0; k < op->nchunks; k++)
		len += chunk_len(j, l->place, l->chunk + k, g, uneven);
	return len * j->c->wire;
}

static void tag_pair(struct tutti_job *j, const struct tutti_xop *op,
		     uint32_t i)
{
	const struct tutti_spot *l = pair_length(op, i);

	j->tag = uneven_tag(j, l->place, l->chunk, op->nchunks);
}

FOR_BOTH enum tutti_fired each_ready(struct tutti_job *j, int lane,
				     const struct tutti_xop *op, uint32_t g,
				     const bool uneven)
{
	for (uint32_t i = 0; i < op->nsrc; i++) {
		size_t bytes = pair_bytes(j, op, i, g, uneven);
		enum tutti_fired f;

		if (!bytes)
			continue;
		if (uneven)
			tag_pair(j, op, i);
		if (op->dst[i].place == TUTTI_MAIL &&
		    !can_send(j, lane, &op->dst[i], bytes))
			return TUTTI_WAITING;
		if (op->src[i].place != TUTTI_MAIL)
			continue;
		f = look(j, lane, &op->src[i], bytes, &j->mail[i]);
		if (f != TUTTI_FIRED)
			return f;
	}
	return TUTTI_FIRED;
}

FOR_BOTH void copy_pair(struct tutti_job *j, int lane,
			const struct tutti_xop *op, uint32_t i, uint32_t g,
			size_t bytes, const bool uneven)
{
	const struct tutti_spot *s = &op->src[i], *d = &op->dst[i];
	const struct tutti_spot *l = pair_length(op, i);
	size_t at = 0;

	if (uneven)
		tag_pair(j, op, i);
	for (uint32_t k = 0; k < op->nchunks; k++) {
		size_t len = chunk_len(j, l->place, l->chunk + k, g, uneven);
		size_t n = len * j->c->wire;
		const char *from = s->place == TUTTI_MAIL ?
					   (const char *)j->mail[i] + at :
					   memory_at(j, s, s->chunk + k, g,
						     uneven);
		void *to = d->place == TUTTI_MAIL ?
				   (char *)tutti_chan_tx(tutti_job_chan(j, lane, d),
							 bytes) + at :
				   memory_at(j, d, d->chunk + k, g, uneven);

		if (n && j->special)
			tutti_move(j, s, d, from, to, len);
		else if (n && to != from)
			j->exec->kernels->copy(&to, 1, from, n, false);
		at += n;
	}
	if (d->place == TUTTI_MAIL)
		post(j, lane, d, bytes);
	if (s->place == TUTTI_MAIL)
		release(j, lane, s, bytes);
}

FOR_BOTH enum tutti_fired fire_each(struct tutti_job *j, int lane,
				    const struct tutti_xop *op, uint32_t g,
				    const bool uneven)
{
	enum tutti_fired f = each_ready(j, lane, op, g, uneven);

	for (uint32_t i = 0; f == TUTTI_FIRED && i < op->nsrc; i++) {
		size_t bytes = pair_bytes(j, op, i, g, uneven);

		if (bytes)
			copy_pair(j, lane, op, i, g, bytes, uneven);
	}
	return f;
}

/* Apart, so that the usual case stays small. */
__attribute__((noinline))
static enum tutti_fired fire_uneven(struct tutti_job *j, int lane,
				    const struct tutti_xop *op, uint32_t g)
{
	if (op->kind == TUTTI_EACH)
		return fire_each(j, lane, op, g, true);
	return fire_combine(j, lane, op, g, true);
}

enum tutti_fired tutti_fire(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, uint32_t g)
{
	if (__builtin_expect(j->r->uneven, 0))
		return fire_uneven(j, lane, op, g);
	if (op->kind == TUTTI_EACH)
		return fire_each(j, lane, op, g, false);
	return fire_combine(j, lane, op, g, false);
}
