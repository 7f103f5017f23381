/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: case 46, and what a group promises about order, messages to oneself,
 * several communicators, wrong calls and failures.
 */
#include "config.h"

#include "proc/cases.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) EXPECT(call, tuttiSuccess, NULL)
#define LARGE ((size_t)64 << 20)

/* Byte i of a message, which tells who sent it to whom and which it was. */
static unsigned char byte_of(int from, int to, int number, size_t i)
{
	return (unsigned char)(i * 7 + (i >> 12) + (size_t)from * 31 +
			       (size_t)to * 57 + (size_t)number * 101 + 1);
}

static unsigned char *message(int from, int to, int number, size_t bytes)
{
	unsigned char *p = malloc(bytes + 1);

	if (!p)
		exit(99);
	for (size_t i = 0; i < bytes; i++)
		p[i] = byte_of(from, to, number, i);
	p[bytes] = 0x5a;
	return p;
}

static unsigned char *room(size_t bytes)
{
	unsigned char *p = malloc(bytes + 1);

	if (!p)
		exit(99);
	memset(p, 0, bytes);
	p[bytes] = 0xa5;
	return p;
}

static void check_message(const unsigned char *p, int from, int to, int number,
			  size_t bytes)
{
	size_t wrong = 0, first = 0;

	for (size_t i = 0; i < bytes; i++)
		if (p[i] != byte_of(from, to, number, i) && !wrong++)
			first = i;
	CHECK(!wrong && p[bytes] == 0xa5, "rank %d, message %d of %zu bytes "
	      "from rank %d: %zu wrong, the first at %zu", to, number, bytes,
	      from, wrong, first);
}

/* ---- Case 46 ------------------------------------------------------------- */

/* Send to one rank and receive from another, in this order. */
static void shift(struct seat *s, tuttiComm_t comm, int to, int from,
		  size_t bytes)
{
	unsigned char *out = message(s->rank, to, 0, bytes), *in = room(bytes);

	OK(tuttiGroupStart());
	OK(tuttiSend(out, bytes, tuttiUint8, to, comm, NULL));
	OK(tuttiRecv(in, bytes, tuttiUint8, from, comm, NULL));
	OK(tuttiGroupEnd());
	check_message(in, from, s->rank, 0, bytes);
	free(out);
	free(in);
}

/* Two ranks that both send first, and a ring of senders. */
void group_head(struct seat *s)
{
	static const size_t sizes[] = { 0, 1, 57, 5000, 1 << 20, LARGE };
	tuttiComm_t comm = case_join(s);
	int n = s->ranks, other = s->rank ^ 1;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (other < n)
			shift(s, comm, other, other, sizes[i]);
		shift(s, comm, (s->rank + 1) % n, (s->rank + n - 1) % n,
		      sizes[i]);
	}
	OK(tuttiCommDestroy(comm));
}

/* Without a group, large messages head to head end at the deadline, and each
 * sentence names both ranks. */
void group_without(struct seat *s)
{
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	unsigned char *buf = room(LARGE);
	tuttiComm_t comm = NULL;
	int64_t began;
	tuttiResult_t rc;

	config.timeoutMs = 1500;
	OK(tuttiCommInitEnv(&comm, &config));
	began = case_ms();
	rc = tuttiSend(buf, LARGE, tuttiUint8, 1 - s->rank, comm, NULL);
	EXPECT(rc, tuttiTimeout, "send of 67108864 uint8", "message 1",
	       "rank 0", "rank 1", "TUTTI_TIMEOUT");
	CHECK(case_ms() - began < 6000, "the deadline was passed by far");
	tuttiCommDestroy(comm);
	free(buf);
}

/* ---- All pairs ----------------------------------------------------------- */

#define MESSAGES 6

struct letter {
	unsigned char *p;
	size_t bytes;
	int from, to, number;
};

static size_t letter_bytes(int from, int to, int number, size_t most)
{
	static const size_t sizes[] = { 0, 1, 56, 300, 70000, 1 << 20 };
	size_t bytes = sizes[(from * 5 + to * 3 + number) % 6];

	return bytes < most ? bytes : most;
}

static unsigned int random_next(unsigned int *x)
{
	*x = *x * 1103515245u + 12345u;
	return *x >> 16;
}

/* Letters of all pairs in any order, but those of a pair in order. */
static void shuffle(struct letter *l, int n, unsigned int *x)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)(random_next(x) % (unsigned)(i + 1));
		struct letter t = l[i];

		l[i] = l[k];
		l[k] = t;
	}
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			if (l[i].from == l[k].from && l[i].to == l[k].to &&
			    l[i].number > l[k].number) {
				struct letter t = l[i];

				l[i] = l[k];
				l[k] = t;
			}
}

static int write_letters(struct seat *s, struct letter *l, size_t most)
{
	int n = 0;

	for (int peer = 0; peer < s->ranks; peer++)
		for (int k = 0; k < MESSAGES; k++) {
			size_t out = letter_bytes(s->rank, peer, k, most);
			size_t in = letter_bytes(peer, s->rank, k, most);

			l[n++] = (struct letter){
				message(s->rank, peer, k, out), out, s->rank,
				peer, 2 * k };
			l[n++] = (struct letter){ room(in), in, peer, s->rank,
						  2 * k + 1 };
		}
	return n;
}

/* Every rank with every rank, itself too, several each way, shuffled. */
static void all_pairs(struct seat *s, tuttiComm_t comm, int round, size_t most)
{
	struct letter *l = calloc((size_t)s->ranks * MESSAGES * 2, sizeof(*l));
	unsigned int x = (unsigned)(round * 1000 + s->rank);
	int n = write_letters(s, l, most);

	shuffle(l, n, &x);
	OK(tuttiGroupStart());
	for (int i = 0; i < n; i++)
		if (l[i].number % 2 == 0)
			OK(tuttiSend(l[i].p, l[i].bytes, tuttiUint8, l[i].to,
				     comm, NULL));
		else
			OK(tuttiRecv(l[i].p, l[i].bytes, tuttiUint8,
				     l[i].from, comm, NULL));
	OK(tuttiGroupEnd());
	for (int i = 0; i < n; i++) {
		if (l[i].number % 2)
			check_message(l[i].p, l[i].from, l[i].to,
				      l[i].number / 2, l[i].bytes);
		free(l[i].p);
	}
	free(l);
}

void group_pairs(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	for (int round = 0; round < 20; round++)
		all_pairs(s, comm, round, round % 2 ? 300 : 1 << 20);
	OK(tuttiCommDestroy(comm));
}

/* More messages of a pair than anybody keeps count of; and once it has run,
 * the same group needs no more memory. */
void group_many(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int n = 1000, next = (s->rank + 1) % s->ranks;
	int before = (s->rank + s->ranks - 1) % s->ranks, wrong = 0;
	int *out = calloc((size_t)n, sizeof(*out));
	int *in = calloc((size_t)n, sizeof(*in));
	size_t used = 0;

	for (int round = 0; round < 12; round++) {
		OK(tuttiGroupStart());
		for (int i = 0; i < n; i++) {
			out[i] = i * 100 + s->rank + round;
			OK(tuttiRecv(&in[n - 1 - i], 1, tuttiInt32, before,
				     comm, NULL));
			OK(tuttiSend(&out[i], 1, tuttiInt32, next, comm,
				     NULL));
		}
		OK(tuttiGroupEnd());
		for (int i = 0; i < n; i++)
			wrong += in[n - 1 - i] != i * 100 + before + round;
		if (round == 3)
			used = mallinfo2().uordblks;
		/* Other threads allocate too. */
		CHECK(round < 4 || s->meet || mallinfo2().uordblks <= used,
		      "%zu bytes more in round %d",
		      mallinfo2().uordblks - used, round);
	}
	CHECK(!wrong, "rank %d: %d wrong", s->rank, wrong);
	OK(tuttiCommDestroy(comm));
	free(out);
	free(in);
}

/* ---- Oneself ------------------------------------------------------------- */

void group_self(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int a[4] = { 1, 2, 3, 4 }, b[4] = { 0 };

	EXPECT(tuttiSend(a, 1, tuttiInt32, s->rank, comm, NULL),
	       tuttiInvalidUsage, "itself", "tuttiGroupStart");
	OK(tuttiGroupStart());
	OK(tuttiRecv(b + 2, 2, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiSend(a, 2, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiSend(a, 0, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiSend(a + 2, 1, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiRecv(NULL, 0, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiRecv(b, 1, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiGroupEnd());
	CHECK(b[0] == 3 && b[1] == 0 && b[2] == 1 && b[3] == 2,
	      "got %d %d %d %d", b[0], b[1], b[2], b[3]);
	/* What does not match is refused, and nothing is run. */
	b[0] = 77;
	OK(tuttiGroupStart());
	OK(tuttiSend(a, 1, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiRecv(b, 1, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiSend(a, 2, tuttiInt32, s->rank, comm, NULL));
	OK(tuttiRecv(b, 2, tuttiFloat, s->rank, comm, NULL));
	EXPECT(tuttiGroupEnd(), tuttiInvalidUsage, "message 2", "itself",
	       "send of 2 int32", "recv of 2 float");
	OK(tuttiGroupStart());
	OK(tuttiSend(a, 3, tuttiInt32, s->rank, comm, NULL));
	EXPECT(tuttiGroupEnd(), tuttiInvalidUsage, "send of 3 int32",
	       "no receive");
	CHECK(b[0] == 77, "a message of a wrong group was delivered");
	OK(tuttiBarrier(comm, NULL));
	OK(tuttiCommDestroy(comm));
}

/* ---- With collectives, on several communicators -------------------------- */

/* Collectives in order, messages that cross them. */
static void mixed_once(struct seat *s, tuttiComm_t comm, size_t count)
{
	int n = s->ranks, next = (s->rank + 1) % n;
	int before = (s->rank + n - 1) % n, wrong = 0;
	int *v = calloc(count, sizeof(*v)), *w = calloc(count, sizeof(*w));
	int *all = calloc((size_t)n, sizeof(*all)), rank = s->rank, root = 7;
	unsigned char *out = message(rank, next, 1, count), *in = room(count);

	for (size_t i = 0; i < count; i++)
		v[i] = (int)i + rank;
	if (rank != n - 1)
		root = 0;
	OK(tuttiGroupStart());
	/* Every second rank has its messages first. */
	if (rank % 2)
		OK(tuttiSend(out, count, tuttiUint8, next, comm, NULL));
	OK(tuttiAllReduce(v, w, count, tuttiInt32, tuttiSum, comm, NULL));
	OK(tuttiBroadcast(&root, &root, 1, tuttiInt32, n - 1, comm, NULL));
	OK(tuttiBarrier(comm, NULL));
	OK(tuttiRecv(in, count, tuttiUint8, before, comm, NULL));
	OK(tuttiAllReduce(v, v, 0, tuttiInt32, tuttiSum, comm, NULL));
	OK(tuttiAllGather(&rank, all, 1, tuttiInt32, comm, NULL));
	if (rank % 2 == 0)
		OK(tuttiSend(out, count, tuttiUint8, next, comm, NULL));
	OK(tuttiGroupEnd());
	for (size_t i = 0; i < count; i++)
		wrong += w[i] != (int)i * n + n * (n - 1) / 2;
	for (int i = 0; i < n; i++)
		wrong += all[i] != i;
	CHECK(!wrong && root == 7, "rank %d, count %zu: %d wrong, root %d",
	      rank, count, wrong, root);
	check_message(in, before, rank, 1, count);
	free(v);
	free(w);
	free(all);
	free(out);
	free(in);
}

void group_mixed(struct seat *s)
{
	static const size_t counts[] = { 1, 2000, 300000 };
	tuttiComm_t comm = case_join(s);

	for (int i = 0; i < 30; i++)
		mixed_once(s, comm, counts[i % 3]);
	OK(tuttiCommDestroy(comm));
}

#define MANY 64

/* Counts that are gone when the group ends, as of a caller that made them on
 * its stack. */
static void uneven_calls(struct seat *s, tuttiComm_t comm, int *in, int *out)
{
	size_t up[MANY], turned[MANY], far[MANY];
	size_t me = (size_t)s->rank, n = (size_t)s->ranks;

	for (size_t i = 0; i < n; i++) {
		up[i] = i + 1;
		turned[i] = me + i + 1;
		far[i] = (n - 1 - i) * (n + 2);
	}
	OK(tuttiAllGatherv(in, out, up, far, tuttiInt32, comm, NULL));
	out += MANY * MANY;
	OK(tuttiReduceScatterv(in, out, up, tuttiInt32, tuttiSum, comm, NULL));
	out += MANY * MANY;
	OK(tuttiAlltoAllv(in, turned, NULL, out, turned, NULL, tuttiInt32,
			  comm, NULL));
	out += MANY * MANY;
	OK(tuttiGatherv(in, me + 1, out, up, far, tuttiInt32, s->ranks - 1,
			comm, NULL));
	out += MANY * MANY;
	OK(tuttiScatterv(in, up, far, out, me + 1, tuttiInt32, 0, comm, NULL));
	memset(up, 0xee, sizeof(up));
	memset(turned, 0xee, sizeof(turned));
	memset(far, 0xee, sizeof(far));
}

/* Element i of what rank r has. */
static int uneven_value(size_t r, size_t i)
{
	return (int)(r * 10000 + i);
}

static int uneven_gathered(size_t n, const int *out)
{
	int wrong = 0;

	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; i < r + 1; i++)
			wrong += out[(n - 1 - r) * (n + 2) + i] !=
				 uneven_value(r, i);
	return wrong;
}

static int uneven_exchanged(size_t n, size_t me, const int *out)
{
	int wrong = 0;

	for (size_t r = 0, at = 0; r < n; at += me + r + 1, r++)
		for (size_t i = 0, from = 0; i < me + r + 1; i++) {
			/* Where rank r has what it sends to this one. */
			from = me * (r + 1) + me * (me - 1) / 2;
			wrong += out[at + i] != uneven_value(r, from + i);
		}
	return wrong;
}

static int uneven_wrong(struct seat *s, const int *out)
{
	size_t n = (size_t)s->ranks, me = (size_t)s->rank;
	int wrong = uneven_gathered(n, out);

	out += MANY * MANY;
	for (size_t i = 0; i < me + 1; i++) {
		int sum = 0;

		for (size_t r = 0; r < n; r++)
			sum += uneven_value(r, me * (me + 1) / 2 + i);
		wrong += out[i] != sum;
	}
	out += MANY * MANY;
	wrong += uneven_exchanged(n, me, out);
	out += MANY * MANY;
	if (me == n - 1)
		wrong += uneven_gathered(n, out);
	out += MANY * MANY;
	for (size_t i = 0; i < me + 1; i++)
		wrong += out[i] != uneven_value(0, (n - 1 - me) * (n + 2) + i);
	return wrong;
}

void group_uneven(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	size_t room = 5 * MANY * MANY;
	int *in = calloc(MANY * MANY, sizeof(*in));
	int *out = calloc(room, sizeof(*out)), wrong;

	for (size_t i = 0; i < MANY * MANY; i++)
		in[i] = uneven_value((size_t)s->rank, i);
	for (int round = 0; round < 3; round++) {
		memset(out, 0, room * sizeof(*out));
		OK(tuttiGroupStart());
		uneven_calls(s, comm, in, out);
		OK(tuttiGroupEnd());
		wrong = uneven_wrong(s, out);
		CHECK(!wrong, "rank %d: %d wrong", s->rank, wrong);
	}
	OK(tuttiCommDestroy(comm));
	free(in);
	free(out);
}

/* Three communicators, begun in another order by every rank. */
void group_two(struct seat *s)
{
	tuttiComm_t comm[3] = { case_join(s), case_join(s), case_join(s) };
	size_t counts[] = { 1, 3000, 500000 };
	int next = (s->rank + 1) % s->ranks, wrong = 0;
	int before = (s->rank + s->ranks - 1) % s->ranks;

	for (int round = 0; round < 15; round++) {
		size_t count = counts[round % 3];
		int *v[3], got[3] = { -1, -1, -1 };

		OK(tuttiGroupStart());
		for (int i = 0; i < 3; i++) {
			int k = (i + s->rank) % 3;

			if (s->rank % 2)
				k = 2 - k;
			v[k] = calloc(count, sizeof(int));
			v[k][count - 1] = k + round;
			OK(tuttiAllReduce(v[k], v[k], count, tuttiInt32,
					  tuttiSum, comm[k], NULL));
			OK(tuttiRecv(&got[k], 1, tuttiInt32, before, comm[k],
				     NULL));
			OK(tuttiBarrier(comm[k], NULL));
			OK(tuttiSend(&s->rank, 1, tuttiInt32, next, comm[k],
				     NULL));
		}
		OK(tuttiGroupEnd());
		for (int k = 0; k < 3; k++) {
			wrong += got[k] != before ||
				 v[k][count - 1] != (k + round) * s->ranks;
			free(v[k]);
		}
	}
	CHECK(!wrong, "rank %d: %d wrong", s->rank, wrong);
	for (int k = 0; k < 3; k++)
		OK(tuttiCommDestroy(comm[k]));
}

/* ---- Rules --------------------------------------------------------------- */

/* A refused call spoils its group on every rank alike; nothing was sent. */
static void refused(struct seat *s, tuttiComm_t comm)
{
	int next = (s->rank + 1) % s->ranks, v = 1, w = 0;
	int before = (s->rank + s->ranks - 1) % s->ranks;

	OK(tuttiGroupStart());
	OK(tuttiSend(&v, 1, tuttiInt32, next, comm, NULL));
	EXPECT(tuttiRecv(&w, 1, tuttiInt32, s->ranks, comm, NULL),
	       tuttiInvalidArgument, "tuttiRecv", "does not exist");
	EXPECT(tuttiAllReduce(NULL, &w, 1, tuttiInt32, tuttiSum, comm, NULL),
	       tuttiInvalidArgument, "send buffer is NULL");
	EXPECT(tuttiGroupEnd(), tuttiInvalidArgument, "tuttiRecv",
	       "does not exist");
	v = 2;
	OK(tuttiGroupStart());
	OK(tuttiSend(&v, 1, tuttiInt32, next, comm, NULL));
	OK(tuttiRecv(&w, 1, tuttiInt32, before, comm, NULL));
	OK(tuttiGroupEnd());
	CHECK(w == 2, "got %d", w);
}

static void nested(tuttiComm_t comm, int ranks)
{
	int v = 1, w = 0;

	OK(tuttiGroupStart());
	OK(tuttiGroupStart());
	OK(tuttiAllReduce(&v, &w, 1, tuttiInt32, tuttiSum, comm, NULL));
	OK(tuttiGroupEnd());
	CHECK(w == 0, "the inner end ran the group");
	OK(tuttiGroupEnd());
	CHECK(w == ranks, "sum %d", w);
	EXPECT(tuttiGroupEnd(), tuttiInvalidUsage, "tuttiGroupStart");
	OK(tuttiGroupStart());
	OK(tuttiGroupEnd());
}

static void life_inside(struct seat *s, tuttiComm_t comm)
{
	tuttiComm_t other = NULL;
	tuttiUniqueId id;

	OK(tuttiGroupStart());
	OK(tuttiBarrier(comm, NULL));
	EXPECT(tuttiCommDestroy(comm), tuttiInvalidUsage, "tuttiCommDestroy",
	       "tuttiGroupEnd");
	EXPECT(tuttiCommFinalize(comm), tuttiInvalidUsage,
	       "tuttiCommFinalize", "tuttiGroupEnd");
	OK(tuttiGetUniqueId(&id));
	EXPECT(tuttiCommInitRank(&other, 1, id, 0), tuttiInvalidUsage,
	       "tuttiGroupEnd");
	OK(tuttiGroupEnd());
	/* Abort drops the calls, and the end tells so; those on another
	 * communicator run. */
	OK(tuttiCommInitRank(&other, 1, id, 0));
	OK(tuttiGroupStart());
	OK(tuttiBarrier(other, NULL));
	OK(tuttiBarrier(comm, NULL));
	OK(tuttiCommAbort(other));
	EXPECT(tuttiGroupEnd(), tuttiRemoteError, "aborted", "1 calls");
	OK(tuttiBarrier(comm, NULL));
}

void group_rules(struct seat *s)
{
	tuttiComm_t comm = case_join(s);

	nested(comm, s->ranks);
	if (s->ranks > 1)
		refused(s, comm);
	life_inside(s, comm);
	OK(tuttiCommFinalize(comm));
	OK(tuttiGroupStart());
	EXPECT(tuttiBarrier(comm, NULL), tuttiInvalidUsage, "finalized");
	EXPECT(tuttiGroupEnd(), tuttiInvalidUsage, "finalized");
	OK(tuttiCommDestroy(comm));
}

/* ---- Failures ------------------------------------------------------------ */

/* Rank 0 sends one message that rank 1 does not expect, among others. */
void group_differ(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int next = (s->rank + 1) % s->ranks, v[600] = { 0 };
	int before = (s->rank + s->ranks - 1) % s->ranks;
	tuttiResult_t rc;

	OK(tuttiGroupStart());
	for (int i = 0; i < 200; i++) {
		size_t out = s->rank == 0 && i == 150 ? 3 : 2;

		/* Who is slow hears of it while the group is open. */
		tuttiRecv(v + i, 2, tuttiInt32, before, comm, NULL);
		tuttiSend(v, out, tuttiInt32, next, comm, NULL);
	}
	rc = tuttiGroupEnd();
	for (int i = 0; !rc && i < 3; i++)
		rc = tuttiBarrier(comm, NULL);
	EXPECT(rc, tuttiInvalidUsage, "calls differ", "message 151",
	       "rank 1 called recv of 2 int32",
	       "rank 0 called send of 3 int32");
	tuttiCommDestroy(comm);
}

/* One message of many has no other half: the time-out names it. */
void group_late(struct seat *s)
{
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	int v[3] = { 0 }, other = 1 - s->rank;
	tuttiComm_t comm = NULL;
	int64_t began;

	config.timeoutMs = 1500;
	OK(tuttiCommInitEnv(&comm, &config));
	OK(tuttiBarrier(comm, NULL));
	began = case_ms();
	OK(tuttiGroupStart());
	OK(tuttiSend(v, 1, tuttiInt32, other, comm, NULL));
	OK(tuttiRecv(v, 1, tuttiInt32, other, comm, NULL));
	OK(tuttiRecv(v, 3, tuttiInt32, other, comm, NULL));
	EXPECT(tuttiGroupEnd(), tuttiTimeout, "recv of 3 int32 from rank",
	       "message 2 of this pair", "rank 0", "rank 1", "TUTTI_TIMEOUT");
	CHECK(case_ms() - began >= 1400 && case_ms() - began < 6000,
	      "after %d ms", (int)(case_ms() - began));
	tuttiCommDestroy(comm);
}

struct aborter {
	tuttiComm_t comm;
	int64_t took;
};

static void *abort_soon(void *arg)
{
	struct aborter *a = arg;
	int64_t began;

	case_sleep_ms(300);
	began = case_ms();
	OK(tuttiCommAbort(a->comm));
	a->took = case_ms() - began;
	return NULL;
}

/* Rank 0's other thread aborts one of two communicators while groups wait on
 * it; what is on the other one runs. */
void group_abort(struct seat *s)
{
	tuttiComm_t comm = case_join(s), other = case_join(s);
	struct aborter a = { comm, 0 };
	int64_t began = case_ms();
	pthread_t thread;
	int v = 1, w = 0;
	tuttiResult_t rc;

	if (s->rank == 0 && pthread_create(&thread, NULL, abort_soon, &a))
		exit(99);
	OK(tuttiGroupStart());
	OK(tuttiRecv(&v, 1, tuttiInt32, s->rank ? 0 : 1, comm, NULL));
	OK(tuttiAllReduce(&v, &w, 1, tuttiInt32, tuttiSum, other, NULL));
	rc = tuttiGroupEnd();
	EXPECT(rc, tuttiRemoteError, "aborted");
	CHECK(w == s->ranks, "the other communicator's sum is %d", w);
	CHECK(case_ms() - began < 3000, "came out after %d ms",
	      (int)(case_ms() - began));
	if (s->rank == 0) {
		pthread_join(thread, NULL);
		CHECK(a.took < 2000, "abort took %d ms", (int)a.took);
	} else {
		tuttiCommDestroy(comm);
	}
	OK(tuttiBarrier(other, NULL));
	OK(tuttiCommDestroy(other));
}
