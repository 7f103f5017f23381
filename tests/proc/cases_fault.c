/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed, aborts, stands still or exits in the middle of a call:
 * cases 55, 56, 57, 64 and 66.
 */
#include "config.h"

#include "proc/cases.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* When the victim went, for the survivors: a page that a file shares. */
struct shared {
	_Atomic int64_t died_ms;
	_Atomic int pid[64];
	_Atomic int done;
};

static struct shared *shared_page(void)
{
	const char *path = getenv("CASES_SHARED");
	FILE *f = path ? fopen(path, "r+") : NULL;
	void *p;

	if (!f) {
		FAULT("CASES_SHARED names no file");
		exit(99);
	}
	p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		 MAP_SHARED, fileno(f), 0);
	fclose(f);
	return p;
}

struct killer {
	struct shared *sh;
	int after_ms;
};

static void *kill_me(void *arg)
{
	struct killer *k = arg;

	case_sleep_ms(k->after_ms);
	atomic_store(&k->sh->died_ms, case_ms());
	raise(SIGKILL);
	return NULL;
}

/* Cases 55, 57 and 64: rank 1 dies in a loop of large all-reduces. */
void fault_kill(struct seat *s)
{
	size_t bytes = 64 << 20;
	struct killer k = { shared_page(), 150 + (int)(getpid() % 200) };
	tuttiComm_t comm = case_join(s);
	tuttiResult_t rc = tuttiSuccess, async = tuttiSuccess;
	char *buf = NULL;
	pthread_t thread;
	int64_t took;

	signal(SIGPIPE, SIG_DFL);
	EXPECT(tuttiMemAlloc((void **)&buf, bytes), tuttiSuccess, NULL);
	if (getenv("CASES_MALLOC")) {
		tuttiMemFree(buf);
		buf = calloc(1, bytes);
	}
	if (s->rank == 1)
		pthread_create(&thread, NULL, kill_me, &k);
	while (!rc)
		rc = tuttiAllReduce(buf, buf, bytes / 4, tuttiFloat, tuttiSum,
				    comm, NULL);
	took = case_ms() - atomic_load(&k.sh->died_ms);
	EXPECT(rc, tuttiRemoteError, "rank 1");
	CHECK(took < 5000, "rank %d heard of the death after %d ms", s->rank,
	      (int)took);
	if (getenv("CASES_TELL"))
		fprintf(stderr, "rank %d: %d ms: %s\n", s->rank, (int)took,
			tuttiGetLastError(comm));
	EXPECT(tuttiCommGetAsyncError(comm, &async), tuttiSuccess, NULL);
	CHECK(async == tuttiRemoteError, "async error %d", (int)async);
	EXPECT(tuttiBarrier(comm, NULL), tuttiRemoteError, "rank 1");
	/* What is shared stays readable. */
	case_sleep_ms(100);
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)buf)[i] = 1;
	tuttiCommDestroy(comm);
	if (getenv("CASES_MALLOC"))
		free(buf);
	else
		EXPECT(tuttiMemFree(buf), tuttiSuccess, NULL);
}

/* ---- Case 56 ------------------------------------------------------------- */

struct blocked {
	tuttiComm_t comm;
	struct case_call call;
	char *in, *out;
	tuttiResult_t rc;
	_Atomic bool in_call;
};

static void *block(void *arg)
{
	struct blocked *b = arg;

	atomic_store(&b->in_call, true);
	b->rc = case_call(&b->call, b->in, b->out, b->comm);
	return NULL;
}

static void abort_one(struct seat *s, tuttiComm_t comm, struct case_call call,
		      int wait_ms)
{
	size_t bytes = 8 * call.count * (size_t)s->ranks + 8;
	struct blocked b = { .comm = comm, .call = call,
			     .in = calloc(1, bytes), .out = calloc(1, bytes) };
	pthread_t thread;
	int64_t began;

	if (pthread_create(&thread, NULL, block, &b))
		exit(99);
	while (!atomic_load(&b.in_call))
		case_sleep_ms(1);
	case_sleep_ms(wait_ms);
	began = case_ms();
	EXPECT(tuttiCommAbort(comm), tuttiSuccess, NULL);
	pthread_join(thread, NULL);
	CHECK(case_ms() - began < 2000, "abort in %s took %d ms",
	      case_coll_name(call.coll), (int)(case_ms() - began));
	CHECK(b.rc == tuttiRemoteError, "%s returned %d after an abort",
	      case_coll_name(call.coll), (int)b.rc);
	free(b.in);
	free(b.out);
}

static bool to_one(enum case_coll c)
{
	return c == REDUCE || c == GATHER || c == GATHERV;
}

/* The last rank does not call, until it hears of the abort. */
void fault_abort(struct seat *s)
{
	static const size_t counts[] = { 1, 1000000 };

	for (int i = 0; i < 2 * COLLS; i++) {
		struct case_call c = { (enum case_coll)(i % COLLS),
				       counts[i / COLLS], tuttiFloat,
				       tuttiSum, s->ranks - 1 };
		tuttiResult_t async = tuttiSuccess;
		int64_t end = case_ms() + 5000;
		tuttiComm_t comm;

		bool alone = to_one(c.coll);

		/* A send of a few bytes waits for nobody; of what goes to a
		 * root only that may have to. */
		if (c.coll == SEND && c.count == 1)
			continue;
		if (alone)
			c.root = 0;
		comm = case_join(s);
		if (s->rank < s->ranks - 1 && !(alone && s->rank)) {
			abort_one(s, comm, c, 30);
			continue;
		}
		while (!async && case_ms() < end) {
			case_sleep_ms(1);
			tuttiCommGetAsyncError(comm, &async);
		}
		CHECK(async == tuttiRemoteError,
		      "rank %d did not hear of an abort in %s", s->rank,
		      case_coll_name(c.coll));
		tuttiCommDestroy(comm);
	}
}

/* Rank 0 aborts while all others stand still, then lets them go on. */
void fault_stopped(struct seat *s)
{
	struct shared *sh = shared_page();
	struct case_call c = { ALL_REDUCE, 4000000, tuttiFloat, tuttiSum, 0 };
	char *buf = calloc(4, c.count), *out = calloc(4, c.count);
	tuttiComm_t comm = case_join(s);
	tuttiResult_t rc = tuttiSuccess;

	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	/* Only who has left the barrier gives its name. */
	atomic_store(&sh->pid[s->rank], (int)getpid());
	if (s->rank == 0) {
		for (int r = 1; r < s->ranks; r++) {
			while (!atomic_load(&sh->pid[r]))
				case_sleep_ms(1);
			kill(atomic_load(&sh->pid[r]), SIGSTOP);
		}
		abort_one(s, comm, c, 100);
		for (int r = 1; r < s->ranks; r++)
			kill(atomic_load(&sh->pid[r]), SIGCONT);
	} else {
		while (!rc)
			rc = case_call(&c, buf, out, comm);
		EXPECT(rc, tuttiRemoteError, "rank 0", "abort");
		tuttiCommDestroy(comm);
	}
	free(buf);
	free(out);
}

/* ---- Case 66 ------------------------------------------------------------- */

static void *leave(void *arg)
{
	case_sleep_ms(50);
	if (arg)
		_exit(0);
	exit(0);
}

/* Rank 1 exits with a call in progress and nothing destroyed. */
static void exit_once(struct seat *s, bool quick)
{
	tuttiComm_t comm = case_join(s);
	size_t count = 1 << 20;
	char *buf = calloc(4, count);
	tuttiResult_t rc = tuttiSuccess;
	int64_t began = case_ms();
	pthread_t thread;

	if (s->rank == 1)
		pthread_create(&thread, NULL, leave, quick ? buf : NULL);
	while (!rc)
		rc = tuttiAllReduce(buf, buf, count, tuttiFloat, tuttiSum,
				    comm, NULL);
	EXPECT(rc, tuttiRemoteError, "rank 1");
	CHECK(case_ms() - began < 5000, "late");
	free(buf);
	/* Not destroyed: this process ends by returning from main. */
}

void fault_exit(struct seat *s)
{
	exit_once(s, getenv("CASES_QUICK") != NULL);
}

/* A rank that leaves in order, while others wait for it. */
void fault_leave(struct seat *s)
{
	for (int coll = 0; coll < COLLS; coll++) {
		struct case_call c = { (enum case_coll)coll, 1000, tuttiFloat,
				       tuttiSum, s->ranks - 1 };
		char *in = calloc(4000, (size_t)s->ranks);
		char *out = calloc(4000, (size_t)s->ranks);
		tuttiComm_t comm = case_join(s);
		int64_t began = case_ms();

		if (to_one(c.coll))
			c.root = 0;
		if (coll != SEND && s->rank < s->ranks - 1 &&
		    !(to_one(c.coll) && s->rank)) {
			EXPECT(case_call(&c, in, out, comm), tuttiRemoteError,
			       "rank");
			CHECK(case_ms() - began < 5000, "late");
		}
		tuttiCommDestroy(comm);
		free(in);
		free(out);
	}
}
