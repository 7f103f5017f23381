/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many communicators, one after another and at once, and what they leave and
 * cost: cases 59, 2, 19, 61, 62, 65, 67, 68, 70 and 71.
 */
#include "config.h"

#include "proc/cases.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int env_count(const char *name, int otherwise)
{
	const char *v = getenv(name);

	return v ? atoi(v) : otherwise;
}

/* Case 59. */
void life_churn(struct seat *s)
{
	int n = env_count("CASES_COUNT", 200);

	for (int i = 0; i < n; i++) {
		tuttiComm_t comm = case_join(s);

		EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
		EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	}
}

/* Case 59: odd ranks are gone as soon as their call has returned. */
void life_leave(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	size_t count = 100000;
	int32_t *buf = malloc(4 * count);

	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	for (size_t i = 0; i < count; i++)
		buf[i] = 1;
	EXPECT(tuttiAllReduce(buf, buf, count, tuttiInt32, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	if (s->rank % 2)
		_exit(buf[count - 1] != s->ranks);
	CHECK(buf[count - 1] == s->ranks, "sum %d", (int)buf[count - 1]);
	tuttiCommDestroy(comm);
	free(buf);
}

/* ---- Case 68 ------------------------------------------------------------- */

struct usage {
	long rss_kb, fds, threads, maps;
};

static long status_value(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long v = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			v = strtol(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return v;
}

static long count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static long count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static struct usage usage_now(void)
{
	struct usage u;

	/* Goodbyes of the last communicator are still under way. */
	case_sleep_ms(300);
	u.rss_kb = status_value("VmRSS:");
	u.threads = status_value("Threads:");
	u.fds = count_fds();
	u.maps = count_lines("/proc/self/maps");
	return u;
}

static void compare(struct seat *s, struct usage a, struct usage b,
		    const char *what)
{
	CHECK(b.rss_kb - a.rss_kb < 1024 && b.fds <= a.fds + 2 &&
	      b.threads <= a.threads && b.maps <= a.maps + 2,
	      "rank %d, %s: %ld to %ld KiB, %ld to %ld descriptors, %ld to %ld "
	      "threads, %ld to %ld mappings", s->rank, what, a.rss_kb,
	      b.rss_kb, a.fds, b.fds, a.threads, b.threads, a.maps, b.maps);
}

static void make_and_end(struct seat *s, int n)
{
	while (n--) {
		tuttiComm_t comm = case_join(s);
		float v = 1;

		EXPECT(tuttiAllReduce(&v, &v, 1, tuttiFloat, tuttiSum, comm,
				      NULL), tuttiSuccess, NULL);
		EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	}
}

static void small_calls(int n, tuttiComm_t comm)
{
	float v[64] = { 1 };

	for (int i = 0; i < n; i++)
		EXPECT(tuttiAllReduce(v, v, (size_t)(i % 64) + 1, tuttiFloat,
				      tuttiMax, comm, NULL), tuttiSuccess,
		       NULL);
}

void life_growth(struct seat *s)
{
	int n = env_count("CASES_COUNT", 1000);
	tuttiComm_t comm;
	struct usage before;

	make_and_end(s, 20);
	before = usage_now();
	make_and_end(s, n);
	compare(s, before, usage_now(), "communicators");
	comm = case_join(s);
	small_calls(1000, comm);
	before = usage_now();
	small_calls(100 * n, comm);
	compare(s, before, usage_now(), "calls");
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* ---- Case 65 ------------------------------------------------------------- */

/* Blocked, ignored and caught; without those that the C library keeps for its
 * threads. */
static void read_signals(char *out, size_t cap)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long mask;
	char line[256], kind[4];
	size_t used = 0;

	out[0] = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Sig%3[BIC]%*[a-z]: %llx", kind, &mask) == 2)
			used += (size_t)snprintf(out + used, cap - used,
						 "%s %llx ", kind,
						 mask & ~0x180000000ull);
	if (f)
		fclose(f);
}

void life_signals(struct seat *s)
{
	char before[512], now[512];
	tuttiComm_t comm;

	read_signals(before, sizeof(before));
	comm = case_join(s);
	read_signals(now, sizeof(now));
	CHECK(!strcmp(before, now), "init changed %s to %s", before, now);
	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	read_signals(now, sizeof(now));
	CHECK(!strcmp(before, now), "destroy changed %s to %s", before, now);
}

/* ---- Cases 2 and 19 ------------------------------------------------------ */

static void on_timer(int sig)
{
	(void)sig;
}

/* Everything under a timer of 1 kHz that interrupts system calls. */
void life_timer(struct seat *s)
{
	struct itimerval ms = { { 0, 1000 }, { 0, 1000 } }, off = { 0 };
	struct sigaction act = { .sa_handler = on_timer };
	size_t bytes = 64 << 20;
	int n = env_count("CASES_COUNT", 20);

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &ms, NULL);
	for (int i = 0; i < n; i++) {
		tuttiComm_t comm = case_join(s);
		char *p = NULL;

		EXPECT(tuttiMemAlloc((void **)&p, bytes), tuttiSuccess, NULL);
		if (p)
			p[bytes - 1] = (char)s->rank;
		EXPECT(tuttiAllReduce(p, p, bytes / 16, tuttiFloat, tuttiSum,
				      comm, NULL), tuttiSuccess, NULL);
		EXPECT(tuttiMemFree(p), tuttiSuccess, NULL);
		EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	}
	setitimer(ITIMER_REAL, &off, NULL);
}

/* ---- Case 61 ------------------------------------------------------------- */

#define LANES 4

struct lane {
	struct seat *s;
	tuttiComm_t comm, second;
	int seed;
	pthread_t thread;
};

static void check_sum(struct seat *s, int i, tuttiComm_t comm)
{
	int32_t v[50], w[50];

	for (int k = 0; k < 50; k++)
		v[k] = i + s->rank;
	EXPECT(tuttiAllReduce(v, w, (size_t)(i % 50) + 1, tuttiInt32, tuttiSum,
			      comm, NULL), tuttiSuccess, NULL);
	CHECK(w[0] == i * s->ranks + s->ranks * (s->ranks - 1) / 2,
	      "sum %d of call %d", (int)w[0], i);
}

/* Delays differ from thread to thread and rank to rank. */
static void *drive(void *arg)
{
	struct lane *l = arg;
	int n = env_count("CASES_COUNT", 300);
	unsigned int x = (unsigned int)l->seed;

	for (int i = 0; i < n; i++) {
		x = x * 1103515245u + 12345u;
		if (x >> 16 & 1 && i % 8 == 0)
			usleep(x >> 16 & 511);
		check_sum(l->s, i, l->comm);
	}
	return NULL;
}

static void *drive_one(void *arg)
{
	struct lane *l = arg;

	case_sleep_ms(l->seed);
	check_sum(l->s, 1, l->comm);
	return NULL;
}

/* Each thread its communicator; then one thread on even ranks uses two in
 * order, and two threads on odd ranks use them the other way round. */
void life_many(struct seat *s)
{
	struct lane lane[LANES];

	for (int i = 0; i < LANES; i++)
		lane[i] = (struct lane){ s, case_join(s), NULL,
					 s->rank * LANES + i, 0 };
	for (int i = 0; i < LANES; i++)
		if (pthread_create(&lane[i].thread, NULL, drive, &lane[i]))
			exit(99);
	for (int i = 0; i < LANES; i++)
		pthread_join(lane[i].thread, NULL);
	for (int i = 0; s->rank % 2 && i < 2; i++) {
		lane[i].seed = i ? 0 : 100;
		if (pthread_create(&lane[i].thread, NULL, drive_one, &lane[i]))
			exit(99);
	}
	for (int i = 0; i < 2; i++) {
		if (s->rank % 2)
			pthread_join(lane[i].thread, NULL);
		else
			check_sum(s, 1, lane[i].comm);
	}
	for (int i = 0; i < LANES; i++)
		EXPECT(tuttiCommDestroy(lane[(i + s->rank) % LANES].comm),
		       tuttiSuccess, NULL);
}

/* ---- Case 62 ------------------------------------------------------------- */

#define FIRST 16

static pthread_barrier_t start;

static void *first_call(void *arg)
{
	tuttiUniqueId id;
	tuttiComm_t comm = NULL;
	float v = 3, w = 0;
	int *bad = arg;

	pthread_barrier_wait(&start);
	*bad = tuttiGetUniqueId(&id) ||
	       tuttiCommInitRank(&comm, 1, id, 0) ||
	       tuttiAllReduce(&v, &w, 1, tuttiFloat, tuttiSum, comm, NULL) ||
	       w != 3 || tuttiCommDestroy(comm);
	return NULL;
}

static int first_calls(void)
{
	pthread_t thread[FIRST];
	int bad[FIRST], sum = 0;

	pthread_barrier_init(&start, NULL, FIRST);
	for (int i = 0; i < FIRST; i++)
		if (pthread_create(&thread[i], NULL, first_call, &bad[i]))
			return 99;
	for (int i = 0; i < FIRST; i++) {
		pthread_join(thread[i], NULL);
		sum += bad[i];
	}
	return sum;
}

/* In processes that have not called anything yet; as the first case of a
 * program of threads, in this one. */
void life_first(struct seat *s)
{
	int n = env_count("CASES_COUNT", 40);

	if (s->rank)
		return;
	if (s->meet) {
		CHECK(!first_calls(), "faults in first calls");
		return;
	}
	for (int i = 0; i < n; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			_exit(first_calls());
		waitpid(pid, &status, 0);
		CHECK(!status, "process %d: status %x", i, (unsigned)status);
	}
}

/* ---- Cases 67, 70 and 71 ------------------------------------------------- */

/* Every rank with every other. */
static void all_pairs(struct seat *s, tuttiComm_t comm)
{
	for (int d = 1; d < s->ranks; d++) {
		int to = (s->rank + d) % s->ranks, got = -1;
		int from = (s->rank - d + s->ranks) % s->ranks;

		EXPECT(tuttiSend(&s->rank, 1, tuttiInt32, to, comm, NULL),
		       tuttiSuccess, NULL);
		EXPECT(tuttiRecv(&got, 1, tuttiInt32, from, comm, NULL),
		       tuttiSuccess, NULL);
		CHECK(got == from, "rank %d got %d from %d", s->rank, got,
		      from);
	}
}

/* Case 70: the script binds all ranks to one CPU. */
void life_crowd(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	int64_t v[1] = { 1 }, began = case_ms();

	for (int i = 0; i < 1000; i++) {
		v[0] = 1;
		EXPECT(tuttiAllReduce(v, v, 1, tuttiInt64, tuttiSum, comm,
				      NULL), tuttiSuccess, NULL);
	}
	CHECK(v[0] == s->ranks, "sum %d", (int)v[0]);
	CHECK(case_ms() - began < 30000, "1000 calls took %d ms",
	      (int)(case_ms() - began));
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* Case 67: with few descriptors it works, or every rank is told. */
void life_scarce(struct seat *s)
{
	tuttiComm_t comm = NULL;
	tuttiResult_t rc = tuttiCommInitEnv(&comm, NULL);

	if (rc) {
		CHECK(rc == tuttiSystemError || rc == tuttiRemoteError,
		      "result %d", (int)rc);
		EXPECT(rc, rc, "rank");
		if (rc == tuttiSystemError)
			EXPECT(rc, rc, "open files");
		return;
	}
	all_pairs(s, comm);
	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	tuttiCommDestroy(comm);
}

/* Case 71: each rank tells its share of memory; the script adds. */
void life_footprint(struct seat *s)
{
	tuttiComm_t comm = case_join(s);
	size_t count = 1 << 16;
	float *buf = calloc(4, count);
	char line[256];
	long pss = -1;
	FILE *f;

	all_pairs(s, comm);
	EXPECT(tuttiAllReduce(buf, buf, count, tuttiFloat, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Pss:", 4))
			pss = strtol(line + 4, NULL, 10);
	if (f)
		fclose(f);
	printf("pss %ld\n", pss);
	fflush(stdout);
	EXPECT(tuttiBarrier(comm, NULL), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	free(buf);
}

/* ---- Joining by one's own means ------------------------------------------ */

struct means {
	struct seat *s;
	tuttiComm_t comm;
	int fails_on;
};

static int by_comm(const void *send, void *recv, size_t bytes, void *context)
{
	struct means *m = context;
	tuttiResult_t rc = tuttiAllGather(send, recv, bytes, tuttiInt8,
					  m->comm, NULL);

	return rc ? (int)rc : m->s->rank == m->fails_on ? 42 : 0;
}

void life_user(struct seat *s)
{
	struct means m = { s, case_join(s), -1 };
	tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
	tuttiComm_t comm = NULL;
	tuttiResult_t rc;

	EXPECT(tuttiCommInitUser(&comm, s->ranks, s->rank, by_comm, &m, NULL),
	       tuttiSuccess, NULL);
	check_sum(s, 5, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	/* One fails; the others learn who did not come. */
	m.fails_on = s->ranks - 1;
	config.initTimeoutMs = 1500;
	rc = tuttiCommInitUser(&comm, s->ranks, s->rank, by_comm, &m, &config);
	if (s->rank == m.fails_on)
		EXPECT(rc, tuttiRemoteError, "all-gather", "42");
	else
		EXPECT(rc, rc ? rc : tuttiTimeout, "missing", "rank");
	EXPECT(tuttiBarrier(m.comm, NULL), tuttiSuccess, NULL);
	EXPECT(tuttiCommDestroy(m.comm), tuttiSuccess, NULL);
}

/* ---- Threads in processes ------------------------------------------------ */

struct half {
	struct seat seat;
	tuttiUniqueId id;
	pthread_t thread;
};

static void *be_half(void *arg)
{
	struct half *h = arg;
	tuttiComm_t comm = NULL;

	EXPECT(tuttiCommInitRank(&comm, h->seat.ranks, h->id, h->seat.rank),
	       tuttiSuccess, NULL);
	for (int i = 0; comm && i < 200; i++)
		check_sum(&h->seat, i, comm);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	return NULL;
}

/* Two ranks in each process, neighbours in different ones. */
void life_mixed(struct seat *s)
{
	tuttiComm_t base = case_join(s);
	struct half h[2];
	tuttiUniqueId id;

	if (s->rank == 0)
		EXPECT(tuttiGetUniqueId(&id), tuttiSuccess, NULL);
	EXPECT(tuttiBroadcast(&id, &id, sizeof(id), tuttiInt8, 0, base, NULL),
	       tuttiSuccess, NULL);
	for (int i = 0; i < 2; i++) {
		h[i].seat = (struct seat){ .rank = s->rank + i * s->ranks,
					   .ranks = 2 * s->ranks };
		h[i].id = id;
		if (pthread_create(&h[i].thread, NULL, be_half, &h[i]))
			exit(99);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(h[i].thread, NULL);
	check_sum(s, 7, base);
	EXPECT(tuttiCommDestroy(base), tuttiSuccess, NULL);
}
