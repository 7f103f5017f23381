/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The v-forms: collectives whose blocks have counts of their own.  All that one
 * rank can see to be wrong is found here, before anything is sent; whether two
 * ranks agree about a block they find out with its first message.
 */
#include "config.h"

#include "api/api.h"
#include "api/coll.h"
#include "base/bits.h"
#include "base/fail.h"

#include <stdlib.h>

/* One buffer of a v-form. */
struct side {
	const char *what;	/* "send" */
	const char *counts_name;
	const char *base;
	struct tutti_layout l;	/* counts NULL: not used on this rank */
	bool many;		/* a block for each rank, else one */
	bool is_array;		/* the caller gave the counts as an array */
	size_t end;		/* elements up to the end of the last block */
	size_t total;
};

static int blocks_of(const struct check *k, const struct side *s)
{
	if (!s->l.counts)
		return 0;
	return s->many ? k->comm->ranks : 1;
}

static tuttiResult_t fail_size(const struct check *k, const struct side *s,
			       int block)
{
	return tutti_fail(tuttiInvalidArgument,
			  "%s: the %s buffer is larger than memory can be, by "
			  "the %zu elements of block %d", k->name, s->what,
			  s->l.counts[block], block);
}

/* Sums and products, then the pointer. */
static tuttiResult_t check_side(const struct check *k, struct side *s)
{
	size_t limit = SIZE_MAX / 2 / k->size;

	s->end = s->total = 0;
	for (int i = 0; i < blocks_of(k, s); i++) {
		size_t n = s->l.counts[i];
		size_t at = s->l.displs ? s->l.displs[i] : s->total;

		if (n > limit || s->total > limit - n ||
		    (n && at > limit - n))
			return fail_size(k, s, i);
		s->total += n;
		if (n)
			s->end = tutti_max(s->end, at + n);
	}
	if (s->total && !s->base)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: the %s buffer is NULL", k->name,
				  s->what);
	return tuttiSuccess;
}

/* ---- Blocks that overlap ------------------------------------------------- */

/* Bytes of a block. */
struct span {
	uintptr_t begin, end;
	int block;
};

static struct span span_of(const struct side *s, size_t size, int block,
			   size_t packed)
{
	size_t at = s->l.displs ? s->l.displs[block] : packed;
	uintptr_t begin = (uintptr_t)s->base + at * size;

	return (struct span){ begin, begin + s->l.counts[block] * size,
			      block };
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Blocks are nearly always in order; then one pass does. */
static bool in_order(const struct check *k, const struct side *s)
{
	size_t end = 0;

	for (int i = 0; s->l.displs && i < blocks_of(k, s); i++) {
		if (!s->l.counts[i])
			continue;
		if (s->l.displs[i] < end)
			return false;
		end = s->l.displs[i] + s->l.counts[i];
	}
	return true;
}

/* No two blocks of the receive buffer may overlap. */
static tuttiResult_t check_blocks(const struct check *k, const struct side *s)
{
	tuttiResult_t rc = tuttiSuccess;
	struct span *spans;
	int n = 0;

	if (in_order(k, s))
		return tuttiSuccess;
	spans = calloc((size_t)blocks_of(k, s), sizeof(*spans));
	if (!spans)
		return tutti_fail(tuttiSystemError, "out of memory");
	for (int i = 0; i < blocks_of(k, s); i++)
		if (s->l.counts[i])
			spans[n++] = span_of(s, k->size, i, 0);
	qsort(spans, (size_t)n, sizeof(*spans), by_begin);
	for (int i = 1; i < n && !rc; i++)
		if (spans[i].begin < spans[i - 1].end)
			rc = tutti_fail(tuttiInvalidArgument,
					"%s: blocks %d and %d of the %s buffer "
					"overlap", k->name, spans[i - 1].block,
					spans[i].block, s->what);
	free(spans);
	return rc;
}

/* Whether in place allows that block `a` of the send buffer is block `b` of the
 * receive buffer: it is this rank's own of both. */
static bool is_own(const struct check *k, const struct side *in, int a,
		   const struct side *out, int b)
{
	int me = k->comm->rank;

	return a == (in->many ? me : 0) && b == (out->many ? me : 0) &&
	       k->call.coll != TUTTI_ALLTOALL;
}

static tuttiResult_t fail_overlap(const struct check *k, const struct side *in,
				  const struct side *out)
{
	return tutti_fail(tuttiInvalidArgument,
			  "%s: send buffer %p and receive buffer %p overlap, "
			  "but not as in place allows", k->name,
			  (const void *)in->base, (const void *)out->base);
}

/* A block of one buffer against all of the other. */
static tuttiResult_t check_block(const struct check *k, const struct side *in,
				 struct span a, const struct side *out)
{
	size_t packed = 0;

	for (int i = 0; i < blocks_of(k, out); i++) {
		struct span b = span_of(out, k->size, i, packed);

		packed += out->l.counts[i];
		if (b.begin == b.end || a.begin >= b.end ||
		    b.begin >= a.end)
			continue;
		if (a.begin != b.begin || !is_own(k, in, a.block, out, i))
			return fail_overlap(k, in, out);
	}
	return tuttiSuccess;
}

/* Do the two buffers overlap other than in place? */
static tuttiResult_t check_overlap(const struct check *k,
				   const struct side *in,
				   const struct side *out)
{
	size_t packed = 0;
	uintptr_t a = (uintptr_t)in->base, b = (uintptr_t)out->base;
	tuttiResult_t rc = tuttiSuccess;

	if (!in->total || !out->total ||
	    a >= b + out->end * k->size ||
	    b >= a + in->end * k->size)
		return tuttiSuccess;
	for (int i = 0; i < blocks_of(k, in) && !rc; i++) {
		struct span s = span_of(in, k->size, i, packed);

		packed += in->l.counts[i];
		if (s.begin != s.end)
			rc = check_block(k, in, s, out);
	}
	return rc;
}

/* ---- All of it ----------------------------------------------------------- */

static tuttiResult_t check_array(const struct check *k, const struct side *s)
{
	if (!s->is_array || s->l.counts)
		return tuttiSuccess;
	return tutti_fail(tuttiInvalidArgument, "%s: %s is NULL", k->name,
			  s->counts_name);
}

/* What this rank gives to itself it also gets. */
static tuttiResult_t check_own(const struct check *k, const struct side *in,
			       const struct side *out)
{
	int me = k->comm->rank;
	size_t a, b;

	if (!in->l.counts || !out->l.counts)
		return tuttiSuccess;
	a = in->l.counts[in->many ? me : 0];
	b = out->l.counts[out->many ? me : 0];
	if (a == b)
		return tuttiSuccess;
	return tutti_fail(tuttiInvalidArgument,
			  "%s: rank %d sends %zu elements to itself, but "
			  "receives %zu from itself", k->name, me, a, b);
}

/* An all-to-all in place has the same blocks on both sides. */
static bool same_blocks(const struct check *k, const struct side *in,
			const struct side *out)
{
	size_t a = 0, b = 0;

	if (k->call.coll != TUTTI_ALLTOALL || in->base != out->base)
		return false;
	for (int i = 0; i < k->comm->ranks; i++) {
		size_t n = in->l.counts[i];

		if (n != out->l.counts[i] ||
		    (n && (in->l.displs ? in->l.displs[i] : a) !=
				  (out->l.displs ? out->l.displs[i] : b)))
			return false;
		a += n;
		b += n;
	}
	return true;
}

/* The mean count, if every rank can work it out. */
static size_t mean(const struct check *k, const struct side *in,
		   const struct side *out)
{
	size_t n = (size_t)k->comm->ranks;

	if (!tutti_counts_common(k->call.coll))
		return 0;
	return (tutti_max(in->total, out->total) + n - 1) / n;
}

static tuttiResult_t run_uneven(struct check *k, struct side *in,
				struct side *out)
{
	tuttiResult_t rc = tutti_check_call(k);

	in->what = "send";
	out->what = "receive";
	if (!rc)
		rc = check_array(k, in);
	if (!rc)
		rc = check_array(k, out);
	if (!rc)
		rc = check_own(k, in, out);
	if (!rc)
		rc = check_side(k, in);
	if (!rc)
		rc = check_side(k, out);
	if (!rc)
		rc = check_blocks(k, out);
	if (!rc && !same_blocks(k, in, out))
		rc = check_overlap(k, in, out);
	k->call.uneven = true;
	k->call.in = in->base;
	k->call.out = (void *)out->base;
	k->call.in_blocks = in->l;
	k->call.out_blocks = out->l;
	if (!rc)
		k->call.count = mean(k, in, out);
	return tutti_checked_run(k, rc);
}

tuttiResult_t ptuttiAllGatherv(const void *sendbuff, void *recvbuff,
			       const size_t *recvcounts, const size_t *displs,
			       tuttiDataType_t datatype, tuttiComm_t comm,
			       tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiAllGatherv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_ALL_GATHER, .type = datatype },
	};
	struct side in = { .base = sendbuff };
	struct side out = { .base = recvbuff, .counts_name = "recvcounts",
			    .l = { recvcounts, displs }, .many = true,
			    .is_array = true };

	if (recvcounts && comm && !tutti_comm_check(comm, k.name))
		in.l.counts = &recvcounts[comm->rank];
	return run_uneven(&k, &in, &out);
}
TUTTI_ALIAS(tuttiResult_t, tuttiAllGatherv,
	    (const void *, void *, const size_t *, const size_t *,
	     tuttiDataType_t, tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiReduceScatterv(const void *sendbuff, void *recvbuff,
				   const size_t *recvcounts,
				   tuttiDataType_t datatype, tuttiRedOp_t op,
				   tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiReduceScatterv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_REDUCE_SCATTER, .type = datatype,
			  .redop = op },
		.reduces = true,
	};
	struct side in = { .base = sendbuff, .counts_name = "recvcounts",
			   .l = { recvcounts, NULL }, .many = true,
			   .is_array = true };
	struct side out = { .base = recvbuff };

	if (recvcounts && comm && !tutti_comm_check(comm, k.name))
		out.l.counts = &recvcounts[comm->rank];
	return run_uneven(&k, &in, &out);
}
TUTTI_ALIAS(tuttiResult_t, tuttiReduceScatterv,
	    (const void *, void *, const size_t *, tuttiDataType_t,
	     tuttiRedOp_t, tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiAlltoAllv(const void *sendbuff, const size_t *sendcounts,
			      const size_t *sdispls, void *recvbuff,
			      const size_t *recvcounts, const size_t *rdispls,
			      tuttiDataType_t datatype, tuttiComm_t comm,
			      tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiAlltoAllv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_ALLTOALL, .type = datatype },
	};
	struct side in = { .base = sendbuff, .counts_name = "sendcounts",
			   .l = { sendcounts, sdispls }, .many = true,
			   .is_array = true };
	struct side out = { .base = recvbuff, .counts_name = "recvcounts",
			    .l = { recvcounts, rdispls }, .many = true,
			    .is_array = true };

	return run_uneven(&k, &in, &out);
}
TUTTI_ALIAS(tuttiResult_t, tuttiAlltoAllv,
	    (const void *, const size_t *, const size_t *, void *,
	     const size_t *, const size_t *, tuttiDataType_t, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiGatherv(const void *sendbuff, size_t sendcount,
			    void *recvbuff, const size_t *recvcounts,
			    const size_t *displs, tuttiDataType_t datatype,
			    int root, tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiGatherv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_GATHER, .type = datatype,
			  .root = root },
		.rooted = true,
	};
	struct side in = { .base = sendbuff, .l = { &sendcount, NULL } };
	struct side out = { .base = recvbuff, .counts_name = "recvcounts",
			    .many = true };

	if (comm && comm->rank == root) {
		out.l = (struct tutti_layout){ recvcounts, displs };
		out.is_array = true;
	}
	return run_uneven(&k, &in, &out);
}
TUTTI_ALIAS(tuttiResult_t, tuttiGatherv,
	    (const void *, size_t, void *, const size_t *, const size_t *,
	     tuttiDataType_t, int, tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiScatterv(const void *sendbuff, const size_t *sendcounts,
			     const size_t *displs, void *recvbuff,
			     size_t recvcount, tuttiDataType_t datatype,
			     int root, tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiScatterv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_SCATTER, .type = datatype,
			  .root = root },
		.rooted = true,
	};
	struct side in = { .base = sendbuff, .counts_name = "sendcounts",
			   .many = true };
	struct side out = { .base = recvbuff, .l = { &recvcount, NULL } };

	if (comm && comm->rank == root) {
		in.l = (struct tutti_layout){ sendcounts, displs };
		in.is_array = true;
	}
	return run_uneven(&k, &in, &out);
}
TUTTI_ALIAS(tuttiResult_t, tuttiScatterv,
	    (const void *, const size_t *, const size_t *, void *, size_t,
	     tuttiDataType_t, int, tuttiComm_t, tuttiStream_t));
