/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor.  A job walks each lane of its program with a small window of
 * unfinished operations and fires slices by the rule in sched/sched.h.
 *
 * A long operation is cut into slices that fit a message; `segment_slices` of
 * them go through the whole lane together, then the next segment does.  A step
 * is an operation of a segment: step / nops is the segment, step % nops the
 * operation.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "exec/program.h"

#include <stdlib.h>
#include <string.h>

/* Pieces and slices begin on this many bytes where they are long enough, so
 * that ranks do not write to one line. */
#define ALIGN_BYTES 128
/* From this many bytes over all ranks' outputs on, what is stored is out of
 * the cache before it is read. */
#define STREAM_BYTES ((size_t)16 << 20)

enum fired { FIRED, WAITING, MISMATCH };

tuttiResult_t tutti_job_init(struct tutti_job *j, const struct tutti_exec *e)
{
	size_t n = (size_t)e->ranks;

	memset(j, 0, sizeof(*j));
	j->exec = e;
	j->in_of = calloc(n, sizeof(*j->in_of));
	j->out_of = calloc(n, sizeof(*j->out_of));
	j->in_region = calloc(n, sizeof(*j->in_region));
	j->out_region = calloc(n, sizeof(*j->out_region));
	if (j->in_of && j->out_of && j->in_region && j->out_region)
		return tuttiSuccess;
	tutti_job_fini(j);
	return tutti_fail(tuttiSystemError, "out of memory");
}

void tutti_job_fini(struct tutti_job *j)
{
	free(j->scratch);
	free(j->src);
	free(j->dst);
	free(j->mail);
	free(j->in_of);
	free(j->out_of);
	free(j->in_region);
	free(j->out_region);
	memset(j, 0, sizeof(*j));
}

static tuttiResult_t grow_refs(struct tutti_job *j, uint32_t n)
{
	free(j->src);
	free(j->dst);
	free(j->mail);
	j->src = calloc(n, sizeof(*j->src));
	j->dst = calloc(n, sizeof(*j->dst));
	j->mail = calloc(n, sizeof(*j->mail));
	j->refs_max = j->src && j->dst && j->mail ? n : 0;
	if (j->refs_max)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory");
}

static tuttiResult_t grow_scratch(struct tutti_job *j, size_t bytes)
{
	if (bytes <= j->scratch_bytes)
		return tuttiSuccess;
	free(j->scratch);
	j->scratch = aligned_alloc(4096, tutti_round_up(bytes, 4096));
	j->scratch_bytes = j->scratch ? bytes : 0;
	if (j->scratch)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory for %zu bytes of "
			  "scratch", bytes);
}

/* Elements for `bytes` bytes, at least one, aligned if that is many. */
static size_t whole_elems(size_t bytes, size_t elem)
{
	if (bytes >= 4 * ALIGN_BYTES)
		bytes = bytes / ALIGN_BYTES * ALIGN_BYTES;
	return tutti_max(bytes / elem, 1);
}

static void cut(struct tutti_cut *c, const struct tutti_exec *e,
		const struct tutti_program *p, size_t count, size_t elem)
{
	size_t piece = (count + p->pieces - 1) / p->pieces;
	size_t slot = e->slot_bytes / p->chunks_max;

	if (piece * elem >= 4 * ALIGN_BYTES)
		piece = tutti_round_up(piece * elem, ALIGN_BYTES) / elem;
	if (e->slice_bytes && e->slice_bytes < slot)
		slot = e->slice_bytes;
	c->p = p;
	c->elem = elem;
	c->piece_elems = piece;
	c->slice_elems = p->moves_mail ? whole_elems(slot, elem) : piece;
	c->slices = 1;
	if (piece > c->slice_elems)
		c->slices = (uint32_t)((piece + c->slice_elems - 1) /
				       c->slice_elems);
	c->segment_slices = tutti_min(c->slices, e->credits / 2);
	c->segments = (c->slices + c->segment_slices - 1) / c->segment_slices;
}

void tutti_recipe_cut(struct tutti_recipe *r, const struct tutti_exec *e,
		      const struct tutti_program *mail,
		      const struct tutti_program *mapped)
{
	size_t elem = tutti_type_size((int)r->type);

	cut(&r->mail, e, mail, r->count, elem);
	memset(&r->mapped, 0, sizeof(r->mapped));
	if (mapped)
		cut(&r->mapped, e, mapped, r->count, elem);
	r->reduce = e->kernels->fn[r->type][r->redop];
	r->stream = r->out_bytes * (size_t)e->ranks >= STREAM_BYTES;
}

/* Go on with a cut, from its first repeated operation. */
static tuttiResult_t follow(struct tutti_job *j, const struct tutti_cut *c)
{
	tuttiResult_t rc = tuttiSuccess;

	j->c = c;
	memset(j->lane, 0, sizeof(j->lane));
	if (c->p->refs_max > j->refs_max)
		rc = grow_refs(j, c->p->refs_max);
	if (!rc && c->p->scratch)
		rc = grow_scratch(j, c->p->scratch * c->piece_elems * c->elem);
	return rc;
}

tuttiResult_t tutti_job_start(struct tutti_job *j,
			      const struct tutti_recipe *r, const void *in,
			      void *out, uint32_t tag)
{
	j->r = r;
	j->in = in;
	j->out = out;
	j->tag = tag;
	j->arriving = r->mapped.p != NULL;
	j->mapped = false;
	j->mismatch_peer = -1;
	j->waits_for = NULL;
	return follow(j, &r->mail);
}

/* ---- Places ------------------------------------------------------------- */

static size_t piece_len(const struct tutti_job *j, uint32_t piece, uint32_t g)
{
	size_t begin = piece * j->c->piece_elems + g * j->c->slice_elems;
	size_t end = piece * j->c->piece_elems +
		     tutti_min((g + 1) * j->c->slice_elems, j->c->piece_elems);

	end = tutti_min(end, j->r->count);
	return begin < end ? end - begin : 0;
}

static char *memory_at(const struct tutti_job *j, const struct tutti_spot *s,
		       uint32_t chunk, uint32_t g)
{
	const struct tutti_program *p = j->c->p;
	size_t within = g * j->c->slice_elems;
	bool own = s->rank == p->rank;
	char *base;

	if (s->place == TUTTI_SCRATCH)
		return j->scratch + (chunk * j->c->piece_elems + within) * j->c->elem;
	if (s->place == TUTTI_IN)
		base = own ? (char *)j->in : j->in_of[s->rank];
	else
		base = own ? (char *)j->out : j->out_of[s->rank];
	return base + (chunk / p->pieces * j->r->count +
		       chunk % p->pieces * j->c->piece_elems + within) * j->c->elem;
}

/* Elements of all chunks of a combine. */
static size_t op_len(const struct tutti_job *j, const struct tutti_xop *op,
		     uint32_t g)
{
	size_t len = 0;

	for (uint32_t i = 0; i < op->nchunks; i++)
		len += piece_len(j, (op->piece + i) % j->c->p->pieces, g);
	return len;
}

static struct tutti_chan *chan_of(const struct tutti_job *j, int lane,
				  const struct tutti_spot *s)
{
	return tutti_exec_chan(j->exec, s->rank, j->c->p->lane + lane);
}

/* ---- Messages ------------------------------------------------------------ */

/* The next message from `s`, into *at. */
static enum fired look(struct tutti_job *j, int lane,
		       const struct tutti_spot *s, size_t bytes,
		       const void **at)
{
	struct tutti_chan *c = chan_of(j, lane, s);
	uint32_t tag = j->tag;

	*at = tutti_chan_rx(c, bytes, &tag);
	if (!*at) {
		j->waits_for = c;
		j->waits_bytes = bytes;
		j->waits_for_credit = false;
		return WAITING;
	}
	if (tag == j->tag)
		return FIRED;
	j->mismatch_peer = s->rank;
	return MISMATCH;
}

static bool can_send(struct tutti_job *j, int lane, const struct tutti_spot *s,
		     size_t bytes)
{
	struct tutti_chan *c = chan_of(j, lane, s);

	if (tutti_chan_can_send(c, bytes))
		return true;
	j->waits_for = c;
	j->waits_for_credit = true;
	return false;
}

static void post(struct tutti_job *j, int lane, const struct tutti_spot *s,
		 size_t bytes)
{
	struct tutti_chan *c = chan_of(j, lane, s);

	tutti_chan_post(c, bytes, j->tag);
	c->ops->kick(c);
}

static void release(struct tutti_job *j, int lane, const struct tutti_spot *s,
		    size_t bytes)
{
	struct tutti_chan *c = chan_of(j, lane, s);
	uint64_t before = c->rx_msg, quarter = c->lines / 4;

	tutti_chan_release(c, bytes);
	/* A sender out of credits may sleep; one out of lines has many out, so
	 * it need not hear of each. */
	if (tutti_chan_in_slot(c, bytes) || (c->rx_msg ^ before) / quarter)
		c->ops->kick(c);
}

/* All messages of an operation: have come, and may go. */
static enum fired ready(struct tutti_job *j, int lane,
			const struct tutti_xop *op, size_t bytes)
{
	for (uint32_t i = 0; i < op->nsrc; i++) {
		enum fired f;

		if (op->src[i].place != TUTTI_MAIL)
			continue;
		f = look(j, lane, &op->src[i], bytes, &j->mail[i]);
		if (f != FIRED)
			return f;
	}
	for (uint32_t i = 0; i < op->ndst; i++)
		if (op->dst[i].place == TUTTI_MAIL &&
		    !can_send(j, lane, &op->dst[i], bytes))
			return WAITING;
	return FIRED;
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
static void gather_pointers(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, uint32_t i, size_t at,
			    size_t bytes, uint32_t g)
{
	for (uint32_t k = 0; k < op->nsrc; k++)
		j->src[k] = op->src[k].place == TUTTI_MAIL ?
				    (const char *)j->mail[k] + at :
				    memory_at(j, &op->src[k],
					      op->src[k].chunk + i, g);
	for (uint32_t k = 0; k < op->ndst; k++)
		j->dst[k] = op->dst[k].place == TUTTI_MAIL ?
				    (char *)tutti_chan_tx(
					    chan_of(j, lane, &op->dst[k]),
					    bytes) + at :
				    memory_at(j, &op->dst[k],
					      op->dst[k].chunk + i, g);
}

static void finish_messages(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, size_t bytes)
{
	for (uint32_t i = 0; i < op->ndst; i++)
		if (op->dst[i].place == TUTTI_MAIL)
			post(j, lane, &op->dst[i], bytes);
	for (uint32_t i = 0; i < op->nsrc; i++)
		if (op->src[i].place == TUTTI_MAIL)
			release(j, lane, &op->src[i], bytes);
}

static enum fired fire_combine(struct tutti_job *j, int lane,
			       const struct tutti_xop *op, uint32_t g)
{
	size_t bytes = op_len(j, op, g) * j->c->elem, at = 0;
	enum fired f;

	if (op->nchunks && !bytes)
		return FIRED;
	f = ready(j, lane, op, bytes);
	if (f != FIRED)
		return f;
	for (uint32_t i = 0; i < op->nchunks && op->ndst; i++) {
		size_t elems = piece_len(j, (op->piece + i) % j->c->p->pieces, g);

		if (!elems)
			continue;
		gather_pointers(j, lane, op, i, at, bytes, g);
		compute(j, op, elems);
		at += elems * j->c->elem;
	}
	finish_messages(j, lane, op, bytes);
	return FIRED;
}

/* ---- Each ---------------------------------------------------------------- */

/* Length of pair i: its side that is a buffer tells. */
static size_t pair_bytes(const struct tutti_job *j, const struct tutti_xop *op,
			 uint32_t i, uint32_t g)
{
	const struct tutti_spot *s = &op->src[i], *d = &op->dst[i];
	uint32_t chunk = s->place <= TUTTI_OUT ? s->chunk : d->chunk;
	size_t len = 0;

	for (uint32_t k = 0; k < op->nchunks; k++)
		len += piece_len(j, (chunk + k) % j->c->p->pieces, g);
	return len * j->c->elem;
}

static enum fired each_ready(struct tutti_job *j, int lane,
			     const struct tutti_xop *op, uint32_t g)
{
	for (uint32_t i = 0; i < op->nsrc; i++) {
		size_t bytes = pair_bytes(j, op, i, g);
		enum fired f;

		if (!bytes)
			continue;
		if (op->dst[i].place == TUTTI_MAIL &&
		    !can_send(j, lane, &op->dst[i], bytes))
			return WAITING;
		if (op->src[i].place != TUTTI_MAIL)
			continue;
		f = look(j, lane, &op->src[i], bytes, &j->mail[i]);
		if (f != FIRED)
			return f;
	}
	return FIRED;
}

static void copy_pair(struct tutti_job *j, int lane,
		      const struct tutti_xop *op, uint32_t i, uint32_t g,
		      size_t bytes)
{
	const struct tutti_spot *s = &op->src[i], *d = &op->dst[i];
	uint32_t chunk = s->place <= TUTTI_OUT ? s->chunk : d->chunk;
	size_t at = 0;

	for (uint32_t k = 0; k < op->nchunks; k++) {
		size_t n = piece_len(j, (chunk + k) % j->c->p->pieces, g) *
			   j->c->elem;
		const char *from = s->place == TUTTI_MAIL ?
					   (const char *)j->mail[i] + at :
					   memory_at(j, s, s->chunk + k, g);
		void *to = d->place == TUTTI_MAIL ?
				   (char *)tutti_chan_tx(chan_of(j, lane, d),
							 bytes) + at :
				   memory_at(j, d, d->chunk + k, g);

		if (n && to != from)
			j->exec->kernels->copy(&to, 1, from, n, false);
		at += n;
	}
	if (d->place == TUTTI_MAIL)
		post(j, lane, d, bytes);
	if (s->place == TUTTI_MAIL)
		release(j, lane, s, bytes);
}

static enum fired fire_each(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, uint32_t g)
{
	enum fired f = each_ready(j, lane, op, g);

	for (uint32_t i = 0; f == FIRED && i < op->nsrc; i++) {
		size_t bytes = pair_bytes(j, op, i, g);

		if (bytes)
			copy_pair(j, lane, op, i, g, bytes);
	}
	return f;
}

/* ---- Arrival ------------------------------------------------------------- */

static struct tutti_arrival own_arrival(struct tutti_job *j)
{
	const struct tutti_exec *e = j->exec;
	struct tutti_arrival a = { { 0 }, { 0 } };

	if (!e->map_ops)
		return a;
	if (j->r->uses_in && (!j->r->in_of_root_only || e->rank == j->r->root))
		a.in = e->map_ops->expose(e->map_xport, j->in,
					  j->r->in_bytes);
	if (j->r->uses_out && (!j->r->out_of_root_only || e->rank == j->r->root))
		a.out = e->map_ops->expose(e->map_xport, j->out,
					   j->r->out_bytes);
	return a;
}

/* The first operation of both forms: tell every rank about my buffers. */
static enum fired fire_arrive(struct tutti_job *j, const struct tutti_xop *op)
{
	struct tutti_arrival a;
	enum fired f = ready(j, 0, op, sizeof(a));

	if (f != FIRED)
		return f;
	a = own_arrival(j);
	j->in_region[j->exec->rank] = a.in;
	j->out_region[j->exec->rank] = a.out;
	for (uint32_t i = 0; i < op->ndst; i++)
		memcpy(tutti_chan_tx(chan_of(j, 0, &op->dst[i]), sizeof(a)),
		       &a, sizeof(a));
	finish_messages(j, 0, op, sizeof(a));
	return FIRED;
}

/* The second: hear of everyone's. */
static enum fired fire_await(struct tutti_job *j, const struct tutti_xop *op)
{
	enum fired f = ready(j, 0, op, sizeof(struct tutti_arrival));

	if (f != FIRED)
		return f;
	for (uint32_t i = 0; i < op->nsrc; i++) {
		const struct tutti_arrival *a = j->mail[i];

		j->in_region[op->src[i].rank] = a->in;
		j->out_region[op->src[i].rank] = a->out;
	}
	finish_messages(j, 0, op, sizeof(struct tutti_arrival));
	return FIRED;
}

/* Find rank r's buffers here; false unless they can be reached in place. */
static bool reach(struct tutti_job *j, int r)
{
	const struct tutti_exec *e = j->exec;
	bool in = j->r->uses_in && (!j->r->in_of_root_only || r == j->r->root);
	bool out = j->r->uses_out && (!j->r->out_of_root_only || r == j->r->root);

	if (r == e->rank)
		return (!in || j->in_region[r].direct) &&
		       (!out || j->out_region[r].direct);
	/* Both are looked up, so that a segment not mapped yet becomes so. */
	if (in)
		j->in_of[r] = e->map_ops->map(e->map_xport, r,
					      &j->in_region[r], j->r->in_bytes);
	if (out)
		j->out_of[r] = e->map_ops->map(e->map_xport, r,
					       &j->out_region[r],
					       j->r->out_bytes);
	return (!in || j->in_of[r]) && (!out || j->out_of[r]);
}

/* All buffers are known: go on in place if all can be reached, by copies if
 * one cannot.  Every rank sees the same words, so all decide alike. */
static tuttiResult_t decide(struct tutti_job *j)
{
	bool all = j->exec->map_ops != NULL;

	j->arriving = false;
	for (int r = 0; j->exec->map_ops && r < j->exec->ranks; r++)
		all = reach(j, r) && all;
	j->mapped = all;
	return follow(j, all ? &j->r->mapped : &j->r->mail);
}

/* ---- Walking the lanes --------------------------------------------------- */

static enum fired fire(struct tutti_job *j, int lane,
		       const struct tutti_xop *op, uint32_t g)
{
	if (op->kind == TUTTI_EACH)
		return fire_each(j, lane, op, g);
	return fire_combine(j, lane, op, g);
}

/* Operations of a lane in one segment, and in all. */
static uint32_t lane_ops(const struct tutti_job *j, int lane)
{
	return j->c->p->nops[lane] - (lane == 0 ? j->c->p->skip : 0);
}

static uint32_t lane_steps(const struct tutti_job *j, int lane)
{
	return lane_ops(j, lane) * j->c->segments;
}

static const struct tutti_xop *lane_op(const struct tutti_job *j, int lane,
				       uint32_t step)
{
	return &j->c->p->ops[lane][(lane == 0 ? j->c->p->skip : 0) +
				step % lane_ops(j, lane)];
}

/* Slices that a step has: fewer in the last segment, one if it moves no
 * chunk. */
static uint32_t step_slices(const struct tutti_job *j, int lane, uint32_t step)
{
	uint32_t first = step / lane_ops(j, lane) * j->c->segment_slices;

	if (!lane_op(j, lane, step)->nchunks)
		return 1;
	return tutti_min(j->c->segment_slices, j->c->slices - first);
}

/* Has a step done what slice s of `op` needs: slice s too, or everything if
 * one of the two moves no chunk? */
static bool step_done(const struct tutti_job *j, int lane, uint32_t step,
		      const struct tutti_xop *op, uint32_t s)
{
	const struct tutti_lane_state *l = &j->lane[lane];
	uint32_t all, done;

	if (step < l->step)
		return true;
	if (step >= l->step + TUTTI_WINDOW)
		return false;
	done = l->done[step - l->step];
	all = step_slices(j, lane, step);
	return done >= all ||
	       (done > s && op->nchunks && lane_op(j, lane, step)->nchunks);
}

/* Whether the order of the lane lets slice s of step l->step + i run. */
static bool in_order(const struct tutti_job *j, int lane,
		     const struct tutti_xop *op, uint32_t i, uint32_t s)
{
	const struct tutti_lane_state *l = &j->lane[lane];
	uint32_t step = l->step + i;

	if (i && !step_done(j, lane, step - 1, op, s))
		return false;
	for (uint32_t d = 1; d <= i; d++)
		if (op->after >> (d - 1) & 1 &&
		    l->done[i - d] < step_slices(j, lane, step - d))
			return false;
	if (op->wait_lane < 0)
		return true;
	/* The same segment's operation in the other lane. */
	step = step / lane_ops(j, lane) * lane_ops(j, op->wait_lane) +
	       op->wait_op - (op->wait_lane == 0 ? j->c->p->skip : 0);
	return step_done(j, op->wait_lane, step, op, s);
}

/* Fire what one step of a lane can. */
static enum fired push_step(struct tutti_job *j, int lane, uint32_t i,
			    bool *moved)
{
	struct tutti_lane_state *l = &j->lane[lane];
	uint32_t step = l->step + i, n = step_slices(j, lane, step);
	const struct tutti_xop *op = lane_op(j, lane, step);
	uint32_t first = step / lane_ops(j, lane) * j->c->segment_slices;

	while (l->done[i] < n) {
		enum fired f;

		if (!in_order(j, lane, op, i, l->done[i]))
			return WAITING;
		f = fire(j, lane, op, first + l->done[i]);
		if (f != FIRED)
			return f;
		l->done[i]++;
		*moved = true;
	}
	return FIRED;
}

static void retire(struct tutti_job *j, int lane)
{
	struct tutti_lane_state *l = &j->lane[lane];
	uint32_t steps = lane_steps(j, lane), n = 0;

	while (n < TUTTI_WINDOW && l->step + n < steps &&
	       l->done[n] >= step_slices(j, lane, l->step + n))
		n++;
	if (!n)
		return;
	memmove(l->done, l->done + n, (TUTTI_WINDOW - n) * sizeof(*l->done));
	memset(l->done + TUTTI_WINDOW - n, 0, n * sizeof(*l->done));
	l->step += n;
}

/* One slice in all: each step when the one before is done. */
static enum fired push_single(struct tutti_job *j, int lane, bool *moved)
{
	struct tutti_lane_state *l = &j->lane[lane];
	const struct tutti_xop *ops = j->c->p->ops[lane] +
				      (lane == 0 ? j->c->p->skip : 0);
	uint32_t steps = lane_ops(j, lane);

	while (l->step < steps) {
		enum fired f;

		if (ops[l->step].wait_lane >= 0 &&
		    !in_order(j, lane, &ops[l->step], 0, 0))
			return WAITING;
		f = fire(j, lane, &ops[l->step], 0);
		if (f != FIRED)
			return f;
		l->step++;
		*moved = true;
	}
	return FIRED;
}

static enum fired push_lane(struct tutti_job *j, int lane, bool *moved)
{
	uint32_t steps = lane_steps(j, lane);
	struct tutti_lane_state *l = &j->lane[lane];

	if (j->c->slices == 1)
		return push_single(j, lane, moved);

	while (l->step < steps) {
		bool here = false;

		for (uint32_t i = 0; i < TUTTI_WINDOW && l->step + i < steps;
		     i++) {
			enum fired f = push_step(j, lane, i, &here);

			if (f == MISMATCH)
				return f;
			/* Later steps cannot run before its first slice. */
			if (f == WAITING && !l->done[i])
				break;
		}
		if (!here)
			return WAITING;
		*moved = true;
		retire(j, lane);
	}
	return FIRED;
}

/* The two operations that both forms begin with. */
static enum fired push_arrival(struct tutti_job *j, bool *moved)
{
	struct tutti_lane_state *l = &j->lane[0];
	enum fired f = FIRED;

	if (l->step == 0) {
		f = fire_arrive(j, &j->c->p->ops[0][0]);
		if (f != FIRED)
			return f;
		l->step = 1;
		*moved = true;
	}
	f = fire_await(j, &j->c->p->ops[0][1]);
	if (f == FIRED)
		*moved = true;
	return f;
}

tuttiResult_t tutti_job_progress(struct tutti_job *j, bool *done, bool *moved)
{
	enum fired f = FIRED;

	*done = *moved = false;
	if (j->arriving) {
		tuttiResult_t rc;

		f = push_arrival(j, moved);
		if (f == MISMATCH)
			return tuttiInvalidUsage;
		if (f == WAITING)
			return tuttiSuccess;
		rc = decide(j);
		if (rc)
			return rc;
	}
	*done = true;
	for (uint32_t lane = 0; lane < j->c->p->nlanes; lane++) {
		f = push_lane(j, (int)lane, moved);
		if (f == MISMATCH)
			return tuttiInvalidUsage;
		if (f == WAITING)
			*done = false;
	}
	return tuttiSuccess;
}

bool tutti_job_spin(const struct tutti_job *j, int looks)
{
	struct tutti_chan *c = j->waits_for;

	for (int i = 0; c && !j->waits_for_credit && i < looks; i++) {
		uint32_t tag = j->tag;

		if (tutti_chan_rx(c, j->waits_bytes, &tag))
			return true;
		tutti_relax();
	}
	return false;
}
