/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arithmetic that every algorithm must share: cases 49 to 52 and 54.  The
 * script runs these once for each algorithm and number of ranks.
 */
#include "config.h"

#include "proc/cases.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *c = p;
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ *c++) * 0x100000001b3u;
	return h;
}

/* All ranks have the same bits; by the least and the greatest hash. */
static void check_same(struct seat *s, const void *p, size_t bytes,
		       const char *what, tuttiComm_t comm)
{
	uint64_t h = hash_bytes(p, bytes), all[64] = { 0 };

	EXPECT(tuttiAllGather(&h, all, 1, tuttiUint64, comm, NULL),
	       tuttiSuccess, NULL);
	for (int r = 0; r < s->ranks; r++)
		CHECK(all[r] == h, "%s: ranks %d and %d have other bits", what,
		      s->rank, r);
}

/* ---- Case 49 ------------------------------------------------------------- */

static float element(int rank, size_t i)
{
	return (float)((i * 7 + (size_t)rank * 3) % 11) - 5;
}

static float without_nan(int ranks, size_t i, tuttiRedOp_t op)
{
	float v = element(0, i);

	for (int r = 1; r < ranks; r++) {
		float w = element(r, i);

		if (op == tuttiMin)
			v = fminf(v, w);
		else if (op == tuttiMax)
			v = fmaxf(v, w);
		else
			v += w;
	}
	return v;
}

struct nan_place {
	int rank;
	size_t at;
};

/* Which elements of the result this rank gets. */
static size_t first_of(struct seat *s, const struct case_call *c)
{
	return c->coll == REDUCE_SCATTER || c->coll == REDUCE_SCATTERV ?
		       (size_t)s->rank * c->count : 0;
}

static void nan_once(struct seat *s, const struct case_call *c,
		     struct nan_place nan, tuttiComm_t comm)
{
	size_t n = c->coll == REDUCE_SCATTER || c->coll == REDUCE_SCATTERV ?
			   c->count * (size_t)s->ranks : c->count;
	float *in = calloc(4, n), *out = calloc(4, c->count);
	size_t wrong = 0, first = first_of(s, c);

	for (size_t i = 0; i < n; i++)
		in[i] = element(s->rank, i);
	if (s->rank == nan.rank)
		in[nan.at] = NAN;
	EXPECT(case_call(c, in, out, comm), tuttiSuccess, NULL);
	for (size_t i = first; i < first + c->count; i++)
		wrong += i == nan.at ? !isnan(out[i - first]) :
			 out[i - first] != without_nan(s->ranks, i, c->op);
	CHECK(!wrong || (c->coll == REDUCE && s->rank != c->root),
	      "%s, operator %d, %zu elements, NaN at rank %d element %zu: "
	      "%zu wrong", case_coll_name(c->coll), (int)c->op, c->count,
	      nan.rank, nan.at, wrong);
	if (c->coll == ALL_REDUCE)
		check_same(s, out, 4 * c->count, "NaN", comm);
	free(in);
	free(out);
}

static void nan_all(struct seat *s, enum case_coll coll, tuttiComm_t comm)
{
	static const tuttiRedOp_t ops[] = { tuttiMin, tuttiMax, tuttiSum };
	static const size_t counts[] = { 1, 37, 3000 };

	for (int o = 0; o < 3; o++)
		for (int k = 0; k < 9; k++)
			for (int r = 0; r < s->ranks; r++) {
				struct case_call c = { coll, counts[k / 3],
						       tuttiFloat, ops[o],
						       r };
				size_t at = (size_t)(k % 3) * (c.count - 1) / 2;
				struct nan_place nan = { r, at };

				nan_once(s, &c, nan, comm);
			}
}

/* A NaN anywhere is a NaN everywhere: in each rank's data, in the first,
 * middle and last element of a vector. */
void number_nan(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	nan_all(s, ALL_REDUCE, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* And of the other reductions; a forced one alone. */
void number_nan_each(struct seat *s)
{
	static const enum case_coll colls[] = { REDUCE, REDUCE_SCATTER,
						REDUCE_SCATTERV };
	const char *algo = getenv("TUTTI_ALGO");
	tuttiComm_t comm = case_join(s);

	for (int i = 0; i < 3; i++) {
		const char *name = case_coll_name(colls[i]);

		if (!algo || (!strncmp(algo, name, strlen(name)) &&
			      algo[strlen(name)] == ':'))
			nan_all(s, colls[i], comm);
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 50 ------------------------------------------------------------- */

static float from_bf16(uint16_t v)
{
	uint32_t u = (uint32_t)v << 16;
	float f;

	memcpy(&f, &u, 4);
	return f;
}

static uint16_t to_bf16(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static float random_value(int rank, size_t i)
{
	uint64_t x = ((uint64_t)rank << 32 | i) * 0x9e3779b97f4a7c15u;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return (float)(x >> 40) / 16777216.0f - 0.25f;
}

/*
 * Each of at most ranks - 1 roundings costs at most 2^-8 of a partial sum, and
 * no partial sum is much above the sum of magnitudes.
 */
static void small_once(struct seat *s, size_t count, bool ones,
		       tuttiComm_t comm)
{
	uint16_t *in = calloc(2, count), *out = calloc(2, count);
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		in[i] = to_bf16(ones ? 1 : random_value(s->rank, i));
	EXPECT(tuttiAllReduce(in, out, count, tuttiBfloat16, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	for (size_t i = 0; i < count; i++) {
		double sum = 0, size = 0;

		for (int r = 0; r < s->ranks; r++) {
			float v = from_bf16(to_bf16(
				ones ? 1 : random_value(r, i)));

			sum += v;
			size += fabs(v);
		}
		wrong += fabs(from_bf16(out[i]) - sum) >
			 (s->ranks - 1) * size / 255;
	}
	CHECK(!wrong, "%zu of %zu sums are too far off", wrong, count);
	check_same(s, out, 2 * count, "bfloat16", comm);
	free(in);
	free(out);
}

void number_small(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	small_once(s, 1, true, comm);
	small_once(s, 5000, true, comm);
	small_once(s, 33, false, comm);
	small_once(s, 20000, false, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Cases 51 and 52 ----------------------------------------------------- */

static bool is_signed(tuttiDataType_t t)
{
	return t == tuttiInt8 || t == tuttiInt32 || t == tuttiInt64;
}

static size_t bytes_of(tuttiDataType_t t)
{
	return t <= tuttiUint8 ? 1 : t <= tuttiUint32 ? 4 : 8;
}

/* What one rank gives as element i: near the limits, and small of both
 * signs. */
static __int128 integer(tuttiDataType_t t, int rank, size_t i)
{
	int bits = (int)bytes_of(t) * 8 - is_signed(t);
	__int128 max = ((__int128)1 << bits) - 1;
	__int128 min = is_signed(t) ? -max - 1 : 0;

	switch (i % 6) {
	case 0:
		return max - rank;
	case 1:
		return min + rank;
	case 2:
		return is_signed(t) ? -10 : 100 + rank;
	case 3:
		return rank % 2 ? max : min;
	case 4:
		return is_signed(t) ? (rank % 2 ? -7 : 5) : 7;
	default:
		return max / 2 + 3 * rank;
	}
}

static void put(char *p, tuttiDataType_t t, size_t i, __int128 v)
{
	uint64_t low = (uint64_t)v;

	memcpy(p + i * bytes_of(t), &low, bytes_of(t));
}

static void integer_once(struct seat *s, tuttiDataType_t t, tuttiRedOp_t op,
			 size_t count, tuttiComm_t comm)
{
	size_t bytes = count * bytes_of(t), wrong = 0;
	char *in = calloc(1, bytes), *out = calloc(1, bytes);
	char want[8], got[8];
	tuttiResult_t rc;

	for (size_t i = 0; i < count; i++)
		put(in, t, i, integer(t, s->rank, i));
	rc = tuttiAllReduce(in, out, count, t, op, comm, NULL);
	/* A forced algorithm may say that it cannot. */
	if (op == tuttiAvg && rc == tuttiInvalidUsage &&
	    strstr(tuttiGetLastError(NULL), "integer averages"))
		count = 0;
	else
		EXPECT(rc, tuttiSuccess, NULL);
	for (size_t i = 0; i < count; i++) {
		__int128 v = integer(t, 0, i);

		for (int r = 1; r < s->ranks; r++) {
			__int128 w = integer(t, r, i);

			/* Only the low bits of a product matter. */
			v = op == tuttiProd ? (__int128)((uint64_t)v *
							 (uint64_t)w) : v + w;
		}
		if (op == tuttiAvg)
			v /= s->ranks;
		memset(want, 0, 8);
		memset(got, 0, 8);
		put(want, t, 0, v);
		memcpy(got, out + i * bytes_of(t), bytes_of(t));
		wrong += memcmp(want, got, 8) != 0;
	}
	CHECK(!wrong, "type %d operator %d: %zu of %zu wrong", (int)t, (int)op,
	      wrong, count);
	free(in);
	free(out);
}

void number_integer(struct seat *s)
{
	static const tuttiRedOp_t ops[] = { tuttiSum, tuttiProd, tuttiAvg };
	tuttiComm_t comm = case_join(s);

	for (int t = tuttiInt8; t <= tuttiUint64; t++)
		for (int o = 0; o < 3; o++) {
			integer_once(s, (tuttiDataType_t)t, ops[o], 6, comm);
			integer_once(s, (tuttiDataType_t)t, ops[o], 3001,
				     comm);
		}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 54 ------------------------------------------------------------- */

/* Sums in which the order shows in the bits. */
static float cancelling(int rank, size_t i)
{
	static const float v[] = { 1e8f, 1, -1e8f, 1, 3.1f, -0.7f, 1e-3f };

	return v[((size_t)rank * 3 + i + i / 7) % 7];
}

struct memory {
	bool shared, in_place;
};

static uint64_t bits_once(struct seat *s, size_t count, struct memory m,
			  tuttiComm_t comm)
{
	float *in = NULL, *out = NULL;
	uint64_t h;

	if (m.shared) {
		EXPECT(tuttiMemAlloc((void **)&in, 4 * count), tuttiSuccess,
		       NULL);
		EXPECT(tuttiMemAlloc((void **)&out, 4 * count), tuttiSuccess,
		       NULL);
	} else {
		in = calloc(4, count);
		out = calloc(4, count);
	}
	for (size_t i = 0; i < count; i++)
		in[i] = cancelling(s->rank, i);
	if (m.in_place)
		memcpy(out, in, 4 * count);
	EXPECT(tuttiAllReduce(m.in_place ? out : in, out, count, tuttiFloat,
			      tuttiSum, comm, NULL), tuttiSuccess, NULL);
	check_same(s, out, 4 * count, "cancellation", comm);
	h = hash_bytes(out, 4 * count);
	if (m.shared) {
		tuttiMemFree(in);
		tuttiMemFree(out);
	} else {
		free(in);
		free(out);
	}
	return h;
}

/* The same bits on all ranks, in every run, wherever the buffers are. */
void number_bits(struct seat *s)
{
	static const size_t counts[] = { 1, 5, 200, 4097, 100003 };
	tuttiComm_t comm = case_join(s);

	for (size_t c = 0; c < 5; c++) {
		uint64_t first = 0;

		for (int k = 0; k < 8; k++) {
			struct memory m = { .in_place = k & 1 };
			uint64_t h;

			/* malloc, all shared, mixed, and once again. */
			m.shared = (k >> 1) == 1 ||
				   ((k >> 1) == 2 && s->rank % 2);
			h = bits_once(s, counts[c], m, comm);
			if (!k)
				first = h;
			CHECK(h == first, "%zu elements: run %d gives other "
			      "bits", counts[c], k);
		}
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}
