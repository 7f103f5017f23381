/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives promise about counts, order and buffers: cases 40, 42,
 * 43, 45, 46 and 47.
 */
#include "config.h"

#include "proc/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Case 40: nothing, with any pointers, between calls that do something. */
static void zero_once(struct seat *s, struct case_call c, const void *in,
		      void *out, tuttiComm_t comm)
{
	int32_t one = 1, sum = 0;

	if (c.coll != COLLS)
		EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
	EXPECT(tuttiAllReduce(&one, &sum, 1, tuttiInt32, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	CHECK(sum == s->ranks, "sum %d after operation %d of nothing",
	      (int)sum, (int)c.coll);
}

/* This rank's side of call number `coll`; false if it has none. */
static bool zero_call(struct seat *s, int coll, int root, struct case_call *c)
{
	*c = (struct case_call){ (enum case_coll)coll, 0, tuttiFloat,
				 tuttiSum, root };
	if (coll == SEND || coll == RECV) {
		c->coll = s->rank % 2 ? SEND : RECV;
		c->root = s->rank ^ 1;
	}
	return c->root < s->ranks;
}

static void zero_all(struct seat *s, tuttiComm_t comm)
{
	char a[16], b[16];

	memset(a, 7, sizeof(a));
	memset(b, 7, sizeof(b));
	for (int coll = 0; coll < COLLS; coll++)
		for (int root = 0; root < s->ranks; root++) {
			struct case_call c;

			if (root && (!case_rooted((enum case_coll)coll) ||
				     coll == SEND || coll == RECV))
				continue;
			/* The one without a partner has nothing to do. */
			if (!zero_call(s, coll, root, &c))
				c.coll = COLLS;
			zero_once(s, c, NULL, NULL, comm);
			zero_once(s, c, a, b, comm);
			zero_once(s, c, a, a, comm);
			zero_once(s, c, a, a + 1, comm);
			zero_once(s, c, NULL, b, comm);
		}
	for (size_t i = 0; i < sizeof(a); i++)
		CHECK(a[i] == 7 && b[i] == 7, "byte %zu was written", i);
}

/* All of them in one group, and something in the middle. */
static void zero_group(struct seat *s, tuttiComm_t comm)
{
	int32_t one = 1, sum = 0;

	EXPECT(tuttiGroupStart(), tuttiSuccess, NULL);
	for (int coll = 0; coll < COLLS; coll++) {
		struct case_call c;

		if (zero_call(s, coll, s->ranks - 1, &c))
			EXPECT(case_call(&c, NULL, NULL, comm), tuttiSuccess,
			       NULL);
		if (coll == GATHER)
			EXPECT(tuttiAllReduce(&one, &sum, 1, tuttiInt32,
					      tuttiSum, comm, NULL),
			       tuttiSuccess, NULL);
	}
	EXPECT(tuttiGroupEnd(), tuttiSuccess, NULL);
	CHECK(sum == s->ranks, "sum %d in a group of nothing", (int)sum);
}

void meaning_zero(struct seat *s)
{
	tuttiComm_t comm = case_join(s), child = NULL;

	zero_all(s, comm);
	zero_group(s, comm);
	EXPECT(tuttiCommSplit(comm, 0, s->rank, &child, NULL), tuttiSuccess,
	       NULL);
	zero_all(s, child);
	EXPECT(tuttiCommDestroy(child), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 43 ------------------------------------------------------------- */

/* A buffer that ends, or begins, where nothing may be touched. */
struct fenced {
	char *map, *data;
	size_t all;
};

static struct fenced fence(size_t bytes, bool at_end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (bytes + page) / page * page;
	struct fenced f = { .all = room + 2 * page };

	f.map = mmap(NULL, f.all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (f.map == MAP_FAILED ||
	    mprotect(f.map + page, room, PROT_READ | PROT_WRITE))
		exit(99);
	f.data = f.map + page + (at_end ? room - bytes : 0);
	memset(f.map + page, 0x55, room);
	return f;
}

static void unfence(struct fenced *f)
{
	munmap(f->map, f->all);
}

static bool many_in(enum case_coll c)
{
	return c == REDUCE_SCATTER || c == REDUCE_SCATTERV || c == SCATTER ||
	       c == SCATTERV || c == ALLTOALL || c == ALLTOALLV;
}

static bool many_out(enum case_coll c)
{
	return c == ALL_GATHER || c == ALL_GATHERV || c == GATHER ||
	       c == GATHERV || c == ALLTOALL || c == ALLTOALLV;
}

/* Sums of these show the order in which they were made. */
static void fill_place(float *p, size_t n, int rank)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (float)((i * 37 + (size_t)rank * 101) % 1009) * 1e-3f -
		       (float)(i % 7) * 1e4f * (float)rank;
}

/* The call with both buffers apart, then in place: the same bits. */
static void place_once(struct seat *s, struct case_call c, bool at_end,
		       tuttiComm_t comm)
{
	size_t n = (size_t)s->ranks, block = 4 * c.count;
	size_t in_bytes = block * (many_in(c.coll) ? n : 1);
	size_t out_bytes = block * (many_out(c.coll) ? n : 1);
	size_t own = (size_t)s->rank * block;
	struct fenced in = fence(in_bytes, at_end);
	struct fenced out = fence(out_bytes, at_end);
	struct fenced one = fence(in_bytes > out_bytes ? in_bytes : out_bytes,
				  at_end);
	char *send = one.data, *recv = one.data;

	if (many_out(c.coll) && !many_in(c.coll))
		send += own;
	if (many_in(c.coll) && !many_out(c.coll))
		recv += own;
	/* Where there is but one buffer, nothing is in place. */
	if (!case_gives(&c, s->rank))
		recv = one.data;
	if (!case_gets(&c, s->rank))
		send = one.data;
	fill_place((float *)in.data, in_bytes / 4, s->rank);
	memcpy(send, in.data, in_bytes);
	EXPECT(case_call(&c, case_gives(&c, s->rank) ? in.data : NULL,
			 case_gets(&c, s->rank) ? out.data : NULL, comm),
	       tuttiSuccess, NULL);
	EXPECT(case_call(&c, case_gives(&c, s->rank) ? send : NULL,
			 case_gets(&c, s->rank) ? recv : NULL, comm),
	       tuttiSuccess, NULL);
	CHECK(!case_gets(&c, s->rank) || !memcmp(recv, out.data, out_bytes),
	      "rank %d: %s of %zu, root %d: in place gives other bits",
	      s->rank, case_coll_name(c.coll), c.count, c.root);
	unfence(&in);
	unfence(&out);
	unfence(&one);
}

/* Sizes around those at which another algorithm is taken. */
void meaning_place(struct seat *s)
{
	static const size_t bytes[] = { 0, 2048, 4096, 8192, 16384, 32768,
					65536, 1 << 20 };
	tuttiComm_t comm = case_join(s);
	int turn = 0;

	for (int coll = 0; coll < BARRIER; coll++) {
		bool many = many_in((enum case_coll)coll) ||
			    many_out((enum case_coll)coll);

		for (int i = 0; i < 8; i++)
			for (size_t k = 0; k < 3; k++, turn++) {
				size_t at = bytes[i] / 4 /
					    (many ? (size_t)s->ranks : 1);
				struct case_call c = {
					(enum case_coll)coll,
					(at ? at - 1 : 1) + k, tuttiFloat,
					tuttiSum, turn % s->ranks };

				place_once(s, c, turn % 2, comm);
			}
	}
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

/*
 * A range that shows the same memory again and again, but for pages around the
 * places where a narrow type would go wrong, which are there for themselves: so
 * large counts take time and no memory.
 */
#define PIECE ((size_t)521 * 4096)	/* no power of two */
#define NEAR 4096

static void *map_at(char *at, size_t bytes, int fd)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE,
		    (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) |
			    (at ? MAP_FIXED : MAP_NORESERVE), fd, 0);
}

static size_t page_of(size_t at)
{
	return at / NEAR * NEAR;
}

/* Place number k, of k from 0 to 3: the begin, the powers, the end. */
static size_t place(int k, size_t bytes)
{
	size_t at = k == 0 ? 0 : k == 1 ? (size_t)1 << 31 :
		    k == 2 ? (size_t)1 << 32 : page_of(bytes);

	return at < bytes ? at : page_of(bytes);
}

static char *wide(size_t bytes)
{
	size_t all = page_of(bytes) + 2 * NEAR;
	char *p = map_at(NULL, all, -1);
	int fd = memfd_create("wide", MFD_CLOEXEC);

	if (p == MAP_FAILED || fd < 0 || ftruncate(fd, (off_t)PIECE))
		exit(77);
	for (size_t at = 0; at < all; at += PIECE)
		if (map_at(p + at, all - at < PIECE ? all - at : PIECE, fd) ==
		    MAP_FAILED)
			exit(77);
	for (int k = 0; k < 4; k++) {
		size_t at = place(k, bytes), from = at ? at - NEAR : 0;

		if (map_at(p + from, at + NEAR - from, -1) == MAP_FAILED)
			exit(77);
	}
	close(fd);
	return p;
}

static void unwide(char *p, size_t bytes)
{
	munmap(p, page_of(bytes) + 2 * NEAR);
}

/* What a rank has at i, near the places. */
static char wide_byte(int rank, size_t i)
{
	return (char)(1 + (i * 7 + (i >> 12) * 3 + (i >> 31) * 11 +
			   (size_t)rank * 31) % 100);
}

/* Of two ranks; a maximum where there is a reduction. */
static char wide_result(const struct case_call *c, size_t i)
{
	char a = wide_byte(0, i), b = wide_byte(1, i);

	if (!case_reduces(c->coll))
		return c->root ? b : a;
	return a > b ? a : b;
}

static void wide_write(char *p, size_t count, int rank)
{
	for (int k = 0; k < 4; k++) {
		size_t at = place(k, count), i = at ? at - NEAR : 0;

		for (; i < at + NEAR && i < count; i++)
			p[i] = wide_byte(rank, i);
	}
}

static size_t wide_wrong(const char *p, const struct case_call *c)
{
	size_t wrong = 0;

	for (int k = 0; k < 4; k++) {
		size_t at = place(k, c->count), i = at ? at - NEAR : 0;

		for (; i < at + NEAR && i < c->count; i++)
			wrong += p[i] != wide_result(c, i);
	}
	return wrong;
}

/* Of the operations whose buffers have one block, in which every place is the
 * same on all ranks. */
static void wide_once(struct seat *s, struct case_call c, tuttiComm_t comm)
{
	bool gives = case_gives(&c, s->rank), gets = case_gets(&c, s->rank);
	char *in = gives ? wide(c.count) : NULL;
	char *out = gets ? wide(c.count) : NULL;
	size_t wrong = 0;

	if (gives)
		wide_write(in, c.count, s->rank);
	if (gets)
		out[c.count] = 99;
	EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
	if (gets)
		wrong = wide_wrong(out, &c) + (out[c.count] != 99);
	CHECK(!wrong, "rank %d: %s of %zu elements: %zu wrong", s->rank,
	      case_coll_name(c.coll), c.count, wrong);
	if (gives)
		unwide(in, c.count);
	if (gets)
		unwide(out, c.count);
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

/* For two ranks.  A broadcast by default, since each takes seconds; CASES_FULL:
 * with every count, and the reductions too. */
void meaning_large(struct seat *s)
{
	static const size_t counts[] = { 0x7fffffff, 0x80000000, 0x80000001,
					 0x100000005 };
	bool full = getenv("CASES_FULL");
	tuttiComm_t comm = case_join(s);

	for (int coll = ALL_REDUCE; coll <= BROADCAST; coll++)
		for (int i = 0; i < 4; i++) {
			struct case_call c = { (enum case_coll)coll, counts[i],
					       tuttiInt8, tuttiMax, i % 2 };

			if (full || (coll == BROADCAST && i == 2))
				wide_once(s, c, comm);
		}
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

/* One operation on a communicator of its own, by a thread of its own. */
struct absent {
	struct seat *s;
	tuttiComm_t comm;
	struct case_call call;
	bool grouped;
	pthread_t thread;
};

/* Does this rank's result depend on the one that is absent? */
static bool depends(const struct absent *a)
{
	const struct case_call *c = &a->call;

	if (!case_rooted(c->coll))
		return true;
	return c->root == a->s->rank || c->root == a->s->ranks - 2;
}

static void *call_absent(void *arg)
{
	struct absent *a = arg;
	size_t n = (size_t)a->s->ranks * 50000;
	char *in = calloc(2, n), text[64];
	tuttiResult_t rc;

	if (a->grouped)
		EXPECT(tuttiGroupStart(), tuttiSuccess, NULL);
	rc = case_call(&a->call, in, in + n, a->comm);
	if (a->grouped)
		rc = tuttiGroupEnd();
	snprintf(text, sizeof(text), "%s", case_coll_name(a->call.coll));
	if (rc)
		EXPECT(rc, tuttiTimeout, text, "operation 1", "TUTTI_TIMEOUT");
	else
		CHECK(!depends(a), "rank %d: %s%s did not wait", a->s->rank,
		      text, a->grouped ? " in a group" : "");
	free(in);
	return NULL;
}

/* Whatever the operation is, those who need the last but one rank hear at the
 * deadline, and none later. */
void meaning_absent_each(struct seat *s)
{
	struct absent a[2 * SEND];
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	tuttiComm_t comm = case_join(s);
	int64_t began;

	config.timeoutMs = 2000;
	for (int i = 0; i < 2 * SEND; i++) {
		a[i] = (struct absent){ .s = s, .grouped = i % 2 };
		a[i].call = (struct case_call){ (enum case_coll)(i / 2), 50000,
						tuttiInt8, tuttiSum, 0 };
		if (case_rooted(a[i].call.coll) &&
		    !case_gives(&a[i].call, s->ranks - 2))
			a[i].call.root = s->ranks - 2;
		EXPECT(tuttiCommInitEnv(&a[i].comm, &config), tuttiSuccess,
		       NULL);
	}
	began = case_ms();
	for (int i = 0; i < 2 * SEND && s->rank != s->ranks - 2; i++)
		if (pthread_create(&a[i].thread, NULL, call_absent, &a[i]))
			exit(99);
	for (int i = 0; i < 2 * SEND && s->rank != s->ranks - 2; i++)
		pthread_join(a[i].thread, NULL);
	CHECK(case_ms() - began < 20000, "the deadline was passed by far");
	/* Nobody goes before all have heard. */
	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	for (int i = 0; i < 2 * SEND; i++)
		tuttiCommDestroy(a[i].comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}
