/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Case 41: calls that differ between ranks.  Every rank gets invalid usage, in
 * that call or, if it had nothing to wait for, in the next; the sentence names
 * both calls; nothing is written past a buffer.
 */
#include "config.h"

#include "proc/cases_differ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL 0x6b
/* A sanitizer makes everything some times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOON_MS 5000
#elif defined(__has_feature)
#define SOON_MS \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? \
	 5000 : 1000)
#else
#define SOON_MS 1000
#endif

/* ---- Times --------------------------------------------------------------- */

void differ_begin(struct differ *d, struct seat *s)
{
	*d = (struct differ){ .seat = s, .control = case_join(s) };
}

void differ_end(struct differ *d, const char *name)
{
	if (d->seat->rank == 0)
		printf("%s: at most %d ms: %s; %d done twice\n", name,
		       d->longest, d->what, d->again);
	tuttiCommDestroy(d->control);
}

/* The longest of all ranks. */
static int longest(struct differ *d, int took)
{
	int most = 0;
	tuttiResult_t rc = tuttiAllReduce(&took, &most, 1, tuttiInt32,
					  tuttiMax, d->control, NULL);

	CHECK(!rc, "control: %s", tuttiGetLastError(NULL));
	return most;
}

void differ_try(struct differ *d, const char *what,
		int (*trial)(struct seat *s, const void *arg, int odd),
		const void *arg, int odd)
{
	int took = longest(d, trial(d->seat, arg, odd));

	if (took > SOON_MS) {
		d->again++;
		took = longest(d, trial(d->seat, arg, odd));
	}
	CHECK(took <= SOON_MS, "rank %d: %s, by rank %d: %d ms on some rank",
	      d->seat->rank, what, odd, took);
	if (took <= d->longest)
		return;
	d->longest = took;
	snprintf(d->what, sizeof(d->what), "%s, by rank %d", what, odd);
}

tuttiResult_t differ_hear(tuttiComm_t comm, tuttiResult_t rc)
{
	for (int i = 0; !rc && i < 3; i++)
		rc = tuttiBarrier(comm, NULL);
	return rc;
}

/* ---- Pairs of calls ------------------------------------------------------ */

struct pair {
	struct case_call usual, odd;
	const char *say_usual, *say_odd;
};

static size_t out_bytes(const struct case_call *c, int ranks)
{
	size_t size = c->type == tuttiFloat64 ? 8 :
		      c->type == tuttiInt8 ? 1 : 4;

	return c->count * size * (size_t)ranks;
}

void differ_guard(char *p, size_t bytes)
{
	memset(p + bytes, FILL, GUARD);
}

/* Memory is zero, and not touched before the library does. */
static char *make(size_t bytes)
{
	char *p = calloc(1, bytes + GUARD);

	if (!p)
		exit(99);
	differ_guard(p, bytes);
	return p;
}

void differ_check(const char *p, size_t bytes, const char *which)
{
	for (size_t i = 0; i < GUARD; i++)
		if (p[bytes + i] != FILL) {
			FAULT("byte %zu behind the %s buffer was written", i,
			      which);
			return;
		}
}

static int try_pair(struct seat *s, const void *arg, int odd)
{
	const struct pair *p = arg;
	const struct case_call *c = s->rank == odd ? &p->odd : &p->usual;
	size_t bytes = out_bytes(c, s->ranks);
	char *in = make(bytes), *out = make(bytes);
	tuttiComm_t comm = case_join(s);
	int64_t began = case_ms();
	tuttiResult_t rc = differ_hear(comm, case_call(c, in, out, comm));
	int took = (int)(case_ms() - began);

	EXPECT(rc, tuttiInvalidUsage, "calls differ", "rank", p->say_usual,
	       p->say_odd);
	differ_check(in, bytes, "send");
	differ_check(out, bytes, "receive");
	tuttiCommDestroy(comm);
	free(in);
	free(out);
	return took;
}

static void try_pairs(struct seat *s, const char *name, const struct pair *p,
		      size_t n)
{
	struct differ d;

	differ_begin(&d, s);
	for (size_t i = 0; i < n; i++) {
		differ_try(&d, p[i].say_odd, try_pair, &p[i],
			   (int)(i % (size_t)s->ranks));
		/* One more, so that the next has another odd rank. */
		if (s->ranks > 2 && i % 2)
			differ_try(&d, p[i].say_odd, try_pair, &p[i],
				   s->ranks - 1);
	}
	differ_end(&d, name);
}

void differ_small(struct seat *s)
{
	static const struct pair pairs[] = {
		{ { ALL_REDUCE, 100, tuttiFloat, tuttiSum, 0 },
		  { ALL_REDUCE, 200, tuttiFloat, tuttiSum, 0 },
		  "all_reduce of 100 float", "all_reduce of 200 float" },
		{ { ALL_REDUCE, 1, tuttiInt32, tuttiSum, 0 },
		  { ALL_REDUCE, 2, tuttiInt32, tuttiSum, 0 },
		  "of 1 int32", "of 2 int32" },
		{ { ALL_REDUCE, 5, tuttiInt32, tuttiSum, 0 },
		  { ALL_REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  "of 5 int32", "of 5 float" },
		{ { ALL_REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  { ALL_REDUCE, 5, tuttiFloat, tuttiMax, 0 },
		  "sum", "max" },
		{ { REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  { REDUCE, 5, tuttiFloat, tuttiSum, 1 },
		  "root 0", "root 1" },
		{ { BROADCAST, 5, tuttiFloat, tuttiSum, 0 },
		  { BROADCAST, 5, tuttiFloat, tuttiSum, 1 },
		  "root 0", "root 1" },
		{ { BROADCAST, 5, tuttiFloat, tuttiSum, 1 },
		  { BROADCAST, 7, tuttiFloat, tuttiSum, 1 },
		  "broadcast of 5 float", "broadcast of 7 float" },
		{ { ALL_GATHER, 5, tuttiFloat, tuttiSum, 0 },
		  { ALL_GATHER, 6, tuttiFloat, tuttiSum, 0 },
		  "all_gather of 5 float", "all_gather of 6 float" },
		{ { REDUCE_SCATTER, 5, tuttiFloat, tuttiSum, 0 },
		  { REDUCE_SCATTER, 4, tuttiFloat, tuttiSum, 0 },
		  "reduce_scatter of 5 float", "reduce_scatter of 4 float" },
		{ { ALLTOALL, 5, tuttiFloat, tuttiSum, 0 },
		  { ALLTOALL, 6, tuttiFloat, tuttiSum, 0 },
		  "alltoall of 5 float", "alltoall of 6 float" },
		{ { GATHER, 5, tuttiFloat, tuttiSum, 1 },
		  { GATHER, 6, tuttiFloat, tuttiSum, 1 },
		  "gather of 5 float, root 1", "gather of 6 float" },
		{ { SCATTER, 5, tuttiFloat, tuttiSum, 0 },
		  { SCATTER, 5, tuttiFloat, tuttiSum, 1 },
		  "scatter of 5 float, root 0", "root 1" },
		{ { ALL_GATHERV, 5, tuttiFloat, tuttiSum, 0 },
		  { ALL_GATHER, 5, tuttiFloat, tuttiSum, 0 },
		  "all_gatherv of float", "all_gather of 5 float" },
		{ { ALLTOALLV, 5, tuttiFloat, tuttiSum, 0 },
		  { ALLTOALLV, 5, tuttiInt32, tuttiSum, 0 },
		  "alltoallv of float", "alltoallv of int32" },
		{ { REDUCE_SCATTERV, 5, tuttiFloat, tuttiSum, 0 },
		  { REDUCE_SCATTERV, 5, tuttiFloat, tuttiMax, 0 },
		  "reduce_scatterv of float, sum", "float, max" },
		{ { GATHERV, 5, tuttiFloat, tuttiSum, 0 },
		  { GATHERV, 5, tuttiFloat, tuttiSum, 1 },
		  "gatherv of float, root 0", "root 1" },
		{ { SCATTERV, 5, tuttiFloat, tuttiSum, 1 },
		  { BARRIER, 0, tuttiInt8, tuttiSum, 0 },
		  "scatterv of float, root 1", "barrier" },
		/* The order differs. */
		{ { ALL_REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  { BARRIER, 0, tuttiInt8, tuttiSum, 0 },
		  "all_reduce of 5 float", "barrier" },
		{ { REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  { ALL_REDUCE, 5, tuttiFloat, tuttiSum, 0 },
		  "called reduce of 5 float", "called all_reduce of 5" },
		/* Nothing at all, and something. */
		{ { ALL_REDUCE, 100, tuttiFloat, tuttiSum, 0 },
		  { ALL_REDUCE, 0, tuttiFloat, tuttiSum, 0 },
		  "all_reduce of 100 float", "all_reduce of 0 float" },
	};

	try_pairs(s, "small", pairs, sizeof(pairs) / sizeof(pairs[0]));
}

void differ_large(struct seat *s)
{
	static const struct pair pairs[] = {
		{ { ALL_REDUCE, 409600, tuttiFloat, tuttiSum, 0 },
		  { ALL_REDUCE, 409598, tuttiFloat, tuttiSum, 0 },
		  "of 409600 float", "of 409598 float" },
		{ { ALL_REDUCE, 1, tuttiInt8, tuttiSum, 0 },
		  { ALL_REDUCE, 100000000, tuttiInt8, tuttiSum, 0 },
		  "of 1 int8", "of 100000000 int8" },
		{ { BROADCAST, 1000000, tuttiFloat, tuttiSum, 0 },
		  { BROADCAST, 1000000, tuttiFloat, tuttiSum, 1 },
		  "root 0", "root 1" },
		{ { REDUCE, 300000, tuttiFloat64, tuttiSum, 1 },
		  { REDUCE, 300000, tuttiFloat, tuttiSum, 1 },
		  "of 300000 double", "of 300000 float" },
		{ { ALL_GATHER, 300000, tuttiFloat, tuttiSum, 0 },
		  { ALL_GATHER, 3, tuttiFloat, tuttiSum, 0 },
		  "of 300000 float", "of 3 float" },
		{ { REDUCE_SCATTER, 200000, tuttiFloat, tuttiSum, 0 },
		  { ALL_GATHER, 200000, tuttiFloat, tuttiSum, 0 },
		  "reduce_scatter of 200000", "all_gather of 200000" },
		{ { ALLTOALL, 200000, tuttiFloat, tuttiSum, 0 },
		  { ALLTOALL, 200001, tuttiFloat, tuttiSum, 0 },
		  "alltoall of 200000", "alltoall of 200001" },
		{ { GATHERV, 200000, tuttiFloat, tuttiSum, 0 },
		  { SCATTERV, 200000, tuttiFloat, tuttiSum, 0 },
		  "gatherv of float", "scatterv of float" },
	};

	try_pairs(s, "large", pairs, sizeof(pairs) / sizeof(pairs[0]));
}

struct message {
	size_t sent, wanted;
	tuttiDataType_t type;
	const char *say_sent, *say_wanted;
};

/* Rank 0 sends what rank 1 does not expect; the others hear of it too. */
static int try_message(struct seat *s, const void *arg, int odd)
{
	const struct message *m = arg;
	struct case_call send = { SEND, m->sent, m->type, tuttiSum, 1 };
	struct case_call recv = { RECV, m->wanted, tuttiFloat, tuttiSum, 0 };
	size_t bytes = s->rank ? 4 * m->wanted : 8 * m->sent;
	char *buf = make(bytes);
	tuttiComm_t comm = case_join(s);
	int64_t began = case_ms();
	tuttiResult_t rc = tuttiSuccess;
	int took;

	(void)odd;
	if (s->rank == 0)
		rc = case_call(&send, buf, NULL, comm);
	if (s->rank == 1)
		rc = case_call(&recv, NULL, buf, comm);
	rc = differ_hear(comm, rc);
	took = (int)(case_ms() - began);
	EXPECT(rc, tuttiInvalidUsage, "calls differ", "rank 0", "rank 1",
	       m->say_sent, m->say_wanted);
	differ_check(buf, bytes, "message");
	tuttiCommDestroy(comm);
	free(buf);
	return took;
}

void differ_message(struct seat *s)
{
	static const struct message messages[] = {
		{ 100, 200, tuttiFloat, "send of 100 float",
		  "recv of 200 float" },
		{ 2, 1, tuttiFloat, "send of 2 float", "recv of 1 float" },
		{ 0, 1, tuttiFloat, "send of 0 float", "recv of 1 float" },
		{ 50, 50, tuttiInt32, "send of 50 int32", "recv of 50 float" },
		{ 1000000, 2000000, tuttiFloat, "send of 1000000 float",
		  "recv of 2000000 float" },
		{ 10, 1000000, tuttiFloat, "send of 10 float",
		  "recv of 1000000 float" },
	};
	struct differ d;

	differ_begin(&d, s);
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		differ_try(&d, messages[i].say_sent, try_message, &messages[i],
			   0);
	differ_end(&d, "messages");
}

/* ---- Counts of v-forms --------------------------------------------------- */

#define RANKS_MAX 8

/* Rank `odd` believes of one block, which all others believe `usual` long, that
 * it has `other` elements. */
struct opinion {
	enum case_coll coll;
	size_t usual, other;
	const char *say_usual, *say_other;
};

/* What goes from a to b, as rank `me` believes. */
static size_t believed(const struct opinion *p, int odd, int me, int a, int b)
{
	int from = odd == 0, to = odd;

	if (p->coll == ALL_GATHERV || p->coll == REDUCE_SCATTERV)
		to = b;
	if (a != from || b != to)
		return 3;
	return me == odd ? p->other : p->usual;
}

static tuttiResult_t call_counts(struct seat *s, const struct opinion *p,
				 int odd, char *in, char *out, tuttiComm_t comm)
{
	size_t give[RANKS_MAX], get[RANKS_MAX];
	int me = s->rank, root = p->coll == GATHERV ? odd : !odd;

	for (int r = 0; r < s->ranks; r++) {
		give[r] = believed(p, odd, me, me, r);
		get[r] = believed(p, odd, me, r, me);
	}
	switch ((int)p->coll) {
	case ALL_GATHERV:
		return tuttiAllGatherv(in, out, get, NULL, tuttiFloat, comm,
				       NULL);
	case REDUCE_SCATTERV:
		return tuttiReduceScatterv(in, out, get, tuttiFloat, tuttiSum,
					   comm, NULL);
	case GATHERV:
		return tuttiGatherv(in, give[root], out, get, NULL, tuttiFloat,
				    root, comm, NULL);
	case SCATTERV:
		return tuttiScatterv(in, give, NULL, out, get[root],
				     tuttiFloat, root, comm, NULL);
	default:
		return tuttiAlltoAllv(in, give, NULL, out, get, NULL,
				      tuttiFloat, comm, NULL);
	}
}

static int try_opinion(struct seat *s, const void *arg, int odd)
{
	const struct opinion *p = arg;
	size_t most = p->usual > p->other ? p->usual : p->other, bytes = 0;
	tuttiComm_t comm = case_join(s);
	int64_t began = case_ms();
	char *in, *out;
	tuttiResult_t rc;
	int took;

	/* As large as this rank believes, to the byte. */
	for (int r = 0; r < s->ranks; r++)
		if (p->coll != REDUCE_SCATTERV || r == s->rank)
			bytes += 4 * believed(p, odd, s->rank, r, s->rank);
	in = make(4 * (most + 3 * (size_t)s->ranks));
	out = make(bytes);
	rc = differ_hear(comm, call_counts(s, p, odd, in, out, comm));
	took = (int)(case_ms() - began);
	EXPECT(rc, tuttiInvalidUsage, "calls differ", "rank 0", "rank 1",
	       p->say_usual, p->say_other);
	differ_check(out, bytes, "receive");
	tuttiCommDestroy(comm);
	free(in);
	free(out);
	return took;
}

static void try_opinions(struct differ *d, const struct opinion *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		differ_try(d, p[i].say_other, try_opinion, &p[i], (int)(i % 2));
}

/* Ranks 0 and 1 disagree about what goes from one to the other; of operations
 * whose counts all know, rank 0 or 1 has its own opinion of a block. */
void differ_counts(struct seat *s)
{
	static const struct opinion opinions[] = {
		{ ALLTOALLV, 5, 7, "alltoallv of float, 5 to rank",
		  "alltoallv of float, 7 from rank" },
		{ ALLTOALLV, 5, 0, ", 5 to rank", ", 0 from rank" },
		{ ALLTOALLV, 0, 5, ", 0 to rank", ", 5 from rank" },
		{ ALLTOALLV, 300000, 300001, ", 300000 to", ", 300001 from" },
		{ ALLTOALLV, 1, 300000, ", 1 to rank", ", 300000 from" },
		{ GATHERV, 5, 7, ", 5 to rank", ", 7 from rank" },
		{ GATHERV, 0, 70000, ", 0 to rank", ", 70000 from" },
		{ GATHERV, 70000, 0, ", 70000 to", ", 0 from rank" },
		{ SCATTERV, 5, 7, ", 5 to rank", ", 7 from rank" },
		{ SCATTERV, 5, 0, ", 5 to rank", ", 0 from rank" },
		{ SCATTERV, 0, 5, ", 0 to rank", ", 5 from rank" },
	};
	static const struct opinion common[] = {
		{ ALL_GATHERV, 5, 7, "all_gatherv of float, 5 of rank",
		  "all_gatherv of float, 7 of rank" },
		{ ALL_GATHERV, 5, 0, ", 5 of rank", ", 0 of rank" },
		{ ALL_GATHERV, 0, 5, ", 0 of rank", ", 5 of rank" },
		{ ALL_GATHERV, 100000, 100001, ", 100000 of rank",
		  ", 100001 of rank" },
		{ ALL_GATHERV, 2, 200000, ", 2 of rank", ", 200000 of rank" },
		{ REDUCE_SCATTERV, 5, 6, "reduce_scatterv of float, sum, 5 of",
		  "reduce_scatterv of float, sum, 6 of" },
		{ REDUCE_SCATTERV, 0, 90000, ", 0 of", ", 90000 of" },
	};

	struct differ d;

	differ_begin(&d, s);
	try_opinions(&d, opinions, sizeof(opinions) / sizeof(opinions[0]));
	try_opinions(&d, common, sizeof(common) / sizeof(common[0]));
	differ_end(&d, "counts");
}
