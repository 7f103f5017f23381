/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a case of the conformance suite: ranks as threads or processes, the
 * memory they share, waiting with a deadline, messages whose bytes prove where
 * they come from.  A rank that fails records why and ends at once; the others
 * notice in their next wait.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/futex.h"
#include "conform/suite.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_NS 30000000000	/* of one case, on a loaded machine */
#define SLEEP_NS 10000000000	/* nobody sleeps so long in earnest */

static const uint8_t secret[16] = "conform secret!";

/* ---- Failing and meeting ------------------------------------------------ */

static void note_failure(struct xs_world *w, int rank, const char *text)
{
	if (!atomic_exchange(&w->failed, 1))
		snprintf(w->text, sizeof(w->text), "rank %d: %s", rank, text);
}

static void leave(struct xs_rank *r)
{
	if (r->mode == XS_PROCESSES)
		_exit(1);
	pthread_exit(NULL);
}

void xs_fail(struct xs_rank *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note_failure(r->world, r->rank, text);
	leave(r);
	abort();
}

/* Between two looks of any wait. */
static void watch_out(struct xs_rank *r)
{
	if (atomic_load(&r->world->failed))
		leave(r);
	if (tutti_now_ns() > r->world->deadline_ns)
		xs_fail(r, "waited too long");
}

void xs_turn(struct xs_rank *r)
{
	if (r->x && !r->ops->progress(r->x))
		sched_yield();
	watch_out(r);
}

void xs_barrier(struct xs_rank *r)
{
	struct xs_world *w = r->world;
	uint32_t generation = atomic_load(&w->generation);

	if (atomic_fetch_add(&w->arrived, 1) + 1 == (uint32_t)r->c->ranks) {
		atomic_store(&w->arrived, 0);
		atomic_fetch_add(&w->generation, 1);
		return;
	}
	/* What this rank posted may still be on its way out. */
	while (atomic_load(&w->generation) == generation) {
		if (r->x)
			r->ops->progress(r->x);
		usleep(100);
		watch_out(r);
	}
}

void xs_raise(struct xs_rank *r, int flag)
{
	atomic_fetch_add(&r->world->flags[flag], 1);
}

void xs_await(struct xs_rank *r, int flag, uint32_t times)
{
	while (atomic_load(&r->world->flags[flag]) < times)
		xs_turn(r);
}

uint64_t xs_random(struct xs_rank *r)
{
	r->random = tutti_mix(r->random, (uint64_t)r->rank);
	return r->random;
}

/* ---- A transport -------------------------------------------------------- */

void xs_open(struct xs_rank *r)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct tutti_xport_env env = {
		.rank = r->rank,
		.ranks = r->c->ranks,
		.secret = secret,
		.bell = &r->own_bell,
		.lines = r->c->lines,
		.slots = r->c->slots,
		.slot_bytes = r->c->slot_bytes,
		.seq_start = r->c->seq_start,
	};

	memcpy(env.address, &here, sizeof(here));
	if (r->ops->open(&r->x, &env))
		xs_fail(r, "open: %s", tutti_fail_text());
	xs_check(r, r->ops->addr_bytes <= TUTTI_ADDR_MAX);
	r->ops->local_addr(r->x, r->world->addrs +
			   (size_t)r->rank * r->ops->addr_bytes);
	xs_barrier(r);
	for (int i = 0; i < XS_RANKS; i++)
		r->world->reached[r->rank][i] = false;
}

static void make_channel(struct xs_rank *r, int peer, int lane)
{
	struct tutti_chan *c = &r->chan[peer][lane];

	memset(c, 0, sizeof(*c));
	c->ops = r->ops;
	c->x = r->x;
	c->peer = peer;
	c->lane = lane;
	c->lines = r->c->lines;
	c->slots = r->c->slots;
	c->slot_bytes = r->c->slot_bytes;
	tutti_chan_start(c, r->c->seq_start);
	if (r->ops->chan_init(r->x, c))
		xs_fail(r, "chan_init: %s", tutti_fail_text());
}

void xs_connect(struct xs_rank *r, const bool *want)
{
	struct xs_world *w = r->world;
	bool *reached = w->reached[r->rank];

	if (r->ops->connect(r->x, want, w->addrs, reached, w->deadline_ns))
		xs_fail(r, "connect: %s", tutti_fail_text());
	xs_barrier(r);
	for (int p = 0; p < r->c->ranks; p++) {
		bool should = p != r->rank && want[p];

		if (reached[p] != should || w->reached[p][r->rank] != should)
			xs_fail(r, "rank %d was %sreached", p,
				reached[p] ? "" : "not ");
		for (int lane = 0; should && lane < TUTTI_NET_LANES; lane++)
			make_channel(r, p, lane);
	}
	r->bell = r->ops->bell(r->x);
	if (!r->bell)
		r->bell = &r->own_bell;
}

void xs_close(struct xs_rank *r)
{
	r->ops->close(r->x);
	r->x = NULL;
}

/* ---- Messages ----------------------------------------------------------- */

uint32_t xs_tag(int from, int lane, uint64_t number)
{
	return (uint32_t)tutti_mix(tutti_mix((uint64_t)from, number),
				   (uint64_t)lane);
}

static uint64_t seed_of(int from, int lane, uint64_t number)
{
	return tutti_mix(number * 8 + (uint64_t)lane, (uint64_t)from);
}

static void write_pattern(void *to, size_t len, uint64_t seed)
{
	for (size_t at = 0; at < len; at += sizeof(seed)) {
		memcpy((char *)to + at, &seed,
		       tutti_min(sizeof(seed), len - at));
		seed = seed * 0x9e3779b97f4a7c15u + 1;
	}
}

/* The first byte that is not as written, or `len`. */
static size_t compare_pattern(const void *in, size_t len, uint64_t seed)
{
	for (size_t at = 0; at < len; at += sizeof(seed)) {
		if (memcmp((const char *)in + at, &seed,
			   tutti_min(sizeof(seed), len - at)))
			return at;
		seed = seed * 0x9e3779b97f4a7c15u + 1;
	}
	return len;
}

bool xs_try_send(struct xs_rank *r, int to, int lane, uint64_t number,
		 size_t len)
{
	struct tutti_chan *c = &r->chan[to][lane];

	if (!tutti_chan_can_send(c, len))
		return false;
	write_pattern(tutti_chan_tx(c, len), len,
		      seed_of(r->rank, lane, number));
	tutti_chan_post(c, len, xs_tag(r->rank, lane, number));
	r->ops->kick(c);
	return true;
}

void xs_send(struct xs_rank *r, int to, int lane, uint64_t number, size_t len)
{
	while (!xs_try_send(r, to, lane, number, len)) {
		const char *fault = r->ops->fault(&r->chan[to][lane]);

		if (fault)
			xs_fail(r, "no credit from rank %d: %s", to, fault);
		xs_turn(r);
	}
}

bool xs_try_recv(struct xs_rank *r, int from, int lane, uint64_t number,
		 size_t len)
{
	struct tutti_chan *c = &r->chan[from][lane];
	uint32_t want = xs_tag(from, lane, number), tag = want;
	const void *in = tutti_chan_rx(c, len, &tag);
	size_t same;

	if (!in)
		return false;
	if (tag != want)
		xs_fail(r, "message %llu from rank %d on lane %d has tag %x "
			"instead of %x", (unsigned long long)number, from,
			lane, tag, want);
	same = compare_pattern(in, len, seed_of(from, lane, number));
	if (same != len)
		xs_fail(r, "message %llu of %zu bytes from rank %d on lane %d "
			"is wrong at byte %zu", (unsigned long long)number,
			len, from, lane, same);
	tutti_chan_release(c, len);
	r->ops->kick(c);
	return true;
}

void xs_recv(struct xs_rank *r, int from, int lane, uint64_t number,
	     size_t len)
{
	while (!xs_try_recv(r, from, lane, number, len)) {
		const char *fault = r->ops->fault(&r->chan[from][lane]);

		if (fault)
			xs_fail(r, "message %llu of rank %d is missing: %s",
				(unsigned long long)number, from, fault);
		xs_turn(r);
	}
}

const void *xs_wait(struct xs_rank *r, int from, int lane, size_t len,
		    uint32_t *tag)
{
	const void *in;

	while (!(in = tutti_chan_rx(&r->chan[from][lane], len, tag)))
		xs_turn(r);
	return in;
}

void xs_sleep(struct xs_rank *r, bool (*ready)(struct xs_rank *r, void *arg),
	      void *arg)
{
	struct tutti_bell *bell = r->bell;

	while (!ready(r, arg)) {
		uint32_t rung = atomic_load(&bell->rung);
		int64_t began = tutti_now_ns();

		atomic_store(&bell->sleeping, 1);
		atomic_thread_fence(memory_order_seq_cst);
		if (!r->ops->arm(r->x) && !ready(r, arg)) {
			tutti_futex_wait(&bell->rung, rung, SLEEP_NS);
			if (tutti_now_ns() - began >= SLEEP_NS)
				xs_fail(r, "nobody rang the bell");
		}
		atomic_store(&bell->sleeping, 0);
		r->ops->progress(r->x);
		watch_out(r);
	}
}

/* ---- Running ------------------------------------------------------------ */

static void run_rank(struct xs_rank *r)
{
	bool all[XS_RANKS];

	memset(all, true, sizeof(all));
	if (!r->c->bare) {
		xs_open(r);
		xs_connect(r, all);
	}
	r->c->body(r);
	if (!r->c->bare)
		xs_close(r);
}

static void *thread_main(void *arg)
{
	run_rank(arg);
	return NULL;
}

static void run_threads(struct xs_rank *ranks, int n)
{
	pthread_t threads[XS_RANKS];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, thread_main, &ranks[i]))
			abort();
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* A child that neither ends nor fails is killed well after the deadline. */
static int wait_child(struct xs_world *w, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		usleep(1000);
		if (tutti_now_ns() > w->deadline_ns + SLEEP_NS)
			kill(pid, SIGKILL);
	}
	return status;
}

static void run_processes(struct xs_rank *ranks, int n)
{
	struct xs_world *w = ranks->world;
	pid_t pids[XS_RANKS];
	char text[64];

	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			abort();
		if (pids[i] == 0) {
			run_rank(&ranks[i]);
			_exit(0);
		}
	}
	for (int i = 0; i < n; i++) {
		int status = wait_child(w, pids[i]);

		if (!status || atomic_load(&w->may_die) & 1u << i)
			continue;
		snprintf(text, sizeof(text), "ended with status %x", status);
		note_failure(w, i, text);
	}
}

const char *xs_run(const struct tutti_xport_ops *ops, const struct xs_case *c,
		   enum xs_mode mode)
{
	static char text[640];
	struct xs_rank ranks[XS_RANKS];
	struct xs_world *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (w == MAP_FAILED)
		return "no memory";
	w->deadline_ns = tutti_now_ns() + RUN_NS;
	memset(ranks, 0, sizeof(ranks));
	for (int i = 0; i < c->ranks; i++) {
		ranks[i].world = w;
		ranks[i].ops = ops;
		ranks[i].c = c;
		ranks[i].mode = mode;
		ranks[i].rank = i;
		ranks[i].random = tutti_mix((uint64_t)i, 12345);
	}
	if (mode == XS_THREADS)
		run_threads(ranks, c->ranks);
	else
		run_processes(ranks, c->ranks);
	snprintf(text, sizeof(text), "%s, %s, ranks as %s: %s", ops->name,
		 c->name, mode == XS_THREADS ? "threads" : "processes",
		 w->text);
	mode = atomic_load(&w->failed);
	munmap(w, sizeof(*w));
	return mode ? text : NULL;
}
