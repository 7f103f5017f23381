/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators that a program makes.  Values are such that every partial result
 * is exact in every type; functions work on the bits of an element, whatever
 * its type.  The script runs these for each algorithm.
 */
#include "config.h"

#include "conform/number.h"
#include "proc/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64
#define FILL 0x5a

static const size_t counts[] = { 1, 37, 3001 };
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

/* One call to be made and checked. */
struct task {
	enum case_coll coll;
	size_t count;
	tuttiDataType_t type;
	int root;
	bool in_place, shared;
	/* What element i of rank r's contribution is, and of the result. */
	void (*give)(const struct seat *s, const struct task *t, int r,
		     size_t i, void *element);
	void (*want)(const struct seat *s, const struct task *t, size_t i,
		     void *element);
};

static char *make(size_t bytes, bool shared)
{
	void *p = NULL;

	if (shared && tuttiMemAlloc(&p, bytes + GUARD))
		exit(99);
	if (!shared)
		p = malloc(bytes + GUARD);
	if (!p)
		exit(99);
	memset(p, FILL, bytes + GUARD);
	return p;
}

static void unmake(char *p, bool shared)
{
	if (shared)
		tuttiMemFree(p);
	else
		free(p);
}

static size_t blocks_in(const struct seat *s, const struct task *t)
{
	return t->coll == REDUCE_SCATTER ? (size_t)s->ranks : 1;
}

static void check_out(struct seat *s, const struct task *t, const char *out,
		      size_t bytes)
{
	size_t size = number_size(t->type), wrong = 0;
	size_t first = t->coll == REDUCE_SCATTER ?
		       (size_t)s->rank * t->count : 0;
	char want[8];

	for (size_t i = 0; i < t->count; i++) {
		t->want(s, t, first + i, want);
		wrong += memcmp(out + i * size, want, size) != 0;
	}
	for (size_t i = 0; i < GUARD && !t->in_place; i++)
		wrong += out[bytes + i] != FILL;
	CHECK(!wrong, "%s of %zu elements of type %d%s%s: %zu wrong on rank %d",
	      case_coll_name(t->coll), t->count, (int)t->type,
	      t->in_place ? " in place" : "", t->shared ? " shared" : "",
	      wrong, s->rank);
}

/* A forced algorithm may say that it cannot keep the order. */
static bool refused(tuttiResult_t rc)
{
	return rc == tuttiInvalidUsage &&
	       strstr(tuttiGetLastError(NULL), "does not commute") &&
	       strstr(tuttiGetLastError(NULL), "those that can are");
}

static void perform(struct seat *s, const struct task *t, tuttiRedOp_t op,
		    tuttiComm_t comm)
{
	size_t size = number_size(t->type), n = t->count * blocks_in(s, t);
	size_t bytes = t->count * size;
	char *in = make(n * size, t->shared), *out = make(bytes, t->shared);
	char *to = out, *keep = make(n * size, false);
	struct case_call c = { t->coll, t->count, t->type, op, t->root };
	tuttiResult_t rc;

	for (size_t i = 0; i < n; i++)
		t->give(s, t, s->rank, i, in + i * size);
	memcpy(keep, in, n * size);
	if (t->in_place)
		to = t->coll == REDUCE_SCATTER ?
		     in + (size_t)s->rank * bytes : in;
	rc = case_call(&c, in, to, comm);
	if (!refused(rc)) {
		EXPECT(rc, tuttiSuccess, NULL);
		if (t->coll != REDUCE || s->rank == t->root)
			check_out(s, t, to, bytes);
		CHECK(t->in_place || !memcmp(in, keep, n * size),
		      "the send buffer was written");
	}
	unmake(in, t->shared);
	unmake(out, t->shared);
	unmake(keep, false);
}

/* With an algorithm forced for another collective there is nothing new. */
static bool concerned(enum case_coll coll)
{
	const char *algo = getenv("TUTTI_ALGO"), *name = case_coll_name(coll);
	size_t len = strlen(name);

	return !algo || (!strncmp(algo, name, len) && algo[len] == ':');
}

/* All collectives, in place and not, with either kind of memory. */
static void perform_all(struct seat *s, struct task *t, tuttiRedOp_t op,
			tuttiComm_t comm)
{
	static const enum case_coll colls[] = { ALL_REDUCE, REDUCE,
						REDUCE_SCATTER };

	for (int c = 0; c < 3; c++)
		for (int k = 0; k < 4 && concerned(colls[c]); k++) {
			t->coll = colls[c];
			t->root = s->ranks / 2;
			t->in_place = k & 1;
			t->shared = k & 2;
			perform(s, t, op, comm);
		}
}

/* ---- A factor before a sum ---------------------------------------------- */

/* At most two ranks give something, so that sums are at most 12. */
static int given(const struct seat *s, int r, size_t i)
{
	return (i + (size_t)r) % (size_t)s->ranks < 2 ? 1 + (int)(i % 2) : 0;
}

static int factor(int r)
{
	return 1 + r % 3;
}

static void give_few(const struct seat *s, const struct task *t, int r,
		     size_t i, void *element)
{
	number_store(t->type, element, 0, given(s, r, i));
}

static void want_scaled(const struct seat *s, const struct task *t, size_t i,
			void *element)
{
	int sum = 0;

	for (int r = 0; r < s->ranks; r++)
		sum += factor(r) * given(s, r, i);
	number_store(t->type, element, 0, sum);
}

void redop_premul(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	for (int type = 0; type < tuttiNumTypes; type++) {
		struct task t = { .type = (tuttiDataType_t)type,
				  .give = give_few, .want = want_scaled };
		tuttiRedOp_t now, later;
		char scalar[8], kept[8];

		/* One is read now, the other only when it is used. */
		number_store(t.type, scalar, 0, factor(s->rank));
		number_store(t.type, kept, 0, 7);
		EXPECT(tuttiRedOpCreatePreMulSum(&now, scalar, t.type,
						 tuttiScalarHostImmediate,
						 comm), tuttiSuccess, NULL);
		EXPECT(tuttiRedOpCreatePreMulSum(&later, kept, t.type,
						 tuttiScalarDevice, comm),
		       tuttiSuccess, NULL);
		memcpy(kept, scalar, 8);
		memset(scalar, 0, 8);
		CHECK((int)now >= tuttiNumOps && now != later,
		      "operators are %d and %d", (int)now, (int)later);
		for (size_t c = 0; c < COUNTS; c++) {
			t.count = counts[c];
			perform_all(s, &t, c % 2 ? later : now, comm);
		}
		EXPECT(tuttiRedOpDestroy(now, comm), tuttiSuccess, NULL);
		EXPECT(tuttiRedOpDestroy(later, comm), tuttiSuccess, NULL);
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Functions ---------------------------------------------------------- */

static uint64_t load(const void *p, size_t size, size_t i)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)p + i * size, size);
	return v;
}

static void store(void *p, size_t size, size_t i, uint64_t v)
{
	memcpy((char *)p + i * size, &v, size);
}

/* An element is the map x -> a x + b, a and b its two halves; this is first
 * the right one, then the left one. */
static uint64_t compose(uint64_t left, uint64_t right, size_t size)
{
	unsigned int half = 4 * (unsigned int)size;
	uint64_t mask = (1ull << half) - 1;
	uint64_t a = left & mask, b = left >> half;
	uint64_t c = right & mask, d = right >> half;

	return (a * c & mask) | ((a * d + b) & mask) << half;
}

struct heard {
	tuttiDataType_t type;
	bool ordered;
	size_t elements, bad;
};

static void function(const void *left, const void *right, void *result,
		     size_t count, tuttiDataType_t datatype, void *context)
{
	struct heard *h = context;
	size_t size = number_size(datatype);

	h->bad += datatype != h->type;
	h->elements += count;
	for (size_t i = 0; i < count; i++) {
		uint64_t x = load(left, size, i), y = load(right, size, i);

		store(result, size, i, h->ordered ? compose(x, y, size) :
						    x ^ y);
	}
}

static uint64_t bits_of(int r, size_t i, size_t size)
{
	uint64_t x = ((uint64_t)r << 40 | i) * 0x9e3779b97f4a7c15u;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	/* An odd factor loses nothing. */
	return (x | 1) & (~0ull >> (64 - 8 * size));
}

static void give_bits(const struct seat *s, const struct task *t, int r,
		      size_t i, void *element)
{
	store(element, number_size(t->type), 0,
	      bits_of(r, i, number_size(t->type)));
}

static void want_ordered(const struct seat *s, const struct task *t, size_t i,
			 void *element)
{
	size_t size = number_size(t->type);
	uint64_t v = bits_of(0, i, size);

	for (int r = 1; r < s->ranks; r++)
		v = compose(v, bits_of(r, i, size), size);
	store(element, size, 0, v);
}

static void want_xor(const struct seat *s, const struct task *t, size_t i,
		     void *element)
{
	size_t size = number_size(t->type);
	uint64_t v = 0;

	for (int r = 0; r < s->ranks; r++)
		v ^= bits_of(r, i, size);
	store(element, size, 0, v);
}

void redop_user(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	for (int k = 0; k < 2 * tuttiNumTypes; k++) {
		struct heard h = { .type = (tuttiDataType_t)(k / 2),
				   .ordered = k % 2 };
		struct task t = { .type = h.type, .give = give_bits,
				  .want = h.ordered ? want_ordered :
						      want_xor };
		tuttiRedOp_t op;

		EXPECT(tuttiRedOpCreateUser(&op, function, &h, !h.ordered,
					    comm), tuttiSuccess, NULL);
		for (size_t c = 0; c < COUNTS; c++) {
			t.count = counts[c];
			perform_all(s, &t, op, comm);
		}
		CHECK(!h.bad, "another type than %d was told", (int)h.type);
		/* A forced algorithm may refuse one that does not commute. */
		CHECK(h.elements || s->ranks == 1 || s->rank ||
		      getenv("TUTTI_ALGO"), "the function was never called");
		EXPECT(tuttiRedOpDestroy(op, comm), tuttiSuccess, NULL);
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- What is wrong ------------------------------------------------------ */

static tuttiResult_t use(tuttiRedOp_t op, tuttiDataType_t type,
			 tuttiComm_t comm)
{
	double in[2] = { 0 }, out[2] = { 0 };

	return tuttiAllReduce(in, out, 2, type, op, comm, NULL);
}

static void wrong_arguments(tuttiComm_t comm)
{
	float two = 2;
	tuttiRedOp_t op;

	EXPECT(tuttiRedOpCreatePreMulSum(NULL, &two, tuttiFloat,
					 tuttiScalarHostImmediate, comm),
	       tuttiInvalidArgument, "tuttiRedOpCreatePreMulSum", "NULL");
	EXPECT(tuttiRedOpCreatePreMulSum(&op, NULL, tuttiFloat,
					 tuttiScalarHostImmediate, comm),
	       tuttiInvalidArgument, "factor", "NULL");
	EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, (tuttiDataType_t)99,
					 tuttiScalarHostImmediate, comm),
	       tuttiInvalidArgument, "99 is not a data type");
	EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, tuttiFloat,
					 (tuttiScalarResidence_t)5, comm),
	       tuttiInvalidArgument, "5 is no residence");
	EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, tuttiFloat,
					 tuttiScalarHostImmediate, NULL),
	       tuttiInvalidArgument, "communicator is NULL");
	EXPECT(tuttiRedOpCreateUser(NULL, function, NULL, 1, comm),
	       tuttiInvalidArgument, "tuttiRedOpCreateUser", "NULL");
	EXPECT(tuttiRedOpCreateUser(&op, NULL, NULL, 1, comm),
	       tuttiInvalidArgument, "function is NULL");
	EXPECT(tuttiRedOpDestroy(tuttiMax, comm), tuttiInvalidArgument,
	       "max", "cannot be destroyed");
	EXPECT(tuttiRedOpDestroy((tuttiRedOp_t)123456789, comm),
	       tuttiInvalidArgument, "123456789 is not");
	EXPECT(use((tuttiRedOp_t)123456789, tuttiFloat, comm),
	       tuttiInvalidArgument, "123456789 is not");
	EXPECT(use((tuttiRedOp_t)-1, tuttiFloat, comm), tuttiInvalidArgument,
	       "-1 is not");
}

/* An operator serves its own communicator and type, until it is destroyed;
 * and nothing of this harms the communicator. */
void redop_wrong(struct seat *s)
{
	tuttiComm_t comm = case_join(s), other = case_join(s);
	float two = 2, in = 3, out = 0;
	tuttiRedOp_t op, more[20];

	wrong_arguments(comm);
	EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, tuttiFloat,
					 tuttiScalarHostImmediate, comm),
	       tuttiSuccess, NULL);
	EXPECT(use(op, tuttiInt32, comm), tuttiInvalidArgument,
	       "factor of type float", "int32");
	EXPECT(use(op, tuttiFloat, other), tuttiInvalidArgument,
	       "another communicator");
	EXPECT(tuttiRedOpDestroy(op, other), tuttiInvalidArgument,
	       "another communicator");
	for (int i = 0; i < 20; i++)
		EXPECT(tuttiRedOpCreatePreMulSum(&more[i], &two, tuttiFloat,
						 tuttiScalarHostImmediate,
						 comm), tuttiSuccess, NULL);
	for (int i = 0; i < 20; i++)
		EXPECT(tuttiRedOpDestroy(more[(i * 7) % 20], comm),
		       tuttiSuccess, NULL);
	EXPECT(tuttiAllReduce(&in, &out, 1, tuttiFloat, op, comm, NULL),
	       tuttiSuccess, NULL);
	CHECK(out == 6 * (float)s->ranks, "%g", (double)out);
	EXPECT(tuttiRedOpDestroy(op, comm), tuttiSuccess, NULL);
	EXPECT(tuttiRedOpDestroy(op, comm), tuttiInvalidArgument,
	       "was destroyed");
	EXPECT(use(op, tuttiFloat, comm), tuttiInvalidArgument,
	       "was destroyed");
	EXPECT(tuttiCommFinalize(other), tuttiSuccess, NULL);
	EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, tuttiFloat,
					 tuttiScalarHostImmediate, other),
	       tuttiInvalidUsage, "finalized");
	EXPECT(tuttiCommDestroy(other), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* One rank has an operator of another kind. */
static void differ_kind(struct seat *s, int kind, int odd_kind,
			const char *usual, const char *odd)
{
	tuttiComm_t comm = case_join(s);
	struct heard h = { .type = tuttiFloat };
	int mine = s->rank == s->ranks - 1 ? odd_kind : kind;
	tuttiRedOp_t op = tuttiSum;
	tuttiResult_t rc;
	float two = 2;

	if (mine == 1)
		EXPECT(tuttiRedOpCreatePreMulSum(&op, &two, tuttiFloat,
						 tuttiScalarHostImmediate,
						 comm), tuttiSuccess, NULL);
	if (mine > 1)
		EXPECT(tuttiRedOpCreateUser(&op, function, &h, mine == 2,
					    comm), tuttiSuccess, NULL);
	rc = use(op, tuttiFloat, comm);
	for (int i = 0; !rc && i < 3; i++)
		rc = tuttiBarrier(comm, NULL);
	EXPECT(rc, tuttiInvalidUsage, "calls differ", usual, odd);
	tuttiCommDestroy(comm);
}

void redop_differ(struct seat *s)
{
	differ_kind(s, 0, 1, "sum", "premulsum");
	differ_kind(s, 1, 2, "premulsum", "function");
	differ_kind(s, 2, 3, "function", "function in rank order");
}
