/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values are chosen so that every partial result is exact in every type and the
 * order of reduction cannot matter: sums of a residue class, products of
 * signs and one 2.
 */
#include "config.h"

#include "conform/coll.h"
#include "conform/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int buffer_make(struct buffer *b, size_t bytes, bool shared)
{
	size_t all = bytes + 2 * GUARD;

	b->bytes = bytes;
	b->shared = shared;
	if (shared) {
		if (tuttiMemAlloc((void **)&b->base, all))
			return 1;
	} else {
		b->base = malloc(all);
		if (!b->base)
			return 1;
	}
	memset(b->base, FILL, all);
	b->data = b->base + GUARD;
	return 0;
}

void buffer_free(struct buffer *b)
{
	if (b->shared)
		tuttiMemFree(b->base);
	else
		free(b->base);
}

bool buffer_shared(const struct world *w, const struct shot *s)
{
	return s->memory == 1 || (s->memory == 2 && w->rank % 2 == 0);
}

static int guards_broken(const struct buffer *b)
{
	for (int i = 0; i < GUARD; i++)
		if (b->base[i] != FILL || b->data[b->bytes + (size_t)i] != FILL)
			return 1;
	return 0;
}

static bool is_unsigned(tuttiDataType_t t)
{
	return t == tuttiUint8 || t == tuttiUint32 || t == tuttiUint64;
}

double shot_value(const struct shot *s, int ranks, int r, size_t i)
{
	size_t k = i + (size_t)r;

	/* Of what only moves, no two blocks are alike. */
	if (!tutti_coll_reduces(s->coll))
		return (double)((i * 7 + i / 13 * 4 + (size_t)r * 5) % 13) -
		       (is_unsigned(s->type) ? 0 : 6);
	if (s->redop == tuttiProd) {
		double sign = !is_unsigned(s->type) && k % 2 ? -1 : 1;

		return i % (size_t)ranks == (size_t)r ? 2 * sign : sign;
	}
	if (s->redop == tuttiMax || s->redop == tuttiMin)
		return (double)((i * 7 + (size_t)r * 5) % 13) -
		       (is_unsigned(s->type) ? 0 : 6);
	return (double)(k % 3) - (is_unsigned(s->type) ? 0 : 1);
}

double shot_reduced(const struct shot *s, int ranks, size_t i)
{
	double acc = shot_value(s, ranks, 0, i);

	for (int r = 1; r < ranks; r++) {
		double v = shot_value(s, ranks, r, i);

		switch ((int)s->redop) {
		case tuttiProd:
			acc *= v;
			break;
		case tuttiMax:
			acc = fmax(acc, v);
			break;
		case tuttiMin:
			acc = fmin(acc, v);
			break;
		default:
			acc += v;
		}
	}
	if (s->redop != tuttiAvg)
		return acc;
	/* Small floats are divided in float32, then rounded once more. */
	if (s->type == tuttiFloat64)
		return acc / ranks;
	if (s->type >= tuttiFloat16)
		return (float)acc / (float)ranks;
	return trunc(acc / ranks);
}

/* What element i of rank r's receive buffer must be; false: untouched. */
static bool expected(const struct shot *s, int ranks, int r, size_t i,
		     double *v)
{
	switch (s->coll) {
	case TUTTI_ALL_REDUCE:
		*v = shot_reduced(s, ranks, i);
		return true;
	case TUTTI_REDUCE:
		*v = shot_reduced(s, ranks, i);
		return r == s->root;
	case TUTTI_BROADCAST:
		*v = shot_value(s, ranks, s->root, i);
		return true;
	case TUTTI_ALL_GATHER:
		*v = shot_value(s, ranks, (int)(i / s->count), i % s->count);
		return true;
	case TUTTI_REDUCE_SCATTER:
		*v = shot_reduced(s, ranks, i + (size_t)r * s->count);
		return true;
	case TUTTI_ALLTOALL:
		*v = shot_value(s, ranks, (int)(i / s->count),
				(size_t)r * s->count + i % s->count);
		return true;
	case TUTTI_GATHER:
		*v = shot_value(s, ranks, (int)(i / s->count), i % s->count);
		return r == s->root;
	case TUTTI_SCATTER:
		*v = shot_value(s, ranks, s->root, (size_t)r * s->count + i);
		return true;
	default:
		return false;
	}
}

static tuttiResult_t call(const struct shot *s, const void *in, void *out,
			  tuttiComm_t comm)
{
	switch (s->coll) {
	case TUTTI_ALL_REDUCE:
		return tuttiAllReduce(in, out, s->count, s->type, s->redop,
				      comm, NULL);
	case TUTTI_REDUCE:
		return tuttiReduce(in, out, s->count, s->type, s->redop,
				   s->root, comm, NULL);
	case TUTTI_BROADCAST:
		return tuttiBroadcast(in, out, s->count, s->type, s->root,
				      comm, NULL);
	case TUTTI_ALL_GATHER:
		return tuttiAllGather(in, out, s->count, s->type, comm, NULL);
	case TUTTI_REDUCE_SCATTER:
		return tuttiReduceScatter(in, out, s->count, s->type,
					  s->redop, comm, NULL);
	case TUTTI_ALLTOALL:
		return tuttiAlltoAll(in, out, s->count, s->type, comm, NULL);
	case TUTTI_GATHER:
		return tuttiGather(in, out, s->count, s->type, s->root, comm,
				   NULL);
	case TUTTI_SCATTER:
		return tuttiScatter(in, out, s->count, s->type, s->root, comm,
				    NULL);
	default:
		return tuttiBarrier(comm, NULL);
	}
}

struct frame {
	struct buffer in, out;
	const char *send;
	char *recv;
	size_t nin, nout;	/* elements */
};

/* In place, on a rank that has both buffers. */
static void coincide(struct frame *f, const struct world *w,
		     const struct shot *s)
{
	size_t own = (size_t)w->rank * s->count * number_size(s->type);
	bool root = !tutti_coll_rooted(s->coll) || w->rank == s->root;

	if (s->coll == TUTTI_REDUCE_SCATTER ||
	    (s->coll == TUTTI_SCATTER && root))
		f->recv = f->in.data + own;
	else if (s->coll == TUTTI_ALL_GATHER ||
		 (s->coll == TUTTI_GATHER && root))
		f->send = f->out.data + own;
	else if (root)
		f->send = f->out.data;
}

/* Buffers and where, in place, they coincide. */
static int frame_make(struct frame *f, const struct world *w,
		      const struct shot *s)
{
	size_t n = (size_t)w->ranks, size = number_size(s->type);
	bool shared = buffer_shared(w, s);
	enum tutti_coll c = s->coll;

	f->nin = s->count * (c == TUTTI_REDUCE_SCATTER || c == TUTTI_SCATTER ||
			     c == TUTTI_ALLTOALL ? n : 1);
	f->nout = s->count * (c == TUTTI_ALL_GATHER || c == TUTTI_GATHER ||
			      c == TUTTI_ALLTOALL ? n : 1);
	if (buffer_make(&f->in, f->nin * size, shared) ||
	    buffer_make(&f->out, f->nout * size, shared))
		return 1;
	f->send = f->in.data;
	f->recv = f->out.data;
	if (s->in_place)
		coincide(f, w, s);
	return 0;
}

static int complain(const struct world *w, const struct shot *s,
		    const char *what, size_t i, double got, double want)
{
	tuttiCommInfo_t info = TUTTI_COMM_INFO_INITIALIZER;

	tuttiCommQuery(w->comm, &info);
	fprintf(stderr, "rank %d of %d: %s %s count %zu type %d op %d root %d "
		"%s memory %d: %s, element %zu is %g, not %g\n", w->rank,
		w->ranks, tutti_coll_name(s->coll), info.algorithm, s->count,
		(int)s->type, (int)s->redop, s->root,
		s->in_place ? "in place" : "apart", s->memory, what, i, got,
		want);
	return 1;
}

static int check(const struct world *w, const struct shot *s,
		 const struct frame *f)
{
	size_t size = number_size(s->type);

	if (guards_broken(&f->in) || guards_broken(&f->out))
		return complain(w, s, "bytes outside a buffer were written",
				0, 0, 0);
	for (size_t i = 0; i < f->nout; i++) {
		char want[8], *got = f->recv + i * size;
		double v;

		if (expected(s, w->ranks, w->rank, i, &v))
			number_store(s->type, want, 0, v);
		else if (f->recv == f->send)
			continue;
		else
			memset(want, FILL, sizeof(want));
		if (memcmp(got, want, size))
			return complain(w, s, "wrong result", i,
					number_load(s->type, got, 0),
					number_load(s->type, want, 0));
	}
	for (size_t i = 0; i < f->nin && f->send == f->in.data; i++) {
		double v = shot_value(s, w->ranks, w->rank, i);
		double got = number_load(s->type, f->send, i);

		/* In place, the own block of a reduce-scatter is the result. */
		if (s->in_place && s->coll == TUTTI_REDUCE_SCATTER &&
		    i / s->count == (size_t)w->rank)
			continue;
		if (got != v)
			return complain(w, s, "the send buffer was changed",
					i, got, v);
	}
	return 0;
}

int shoot(struct world *w, const struct shot *s)
{
	struct frame f;
	int bad = 1;

	memset(&f, 0, sizeof(f));
	if (frame_make(&f, w, s)) {
		fprintf(stderr, "no memory for a test\n");
		goto out;
	}
	for (size_t i = 0; i < f.nin; i++)
		number_store(s->type, (char *)f.send, i,
			     shot_value(s, w->ranks, w->rank, i));
	/* Twice, since a shared buffer is reached in place from the second
	 * operation on. */
	for (int turn = 0; turn < 2; turn++) {
		tuttiResult_t rc = call(s, f.send, f.recv, w->comm);

		if (rc) {
			fprintf(stderr, "rank %d: %s: %s\n", w->rank,
				tutti_coll_name(s->coll),
				tuttiGetLastError(w->comm));
			goto out;
		}
		if (check(w, s, &f))
			goto out;
		if (turn == 0 && f.recv != f.send && !s->in_place)
			memset(f.recv, FILL, f.nout * number_size(s->type));
		else
			for (size_t i = 0; i < f.nin; i++)
				number_store(s->type, (char *)f.send, i,
					     shot_value(s, w->ranks, w->rank, i));
	}
	bad = 0;
out:
	buffer_free(&f.in);
	buffer_free(&f.out);
	return bad;
}
