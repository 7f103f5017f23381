/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls need that bring counts of their own: the v-forms' blocks, worked
 * out for each call, and what their counts were, so that ranks which differ can
 * find out by asking.  Also the copy of an all-to-all's input in place.  Memory
 * is taken when first needed, and kept.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

/* Fewer than the board has, since each is two numbers for each rank. */
#define PAST 16

/* The counts of one v-form.  Written by the thread inside, under the lock. */
struct past {
	uint64_t seq;		/* 0: none */
	bool common;
	size_t *to, *from;	/* elements sent to each rank, and expected */
};

struct tutti_blocks {
	struct tutti_recipe recipe;
	struct tutti_block *in, *out;	/* a block for each rank */
	struct past past[PAST];
	size_t *counts;			/* behind `past` */
	char *copy;			/* from tuttiMemAlloc */
	size_t copy_bytes;
};

/* Under the lock, since the helper thread looks for the past. */
static tuttiResult_t make_blocks(struct tuttiComm *comm)
{
	if (!comm->blocks)
		comm->blocks = calloc(1, sizeof(*comm->blocks));
	if (comm->blocks)
		return tuttiSuccess;
	return tutti_fail(tuttiSystemError, "out of memory");
}

void tutti_blocks_free(struct tuttiComm *comm)
{
	struct tutti_blocks *b = comm->blocks;

	if (!b)
		return;
	tutti_comm_mem_free(b->copy);
	free(b->in);
	free(b->out);
	free(b->counts);
	free(b);
	comm->blocks = NULL;
}

/* ---- Blocks of a call ------------------------------------------------------ */

/* Elements from the first block's begin to the last one's end; the longest
 * block in *longest. */
static size_t lay_out(const struct tutti_layout *l, uint32_t n,
		      struct tutti_block *to, size_t *longest)
{
	size_t packed = 0, end = 0;

	memset(to, 0, n * sizeof(*to));
	for (uint32_t i = 0; l->counts && i < n; i++) {
		if (!l->counts[i])
			continue;
		to[i].at = l->displs ? l->displs[i] : packed;
		to[i].len = l->counts[i];
		packed += to[i].len;
		end = tutti_max(end, to[i].at + to[i].len);
		*longest = tutti_max(*longest, to[i].len);
	}
	return end;
}

static tuttiResult_t fill_recipe(struct tuttiComm *comm,
				 const struct tutti_call *call,
				 const struct tutti_recipe *planned)
{
	struct tutti_blocks *b = comm->blocks;
	struct tutti_recipe *r = &b->recipe;
	size_t n = (size_t)comm->ranks, elem = tutti_type_size((int)call->type);
	uint32_t in, out;

	if (!b->in)
		b->in = calloc(n, sizeof(*b->in));
	if (!b->out)
		b->out = calloc(n, sizeof(*b->out));
	if (!b->in || !b->out)
		return tutti_fail(tuttiSystemError, "out of memory");
	tutti_coll_blocks(call->coll, comm->ranks, false, &in, &out);
	*r = *planned;
	r->uneven = true;
	r->in_blocks = b->in;
	r->out_blocks = b->out;
	r->count = 0;
	r->in_bytes = elem * lay_out(&call->in_blocks, in, b->in, &r->count);
	r->out_bytes = elem * lay_out(&call->out_blocks, out, b->out,
				      &r->count);
	tutti_recipe_cut(r, &comm->exec, planned->mail.p, NULL);
	return tuttiSuccess;
}

/* ---- All-to-all in place ----------------------------------------------------- */

static tuttiResult_t grow_copy(struct tutti_blocks *b, size_t bytes)
{
	tuttiResult_t rc;
	void *p;

	if (bytes <= b->copy_bytes)
		return tuttiSuccess;
	rc = tutti_comm_mem_free(b->copy);
	b->copy = NULL;
	b->copy_bytes = 0;
	/* Peers may read it in place. */
	if (!rc)
		rc = tutti_comm_mem_alloc(&p, bytes);
	if (rc)
		return rc;
	b->copy = p;
	b->copy_bytes = bytes;
	return tuttiSuccess;
}

/* What is received would overwrite what is still to be sent: send a copy. */
static tuttiResult_t copy_input(struct tuttiComm *comm,
				const struct tutti_call *call,
				const void **in)
{
	struct tutti_blocks *b = comm->blocks;
	size_t elem = tutti_type_size((int)call->type), total = 0;
	size_t n = (size_t)comm->ranks;
	tuttiResult_t rc;

	for (size_t i = 0; i < n; i++)
		total += call->uneven ? b->in[i].len : call->count;
	if (!total)
		return tuttiSuccess;
	rc = grow_copy(b, total * elem);
	if (rc)
		return rc;
	if (!call->uneven)
		memcpy(b->copy, call->in, total * elem);
	total = 0;
	for (size_t i = 0; call->uneven && i < n; i++) {
		struct tutti_block *k = &b->in[i];

		/* Gaps are left out. */
		memcpy(b->copy + total * elem,
		       (const char *)call->in + k->at * elem, k->len * elem);
		k->at = total;
		total += k->len;
	}
	*in = b->copy;
	return tuttiSuccess;
}

bool tutti_blocks_wanted(const struct tutti_call *call)
{
	return call->uneven ||
	       (call->coll == TUTTI_ALLTOALL && call->in == call->out);
}

tuttiResult_t tutti_blocks_prepare(struct tuttiComm *comm,
				   const struct tutti_call *call,
				   const struct tutti_recipe **recipe,
				   const void **in)
{
	tuttiResult_t rc;

	pthread_mutex_lock(&comm->lock);
	rc = make_blocks(comm);
	pthread_mutex_unlock(&comm->lock);
	if (!rc && call->uneven) {
		rc = fill_recipe(comm, call, *recipe);
		*recipe = &comm->blocks->recipe;
	}
	if (!rc && call->coll == TUTTI_ALLTOALL && call->in == call->out)
		rc = copy_input(comm, call, in);
	return rc;
}

/* ---- What the counts were ---------------------------------------------------- */

static tuttiResult_t make_past(struct tuttiComm *comm)
{
	size_t n = (size_t)comm->ranks;
	tuttiResult_t rc = make_blocks(comm);
	struct tutti_blocks *b = comm->blocks;

	if (rc || b->counts)
		return rc;
	b->counts = calloc(2 * PAST * n, sizeof(*b->counts));
	if (!b->counts)
		return tutti_fail(tuttiSystemError, "out of memory");
	for (size_t i = 0; i < PAST; i++) {
		b->past[i].to = b->counts + 2 * n * i;
		b->past[i].from = b->past[i].to + n;
	}
	return tuttiSuccess;
}

/* Counts by rank, from a layout with a block for each or one for the root. */
static void note(const struct tutti_layout *l, size_t n, bool root_only,
		 int root, size_t *to)
{
	memset(to, 0, n * sizeof(*to));
	if (!l->counts)
		return;
	if (root_only)
		to[root] = l->counts[0];
	else
		memcpy(to, l->counts, n * sizeof(*to));
}

tuttiResult_t tutti_counts_begin(struct tuttiComm *comm,
				 const struct tutti_call *call, uint64_t seq)
{
	bool common = tutti_counts_common(call->coll);
	const struct tutti_layout *in = &call->in_blocks;
	const struct tutti_layout *out = &call->out_blocks;
	size_t n = (size_t)comm->ranks;
	struct past *p;
	tuttiResult_t rc;

	pthread_mutex_lock(&comm->lock);
	rc = make_past(comm);
	if (!rc) {
		p = &comm->blocks->past[seq % PAST];
		p->seq = seq;
		p->common = common;
		if (common)
			in = out = call->coll == TUTTI_ALL_GATHER ? out : in;
		note(in, n, call->coll == TUTTI_GATHER, call->root, p->to);
		note(out, n, call->coll == TUTTI_SCATTER, call->root, p->from);
	}
	pthread_mutex_unlock(&comm->lock);
	return rc;
}

static uint64_t digest(const size_t *counts, int from, int to)
{
	uint64_t h = 0;

	if (to - from == 1)
		return counts[from];
	for (int i = from; i < to; i++)
		h = tutti_mix(h, counts[i]);
	return h;
}

bool tutti_counts_tell(struct tuttiComm *comm, int peer, uint64_t seq,
		       int from, int to, uint64_t *first, uint64_t *second)
{
	const struct past *p = NULL;
	bool known;

	pthread_mutex_lock(&comm->lock);
	if (comm->blocks && comm->blocks->counts)
		p = &comm->blocks->past[seq % PAST];
	known = p && p->seq == seq && peer >= 0 && peer < comm->ranks &&
		from >= 0 && to <= comm->ranks;
	if (known) {
		*first = p->common ? digest(p->from, from, to) : p->to[peer];
		*second = p->common ? 0 : p->from[peer];
	}
	pthread_mutex_unlock(&comm->lock);
	return known;
}

bool tutti_counts_are_common(struct tuttiComm *comm, uint64_t seq)
{
	const struct tutti_blocks *b;
	bool common;

	pthread_mutex_lock(&comm->lock);
	b = comm->blocks;
	common = b && b->counts && b->past[seq % PAST].seq == seq &&
		 b->past[seq % PAST].common;
	pthread_mutex_unlock(&comm->lock);
	return common;
}
