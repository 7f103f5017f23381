/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives promise about counts, order and buffers: cases 40, 42,
 * 45, 46 and 47.
 */
#include "config.h"

#include "proc/cases.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Case 40: nothing, with any pointers, between calls that do something. */
static void zero_once(struct seat *s, enum case_coll coll, const void *in,
		      void *out, tuttiComm_t comm)
{
	struct case_call c = { coll, 0, tuttiFloat, tuttiSum, 0 };
	int32_t one = 1, sum = 0;

	if (coll == SEND || coll == RECV) {
		c.coll = s->rank % 2 ? SEND : RECV;
		c.root = s->rank ^ 1;
	}
	if (c.root < s->ranks)
		EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
	if (coll % 3)
		return;
	EXPECT(tuttiAllReduce(&one, &sum, 1, tuttiInt32, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	CHECK(sum == s->ranks, "sum %d after %s of nothing", (int)sum,
	      case_coll_name(coll));
}

void meaning_zero(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	char a[16], b[16];

	memset(a, 7, sizeof(a));
	memset(b, 7, sizeof(b));
	for (int coll = 0; coll < COLLS; coll++) {
		zero_once(s, (enum case_coll)coll, NULL, NULL, comm);
		zero_once(s, (enum case_coll)coll, a, b, comm);
		zero_once(s, (enum case_coll)coll, a, a + 1, comm);
		zero_once(s, (enum case_coll)coll, NULL, b, comm);
	}
	for (size_t i = 0; i < sizeof(a); i++)
		CHECK(a[i] == 7 && b[i] == 7, "byte %zu was written", i);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 45 ------------------------------------------------------------- */

/* Sparse memory: only what is touched exists. */
static char *sparse(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		exit(77);
	return p;
}

/* The places where a narrow type would go wrong. */
static size_t spot(int i, size_t count)
{
	static const size_t at[] = { 0, 1, 0x7ffffffe, 0x7fffffff, 0x80000000,
				     0x80000001, 0xfffffffe, 0xffffffff,
				     0x100000000, 0x100000001 };
	size_t n = sizeof(at) / sizeof(at[0]);

	if ((size_t)i < n)
		return at[i];
	return (size_t)i == n ? count - 1 : SIZE_MAX;
}

/* A broadcast, since it alone has no other buffer as large. */
static void large(struct seat *s, size_t count, tuttiComm_t comm)
{
	char *p = sparse(count + 1);
	int wrong = 0;

	p[count] = 99;
	for (int i = 0; s->rank == 0 && spot(i, count) != SIZE_MAX; i++)
		if (spot(i, count) < count)
			p[spot(i, count)] = (char)(i + 1);
	EXPECT(tuttiBroadcast(p, p, count, tuttiInt8, 0, comm, NULL),
	       tuttiSuccess, NULL);
	for (int i = 0; spot(i, count) != SIZE_MAX; i++)
		if (spot(i, count) < count - 1)
			wrong += p[spot(i, count)] != (char)(i + 1);
	CHECK(!wrong && p[count - 1] && p[count] == 99 && !p[count / 3],
	      "rank %d: %zu elements: %d wrong", s->rank, count, wrong);
	munmap(p, count + 1);
}

/* Blocks beyond 2^31 and 2^32, with untouched memory between. */
static void large_gaps(struct seat *s, tuttiComm_t comm)
{
	size_t counts[2] = { 5, 3 }, at[2] = { 0xfffffffd, 0x7ffffffe };
	size_t back[2] = { 0x100000008, 0x80000000 };
	char *p = sparse(0x100000010), *mine = p + at[s->rank];

	memcpy(mine, s->rank ? "abc" : "12345", counts[s->rank]);
	EXPECT(tuttiAllGatherv(mine, p, counts, at, tuttiInt8, comm, NULL),
	       tuttiSuccess, NULL);
	CHECK(!memcmp(p + at[0] - 1, "\00012345", 7) &&
	      !memcmp(p + at[1] - 1, "\0abc", 5) && !*p,
	      "rank %d: blocks far from one another", s->rank);
	/* To the other rank's side of each, from what was gathered. */
	counts[0] = counts[1] = 2;
	back[0] += (size_t)s->rank;
	EXPECT(tuttiAlltoAllv(p, counts, at, p, counts, back, tuttiInt8, comm,
			      NULL), tuttiSuccess, NULL);
	CHECK(!memcmp(p + back[0], s->rank ? "ab" : "12", 2) &&
	      !memcmp(p + back[1], s->rank ? "ab" : "12", 2),
	      "rank %d: blocks sent from afar", s->rank);
	munmap(p, 0x100000010);
}

void meaning_large(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	large(s, 0x80000001, comm);
	if (s->ranks == 2)
		large_gaps(s, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 46, without groups --------------------------------------------- */

/* Both send first: a small message passes, a large one ends at the deadline
 * with the peer named. */
void meaning_head(struct seat *s)
{
	size_t count = 16 << 20;
	char *buf = calloc(1, count), in[8] = "hello", out[8] = "";
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	tuttiComm_t comm = NULL;
	const char *name = s->rank ? "rank 0" : "rank 1";
	tuttiResult_t rc;
	int64_t began;

	config.timeoutMs = 1500;
	EXPECT(tuttiCommInitEnv(&comm, &config), tuttiSuccess, NULL);
	EXPECT(tuttiSend(in, 8, tuttiInt8, 1 - s->rank, comm, NULL),
	       tuttiSuccess, NULL);
	EXPECT(tuttiRecv(out, 8, tuttiInt8, 1 - s->rank, comm, NULL),
	       tuttiSuccess, NULL);
	CHECK(!memcmp(in, out, 8), "another message");
	began = case_ms();
	rc = tuttiSend(buf, count, tuttiInt8, 1 - s->rank, comm, NULL);
	EXPECT(rc, tuttiTimeout, "send", name, "TUTTI_TIMEOUT");
	CHECK(case_ms() - began < 6000, "the deadline was passed by far");
	tuttiCommDestroy(comm);
	free(buf);
}

/* ---- Case 47 ------------------------------------------------------------- */

/* Fill a buffer, then forbid writing. */
static char *read_only(size_t bytes, int rank)
{
	char *p = sparse(bytes);

	memset(p, rank + 1, bytes);
	mprotect(p, bytes, PROT_READ);
	return p;
}

static void kept_once(struct seat *s, struct case_call c, tuttiComm_t comm)
{
	size_t bytes = c.count * (size_t)s->ranks;
	char *in = read_only(bytes, s->rank), *out = sparse(bytes);
	bool none = !case_gets(&c, s->rank);
	size_t changed = 0;

	memset(out, 0x55, bytes);
	EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
	for (size_t i = 0; none && i < bytes; i++)
		changed += out[i] != 0x55;
	CHECK(!changed, "%s wrote %zu bytes at a rank that is not the root",
	      case_coll_name(c.coll), changed);
	if (none)
		munmap(out, bytes);
	/* And with no buffer at all where nothing is given or got. */
	if (!case_gives(&c, s->rank))
		EXPECT(case_call(&c, NULL, out, comm), tuttiSuccess, NULL);
	else
		EXPECT(case_call(&c, in, none ? NULL : out, comm),
		       tuttiSuccess, NULL);
	munmap(in, bytes);
	if (!none)
		munmap(out, bytes);
}

void meaning_kept(struct seat *s)
{
	static const size_t counts[] = { 1, 60, 5000, 300000 };
	tuttiComm_t comm = case_join(s);

	for (int coll = 0; coll < BARRIER; coll++)
		for (int i = 0; i < 4; i++)
			for (int root = 0; root < s->ranks; root++) {
				struct case_call c = { (enum case_coll)coll,
						       counts[i], tuttiInt8,
						       tuttiMax, root };

				kept_once(s, c, comm);
			}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 42 ------------------------------------------------------------- */

/* The last but one rank does not call.  The test's script reads the warnings
 * and sets the times: 1 s, then 3 s. */
void meaning_absent(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int64_t began, took;
	float in = 1, out;
	tuttiResult_t rc;

	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	began = case_ms();
	if (s->rank == s->ranks - 2) {
		case_sleep_ms(4500);
	} else {
		rc = tuttiAllReduce(&in, &out, 1, tuttiFloat, tuttiSum, comm,
				    NULL);
		took = case_ms() - began;
		EXPECT(rc, tuttiTimeout, "all_reduce of 1 float",
		       "operation 2", "TUTTI_TIMEOUT");
		CHECK(took >= 2900 && took < 4400, "after %d ms", (int)took);
		EXPECT(tuttiBarrier(comm, NULL), tuttiTimeout, "operation 2");
	}
	tuttiCommDestroy(comm);
}
