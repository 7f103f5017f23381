/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Case 41 over all there is to vary: the operation, what differs, its size, the
 * kind of buffers, whether in a group or after a split, and whether a rank
 * comes late.  DIFFER_TRIALS says how many of the combinations are drawn, by
 * DIFFER_SEED; 0 is all.  DIFFER_COLL restricts the operation, and
 * DIFFER_WHOLE=1 leaves out the split.  And that nothing is told when nothing
 * differs.
 */
#include "config.h"

#include "proc/cases_differ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LATE_MS 150
#define SLEEP_MS 3000

enum kind { COUNT, TYPE, OPERATOR, ROOT, OPERATION, KINDS };
enum memory { PLAIN, SHARED, MIXED, MEMORIES };
enum wrap { ALONE, GROUP, SPLIT, WRAPS };
enum late { NOBODY, ODD, OTHER, WHO_LATE };

struct trial {
	enum case_coll coll;	/* SEND: round the ring, each to the next */
	enum kind kind;
	bool large;
	enum memory memory;
	enum wrap wrap;
	enum late late;
	uint64_t noise;		/* for what does not matter much */
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* ---- The calls ----------------------------------------------------------- */

static bool is_uneven(enum case_coll c)
{
	return c >= ALL_GATHERV && c <= SCATTERV;
}

static bool applies(const struct trial *t)
{
	switch (t->kind) {
	case COUNT:
		return !is_uneven(t->coll) && t->coll != BARRIER;
	case TYPE:
		return t->coll != BARRIER;
	case OPERATOR:
		return case_reduces(t->coll);
	case ROOT:
		return case_rooted(t->coll) && t->coll != SEND;
	default:
		return t->coll != SEND;
	}
}

static size_t other_count(size_t count, uint64_t noise)
{
	switch (noise % 5) {
	case 0:
		return count + 1;
	case 1:
		return count - 1;
	case 2:
		return 2 * count;
	case 3:
		return 1;
	default:
		return 0;
	}
}

static void make_calls(const struct trial *t, int ranks,
		       struct case_call *usual, struct case_call *odd)
{
	uint64_t noise = mix(t->noise + 1);

	usual->coll = t->coll;
	usual->count = t->large ? 262144 + noise % 100000 : 8 + noise % 93;
	usual->type = tuttiFloat;
	usual->op = tuttiSum;
	usual->root = case_rooted(t->coll) && t->coll != SEND ?
		      (int)((noise >> 20) % (uint64_t)ranks) : 0;
	*odd = *usual;
	noise >>= 32;
	switch (t->kind) {
	case COUNT:
		odd->count = other_count(usual->count, noise);
		break;
	case TYPE:
		odd->type = noise % 2 ? tuttiInt32 : tuttiFloat64;
		break;
	case OPERATOR:
		odd->op = noise % 2 ? tuttiMax : tuttiProd;
		break;
	case ROOT:
		odd->root = (usual->root + 1) % ranks;
		break;
	default:
		odd->coll = (t->coll + 1 + noise % (SEND - 1)) % SEND;
		/* An algorithm that is forced may serve no blocks of unequal
		 * lengths, and then refuses the call itself. */
		if (getenv("TUTTI_ALGO") && is_uneven(odd->coll))
			odd->coll = BARRIER;
	}
}

/* As the library describes it. */
static void describe(const struct case_call *c, char *out, size_t cap)
{
	const char *type = c->type == tuttiFloat ? "float" :
			   c->type == tuttiInt32 ? "int32" : "double";
	const char *op = c->op == tuttiSum ? "sum" :
			 c->op == tuttiMax ? "max" : "prod";
	char count[32] = "", root[32] = "";

	if (c->coll == BARRIER) {
		snprintf(out, cap, "barrier");
		return;
	}
	if (!is_uneven(c->coll))
		snprintf(count, sizeof(count), "%zu ", c->count);
	if (case_rooted(c->coll) && c->coll != SEND && c->coll != RECV)
		snprintf(root, sizeof(root), ", root %d", c->root);
	snprintf(out, cap, "%s of %s%s%s%s%s", case_coll_name(c->coll), count,
		 type, case_reduces(c->coll) ? ", " : "",
		 case_reduces(c->coll) ? op : "", root);
}

static size_t bytes_of(const struct case_call *c, int ranks)
{
	return c->count * (c->type == tuttiFloat64 ? 8 : 4) * (size_t)ranks;
}

/* ---- One trial ----------------------------------------------------------- */

/* This rank's means. */
struct means {
	tuttiComm_t whole, comm;	/* the same unless split */
	int rank, ranks;		/* in comm */
	bool shared;
	char *in, *out;
	size_t bytes;
};

static char *take(bool shared, size_t bytes)
{
	void *p = NULL;

	if (!shared)
		p = calloc(1, bytes + GUARD);
	else if (tuttiMemAlloc(&p, bytes + GUARD))
		p = NULL;
	if (!p)
		exit(99);
	differ_guard(p, bytes);
	return p;
}

static void give(bool shared, char *p)
{
	if (shared)
		tuttiMemFree(p);
	else
		free(p);
}

static void join(struct seat *s, const struct trial *t, struct means *m)
{
	m->whole = m->comm = case_join(s);
	m->rank = s->rank;
	m->ranks = s->ranks;
	if (t->wrap != SPLIT)
		return;
	EXPECT(tuttiCommSplit(m->whole, s->ranks < 4 ? 0 : s->rank % 2,
			      -s->rank, &m->comm, NULL), tuttiSuccess, NULL);
	tuttiCommUserRank(m->comm, &m->rank);
	tuttiCommCount(m->comm, &m->ranks);
}

static void leave(struct means *m)
{
	if (m->comm != m->whole)
		tuttiCommDestroy(m->comm);
	tuttiCommDestroy(m->whole);
}

static tuttiResult_t call(const struct trial *t, const struct case_call *c,
			  const struct case_call *usual, struct means *m)
{
	struct case_call to = *c, from = *usual;
	int v = 0, w = 0;

	to.root = (m->rank + 1) % m->ranks;
	from.root = (m->rank + m->ranks - 1) % m->ranks;
	from.coll = RECV;
	if (t->coll != SEND && t->wrap != GROUP)
		return case_call(c, m->in, m->out, m->comm);
	tuttiGroupStart();
	if (t->coll == SEND) {
		case_call(&to, m->in, NULL, m->comm);
		case_call(&from, NULL, m->out, m->comm);
	} else {
		case_call(c, m->in, m->out, m->comm);
		tuttiSend(&v, 1, tuttiInt32, to.root, m->comm, NULL);
		tuttiRecv(&w, 1, tuttiInt32, from.root, m->comm, NULL);
	}
	return tuttiGroupEnd();
}

/* Both ranks and both calls. */
static void check_text(const struct trial *t, const struct case_call *usual,
		       const struct case_call *odd, int rank, int ranks,
		       tuttiResult_t rc)
{
	char say_usual[128], say_odd[160], call[128];
	struct case_call half = *usual;
	int next = (rank + 1) % ranks;

	if (t->coll == SEND)
		half.coll = RECV;
	describe(&half, call, sizeof(call));
	if (t->coll == SEND)
		snprintf(say_usual, sizeof(say_usual), "rank %d called %.100s",
			 next, call);
	else
		snprintf(say_usual, sizeof(say_usual), "called %.100s", call);
	describe(odd, call, sizeof(call));
	snprintf(say_odd, sizeof(say_odd), "rank %d called %s", rank, call);
	EXPECT(rc, tuttiInvalidUsage, "calls differ", say_usual, say_odd);
}

static int try_any(struct seat *s, const void *arg, int seat)
{
	const struct trial *t = arg;
	struct case_call usual, odd;
	struct means m;
	const struct case_call *mine;
	int64_t began;
	tuttiResult_t rc;
	int who, took;
	bool late;

	join(s, t, &m);
	who = seat % m.ranks;
	make_calls(t, m.ranks, &usual, &odd);
	mine = m.rank == who ? &odd : &usual;
	late = (t->late == ODD && m.rank == who) ||
	       (t->late == OTHER && m.rank == (who + 1) % m.ranks);
	m.bytes = bytes_of(mine, m.ranks);
	m.shared = t->memory == SHARED || (t->memory == MIXED && m.rank % 2);
	m.in = take(m.shared, m.bytes);
	m.out = take(m.shared, bytes_of(&usual, m.ranks) + m.bytes);
	/* Where a receive may be longer than the odd call, its guard is behind
	 * both. */
	if (t->coll == SEND)
		m.bytes = bytes_of(&usual, m.ranks) + m.bytes;
	differ_guard(m.out, m.bytes);
	/* Who leaves it early may call, and fail, before others leave it. */
	rc = tuttiBarrier(m.comm, NULL);
	if (late)
		case_sleep_ms(LATE_MS);
	began = case_ms();
	if (!rc)
		rc = call(t, mine, &usual, &m);
	rc = differ_hear(m.comm, rc);
	took = (int)(case_ms() - began);
	if (t->late != NOBODY && !late && took > LATE_MS)
		took -= LATE_MS;
	check_text(t, &usual, &odd, who, m.ranks, rc);
	differ_check(m.in, bytes_of(mine, m.ranks), "send");
	differ_check(m.out, m.bytes, "receive");
	leave(&m);
	give(m.shared, m.in);
	give(m.shared, m.out);
	return took;
}

/* ---- All of them --------------------------------------------------------- */

#define COLLECTIVES (SEND + 1)
#define COMBINATIONS \
	(COLLECTIVES * KINDS * 2 * MEMORIES * WRAPS * WHO_LATE)

static struct trial combination(uint64_t n, uint64_t seed)
{
	struct trial t = { .noise = mix(seed + n) };

	t.coll = (enum case_coll)(n % COLLECTIVES);
	n /= COLLECTIVES;
	t.kind = (enum kind)(n % KINDS);
	n /= KINDS;
	t.large = n % 2;
	n /= 2;
	t.memory = (enum memory)(n % MEMORIES);
	n /= MEMORIES;
	t.wrap = (enum wrap)(n % WRAPS);
	n /= WRAPS;
	t.late = (enum late)(n % WHO_LATE);
	return t;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtoull(v, NULL, 10) : otherwise;
}

static bool wanted(const struct trial *t)
{
	const char *coll = getenv("DIFFER_COLL");

	if (coll && *coll && strcmp(coll, case_coll_name(t->coll)))
		return false;
	if (t->wrap == SPLIT && env_number("DIFFER_WHOLE", 0))
		return false;
	return applies(t);
}

static void try_one(struct differ *d, const struct trial *t)
{
	static const char *const kind[] = { "count", "type", "operator",
					    "root", "operation" };
	static const char *const memory[] = { "plain", "shared", "mixed" };
	static const char *const wrap[] = { "alone", "in a group",
					    "after a split" };
	static const char *const late[] = { "nobody", "the odd rank",
					    "another rank" };
	char what[128];

	snprintf(what, sizeof(what), "%s %s, %s differs, %s memory, %s, %s "
		 "late", t->large ? "large" : "small", case_coll_name(t->coll),
		 kind[t->kind], memory[t->memory], wrap[t->wrap],
		 late[t->late]);
	differ_try(d, what, try_any, t,
		   (int)((t->noise >> 8) % (uint64_t)d->seat->ranks));
}

void differ_any(struct seat *s)
{
	uint64_t seed = env_number("DIFFER_SEED", 1);
	uint64_t trials = env_number("DIFFER_TRIALS", 20), done = 0;
	bool all = !trials;
	struct differ d;

	differ_begin(&d, s);
	for (uint64_t i = 0; all ? i < COMBINATIONS : done < trials; i++) {
		uint64_t n = all ? i : mix(seed * 0x9e3779b97f4a7c15u + i) %
			     COMBINATIONS;
		struct trial t = combination(n, seed);

		if (!wanted(&t))
			continue;
		try_one(&d, &t);
		done++;
	}
	if (s->rank == 0)
		printf("%llu combinations, seed %llu; ",
		       (unsigned long long)done, (unsigned long long)seed);
	differ_end(&d, "any");
}

/* ---- Nothing differs ----------------------------------------------------- */

/* Calls as usual; the script looks that nothing was told meanwhile. */
void differ_quiet(struct seat *s)
{
	static const enum case_coll colls[] = { ALL_REDUCE, ALL_GATHERV,
						ALLTOALLV, BROADCAST, BARRIER };
	tuttiComm_t comm = case_join(s);
	char in[4096] = { 0 }, out[4096] = { 0 };

	for (int i = 0; i < 1000; i++) {
		struct case_call c = { colls[i % 5], 8, tuttiFloat, tuttiSum,
				       0 };

		EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

static int cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (int)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
	       (int)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

/* One rank comes late, which is no fault; waiting for it costs nothing. */
void differ_late(struct seat *s)
{
	static const enum case_coll colls[] = { ALL_REDUCE, ALL_GATHERV };
	static const int sleep_ms[] = { SLEEP_MS, SLEEP_MS / 3 };
	tuttiComm_t comm = case_join(s);
	char in[4096] = { 0 }, out[4096] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct case_call c = { colls[i], 8, tuttiFloat, tuttiSum, 0 };
		int before = cpu_ms();

		if (s->rank == s->ranks - 1)
			case_sleep_ms(sleep_ms[i]);
		EXPECT(case_call(&c, in, out, comm), tuttiSuccess, NULL);
		CHECK(cpu_ms() - before < sleep_ms[i] / 5,
		      "rank %d waited with %d ms of CPU time", s->rank,
		      cpu_ms() - before);
	}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}
