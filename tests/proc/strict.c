/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of the test of determinism.
 *
 *   strict vector FILE [TYPE]
 *	An all-reduce of a vector with cancellation, at once and in pieces of
 *	many sizes.  Rank 0 writes the result to FILE.
 *   strict all
 *	Every reducing collective with floating-point types and operators.
 *
 * With TUTTI_DETERMINISM=strict every bit is compared with the balanced tree
 * over rank order, worked out here; without, with the bits of rank 0.  Ends 0,
 * 1 if something differed, 3 if the library refused.
 */
#include "config.h"

#include "unit/reduce_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum coll { ALL_REDUCE, REDUCE, REDUCE_SCATTER };

struct world {
	int rank, ranks;
	bool strict;
	tuttiComm_t comm;
	int faults;
};

/* One reduction; `scaled`: a factor of each rank's own comes first; `own`: by
 * the function below; `shared`: peers reach the buffers. */
struct job {
	enum coll coll;
	int type, op, root;
	bool scaled, own, in_place, shared;
	size_t count;
};

static void *need(size_t bytes)
{
	void *p = calloc(1, bytes + 1);

	if (!p)
		exit(99);
	return p;
}

static char *grab(const struct job *j, size_t bytes)
{
	void *p = NULL;

	if (!j->shared)
		return need(bytes);
	if (tuttiMemAlloc(&p, bytes + 1))
		exit(99);
	return p;
}

static void let_go(const struct job *j, void *p)
{
	if (j->shared)
		tuttiMemFree(p);
	else
		free(p);
}

static void check(struct world *w, tuttiResult_t rc)
{
	if (!rc)
		return;
	fprintf(stderr, "rank %d: %s\n", w->rank, tuttiGetLastError(NULL));
	exit(rc == tuttiInvalidUsage ? 3 : 1);
}

/* ---- What must come out -------------------------------------------------- */

/* Values whose sum depends on the order; of short types smaller ones. */
static double given(int type, int rank, size_t i)
{
	static const double large[] = { 1e8, 1, -1e8, 1, 3.1, -0.7, 1e-3 };
	static const double small[] = { 200, 1, -200, 1.0625, 3.1, -0.7, 1e-2 };
	size_t at = ((size_t)rank * 3 + i + i / 7) % 7;

	/* The encoding rounds; what is read is what was stored. */
	return ref_decode(type, ref_encode(type, ref_size(type) > 2 ?
					   large[at] : small[at]));
}

static double factor(int type, int rank)
{
	return ref_decode(type, ref_encode(type, 0.3 + rank));
}

static double settle(int type, double x)
{
	return type == tuttiFloat64 ? x : (double)(float)x;
}

/* Neither commutes nor is associative; rounded to the type each time. */
static uint64_t own(int type, uint64_t left, uint64_t right)
{
	return ref_encode(type, settle(type, ref_decode(type, left) / 2 +
					     ref_decode(type, right)));
}

static void own_function(const void *left, const void *right, void *result,
			 size_t count, tuttiDataType_t type, void *context)
{
	for (size_t i = 0; i < count; i++)
		ref_put((int)type, result, i,
			own((int)type, ref_get((int)type, left, i),
			    ref_get((int)type, right, i)));
}

static double tree(const struct job *j, size_t i, int first, int n)
{
	double x, y;
	int half = 1;

	if (n == 1) {
		x = given(j->type, first, i);
		return j->scaled ? settle(j->type, x * factor(j->type, first)) :
				   x;
	}
	while (2 * half < n)
		half *= 2;
	x = tree(j, i, first, half);
	y = tree(j, i, first + half, n - half);
	if (j->own)
		return ref_decode(j->type, own(j->type, ref_encode(j->type, x),
					       ref_encode(j->type, y)));
	switch (j->op) {
	case tuttiProd:
		return settle(j->type, x * y);
	case tuttiMax:
		return fmax(x, y);
	case tuttiMin:
		return fmin(x, y);
	default:
		return settle(j->type, x + y);
	}
}

static uint64_t wanted(const struct world *w, const struct job *j, size_t i)
{
	double x = tree(j, i, 0, w->ranks);

	if (j->op == tuttiAvg)
		x = settle(j->type, x / w->ranks);
	return ref_encode(j->type, x);
}

/* ---- One reduction -------------------------------------------------------- */

static tuttiResult_t call(struct world *w, const struct job *j,
			  const void *in, void *out, size_t count,
			  tuttiRedOp_t op)
{
	tuttiDataType_t type = (tuttiDataType_t)j->type;

	switch (j->coll) {
	case REDUCE:
		return tuttiReduce(in, out, count, type, op, j->root, w->comm,
				   NULL);
	case REDUCE_SCATTER:
		return tuttiReduceScatter(in, out, count, type, op, w->comm,
					  NULL);
	default:
		return tuttiAllReduce(in, out, count, type, op, w->comm, NULL);
	}
}

static tuttiRedOp_t operator_of(struct world *w, const struct job *j)
{
	uint64_t bits = ref_encode(j->type, factor(j->type, w->rank));
	tuttiRedOp_t op = (tuttiRedOp_t)j->op;
	char scalar[8];

	ref_put(j->type, scalar, 0, bits);
	if (j->scaled)
		check(w, tuttiRedOpCreatePreMulSum(&op, scalar,
						   (tuttiDataType_t)j->type,
						   tuttiScalarHostImmediate,
						   w->comm));
	if (j->own)
		check(w, tuttiRedOpCreateUser(&op, own_function, NULL, 0,
					      w->comm));
	return op;
}

static void differs(struct world *w, const struct job *j, size_t i,
		    uint64_t got, uint64_t want)
{
	if (w->faults++ < 5)
		fprintf(stderr, "FAULT: rank %d: collective %d, type %d, "
			"operator %d%s, element %zu: %llx instead of %llx\n",
			w->rank, (int)j->coll, j->type, j->op,
			j->scaled ? " scaled" : j->own ? " of our own" : "", i,
			(unsigned long long)got, (unsigned long long)want);
}

/* Compare with the tree, or with what rank 0 has. */
static void compare(struct world *w, const struct job *j, const char *out)
{
	size_t first = j->coll == REDUCE_SCATTER ?
		       (size_t)w->rank * j->count : 0;
	size_t bytes = j->count * ref_size(j->type);
	char *zero = need(bytes);

	for (size_t i = 0; w->strict && i < j->count; i++) {
		uint64_t got = ref_get(j->type, out, i);
		uint64_t want = wanted(w, j, first + i);

		if (got != want)
			differs(w, j, i, got, want);
	}
	if (j->coll == ALL_REDUCE) {
		memcpy(zero, out, bytes);
		check(w, tuttiBroadcast(zero, zero, bytes, tuttiUint8, 0,
					w->comm, NULL));
		if (memcmp(zero, out, bytes))
			differs(w, j, 0, 0, 1);
	}
	free(zero);
}

/* In pieces of sizes that grow from call to call, `pieces` of them. */
static void reduce_vector(struct world *w, const struct job *j, char *out,
			  size_t pieces)
{
	size_t size = ref_size(j->type), done = 0, n;
	size_t all = j->count * (j->coll == REDUCE_SCATTER ?
				 (size_t)w->ranks : 1);
	tuttiRedOp_t op = operator_of(w, j);
	char *in = grab(j, all * size);
	char *to = j->in_place ? in : grab(j, j->count * size);

	for (size_t i = 0; i < all; i++)
		ref_put(j->type, in, i, ref_encode(j->type, given(j->type,
								  w->rank, i)));
	for (size_t k = 0; k < pieces; k++) {
		n = j->count * (k + 1) * (k + 1) / pieces / pieces - done;
		check(w, call(w, j, in + done * size, to + done * size, n,
			      op));
		done += n;
	}
	memcpy(out, to, j->count * size);
	if (j->scaled || j->own)
		check(w, tuttiRedOpDestroy(op, w->comm));
	let_go(j, in);
	if (!j->in_place)
		let_go(j, to);
}

static void run(struct world *w, const struct job *j)
{
	char *out = need(j->count * ref_size(j->type));

	reduce_vector(w, j, out, 1);
	if (j->coll != REDUCE || w->rank == j->root)
		compare(w, j, out);
	free(out);
}

/* ---- The two modes -------------------------------------------------------- */

static void vector(struct world *w, const char *path, int type)
{
	static const size_t pieces[] = { 1, 2, 7, 50 };
	struct job j = { .type = type, .op = tuttiSum, .count = 20011 };
	size_t bytes = j.count * ref_size(type);
	char *first = need(bytes), *out = need(bytes);

	for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
		j.in_place = k & 1;
		j.shared = k & 2;
		memset(out, 0, bytes);
		reduce_vector(w, &j, out, pieces[k]);
		compare(w, &j, out);
		if (!k)
			memcpy(first, out, bytes);
		else if (w->strict && memcmp(first, out, bytes))
			differs(w, &j, pieces[k], 0, 1);
	}
	if (w->rank == 0) {
		FILE *f = fopen(path, "wb");

		if (!f || fwrite(first, 1, bytes, f) != bytes || fclose(f))
			exit(99);
	}
	free(first);
	free(out);
}

static void all(struct world *w)
{
	static const int types[] = { tuttiFloat16, tuttiBfloat16, tuttiFloat32,
				     tuttiFloat64, tuttiFloat8e4m3,
				     tuttiFloat8e5m2 };

	for (int k = 0; k < 3 * 6 * 7 * 4; k++) {
		struct job j = { .coll = (enum coll)(k % 3),
				 .type = types[k / 3 % 6], .op = k / 18 % 7,
				 .in_place = k / 126 % 2, .shared = k / 252,
				 .count = 1117,
				 .root = w->ranks - 1 };

		j.scaled = j.op == tuttiNumOps;
		j.own = j.op > tuttiNumOps;
		if (j.op >= tuttiNumOps)
			j.op = tuttiSum;
		/* A forced algorithm need not keep rank order. */
		if (j.own && !w->strict)
			continue;
		/* In place, a rank's block is elsewhere. */
		if (j.coll == REDUCE_SCATTER)
			j.in_place = false;
		run(w, &j);
	}
}

int main(int argc, char **argv)
{
	const char *mode = getenv("TUTTI_DETERMINISM");
	struct world w = { .strict = mode && !strcmp(mode, "strict") };

	check(&w, tuttiCommInitEnv(&w.comm, NULL));
	check(&w, tuttiCommUserRank(w.comm, &w.rank));
	check(&w, tuttiCommCount(w.comm, &w.ranks));
	if (argc > 2 && !strcmp(argv[1], "vector"))
		vector(&w, argv[2], argc > 3 ? atoi(argv[3]) : tuttiFloat32);
	else if (argc > 1 && !strcmp(argv[1], "all"))
		all(&w);
	else
		return 2;
	check(&w, tuttiCommDestroy(w.comm));
	return w.faults != 0;
}
