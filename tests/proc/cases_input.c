/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments: the right result code, one clear sentence that holds the
 * wrong value, and a communicator that works on.  Cases 44 and 45 (products),
 * 8 (an id used twice).
 */
#include "config.h"

#include "proc/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* All ranks can still talk, and get right results. */
static void check_alive(struct seat *s, tuttiComm_t comm)
{
	int32_t in = s->rank + 1, out = 0;
	tuttiResult_t rc = tuttiAllReduce(&in, &out, 1, tuttiInt32, tuttiSum,
					  comm, NULL);
	tuttiResult_t async = tuttiInternalError;

	EXPECT(rc, tuttiSuccess, NULL);
	CHECK(out == s->ranks * (s->ranks + 1) / 2, "sum %d", (int)out);
	rc = tuttiCommGetAsyncError(comm, &async);
	CHECK(!rc && !async, "a wrong argument stays as error %d", async);
}

/* ---- Making and ending ------------------------------------------------- */

static void wrong_ids(void)
{
	static const int at[] = { 0, 3, 4, 5, 8, 9, 16, 24, 39, 40, 60, 90,
				  119, 120, 127 };
	tuttiUniqueId id, bad;
	tuttiComm_t comm = NULL;

	memset(&bad, 0, sizeof(bad));
	EXPECT(tuttiCommInitRank(&comm, 1, bad, 0), tuttiInvalidArgument,
	       "unique id");
	EXPECT(tuttiGetUniqueId(NULL), tuttiInvalidArgument,
	       "tuttiGetUniqueId", "NULL");
	EXPECT(tuttiGetUniqueId(&id), tuttiSuccess, NULL);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		bad = id;
		bad.internal[at[i]] ^= 0x10;
		EXPECT(tuttiCommInitRank(&comm, 1, bad, 0),
		       tuttiInvalidArgument, "unique id");
	}
	EXPECT(tuttiCommInitRank(NULL, 1, id, 0), tuttiInvalidArgument,
	       "NULL");
	CHECK(!comm, "an output was written on failure");
	EXPECT(tuttiCommInitRank(&comm, 1, id, 0), tuttiSuccess, NULL);
	/* While the first lives, and after it. */
	EXPECT(tuttiCommInitRank(&comm, 1, id, 0), tuttiInvalidUsage, "id");
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	EXPECT(tuttiCommInitRank(&comm, 1, id, 0), tuttiInvalidUsage, "id");
}

static void wrong_rank(int rank, int ranks, const char *say)
{
	tuttiComm_t comm = NULL;
	tuttiUniqueId id;
	tuttiResult_t rc;

	EXPECT(tuttiGetUniqueId(&id), tuttiSuccess, NULL);
	rc = tuttiCommInitRank(&comm, ranks, id, rank);
	EXPECT(rc, tuttiInvalidArgument, "rank", say);
	/* The other ranks heard of it and will not come. */
	EXPECT(tuttiCommInitRank(&comm, 1, id, 0), tuttiInvalidUsage, "rank",
	       say);
}

static int fails(const void *send, void *recv, size_t bytes, void *context)
{
	(void)send;
	(void)recv;
	(void)bytes;
	(void)context;
	return 17;
}

static void try_config(const tuttiConfig_t *config, const char *say)
{
	tuttiComm_t comm = NULL;
	tuttiUniqueId id;

	EXPECT(tuttiGetUniqueId(&id), tuttiSuccess, NULL);
	EXPECT(tuttiCommInitRankConfig(&comm, 1, id, 0, config),
	       tuttiInvalidArgument, "configuration", say);
	EXPECT(tuttiCommInitEnv(&comm, config), tuttiInvalidArgument,
	       "configuration");
	EXPECT(tuttiCommInitUser(&comm, 1, 0, fails, NULL, config),
	       tuttiInvalidArgument, "configuration");
}

static void wrong_configs(void)
{
	tuttiConfig_t good = TUTTI_CONFIG_INITIALIZER, bad = good;
	tuttiComm_t comm = NULL;

	bad.magic++;
	try_config(&bad, "INITIALIZER");
	bad = good;
	bad.size = 0;
	try_config(&bad, "INITIALIZER");
	bad = good;
	bad.size += 8;
	try_config(&bad, "newer");
	bad = good;
	bad.timeoutMs = 0;
	try_config(&bad, "timeoutMs is 0");
	bad = good;
	bad.initTimeoutMs = -5;
	try_config(&bad, "initTimeoutMs is -5");
	EXPECT(tuttiCommInitUser(&comm, 2, 0, NULL, NULL, NULL),
	       tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommInitUser(&comm, 2, 2, fails, NULL, NULL),
	       tuttiInvalidArgument, "rank 2");
	EXPECT(tuttiCommInitUser(&comm, 2, 0, fails, NULL, NULL),
	       tuttiRemoteError, "17");
}

static void wrong_queries(struct seat *s)
{
	tuttiCommInfo_t info = TUTTI_COMM_INFO_INITIALIZER;
	tuttiComm_t comm = case_join(s), gone = comm;
	tuttiResult_t error;
	int n;

	EXPECT(tuttiGetVersion(NULL), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommCount(comm, NULL), tuttiInvalidArgument, "Count");
	EXPECT(tuttiCommUserRank(comm, NULL), tuttiInvalidArgument, "Rank");
	EXPECT(tuttiCommGetAsyncError(comm, NULL), tuttiInvalidArgument,
	       "Async");
	EXPECT(tuttiCommQuery(comm, NULL), tuttiInvalidArgument, "Query");
	info.size = 3;
	EXPECT(tuttiCommQuery(comm, &info), tuttiInvalidArgument, "Query");
	EXPECT(tuttiCommCount(NULL, &n), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommUserRank(NULL, &n), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommQuery(NULL, &info), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommGetAsyncError(NULL, &error), tuttiInvalidArgument,
	       "NULL");
	EXPECT(tuttiCommDestroy(NULL), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommAbort(NULL), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiCommFinalize(NULL), tuttiInvalidArgument, "NULL");
	check_alive(s, comm);
	EXPECT(tuttiCommFinalize(comm), tuttiSuccess, NULL);
	EXPECT(tuttiCommFinalize(comm), tuttiInvalidUsage, "twice");
	EXPECT(tuttiBarrier(comm, NULL), tuttiInvalidUsage, "finalized");
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(gone), tuttiInvalidArgument, "destroyed");
	EXPECT(tuttiCommAbort(gone), tuttiInvalidArgument, "destroyed");
	EXPECT(tuttiBarrier(gone, NULL), tuttiInvalidArgument, "destroyed");
	EXPECT(tuttiCommCount(gone, &n), tuttiInvalidArgument, "destroyed");
	CHECK(strlen(tuttiGetErrorString((tuttiResult_t)-1)) > 10 &&
	      strlen(tuttiGetErrorString((tuttiResult_t)99)) > 10,
	      "no text for unknown codes");
}

void input_life(struct seat *s)
{
	/* Threads of one process would only repeat it. */
	if (!s->meet || s->rank == 0) {
		wrong_ids();
		wrong_rank(-1, 2, "-1");
		wrong_rank(2, 2, "2");
		wrong_rank(0, 0, "0");
		wrong_rank(0, -7, "-7");
		wrong_rank(1000000, 3, "1000000");
		wrong_configs();
	}
	wrong_queries(s);
}

/* ---- Calls ------------------------------------------------------------- */

static void wrong_values(struct seat *s, struct case_call good,
			 tuttiComm_t comm)
{
	static const int types[] = { -1, 12, 99 }, ops[] = { -1, 5, 1000 };
	int roots[] = { -1, s->ranks, s->ranks + 40 };
	static _Thread_local char in[256], out[256];
	char say[32];

	for (int i = 0; i < 3; i++) {
		struct case_call c = good;

		c.type = (tuttiDataType_t)types[i];
		snprintf(say, sizeof(say), "%d", types[i]);
		EXPECT(case_call(&c, in, out, comm), tuttiInvalidArgument,
		       "tutti", say, "type");
		c = good;
		c.op = (tuttiRedOp_t)ops[i];
		snprintf(say, sizeof(say), "%d", ops[i]);
		if (case_reduces(c.coll))
			EXPECT(case_call(&c, in, out, comm),
			       tuttiInvalidArgument, "tutti", say, "operator");
		c = good;
		c.root = roots[i];
		snprintf(say, sizeof(say), "%d", roots[i]);
		if (case_rooted(c.coll))
			EXPECT(case_call(&c, in, out, comm),
			       tuttiInvalidArgument, "tutti", say, "rank");
	}
}

/* Case 45: no product wraps. */
static void wrong_counts(struct case_call c, tuttiComm_t comm)
{
	static const size_t counts[] = { SIZE_MAX, SIZE_MAX / 4 + 1,
					 SIZE_MAX / 4 + 3, SIZE_MAX / 2 };
	static _Thread_local char in[64], out[64];
	char say[32];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		c.count = counts[i];
		c.type = tuttiFloat;
		snprintf(say, sizeof(say), "%zu", counts[i]);
		EXPECT(case_call(&c, in, out, comm), tuttiInvalidArgument,
		       "tutti", say);
	}
}

static void wrong_pointers(struct seat *s, struct case_call c,
			   tuttiComm_t comm)
{
	tuttiStream_t stream = (tuttiStream_t)&c;
	static _Thread_local char buf[256];

	if (case_gives(&c, s->rank))
		EXPECT(case_call(&c, NULL, buf, comm), tuttiInvalidArgument,
		       "tutti", "send buffer", "NULL");
	if (case_gets(&c, s->rank))
		EXPECT(case_call(&c, buf, NULL, comm), tuttiInvalidArgument,
		       "tutti", "receive buffer", "NULL");
	EXPECT(case_call(&c, buf, buf + 128, NULL), tuttiInvalidArgument,
	       "tutti", "NULL");
	EXPECT(tuttiAllReduce(buf, buf + 128, 1, tuttiFloat, tuttiSum, comm,
			      stream), tuttiInvalidArgument, "stream");
}

void input_calls(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int peer = (s->rank + 1) % s->ranks;
	char buf[8];

	for (int coll = 0; coll < COLLS; coll++) {
		struct case_call c = { (enum case_coll)coll, 2, tuttiFloat,
				       tuttiSum, 0 };

		if (coll == BARRIER)
			continue;
		if (coll == SEND || coll == RECV)
			c.root = peer;
		if (s->ranks == 1 && (coll == SEND || coll == RECV))
			continue;
		wrong_values(s, c, comm);
		wrong_counts(c, comm);
		wrong_pointers(s, c, comm);
		check_alive(s, comm);
	}
	EXPECT(tuttiSend(buf, 1, tuttiInt8, s->rank, comm, NULL),
	       tuttiInvalidUsage, "itself");
	EXPECT(tuttiRecv(buf, 1, tuttiInt8, s->rank, comm, NULL),
	       tuttiInvalidUsage, "itself");
	check_alive(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Overlap (case 44) ------------------------------------------------- */

#define COUNT 40
#define BLOCK (COUNT * 4)

static void overlap(const struct case_call *c, char *in, char *out,
		    tuttiComm_t comm)
{
	EXPECT(case_call(c, in, out, comm), tuttiInvalidArgument, "tutti",
	       "overlap");
}

static void fine(const struct case_call *c, char *in, char *out,
		 tuttiComm_t comm)
{
	EXPECT(case_call(c, in, out, comm), tuttiSuccess, NULL);
}

/* Both buffers of one block. */
static void overlap_equal(struct case_call c, char *at, tuttiComm_t comm)
{
	overlap(&c, at, at + 4, comm);
	overlap(&c, at + 4, at, comm);
	overlap(&c, at, at + 1, comm);
	overlap(&c, at, at + BLOCK - 1, comm);
	overlap(&c, at + BLOCK - 1, at, comm);
	fine(&c, at, at, comm);
	fine(&c, at, at + BLOCK, comm);
	fine(&c, at + BLOCK, at, comm);
}

/* Where both buffers may have a block for each rank, `own` this one's. */
static void overlap_blocks(struct seat *s, struct case_call c, char *at,
			   size_t own, tuttiComm_t comm)
{
	size_t all = (size_t)s->ranks * BLOCK;
	size_t other = (own + BLOCK) % all;
	bool gather = c.coll == GATHER || c.coll == GATHERV;
	bool both = c.coll == ALLTOALL || c.coll == ALLTOALLV;
	bool uses = both || s->rank == c.root;

	if (both) {
		overlap(&c, at + 4, at, comm);
		overlap(&c, at, at + all - 1, comm);
		if (s->ranks > 1)
			overlap(&c, at, at + BLOCK, comm);
		fine(&c, at, at, comm);
		fine(&c, at, at + all, comm);
		fine(&c, at + all, at, comm);
		return;
	}
	for (int k = 0; uses && k < 3; k++) {
		/* Other ranks' places are as wrong as none. */
		size_t off = k == 0 ? other : k == 1 ? own + 1 : all - 1;

		if (k == 0 && s->ranks == 1)
			continue;
		overlap(&c, gather ? at + off : at, gather ? at : at + off,
			comm);
	}
	fine(&c, gather ? at + own : at, gather ? at : at + own, comm);
	fine(&c, at, at + all, comm);
	fine(&c, at + all, at, comm);
}

static void overlap_new(struct seat *s, char *at, size_t own, tuttiComm_t comm)
{
	static const enum case_coll colls[] = { ALLTOALL, ALLTOALLV, GATHER,
						GATHERV, SCATTER, SCATTERV };

	for (int i = 0; i < 6; i++)
		for (int root = 0; root < s->ranks; root++) {
			struct case_call c = { colls[i], COUNT, tuttiInt32,
					       tuttiSum, root };

			overlap_blocks(s, c, at, own, comm);
		}
}

void input_overlap(struct seat *s)
{
	size_t n = (size_t)s->ranks, own = (size_t)s->rank * BLOCK;
	size_t other = (size_t)((s->rank + 1) % s->ranks) * BLOCK;
	char *at = calloc(2 * n + 2, BLOCK);
	struct case_call c = { ALL_REDUCE, COUNT, tuttiInt32, tuttiSum, 0 };
	tuttiComm_t comm = case_join(s);

	overlap_equal(c, at, comm);
	for (c.root = 0; c.root < s->ranks; c.root++) {
		/* Where only the root has both. */
		c.coll = REDUCE;
		if (s->rank == c.root)
			overlap(&c, at, at + 4, comm);
		fine(&c, at, at, comm);
		c.coll = BROADCAST;
		if (s->rank == c.root)
			overlap(&c, at + 4, at, comm);
		fine(&c, at, at, comm);
	}
	c.coll = ALL_GATHER;
	c.root = 0;
	if (s->ranks > 1) {
		overlap(&c, at + other, at, comm);
		c.coll = REDUCE_SCATTER;
		overlap(&c, at, at + other, comm);
		c.coll = ALL_GATHER;
	}
	overlap(&c, at + own + 1, at, comm);
	overlap(&c, at + n * BLOCK - 1, at, comm);
	fine(&c, at + own, at, comm);
	fine(&c, at + n * BLOCK, at, comm);
	fine(&c, at, at + BLOCK, comm);
	c.coll = REDUCE_SCATTER;
	overlap(&c, at, at + own + 1, comm);
	overlap(&c, at, at + n * BLOCK - 1, comm);
	fine(&c, at, at + own, comm);
	fine(&c, at, at + n * BLOCK, comm);
	fine(&c, at + BLOCK, at, comm);
	overlap_new(s, at, own, comm);
	check_alive(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	free(at);
}

/* ---- Blocks of v-forms --------------------------------------------------- */

#define RANKS_MAX 8

static tuttiResult_t gather_at(int *out, const int *in, const size_t *counts,
			       const size_t *displs, tuttiComm_t comm)
{
	return tuttiAllGatherv(in, out, counts, displs, tuttiInt32, comm,
			       NULL);
}

/* Sums that wrap though no count does, and arrays that are not there. */
static void wrong_sums(struct seat *s, tuttiComm_t comm)
{
	size_t big[RANKS_MAX], one[RANKS_MAX], far[RANKS_MAX];
	static _Thread_local int in[64], out[64];

	for (int i = 0; i < RANKS_MAX; i++) {
		big[i] = SIZE_MAX / 8 - 5;
		one[i] = 1;
		far[i] = SIZE_MAX / 4 - (size_t)i;
	}
	if (s->ranks > 1) {
		EXPECT(gather_at(out, in, big, NULL, comm),
		       tuttiInvalidArgument, "tuttiAllGatherv", "receive");
		EXPECT(tuttiReduceScatterv(in, out, big, tuttiInt32, tuttiSum,
					   comm, NULL),
		       tuttiInvalidArgument, "tuttiReduceScatterv", "send");
		EXPECT(tuttiAlltoAllv(in, big, NULL, out, one, NULL,
				      tuttiInt32, comm, NULL),
		       tuttiInvalidArgument, "tuttiAlltoAllv");
	}
	EXPECT(gather_at(out, in, one, far, comm), tuttiInvalidArgument,
	       "receive buffer", "larger");
	EXPECT(gather_at(out, in, NULL, NULL, comm), tuttiInvalidArgument,
	       "recvcounts", "NULL");
	EXPECT(tuttiReduceScatterv(in, out, NULL, tuttiInt32, tuttiSum, comm,
				   NULL), tuttiInvalidArgument, "recvcounts");
	EXPECT(tuttiAlltoAllv(in, NULL, NULL, out, one, NULL, tuttiInt32, comm,
			      NULL), tuttiInvalidArgument, "sendcounts");
	EXPECT(tuttiAlltoAllv(in, one, NULL, out, NULL, NULL, tuttiInt32, comm,
			      NULL), tuttiInvalidArgument, "recvcounts");
	EXPECT(tuttiGatherv(in, 1, out, NULL, NULL, tuttiInt32, s->rank, comm,
			    NULL), tuttiInvalidArgument, "recvcounts");
	EXPECT(tuttiScatterv(in, NULL, NULL, out, 1, tuttiInt32, s->rank, comm,
			     NULL), tuttiInvalidArgument, "sendcounts");
}

/* A rank's own two counts differ. */
static void wrong_own(struct seat *s, tuttiComm_t comm)
{
	size_t two[RANKS_MAX], three[RANKS_MAX];
	static _Thread_local int in[64], out[64];

	for (int i = 0; i < RANKS_MAX; i++) {
		two[i] = 2;
		three[i] = 3;
	}
	EXPECT(tuttiAlltoAllv(in, two, NULL, out, three, NULL, tuttiInt32,
			      comm, NULL), tuttiInvalidArgument, "itself",
	       "2 elements", "receives 3");
	EXPECT(tuttiGatherv(in, 2, out, three, NULL, tuttiInt32, s->rank, comm,
			    NULL), tuttiInvalidArgument, "itself");
	EXPECT(tuttiScatterv(in, two, NULL, out, 3, tuttiInt32, s->rank, comm,
			     NULL), tuttiInvalidArgument, "itself");
}

/* Blocks that overlap, touch, stand in any order, or have gaps in which the
 * send buffer may lie. */
static void blocks_at(struct seat *s, tuttiComm_t comm)
{
	size_t counts[RANKS_MAX], at[RANKS_MAX], n = (size_t)s->ranks;
	static _Thread_local int in[16], out[16 * RANKS_MAX];

	for (size_t i = 0; i < n; i++) {
		counts[i] = 4;
		at[i] = 3 * i;
	}
	if (n > 1)
		EXPECT(gather_at(out, in, counts, at, comm),
		       tuttiInvalidArgument, "blocks 0 and 1", "overlap");
	for (size_t i = 0; i < n; i++)
		at[i] = 3 * (n - i);
	if (n > 1)
		EXPECT(tuttiAlltoAllv(in, counts, NULL, out, counts, at,
				      tuttiInt32, comm, NULL),
		       tuttiInvalidArgument, "overlap");
	/* From the last to the first, with a gap of four behind each. */
	for (size_t i = 0; i < n; i++)
		at[i] = 8 * (n - 1 - i);
	EXPECT(gather_at(out, in, counts, at, comm), tuttiSuccess, NULL);
	EXPECT(gather_at(out, out + 4, counts, at, comm), tuttiSuccess, NULL);
	EXPECT(gather_at(out, out + at[s->rank], counts, at, comm),
	       tuttiSuccess, NULL);
	EXPECT(gather_at(out, out + at[s->rank] + 1, counts, at, comm),
	       tuttiInvalidArgument, "overlap");
	/* In place only where both sides are alike. */
	EXPECT(tuttiAlltoAllv(out, counts, at, out, counts, at, tuttiInt32,
			      comm, NULL), tuttiSuccess, NULL);
	if (n > 1)
		EXPECT(tuttiAlltoAllv(out, counts, NULL, out, counts, at,
				      tuttiInt32, comm, NULL),
		       tuttiInvalidArgument, "overlap");
	/* An empty block may be said to stand anywhere. */
	for (size_t i = 0; i < n; i++) {
		counts[i] = i ? 0 : 4;
		at[i] = i ? SIZE_MAX : 0;
	}
	EXPECT(gather_at(out, in, counts, at, comm), tuttiSuccess, NULL);
}

void input_blocks(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	wrong_sums(s, comm);
	wrong_own(s, comm);
	check_alive(s, comm);
	blocks_at(s, comm);
	check_alive(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- fork -------------------------------------------------------------- */

static int in_child(tuttiComm_t comm)
{
	int32_t v = 1, w;
	tuttiUniqueId id;
	tuttiComm_t own = NULL;
	int n, bad = 0;

	bad += tuttiBarrier(comm, NULL) != tuttiInvalidUsage;
	bad += !strstr(tuttiGetLastError(NULL), "fork");
	bad += tuttiAllReduce(&v, &w, 1, tuttiInt32, tuttiSum, comm, NULL) !=
	       tuttiInvalidUsage;
	bad += tuttiCommCount(comm, &n) != tuttiInvalidUsage;
	bad += tuttiCommAbort(comm) != tuttiInvalidUsage;
	bad += tuttiCommDestroy(comm) != tuttiInvalidUsage;
	/* A child may make its own. */
	bad += tuttiGetUniqueId(&id) != tuttiSuccess;
	bad += tuttiCommInitRank(&own, 1, id, 0) != tuttiSuccess;
	bad += !own || tuttiAllReduce(&v, &w, 1, tuttiInt32, tuttiSum, own,
				      NULL) != tuttiSuccess;
	bad += !own || tuttiCommDestroy(own) != tuttiSuccess;
	return bad;
}

void input_fork(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int status = -1;
	pid_t pid;

	check_alive(s, comm);
	pid = fork();
	if (!pid)
		_exit(in_child(comm));
	check_alive(s, comm);
	waitpid(pid, &status, 0);
	CHECK(status == 0, "%d faults in a forked child", status >> 8);
	check_alive(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Memory ------------------------------------------------------------ */

void input_memory(struct seat *s)
{
	tuttiComm_t comm = case_join(s), second = case_join(s);
	void *p = (void *)1, *handle = NULL;
	static _Thread_local char buf[8192];

	EXPECT(tuttiMemAlloc(NULL, 10), tuttiInvalidArgument, "NULL");
	EXPECT(tuttiMemAlloc(&p, 0), tuttiSuccess, NULL);
	CHECK(!p, "0 bytes at %p", p);
	EXPECT(tuttiMemAlloc(&p, SIZE_MAX), tuttiSystemError, "bytes");
	EXPECT(tuttiMemAlloc(&p, SIZE_MAX / 2 - 1), tuttiSystemError,
	       "bytes");
	EXPECT(tuttiMemFree(NULL), tuttiSuccess, NULL);
	EXPECT(tuttiMemFree(buf), tuttiInvalidArgument, "tuttiMemFree");
	EXPECT(tuttiMemAlloc(&p, 5000), tuttiSuccess, NULL);
	EXPECT(tuttiMemFree((char *)p + 8), tuttiInvalidArgument,
	       "tuttiMemFree");
	EXPECT(tuttiMemFree(p), tuttiSuccess, NULL);
	EXPECT(tuttiMemFree(p), tuttiInvalidArgument, "freed");
	EXPECT(tuttiCommRegister(comm, NULL, 8, &handle),
	       tuttiInvalidArgument, "buffer");
	EXPECT(tuttiCommRegister(comm, buf, 0, &handle), tuttiInvalidArgument,
	       "size");
	EXPECT(tuttiCommRegister(comm, buf, 8, NULL), tuttiInvalidArgument,
	       "handle");
	EXPECT(tuttiCommRegister(comm, buf, SIZE_MAX, &handle),
	       tuttiInvalidArgument, "end of memory");
	EXPECT(tuttiCommRegister(NULL, buf, 8, &handle), tuttiInvalidArgument,
	       "NULL");
	EXPECT(tuttiCommRegister(comm, buf, 8, &handle), tuttiSuccess, NULL);
	EXPECT(tuttiCommDeregister(comm, NULL), tuttiInvalidArgument,
	       "handle");
	EXPECT(tuttiCommDeregister(comm, buf), tuttiInvalidArgument, "handle");
	EXPECT(tuttiCommDeregister(second, handle), tuttiInvalidArgument,
	       "handle");
	EXPECT(tuttiCommDeregister(comm, handle), tuttiSuccess, NULL);
	EXPECT(tuttiCommDeregister(comm, handle), tuttiInvalidArgument,
	       "handle");
	/* One that is left goes with its communicator. */
	EXPECT(tuttiCommRegister(comm, buf, 8, &handle), tuttiSuccess, NULL);
	check_alive(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(second), tuttiSuccess, NULL);
}
