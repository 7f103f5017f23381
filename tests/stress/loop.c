/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread under several threads that add, re-arm, time and remove
 * watches at random, some of which remove themselves.  A handler must never run
 * on what was removed, and every event that was asked for must come.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/loop.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define THREADS 4
#define WATCHES 8
#define ROUNDS 4000

struct item {
	struct tutti_watch *watch;
	int fd;
	_Atomic bool alive;		/* may be called */
	_Atomic uint32_t calls;
	bool suicidal;			/* removes itself when called */
};

static _Atomic int faults;

static void fault(const char *what)
{
	fprintf(stderr, "%s\n", what);
	atomic_fetch_add(&faults, 1);
}

static void on_event(void *arg, uint32_t events)
{
	struct item *it = arg;
	eventfd_t n;

	if (!atomic_load(&it->alive))
		fault("called after it was removed");
	if (events & EPOLLIN)
		eventfd_read(it->fd, &n);
	if (it->suicidal) {
		atomic_store(&it->alive, false);
		tutti_watch_remove(it->watch);
	}
	atomic_fetch_add(&it->calls, 1);
}

static void add(struct item *it, bool suicidal)
{
	it->suicidal = suicidal;
	atomic_store(&it->alive, true);
	if (tutti_watch_add(&it->watch, it->fd, EPOLLIN | EPOLLONESHOT,
			    on_event, it)) {
		fault("a watch could not be added");
		exit(1);
	}
}

/* Until it was called once more. */
static void await_call(struct item *it, uint32_t calls)
{
	int64_t until = tutti_now_ns() + 20000000000;

	while (atomic_load(&it->calls) == calls) {
		if (tutti_now_ns() > until) {
			fault("an event did not come");
			exit(1);
		}
		sched_yield();
	}
}

static void take(struct item *it)
{
	eventfd_t n;

	tutti_watch_remove(it->watch);
	atomic_store(&it->alive, false);
	eventfd_read(it->fd, &n);
}

/* One random thing with one watch that is not there before nor after, or is
 * there before and after. */
static void play(struct item *it, uint64_t dice)
{
	uint32_t calls = atomic_load(&it->calls);

	switch (dice % 6) {
	case 0:		/* there and gone, perhaps called in between */
		add(it, false);
		eventfd_write(it->fd, 1);
		take(it);
		break;
	case 1:
		add(it, true);
		eventfd_write(it->fd, 1);
		await_call(it, calls);
		break;
	case 2:
		add(it, true);
		tutti_watch_at(it->watch, tutti_now_ns() + 100000);
		await_call(it, calls);
		break;
	case 3:
		add(it, false);
		tutti_watch_at(it->watch, 1);
		take(it);
		break;
	default:
		add(it, false);
		for (uint64_t i = dice / 8 % 4; i; i--) {
			calls = atomic_load(&it->calls);
			eventfd_write(it->fd, 1);
			await_call(it, calls);
			tutti_watch_events(it->watch,
					   EPOLLIN | EPOLLONESHOT);
		}
		take(it);
	}
}

static void *thread_main(void *arg)
{
	struct item items[WATCHES] = { 0 };
	uint64_t dice = (uint64_t)(uintptr_t)arg;

	for (int i = 0; i < WATCHES; i++)
		items[i].fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (int round = 0; round < ROUNDS; round++) {
		dice = tutti_mix(dice, 5);
		play(&items[dice / 64 % WATCHES], dice);
	}
	for (int i = 0; i < WATCHES; i++)
		close(items[i].fd);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_main,
				   (void *)(i + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return atomic_load(&faults) != 0;
}
