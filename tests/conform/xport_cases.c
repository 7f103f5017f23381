/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of the conformance suite.  Each is run by every rank, on every
 * transport of the registry.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "conform/suite.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define K 1024

static const size_t edges[] = { 0, 1, 8, 55, 56, 57, 64, 4095 };

/* The length of message `number`; both ends compute it. */
static size_t length_of(const struct xs_rank *r, int from, int to, int lane,
			uint64_t number)
{
	uint64_t h = tutti_mix(number, (uint64_t)(from * 64 + to * 8 + lane));
	size_t n;

	if (h % 2)
		n = h / 2 % (r->c->slot_bytes + 1);
	else if (h / 2 % 9 == 8)
		n = r->c->slot_bytes;
	else
		n = edges[h / 2 % 9];
	return tutti_min(n, r->c->slot_bytes);
}

/* ---- Everything at once ------------------------------------------------- */

#define MESSAGES 150

struct soak {
	int sent[XS_RANKS][TUTTI_NET_LANES], got[XS_RANKS][TUTTI_NET_LANES];
	int left;
};

/* One look at one channel; true if a message moved. */
static bool soak_step(struct xs_rank *r, struct soak *s, int peer, int lane)
{
	int *sent = &s->sent[peer][lane], *got = &s->got[peer][lane];
	bool moved = false;

	if (*sent < MESSAGES &&
	    xs_try_send(r, peer, lane, (uint64_t)*sent,
			length_of(r, r->rank, peer, lane, (uint64_t)*sent))) {
		++*sent;
		moved = true;
	}
	/* Now and then a receiver is slow, so that credits run out. */
	if (*got < MESSAGES && xs_random(r) % 8 &&
	    xs_try_recv(r, peer, lane, (uint64_t)*got,
			length_of(r, peer, r->rank, lane, (uint64_t)*got))) {
		++*got;
		moved = true;
	}
	s->left += *sent < MESSAGES || *got < MESSAGES;
	return moved;
}

static bool soak_round(struct xs_rank *r, struct soak *s)
{
	bool moved = false;

	s->left = 0;
	for (int p = 0; p < r->c->ranks; p++)
		for (int lane = 0; p != r->rank && lane < TUTTI_NET_LANES;
		     lane++)
			moved |= soak_step(r, s, p, lane);
	return moved;
}

/* All pairs, all lanes, both directions, every size, credits exhausted. */
static void soak(struct xs_rank *r)
{
	struct soak s = { .left = 1 };

	while (s.left)
		if (!soak_round(r, &s))
			xs_turn(r);
	while (!r->ops->flushed(r->x))
		xs_turn(r);
	xs_barrier(r);
}

/* Whether soak_step could move a message of this channel. */
static bool can_step(struct xs_rank *r, struct soak *s, int peer, int lane)
{
	struct tutti_chan *c = &r->chan[peer][lane];
	int sent = s->sent[peer][lane], got = s->got[peer][lane];
	uint32_t tag = xs_tag(peer, lane, (uint64_t)got);

	if (sent < MESSAGES &&
	    tutti_chan_can_send(c, length_of(r, r->rank, peer, lane,
					     (uint64_t)sent)))
		return true;
	return got < MESSAGES &&
	       tutti_chan_rx(c, length_of(r, peer, r->rank, lane,
					  (uint64_t)got), &tag);
}

static bool can_soak(struct xs_rank *r, void *arg)
{
	for (int p = 0; p < r->c->ranks; p++)
		for (int lane = 0; p != r->rank && lane < TUTTI_NET_LANES;
		     lane++)
			if (can_step(r, arg, p, lane))
				return true;
	return false;
}

/* The same with ranks that sleep whenever nothing can move: a ring must come
 * for messages, for credits, and for a socket that takes bytes again. */
static void soak_asleep(struct xs_rank *r)
{
	struct soak s = { .left = 1 };

	while (s.left) {
		if (xs_random(r) % 64 == 0)
			usleep(xs_random(r) % 300);
		if (!soak_round(r, &s) && s.left)
			xs_sleep(r, can_soak, &s);
	}
	xs_barrier(r);
}

/* ---- Order and sizes ---------------------------------------------------- */

static void sizes(struct xs_rank *r)
{
	uint64_t number = 0;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i <= tutti_countof(edges); i++) {
			size_t len = i < tutti_countof(edges) ? edges[i] :
				     r->c->slot_bytes;
			int lane = round % TUTTI_NET_LANES;

			xs_send(r, 1 - r->rank, lane, number, len);
			xs_recv(r, 1 - r->rank, lane, number, len);
			number++;
		}
	}
	xs_barrier(r);
}

/* ---- Credits ------------------------------------------------------------ */

/* Post until there is no credit; returns how many went. */
static uint32_t exhaust(struct xs_rank *r, int lane, uint64_t first,
			size_t len)
{
	uint32_t n = 0;

	while (xs_try_send(r, 1, lane, first + n, len))
		xs_check(r, ++n <= r->c->lines);
	return n;
}

/* Until no more than half of the credits are out. */
static void wait_credits(struct xs_rank *r, struct tutti_chan *c)
{
	while (r->ops->acked(c) + c->lines / 2 < c->tx_msg)
		xs_turn(r);
}

/* A sender gets exactly its credits without the receiver's help, other lanes
 * go on, and a single release lets it go on by one. */
static void credits(struct xs_rank *r)
{
	const size_t lens[] = { 8, r->c->slot_bytes };

	for (int k = 0; k < 2; k++) {
		uint32_t most = k ? r->c->slots : r->c->lines;
		uint64_t first = k ? r->c->lines + 5 : 0;

		if (r->rank == 0) {
			wait_credits(r, &r->chan[1][0]);
			xs_check(r, exhaust(r, 0, first, lens[k]) == most);
			xs_send(r, 1, 1, (uint64_t)k, 20);
			xs_raise(r, k);
			for (uint64_t i = most; i < most + 5; i++) {
				xs_send(r, 1, 0, first + i, lens[k]);
				xs_check(r, !tutti_chan_can_send(
					&r->chan[1][0], lens[k]));
				xs_raise(r, 2 + k);
			}
			xs_barrier(r);
			continue;
		}
		xs_await(r, k, 1);
		xs_recv(r, 0, 1, (uint64_t)k, 20);
		for (uint64_t i = 0; i < most + 5; i++) {
			xs_recv(r, 0, 0, first + i, lens[k]);
			if (i < 5)
				xs_await(r, 2 + k, (uint32_t)i + 1);
		}
		xs_barrier(r);
	}
}

/* Both fill every lane before either reads. */
static void head_to_head(struct xs_rank *r)
{
	int peer = 1 - r->rank;

	for (uint64_t round = 0; round < 10; round++) {
		uint64_t first = round * r->c->slots;

		for (uint64_t i = 0; i < r->c->slots; i++)
			for (int lane = 0; lane < TUTTI_NET_LANES; lane++)
				xs_send(r, peer, lane, first + i,
					r->c->slot_bytes);
		for (int lane = 0; lane < TUTTI_NET_LANES; lane++)
			for (uint64_t i = 0; i < r->c->slots; i++)
				xs_recv(r, peer, lane, first + i,
					r->c->slot_bytes);
	}
	xs_barrier(r);
}

/* ---- Tags and lengths --------------------------------------------------- */

static void tags(struct xs_rank *r)
{
	static const struct {
		size_t sent, expected;
	} t[] = {
		{ 8, 8 }, { 0, 0 }, { 56, 56 }, { 100, 100 }, { 10, 20 },
		{ 20, 10 }, { 0, 1 }, { 56, 57 }, { 57, 56 }, { 8, 4096 },
		{ 4096, 8 }, { 1000, 1001 }, { 4096, 64 },
	};

	/* A length that differs ends all use of a channel, so there is a new
	 * one for each: lanes in turn, and no more than there are. */
	for (size_t i = 0; i < tutti_countof(t); i++) {
		struct tutti_chan *c = &r->chan[1 - r->rank][0];
		uint32_t tag = 0x5000 + (uint32_t)i, seen = tag;

		if (i)
			xs_open(r);
		if (i)
			xs_connect(r, (bool[XS_RANKS]){ true, true });
		if (r->rank == 0) {
			memset(tutti_chan_tx(c, t[i].sent), 0, t[i].sent);
			tutti_chan_post(c, t[i].sent, tag);
			r->ops->kick(c);
		} else {
			xs_wait(r, 0, 0, t[i].expected, &seen);
			if ((seen == tag) != (t[i].sent == t[i].expected))
				xs_fail(r, "%zu bytes seen as %zu have tag %x",
					t[i].sent, t[i].expected, seen);
		}
		xs_barrier(r);
		if (i + 1 < tutti_countof(t))
			xs_close(r);
	}
}

/* ---- Sleeping ----------------------------------------------------------- */

#define PING_PONGS 10000

struct expected {
	int from;
	uint64_t number;
};

static bool ping_ready(struct xs_rank *r, void *arg)
{
	struct expected *e = arg;
	uint32_t tag = 0;

	return tutti_chan_rx(&r->chan[e->from][e->number % TUTTI_NET_LANES], 8,
			     &tag) != NULL;
}

/* Two ranks that wake one another; the moments are random, so that the ring
 * meets the sleeper before, while and after it falls asleep. */
static void ping_pong(struct xs_rank *r)
{
	struct expected e = { .from = 1 - r->rank };

	for (e.number = 0; e.number < PING_PONGS; e.number++) {
		int lane = (int)(e.number % TUTTI_NET_LANES);
		uint64_t dice = xs_random(r);

		if (dice % 64 == 0)
			usleep(dice / 64 % 100);
		for (uint64_t i = dice / 8 % 2000; dice % 8 == 1 && i; i--)
			tutti_relax();
		if (r->rank == 0)
			xs_send(r, 1, lane, e.number, 8);
		xs_sleep(r, ping_ready, &e);
		xs_recv(r, e.from, lane, e.number, 8);
		if (r->rank == 1)
			xs_send(r, 0, lane, e.number, 8);
	}
	xs_barrier(r);
}

static bool answered(struct xs_rank *r, void *arg)
{
	uint32_t tag = 0;

	return tutti_chan_rx(&r->chan[1][0], 1, &tag) != NULL;
}

/* More than any socket takes is posted, then the sender sleeps: it must be woken
 * to send the rest. */
static void blocked_sleeper(struct xs_rank *r)
{
	const size_t len = r->c->slot_bytes;

	if (r->rank == 0) {
		for (uint64_t i = 0; i < r->c->slots; i++)
			for (int lane = 0; lane < TUTTI_NET_LANES; lane++)
				xs_send(r, 1, lane, i, len);
		xs_raise(r, 0);
		xs_sleep(r, answered, NULL);
		xs_recv(r, 1, 0, 0, 1);
	} else {
		xs_await(r, 0, 1);
		usleep(20000);
		for (int lane = 0; lane < TUTTI_NET_LANES; lane++)
			for (uint64_t i = 0; i < r->c->slots; i++)
				xs_recv(r, 0, lane, i, len);
		xs_send(r, 0, 0, 0, 1);
	}
	xs_barrier(r);
}

/* An idle rank that waits for a ring uses no CPU, and nor does any helper. */
static void idle(struct xs_rank *r)
{
	struct timespec before, after;
	int64_t until = tutti_now_ns() + 200000000, used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	while (tutti_now_ns() < until) {
		atomic_store(&r->bell->sleeping, 1);
		atomic_thread_fence(memory_order_seq_cst);
		xs_check(r, !r->ops->arm(r->x));
		usleep(50000);
		atomic_store(&r->bell->sleeping, 0);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	used = (after.tv_sec - before.tv_sec) * 1000000000 +
	       (after.tv_nsec - before.tv_nsec);
	if (used > 100000000)
		xs_fail(r, "an idle rank used %lld us",
			(long long)used / 1000);
	xs_barrier(r);
}

/* ---- Peers that leave --------------------------------------------------- */

#define LAST 5

/* Wait for a flag without moving bytes. */
static void await_deaf(struct xs_rank *r, int flag)
{
	while (!atomic_load(&r->world->flags[flag])) {
		usleep(100);
		if (tutti_now_ns() > r->world->deadline_ns)
			xs_fail(r, "waited too long");
	}
}

/* What a leaving rank sends; what it was sent stays unread. */
static void say_farewell(struct xs_rank *r)
{
	await_deaf(r, 0);
	for (uint64_t i = 0; i < LAST; i++)
		xs_send(r, 0, (int)(i % TUTTI_NET_LANES), i,
			i % 2 ? r->c->slot_bytes : 30);
	while (!r->ops->flushed(r->x))
		xs_turn(r);
}

/* All that was sent before is there, then the fault, in as far as the
 * transport can see it. */
static void read_farewell(struct xs_rank *r)
{
	struct tutti_chan *c = &r->chan[1][0];
	bool blind = r->ops->fault == tutti_xport_fault_none;

	for (uint64_t i = 0; i < 3; i++)
		xs_send(r, 1, 0, i, r->c->slot_bytes);
	xs_raise(r, 0);
	await_deaf(r, 1);
	usleep(1000);
	for (uint64_t i = 0; i < LAST; i++)
		xs_recv(r, 1, (int)(i % TUTTI_NET_LANES), i,
			i % 2 ? r->c->slot_bytes : 30);
	while (!blind && !r->ops->fault(c))
		xs_turn(r);
	if (!blind && !strstr(r->ops->fault(c), "rank 1"))
		xs_fail(r, "the fault names nobody: %s", r->ops->fault(c));
	/* It goes on to show, and nothing crashes on it. */
	if (tutti_chan_can_send(c, 8)) {
		tutti_chan_tx(c, 8);
		tutti_chan_post(c, 8, 1);
		r->ops->kick(c);
	}
	r->ops->progress(r->x);
	xs_check(r, blind || r->ops->fault(c));
	xs_check(r, blind || r->ops->flushed(r->x));
}

static void peer_closes(struct xs_rank *r)
{
	if (r->rank == 1) {
		say_farewell(r);
		xs_close(r);
		xs_raise(r, 1);
		return;
	}
	read_farewell(r);
}

/* case 59: a process may end right after its last message has gone. */
static void peer_exits(struct xs_rank *r)
{
	if (r->rank == 1) {
		say_farewell(r);
		xs_raise(r, 1);
		_exit(0);
	}
	read_farewell(r);
}

static void peer_is_killed(struct xs_rank *r)
{
	if (r->rank == 1) {
		atomic_fetch_or(&r->world->may_die, 2);
		say_farewell(r);
		xs_raise(r, 1);
		raise(SIGKILL);
	}
	read_farewell(r);
}

/* A survivor that sleeps is woken by the death, where the transport sees it. */
static bool sees_fault(struct xs_rank *r, void *arg)
{
	return r->ops->fault(&r->chan[1][0]) != NULL;
}

static void death_wakes(struct xs_rank *r)
{
	if (r->ops->fault == tutti_xport_fault_none)
		return;
	if (r->rank == 1) {
		atomic_fetch_or(&r->world->may_die, 2);
		usleep(20000);
		raise(SIGKILL);
	}
	xs_sleep(r, sees_fault, NULL);
}

/* ---- Life --------------------------------------------------------------- */

static int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Open and close at every stage, many times; nothing stays. */
static void lives(struct xs_rank *r)
{
	bool none[XS_RANKS] = { false }, all[XS_RANKS];
	int before = 0;

	memset(all, true, sizeof(all));
	r->ops->close(NULL);
	for (int i = 0; i < 12; i++) {
		xs_open(r);
		if (i % 3 == 1)
			xs_connect(r, none);
		if (i % 3 == 2) {
			xs_connect(r, all);
			xs_send(r, (r->rank + 1) % r->c->ranks, 0, 0, 8);
		}
		xs_barrier(r);
		xs_close(r);
		xs_barrier(r);
		if (r->rank == 0 && i >= 2) {
			int now = count_descriptors();

			before = i == 2 ? now : before;
			if (now > before)
				xs_fail(r, "%d descriptors became %d", before,
					now);
		}
		xs_barrier(r);
	}
}

/* Close as soon as all have connected, while helper threads may still be busy
 * with that. */
static void hasty(struct xs_rank *r)
{
	bool all[XS_RANKS];

	memset(all, true, sizeof(all));
	for (int i = 0; i < 40; i++) {
		xs_open(r);
		xs_connect(r, all);
		xs_close(r);
	}
}

/* Only the other rank of a pair is wanted; the others stay unreached. */
static void some_wanted(struct xs_rank *r)
{
	bool want[XS_RANKS] = { false };
	uint32_t tag;

	for (int p = 0; p < r->c->ranks; p++)
		want[p] = p == (r->rank ^ 1);
	xs_open(r);
	xs_connect(r, want);
	for (int p = 0; p < r->c->ranks; p++)
		if (want[p])
			xs_send(r, p, 2, 7, 1000);
	for (int p = 0; p < r->c->ranks; p++)
		if (want[p])
			xs_recv(r, p, 2, 7, 1000);
	for (int p = 0; p < r->c->ranks; p++)
		xs_check(r, !want[p] ||
			 !tutti_chan_rx(&r->chan[p][2], 8, &tag));
	xs_barrier(r);
	xs_close(r);
}

/* ---- The list ----------------------------------------------------------- */

#define NEAR(power) ((UINT64_C(1) << (power)) - 40)

const struct xs_case xs_cases[] = {
	{ "sizes", 2, 16, 4, 8 * K, 0, sizes, XS_BOTH, false },
	{ "soak", 3, 64, 8, 64 * K, 0, soak, XS_BOTH, false },
	{ "soak with few credits", 4, 4, 2, 4 * K, 0, soak, XS_BOTH, false },
	{ "soak from 2^31, case 29", 2, 16, 4, 8 * K, NEAR(31), soak, XS_BOTH,
	  false },
	{ "soak from 2^32, case 29", 2, 16, 4, 8 * K, NEAR(32), soak, XS_BOTH,
	  false },
	{ "soak from 2^63, case 29", 2, 16, 4, 8 * K, NEAR(63), soak, XS_BOTH,
	  false },
	{ "soak of sleepers", 3, 8, 2, 32 * K, 0, soak_asleep, XS_BOTH, false },
	{ "credits", 2, 16, 4, 8 * K, 0, credits, XS_BOTH, false },
	{ "credits, few", 2, 4, 2, 64 * K, 0, credits, XS_BOTH, false },
	{ "head to head", 2, 16, 4, 512 * K, 0, head_to_head, XS_BOTH, false },
	{ "tags", 2, 16, 4, 8 * K, 0, tags, XS_BOTH, false },
	{ "ping-pong of sleepers", 2, 16, 4, 8 * K, 0, ping_pong, XS_BOTH,
	  false },
	{ "blocked sleeper", 2, 16, 8, 1024 * K, 0, blocked_sleeper, XS_BOTH,
	  false },
	{ "idle", 2, 16, 4, 8 * K, 0, idle, XS_BOTH, false },
	{ "peer closes, case 59", 2, 16, 8, 16 * K, 0, peer_closes, XS_BOTH,
	  false },
	{ "peer exits, case 59", 2, 16, 8, 16 * K, 0, peer_exits,
	  1u << XS_PROCESSES, false },
	{ "peer is killed", 2, 16, 8, 16 * K, 0, peer_is_killed,
	  1u << XS_PROCESSES, false },
	{ "death wakes", 2, 16, 8, 16 * K, 0, death_wakes, 1u << XS_PROCESSES,
	  false },
	{ "lives", 3, 16, 4, 8 * K, 0, lives, XS_BOTH, true },
	{ "hasty", 3, 16, 4, 8 * K, 0, hasty, XS_BOTH, true },
	{ "some wanted", 4, 16, 4, 8 * K, 0, some_wanted, XS_BOTH, true },
};

const int xs_case_count = (int)tutti_countof(xs_cases);
