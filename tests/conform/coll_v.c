/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A v-form is checked against an image: what both buffers, with their guards
 * and the gaps between blocks, must hold afterwards, to the byte.
 */
#include "config.h"

#include "base/bits.h"
#include "conform/coll.h"
#include "conform/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Apart enough that no two blocks hold the same values. */
#define BLOCK_INDEX 4099

struct side {
	int blocks;
	size_t *counts, *displs;
	size_t all;		/* elements, with gaps */
	struct buffer buf;
	char *image;
};

struct frame {
	struct side in, out;
	char *send, *recv;
	struct side *recv_side;	/* in whose buffer recv lies */
};

/* How much goes from a to b. */
static size_t length(const struct world *w, const struct shot_v *v, int a,
		     int b)
{
	static const size_t lengths[] = { 0, 1, 14, 15, 0, 77, 1000, 4099,
					  20011 };
	size_t h, n = tutti_countof(lengths);

	/* In place, the same both ways. */
	if (v->s.coll == TUTTI_ALLTOALL && v->s.in_place && a > b)
		return length(w, v, b, a);
	h = tutti_mix(v->seed * 131u + (unsigned int)a, (unsigned int)b);
	/* Now and then nothing at all. */
	if (v->seed % 12 == 11)
		return 0;
	return lengths[h % (w->ranks > 9 ? n - 2 : n)];
}

static bool one_block(const struct shot *s, bool in)
{
	if (in)
		return s->coll == TUTTI_ALL_GATHER || s->coll == TUTTI_GATHER;
	return s->coll == TUTTI_REDUCE_SCATTER || s->coll == TUTTI_SCATTER;
}

static size_t count_of(const struct world *w, const struct shot_v *v, bool in,
		       int block)
{
	int me = w->rank, root = v->s.root;

	switch ((int)v->s.coll) {
	case TUTTI_ALL_GATHER:
		return length(w, v, in ? me : block, 0);
	case TUTTI_REDUCE_SCATTER:
		return length(w, v, in ? block : me, 0);
	case TUTTI_GATHER:
		return length(w, v, in ? me : block, root);
	case TUTTI_SCATTER:
		return length(w, v, root, in ? block : me);
	default:
		return in ? length(w, v, me, block) : length(w, v, block, me);
	}
}

static bool has_displs(const struct shot_v *v, bool in)
{
	return v->layout && !one_block(&v->s, in) &&
	       v->s.coll != TUTTI_REDUCE_SCATTER;
}

static int side_make(struct side *s, const struct world *w,
		     const struct shot_v *v, bool in)
{
	size_t size = number_size(v->s.type);
	bool gaps = has_displs(v, in);

	s->blocks = one_block(&v->s, in) ? 1 : w->ranks;
	s->counts = calloc((size_t)s->blocks, sizeof(size_t));
	s->displs = calloc((size_t)s->blocks, sizeof(size_t));
	if (!s->counts || !s->displs)
		return 1;
	for (int k = 0; k < s->blocks; k++) {
		int b = v->layout == 2 ? s->blocks - 1 - k : k;

		if (!gaps)
			b = k;
		s->counts[b] = count_of(w, v, in, b);
		if (gaps)
			s->all += 1 + (size_t)b % 5;
		s->displs[b] = s->all;
		s->all += s->counts[b];
	}
	if (buffer_make(&s->buf, s->all * size, buffer_shared(w, &v->s)))
		return 1;
	s->image = malloc(s->buf.bytes + 2 * GUARD);
	return !s->image;
}

static void side_free(struct side *s)
{
	free(s->counts);
	free(s->displs);
	free(s->image);
	if (s->buf.base)
		buffer_free(&s->buf);
}

static int frame_make(struct frame *f, const struct world *w,
		      const struct shot_v *v)
{
	const struct shot *s = &v->s;
	size_t size = number_size(s->type);
	int me = w->rank;

	if (side_make(&f->in, w, v, true) || side_make(&f->out, w, v, false))
		return 1;
	f->send = f->in.buf.data;
	f->recv = f->out.buf.data;
	f->recv_side = &f->out;
	if (!s->in_place || (tutti_coll_rooted(s->coll) && me != s->root))
		return 0;
	if (s->coll == TUTTI_ALLTOALL) {
		f->send = f->recv;
	} else if (f->in.blocks == 1 && w->ranks > 1) {
		f->send = f->recv + f->out.displs[me] * size;
	} else if (w->ranks > 1) {
		f->recv = f->send + f->in.displs[me] * size;
		f->recv_side = &f->in;
	}
	return 0;
}

/* Element i of block b of what rank `from` gives to `to`, or of the result. */
static double element(const struct world *w, const struct shot_v *v,
		      const struct frame *f, bool in, int b, size_t i)
{
	const struct shot *s = &v->s;
	int from = in ? w->rank : s->coll == TUTTI_SCATTER ? s->root : b;
	size_t to = (size_t)(in ? b : w->rank) * BLOCK_INDEX;
	size_t at = 0;

	switch ((int)s->coll) {
	case TUTTI_REDUCE_SCATTER:
		for (int k = 0; k < (in ? b : w->rank); k++)
			at += f->in.counts[k];
		return in ? shot_value(s, w->ranks, from, at + i) :
			    shot_reduced(s, w->ranks, at + i);
	case TUTTI_ALL_GATHER:
	case TUTTI_GATHER:
		to = 0;
		break;
	}
	return shot_value(s, w->ranks, from, to + i);
}

/* Write all blocks of a side at `to`. */
static void write_side(const struct world *w, const struct shot_v *v,
		       const struct frame *f, bool in, char *to)
{
	const struct side *s = in ? &f->in : &f->out;
	size_t size = number_size(v->s.type);

	for (int b = 0; b < s->blocks; b++)
		for (size_t i = 0; i < s->counts[b]; i++)
			number_store(v->s.type, to + s->displs[b] * size, i,
				     element(w, v, f, in, b, i));
}

static void side_reset(struct side *s)
{
	memset(s->buf.base, FILL, s->buf.bytes + 2 * GUARD);
}

static void side_photograph(struct side *s)
{
	memcpy(s->image, s->buf.base, s->buf.bytes + 2 * GUARD);
}

static void prepare(const struct world *w, const struct shot_v *v,
		    struct frame *f)
{
	bool root = w->rank == v->s.root;

	side_reset(&f->in);
	side_reset(&f->out);
	write_side(w, v, f, true, f->send);
	side_photograph(&f->in);
	side_photograph(&f->out);
	if (v->s.coll != TUTTI_GATHER || root)
		write_side(w, v, f, false, f->recv_side->image +
			   (f->recv - f->recv_side->buf.base));
}

static tuttiResult_t call(const struct world *w, const struct shot_v *v,
			  const struct frame *f)
{
	const struct shot *s = &v->s;
	const size_t *in = f->in.counts, *out = f->out.counts;
	const size_t *at_in = has_displs(v, true) ? f->in.displs : NULL;
	const size_t *at_out = has_displs(v, false) ? f->out.displs : NULL;
	bool root = w->rank == s->root;

	switch ((int)s->coll) {
	case TUTTI_ALL_GATHER:
		return tuttiAllGatherv(f->send, f->recv, out, at_out, s->type,
				       w->comm, NULL);
	case TUTTI_REDUCE_SCATTER:
		return tuttiReduceScatterv(f->send, f->recv, in, s->type,
					   s->redop, w->comm, NULL);
	case TUTTI_GATHER:
		return tuttiGatherv(f->send, *in, root ? f->recv : NULL,
				    root ? out : NULL, root ? at_out : NULL,
				    s->type, s->root, w->comm, NULL);
	case TUTTI_SCATTER:
		return tuttiScatterv(root ? f->send : NULL, root ? in : NULL,
				     root ? at_in : NULL, f->recv, *out,
				     s->type, s->root, w->comm, NULL);
	default:
		return tuttiAlltoAllv(f->send, in, at_in, f->recv, out, at_out,
				      s->type, w->comm, NULL);
	}
}

static int check_side(const struct world *w, const struct shot_v *v,
		      const struct side *s, const char *which)
{
	tuttiCommInfo_t info = TUTTI_COMM_INFO_INITIALIZER;
	size_t i = 0, n = s->buf.bytes + 2 * GUARD;

	if (!memcmp(s->buf.base, s->image, n))
		return 0;
	while (s->buf.base[i] == s->image[i])
		i++;
	tuttiCommQuery(w->comm, &info);
	fprintf(stderr, "rank %d of %d: %sv %s seed %u layout %d type %d op %d "
		"root %d %s memory %d: byte %zd of the %s buffer's %zu is %d, "
		"not %d\n", w->rank, w->ranks, tutti_coll_name(v->s.coll),
		info.algorithm, v->seed, v->layout, (int)v->s.type,
		(int)v->s.redop, v->s.root, v->s.in_place ? "in place" :
		"apart", v->s.memory, (ssize_t)i - GUARD, which, s->buf.bytes,
		s->buf.base[i], s->image[i]);
	return 1;
}

int shoot_v(struct world *w, const struct shot_v *v)
{
	struct frame f;
	int bad = 1;

	memset(&f, 0, sizeof(f));
	if (frame_make(&f, w, v)) {
		fprintf(stderr, "no memory for a test\n");
		goto out;
	}
	/* Twice, since scratch and copies are kept. */
	for (int turn = 0; turn < 2; turn++) {
		prepare(w, v, &f);
		if (call(w, v, &f)) {
			fprintf(stderr, "rank %d: %sv: %s\n", w->rank,
				tutti_coll_name(v->s.coll),
				tuttiGetLastError(w->comm));
			goto out;
		}
		if (check_side(w, v, &f.in, "send") ||
		    check_side(w, v, &f.out, "receive"))
			goto out;
	}
	bad = 0;
out:
	side_free(&f.in);
	side_free(&f.out);
	return bad;
}
