/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splitting: who becomes what, case 48 (lifetimes, aborts, failures of one
 * rank), and abort of a split that waits.
 */
#include "config.h"

#include "proc/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define OK(call) EXPECT(call, tuttiSuccess, NULL)
#define SOON_MS 3000

/* The communicator works and has these ranks. */
static void check_comm(tuttiComm_t comm, int rank, int count)
{
	int r = -1, n = -1, v = 1;

	OK(tuttiCommUserRank(comm, &r));
	OK(tuttiCommCount(comm, &n));
	CHECK(r == rank && n == count, "rank %d of %d, not %d of %d", r, n,
	      rank, count);
	OK(tuttiAllReduce(&v, &v, 1, tuttiInt32, tuttiSum, comm, NULL));
	CHECK(v == count, "sum %d of %d ranks", v, count);
}

/* ---- Who becomes what ---------------------------------------------------- */

/* By the rule, worked out apart from the library. */
static void expect_place(int ranks, const int *color, const int *key, int me,
			 int *rank, int *count)
{
	*rank = *count = 0;
	for (int r = 0; r < ranks; r++) {
		if (color[r] != color[me])
			continue;
		(*count)++;
		*rank += key[r] < key[me] || (key[r] == key[me] && r < me);
	}
}

static void split_once(struct seat *s, tuttiComm_t comm, const int *color,
		       const int *key)
{
	tuttiComm_t child = comm;
	int rank, count;

	OK(tuttiCommSplit(comm, color[s->rank], key[s->rank], &child, NULL));
	if (color[s->rank] == TUTTI_SPLIT_NOCOLOR) {
		CHECK(!child, "a rank that opted out has a communicator");
		return;
	}
	expect_place(s->ranks, color, key, s->rank, &rank, &count);
	check_comm(child, rank, count);
	OK(tuttiCommDestroy(child));
}

void split_shapes(struct seat *s)
{
	tuttiComm_t comm = case_join(s), child = NULL;
	tuttiCommInfo_t a = TUTTI_COMM_INFO_INITIALIZER, b = a;
	int n = s->ranks, *color = calloc((size_t)n, sizeof(int));
	int *key = calloc((size_t)n, sizeof(int));

	for (int shape = 0; shape < 6; shape++) {
		for (int r = 0; r < n; r++) {
			color[r] = shape == 1 ? r % 2 : shape == 2 ? r :
				   shape == 3 ? 0x7fffffff : 0;
			key[r] = shape == 0 ? 0 : shape == 4 ? r / 2 :
				 shape == 5 ? -2000000000 + r % 2 : -r;
		}
		if (shape == 4)
			color[n - 1] = TUTTI_SPLIT_NOCOLOR;
		if (shape == 5)
			for (int r = 0; r < n; r++)
				color[r] = r ? TUTTI_SPLIT_NOCOLOR : 3;
		split_once(s, comm, color, key);
	}
	/* Where ranks sit stays. */
	OK(tuttiCommSplit(comm, 7, s->rank, &child, NULL));
	OK(tuttiCommQuery(comm, &a));
	OK(tuttiCommQuery(child, &b));
	CHECK(a.node == b.node && a.nodeCount == b.nodeCount &&
	      a.localRank == b.localRank && !strcmp(a.transports, b.transports),
	      "node %d of %d, now %d of %d", a.node, a.nodeCount, b.node,
	      b.nodeCount);
	OK(tuttiCommDestroy(child));
	OK(tuttiCommDestroy(comm));
	free(color);
	free(key);
}

void split_wrong(struct seat *s)
{
	tuttiConfig_t bad = { 0 };
	tuttiComm_t comm = case_join(s), child = NULL;

	EXPECT(tuttiCommSplit(NULL, 0, 0, &child, NULL), tuttiInvalidArgument,
	       "tuttiCommSplit");
	EXPECT(tuttiCommSplit(comm, -2, 0, &child, NULL), tuttiInvalidArgument,
	       "-2", "TUTTI_SPLIT_NOCOLOR");
	EXPECT(tuttiCommSplit(comm, 0, 0, NULL, NULL), tuttiInvalidArgument,
	       "NULL");
	EXPECT(tuttiCommSplit(comm, 0, 0, &child, &bad), tuttiInvalidArgument,
	       "TUTTI_CONFIG_INITIALIZER");
	OK(tuttiGroupStart());
	EXPECT(tuttiCommSplit(comm, 0, 0, &child, NULL), tuttiInvalidUsage,
	       "tuttiGroupEnd");
	OK(tuttiGroupEnd());
	CHECK(!child, "a failed split gave a communicator");
	check_comm(comm, s->rank, s->ranks);
	OK(tuttiCommFinalize(comm));
	EXPECT(tuttiCommSplit(comm, 0, 0, &child, NULL), tuttiInvalidUsage,
	       "finalized");
	OK(tuttiCommDestroy(comm));
}

/* The parent's deadline holds for the child unless another is given. */
void split_config(struct seat *s)
{
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	tuttiComm_t comm = NULL, child[2] = { NULL, NULL };
	int v = 0;

	config.timeoutMs = 700;
	OK(tuttiCommInitEnv(&comm, &config));
	OK(tuttiCommSplit(comm, 0, 0, &child[0], NULL));
	config.timeoutMs = 1800;
	OK(tuttiCommSplit(comm, 0, 0, &child[1], &config));
	for (int i = 0; i < 2; i++) {
		int64_t began = case_ms(), took;

		/* Rank 1 does not send. */
		if (s->rank == 0)
			EXPECT(tuttiRecv(&v, 1, tuttiInt32, 1, child[i], NULL),
			       tuttiTimeout, "rank 1");
		took = case_ms() - began;
		CHECK(s->rank || (took >= (i ? 1700 : 600) &&
				  took < (i ? 5000 : 1700)),
		      "child %d took %d ms", i, (int)took);
		if (s->rank)
			case_sleep_ms(i ? 1900 : 900);
		tuttiCommDestroy(child[i]);
	}
	tuttiCommDestroy(comm);
}

/* ---- Case 48: orders of destruction -------------------------------------- */

/* Parent, child, and the child's child, in all six orders; those left work. */
void split_orders(struct seat *s)
{
	static const int order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					 { 1, 2, 0 }, { 2, 0, 1 },
					 { 2, 1, 0 } };

	for (int o = 0; o < 6; o++) {
		tuttiComm_t comm[3] = { case_join(s), NULL, NULL };

		OK(tuttiCommSplit(comm[0], 0, 0, &comm[1], NULL));
		OK(tuttiCommSplit(comm[1], 0, -s->rank, &comm[2], NULL));
		for (int i = 0; i < 3; i++) {
			for (int k = i; k < 3; k++) {
				int c = order[o][k];

				check_comm(comm[c], c == 2 ?
					   s->ranks - 1 - s->rank : s->rank,
					   s->ranks);
			}
			OK(tuttiCommDestroy(comm[order[o][i]]));
		}
	}
}

/* ---- Case 48: aborts ----------------------------------------------------- */

struct aborter {
	tuttiComm_t comm;
	int64_t took;
};

static void *abort_soon(void *arg)
{
	struct aborter *a = arg;
	int64_t began;

	case_sleep_ms(400);
	began = case_ms();
	OK(tuttiCommAbort(a->comm));
	a->took = case_ms() - began;
	return NULL;
}

static void wait_in(struct seat *s, tuttiComm_t comm, int by)
{
	int64_t began = case_ms();
	int v = 0;

	/* Nobody sends. */
	EXPECT(tuttiRecv(&v, 1, tuttiInt32, by, comm, NULL), tuttiRemoteError,
	       "aborted");
	CHECK(case_ms() - began < SOON_MS, "rank %d came out after %d ms",
	      s->rank, (int)(case_ms() - began));
}

/* Rank 0 aborts the parent while every rank waits in a grandchild, of which
 * the last ranks' has no rank in common with rank 0; `gone`: the one between
 * was destroyed before. */
static void abort_parent(struct seat *s, bool gone)
{
	tuttiComm_t comm = case_join(s), mid = NULL, low = NULL, other = NULL;
	struct aborter a = { comm, 0 };
	int half = s->rank < 2 ? 0 : 1;
	pthread_t thread;
	int rank, v = 0;

	OK(tuttiCommSplit(comm, 0, s->rank, &mid, NULL));
	OK(tuttiCommSplit(mid, half, s->rank, &low, NULL));
	OK(tuttiCommSplit(comm, 0, s->rank, &other, NULL));
	if (gone)
		OK(tuttiCommDestroy(mid));
	if (s->rank == 0 && pthread_create(&thread, NULL, abort_soon, &a))
		exit(99);
	OK(tuttiCommUserRank(low, &rank));
	wait_in(s, low, 1 - rank);
	if (s->rank == 0) {
		pthread_join(thread, NULL);
		CHECK(a.took < 2000, "abort took %d ms", (int)a.took);
	} else {
		OK(tuttiCommDestroy(low) == tuttiRemoteError ? tuttiSuccess :
							       tuttiTimeout);
		low = NULL;
		tuttiCommDestroy(comm);
	}
	EXPECT(tuttiAllReduce(&v, &v, 1, tuttiInt32, tuttiSum, other, NULL),
	       tuttiRemoteError, "aborted");
	tuttiCommDestroy(other);
	if (low)
		tuttiCommDestroy(low);
	if (!gone)
		tuttiCommDestroy(mid);
}

/* An abort of the child leaves the parent and its other children alone. */
static void abort_child(struct seat *s)
{
	tuttiComm_t comm = case_join(s), a = NULL, b = NULL;
	int v = 0;

	OK(tuttiCommSplit(comm, 0, 0, &a, NULL));
	OK(tuttiCommSplit(comm, 0, 0, &b, NULL));
	if (s->rank == 0) {
		OK(tuttiCommAbort(a));
	} else {
		EXPECT(tuttiRecv(&v, 1, tuttiInt32, 0, a, NULL),
		       tuttiRemoteError, "rank 0 aborted");
		tuttiCommDestroy(a);
	}
	check_comm(b, s->rank, s->ranks);
	check_comm(comm, s->rank, s->ranks);
	OK(tuttiCommDestroy(comm));
	check_comm(b, s->rank, s->ranks);
	OK(tuttiCommDestroy(b));
}

/* For an even number of ranks from 4 on, or 2. */
void split_abort(struct seat *s)
{
	abort_parent(s, false);
	abort_parent(s, true);
	abort_child(s);
}

/* Rank 1 does not come; rank 0's other thread aborts the split. */
void split_waits(struct seat *s)
{
	tuttiComm_t comm = case_join(s), child = NULL;
	struct aborter a = { comm, 0 };
	int64_t began = case_ms();
	pthread_t thread;
	int v = 0;

	if (s->rank == 0 && pthread_create(&thread, NULL, abort_soon, &a))
		exit(99);
	if (s->rank == 1)
		EXPECT(tuttiRecv(&v, 1, tuttiInt32, 0, comm, NULL),
		       tuttiRemoteError, "rank 0 aborted");
	else
		EXPECT(tuttiCommSplit(comm, 0, 0, &child, NULL),
		       tuttiRemoteError, "aborted");
	CHECK(case_ms() - began < SOON_MS && !child,
	      "rank %d came out after %d ms", s->rank,
	      (int)(case_ms() - began));
	if (s->rank == 0) {
		pthread_join(thread, NULL);
		CHECK(a.took < 2000, "abort took %d ms", (int)a.took);
	} else {
		tuttiCommDestroy(comm);
	}
}

/* ---- Case 48: one rank cannot -------------------------------------------- */

#define FILES 256

/* Leave the caller so much: descriptors, or bytes of address space. */
struct want {
	int taken[FILES], count;
	struct rlimit usual;
};

/* The library raises the soft limit, so all descriptors but a few are taken. */
static void few_files(struct want *w, int step)
{
	struct rlimit all = { FILES, FILES };

	setrlimit(RLIMIT_NOFILE, &all);
	while (w->count < FILES && (w->taken[w->count] = dup(2)) >= 0)
		w->count++;
	for (int i = 0; i < step && w->count; i++)
		close(w->taken[--w->count]);
}

static void few_bytes(struct want *w, int step)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;
	struct rlimit low;

	if (!f || fscanf(f, "%lu", &pages) != 1)
		exit(99);
	fclose(f);
	getrlimit(RLIMIT_AS, &w->usual);
	low = w->usual;
	low.rlim_cur = (rlim_t)pages * 4096 + (((rlim_t)1 << step) - 1) * 65536;
	setrlimit(RLIMIT_AS, &low);
}

static void enough(struct want *w, int what)
{
	while (w->count)
		close(w->taken[--w->count]);
	if (what == RLIMIT_AS)
		setrlimit(RLIMIT_AS, &w->usual);
}

/*
 * Split with the last rank's limit low, then a little higher, until it
 * succeeds.  Ranks of its color all fail or all succeed, those of the other
 * color always succeed, and the parent works every time.
 */
static void scarce(struct seat *s, int what, int steps)
{
	tuttiComm_t comm = case_join(s), child;
	int victim = s->ranks - 1, failed = 0, bad, color;
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	struct want w = { .count = 0 };
	tuttiResult_t rc;

	config.initTimeoutMs = 8000;
	color = s->ranks > 2 && s->rank == 0 ? 5 : 9;
	/* What the first calls need is there. */
	OK(tuttiCommSplit(comm, color, 0, &child, &config));
	OK(tuttiCommDestroy(child));
	bad = 1;
	for (int i = 0; bad && i < steps; i++) {
		int mine[2], sum[2];
		int64_t began;

		case_sleep_ms(200);
		OK(tuttiBarrier(comm, NULL));
		child = NULL;
		if (s->rank == victim && what == RLIMIT_AS)
			few_bytes(&w, i);
		else if (s->rank == victim)
			few_files(&w, i);
		began = case_ms();
		rc = tuttiCommSplit(comm, color, 0, &child, &config);
		if (s->rank == victim)
			enough(&w, what);
		CHECK(case_ms() - began < 20000, "step %d: after %d ms", i,
		      (int)(case_ms() - began));
		if (rc && color == 9)
			EXPECT(rc, rc, "rank", "is as it was");
		CHECK(!rc == !!child, "result %d and communicator %p", (int)rc,
		      (void *)child);
		CHECK(!rc || color == 9, "the other color failed: %s",
		      tuttiGetLastError(NULL));
		mine[0] = rc != tuttiSuccess;
		mine[1] = color == 9;
		OK(tuttiAllReduce(mine, sum, 2, tuttiInt32, tuttiSum, comm,
				  NULL));
		CHECK(sum[0] == 0 || sum[0] == sum[1],
		      "step %d: %d of %d ranks failed", i, sum[0], sum[1]);
		bad = sum[0];
		failed += bad > 0;
		if (child) {
			int v = 1;

			OK(tuttiAllReduce(&v, &v, 1, tuttiInt32, tuttiSum,
					  child, NULL));
			OK(tuttiCommDestroy(child));
		}
	}
	CHECK(failed && !bad, "%d steps failed, and the last: %d", failed,
	      bad);
	if (s->rank == 0)
		printf("%s: %d splits failed before one succeeded\n",
		       what == RLIMIT_AS ? "memory" : "files", failed);
	OK(tuttiCommDestroy(comm));
}

void split_files(struct seat *s)
{
	scarce(s, RLIMIT_NOFILE, 40);
}

void split_memory(struct seat *s)
{
	scarce(s, RLIMIT_AS, 16);
}

/* ---- Many ---------------------------------------------------------------- */

void split_churn(struct seat *s)
{
	tuttiComm_t comm = case_join(s), kept = NULL;

	OK(tuttiCommSplit(comm, 0, 0, &kept, NULL));
	for (int i = 0; i < 30; i++) {
		tuttiComm_t child = NULL;
		int color = (s->rank >> (i % 3)) & 1;

		OK(tuttiCommSplit(i % 2 ? kept : comm, color, i, &child,
				  NULL));
		OK(tuttiBarrier(child, NULL));
		OK(tuttiCommDestroy(child));
	}
	OK(tuttiCommDestroy(comm));
	check_comm(kept, s->rank, s->ranks);
	OK(tuttiCommDestroy(kept));
}
