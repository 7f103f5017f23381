/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as threads of one process: everything that several threads and the
 * helper thread share in the bootstrap.  A plain program, so that it runs
 * under ThreadSanitizer too.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "boot/boot_impl.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 1000000000LL
#define THREADS_MAX 128

static _Atomic int failures;

#define CHECK(ok, ...) \
	do { \
		if (!(ok)) { \
			atomic_fetch_add(&failures, 1); \
			fprintf(stderr, "%s:%d: ", __func__, __LINE__); \
			fprintf(stderr, __VA_ARGS__); \
			fprintf(stderr, " (%s)\n", tutti_fail_text()); \
		} \
	} while (0)

struct rank {
	pthread_t thread;
	const tuttiUniqueId *id;
	int n, rank;
	void (*body)(struct rank *r);
	struct tutti_boot *boot;
	tuttiResult_t rc;
	_Atomic int heard[TUTTI_NEWS_ROOT_LOST + 1];
};

static void join(struct rank *r)
{
	r->rc = tutti_boot_join(&r->boot, r->id, r->n, r->rank,
				tutti_now_ns() + 30 * SECONDS);
}

static void *run(void *arg)
{
	struct rank *r = arg;

	r->body(r);
	return NULL;
}

/* Run `body` as each of n ranks of a new id. */
static void run_ranks(struct rank *r, const tuttiUniqueId *id, int n,
		      void (*body)(struct rank *r))
{
	for (int i = 0; i < n; i++) {
		memset(&r[i], 0, sizeof(r[i]));
		r[i].id = id;
		r[i].n = n;
		r[i].rank = i;
		r[i].body = body;
		if (pthread_create(&r[i].thread, NULL, run, &r[i])) {
			fprintf(stderr, "cannot start thread %d\n", i);
			exit(1);
		}
	}
	for (int i = 0; i < n; i++)
		pthread_join(r[i].thread, NULL);
}

/* ---- Exchanges --------------------------------------------------------- */

static uint8_t byte_of(int rank, size_t round, size_t i)
{
	return (uint8_t)(rank * 7 + round * 13 + i * 31 + 1);
}

static void exchange(struct rank *r, size_t round, size_t bytes)
{
	uint8_t *mine = malloc(bytes + 1);
	uint8_t *all = malloc(bytes * (size_t)r->n + 1);
	tuttiResult_t rc;
	size_t wrong = 0;

	for (size_t i = 0; i < bytes; i++)
		mine[i] = byte_of(r->rank, round, i);
	all[bytes * (size_t)r->n] = 0x5a;
	rc = tutti_boot_allgather(r->boot, mine, all, bytes,
				  tutti_now_ns() + 30 * SECONDS);
	CHECK(!rc, "rank %d round %zu", r->rank, round);
	for (int k = 0; !rc && k < r->n; k++)
		for (size_t i = 0; i < bytes; i++)
			wrong += all[(size_t)k * bytes + i] !=
				 byte_of(k, round, i);
	CHECK(!wrong, "rank %d round %zu: %zu wrong", r->rank, round, wrong);
	CHECK(all[bytes * (size_t)r->n] == 0x5a, "written too far");
	free(mine);
	free(all);
}

static void exchange_body(struct rank *r)
{
	static const size_t sizes[] = { 1, 0, 100, 65536, 7, 4096, 1 };

	join(r);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		exchange(r, i, sizes[i]);
	tutti_boot_leave(r->boot);
}

static void test_exchange(struct rank *r)
{
	tuttiUniqueId id;

	for (int n = 1; n <= 9; n += 4) {
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, n, exchange_body);
	}
}

static void join_body(struct rank *r)
{
	join(r);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	exchange(r, 0, 8);
	tutti_boot_leave(r->boot);
}

/* Many greetings at once. */
static void test_crowd(struct rank *r)
{
	tuttiUniqueId id;

	CHECK(!tutti_boot_unique_id(&id), "id");
	run_ranks(r, &id, THREADS_MAX, join_body);
}

/* ---- News -------------------------------------------------------------- */

static void on_news(void *arg, const struct tutti_news *news)
{
	struct rank *r = arg;

	atomic_fetch_add(&r->heard[news->kind], 1);
}

static void await_news(struct rank *r, enum tutti_news_kind kind, int count)
{
	int64_t until = tutti_now_ns() + 20 * SECONDS;

	while (atomic_load(&r->heard[kind]) < count && tutti_now_ns() < until)
		usleep(500);
	CHECK(atomic_load(&r->heard[kind]) == count,
	      "rank %d heard %d of %d of kind %d", r->rank,
	      atomic_load(&r->heard[kind]), count, kind);
}

/* Everybody tells everybody; some listen late. */
static void news_body(struct rank *r)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ERROR, .rank = r->rank,
				   .code = tuttiTimeout, .text = "late" };
	enum { TIMES = 10 };

	join(r);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	if (r->rank % 2)
		tutti_boot_listen(r->boot, on_news, r);
	for (int i = 0; i < TIMES; i++)
		tutti_boot_tell(r->boot, &news);
	if (r->rank % 2 == 0)
		tutti_boot_listen(r->boot, on_news, r);
	await_news(r, TUTTI_NEWS_ERROR, TIMES * (r->n - 1));
	/* Nobody leaves before all have heard. */
	exchange(r, 1, 1);
	tutti_boot_leave(r->boot);
	CHECK(atomic_load(&r->heard[TUTTI_NEWS_DEATH]) == 0, "a false death");
	CHECK(atomic_load(&r->heard[TUTTI_NEWS_ROOT_LOST]) == 0,
	      "a false loss");
}

static void test_news(struct rank *r)
{
	tuttiUniqueId id;

	CHECK(!tutti_boot_unique_id(&id), "id");
	run_ranks(r, &id, 8, news_body);
}

/* To leave inside the handler is allowed. */
static void on_news_leave(void *arg, const struct tutti_news *news)
{
	struct rank *r = arg;

	tutti_boot_leave(r->boot);
	atomic_fetch_add(&r->heard[news->kind], 1);
}

static void leave_body(struct rank *r)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ABORT,
				   .rank = r->rank };

	join(r);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	if (r->rank) {
		tutti_boot_listen(r->boot, on_news_leave, r);
		await_news(r, TUTTI_NEWS_ABORT, 1);
	} else {
		tutti_boot_tell(r->boot, &news);
		tutti_boot_leave(r->boot);
	}
}

static void test_leave(struct rank *r)
{
	tuttiUniqueId id;

	for (int i = 0; i < 20; i++) {
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, 3, leave_body);
	}
}

/* Tell and leave at once, against the helper thread. */
static void race_body(struct rank *r)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ERROR,
				   .rank = r->rank };

	join(r);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	tutti_boot_listen(r->boot, on_news, r);
	for (int i = 0; i < 50; i++)
		tutti_boot_tell(r->boot, &news);
	tutti_boot_leave(r->boot);
}

static void test_race(struct rank *r)
{
	tuttiUniqueId id;

	for (int i = 0; i < 30; i++) {
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, 4, race_body);
	}
}

/* ---- Wrong use --------------------------------------------------------- */

static void expect_usage(struct rank *r)
{
	join(r);
	if (r->rc != tuttiInvalidUsage)
		CHECK(r->rc == tuttiSuccess, "rank %d: %d", r->rank, r->rc);
	if (!r->rc)
		tutti_boot_leave(r->boot);
}

static void half_body(struct rank *r)
{
	/* Ranks 0 and 1 of 2, twice over. */
	r->n = 2;
	r->rank %= 2;
	expect_usage(r);
}

static void sizes_body(struct rank *r)
{
	r->n = r->rank ? 3 : 2;
	r->rank = r->rank ? 1 : 0;
	expect_usage(r);
}

/* Case 8: an id used by two at once, with equal and with other sizes. */
static void test_double_use(struct rank *r)
{
	tuttiUniqueId id;
	int good = 0;

	for (int i = 0; i < 10; i++) {
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, 4, half_body);
		for (int k = 0; k < 4; k++)
			good += r[k].rc == tuttiSuccess;
		/* Either both of one pair, or nobody. */
		CHECK(good == 0 || good == 2, "%d of 4 joined", good);
		good = 0;
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, 2, sizes_body);
		CHECK(r[0].rc == tuttiInvalidUsage &&
		      r[1].rc == tuttiInvalidUsage, "%d and %d", r[0].rc,
		      r[1].rc);
	}
}

/* ---- Strangers --------------------------------------------------------- */

static _Atomic bool quiet;

static void *strangers(void *arg)
{
	const struct sockaddr_in *to = arg;

	while (!atomic_load(&quiet)) {
		struct linger hard = { 1, 0 };
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (const struct sockaddr *)to, sizeof(*to)))
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard,
				   sizeof(hard));
		close(fd);
		usleep(500);
	}
	return NULL;
}

/* Case 1, and many communicators one after another: nothing grows. */
static int count_open(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void test_churn(struct rank *r)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct tutti_id plain;
	tuttiUniqueId id;
	pthread_t thread;
	int before, after, wait_ms = 0;

	CHECK(!tutti_boot_unique_id(&id), "id");
	CHECK(!tutti_id_unpack(&plain, &id), "unpack");
	to.sin_port = htons(plain.port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	run_ranks(r, &id, 3, join_body);
	before = count_open("/proc/self/fd");
	if (pthread_create(&thread, NULL, strangers, &to))
		return;
	for (int i = 0; i < 100; i++) {
		CHECK(!tutti_boot_unique_id(&id), "id");
		run_ranks(r, &id, 3, join_body);
	}
	atomic_store(&quiet, true);
	pthread_join(thread, NULL);
	/* The last goodbyes are still being heard. */
	do {
		usleep(10000);
		after = count_open("/proc/self/fd");
	} while (after > before && (wait_ms += 10) < 5000);
	CHECK(after <= before, "descriptors: %d, then %d", before, after);
}

/* ---- The caller's all-gather ------------------------------------------- */

static pthread_barrier_t barrier;
static uint8_t board[THREADS_MAX][256];

static int by_board(const void *send, void *recv, size_t bytes, void *context)
{
	struct rank *r = context;

	if (r->n == 5 && r->rank == 3)
		return 42;
	memcpy(board[r->rank], send, bytes);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < r->n; i++)
		memcpy((uint8_t *)recv + (size_t)i * bytes, board[i], bytes);
	pthread_barrier_wait(&barrier);
	return 0;
}

static void user_body(struct rank *r)
{
	r->rc = tutti_boot_join_user(&r->boot, r->n, r->rank, by_board, r,
				     tutti_now_ns() + 30 * SECONDS);
	CHECK(!r->rc, "rank %d", r->rank);
	if (r->rc)
		return;
	exchange(r, 0, 16);
	tutti_boot_leave(r->boot);
}

static void test_user(struct rank *r)
{
	struct rank odd = { .n = 5, .rank = 3 };
	struct tutti_boot *b;

	pthread_barrier_init(&barrier, NULL, 4);
	run_ranks(r, NULL, 4, user_body);
	pthread_barrier_destroy(&barrier);
	CHECK(tutti_boot_join_user(&b, 5, 3, by_board, &odd, 1) ==
	      tuttiRemoteError, "a failed all-gather");
	CHECK(tutti_boot_join_user(&b, 5, 5, by_board, &odd, 1) ==
	      tuttiInvalidArgument, "a rank out of range");
}

/* ---- Fork -------------------------------------------------------------- */

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

/* What a child does that was forked from a process with a living
 * communicator: the same from the start, for itself. */
static int child(struct rank *r, struct tutti_boot *parents)
{
	tuttiUniqueId id;

	tutti_boot_leave(parents);
	if (tutti_boot_unique_id(&id))
		return 1;
	run_ranks(r, &id, 3, join_body);
	return atomic_load(&failures) != 0;
}

static void test_fork(struct rank *r)
{
	tuttiUniqueId id;
	pid_t pid;
	int status = -1;

	/* ThreadSanitizer allows no threads in a child of many threads. */
	if (UNDER_TSAN)
		return;
	CHECK(!tutti_boot_unique_id(&id), "id");
	r[10] = (struct rank){ .id = &id, .n = 1 };
	join(&r[10]);
	CHECK(!r[10].rc, "join");
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (pid == 0)
			_exit(child(r, r[10].boot));
		CHECK(pid > 0, "fork");
		waitpid(pid, &status, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the child: %d", status);
	}
	tutti_boot_leave(r[10].boot);
}

int main(void)
{
	static struct rank r[THREADS_MAX];

	alarm(120);
	test_exchange(r);
	test_crowd(r);
	test_news(r);
	test_leave(r);
	test_race(r);
	test_double_use(r);
	test_user(r);
	test_fork(r);
	test_churn(r);
	if (atomic_load(&failures))
		return 1;
	puts("all passed");
	return 0;
}
