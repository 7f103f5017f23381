/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread: events, times, adding and removing from inside and
 * outside, its beginning and end, and what fork leaves of it.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/loop.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000LL
#define MANY 400

/* A watch and what happened to it. */
struct seen {
	struct tutti_watch *watch;
	int fd;
	_Atomic int calls;
	_Atomic uint32_t events;
	_Atomic int64_t last_ns;
	bool stay;		/* leave the event as it is */
	void (*then)(struct seen *s);
	struct seen *other;
};

static void on_event(void *arg, uint32_t events)
{
	struct seen *s = arg;
	eventfd_t n;

	atomic_store(&s->events, events);
	atomic_store(&s->last_ns, tutti_now_ns());
	if (s->fd >= 0 && events & EPOLLIN && !s->stay)
		eventfd_read(s->fd, &n);
	if (s->then)
		s->then(s);
	atomic_fetch_add(&s->calls, 1);
}

static void watch(struct seen *s, uint32_t events)
{
	s->fd = events ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
	cr_assert(!tutti_watch_add(&s->watch, s->fd, events, on_event, s));
}

static void unwatch(struct seen *s)
{
	tutti_watch_remove(s->watch);
	s->watch = NULL;
	if (s->fd >= 0)
		close(s->fd);
}

/* Wait until so many calls; false if they do not come. */
static bool called(struct seen *s, int calls)
{
	int64_t until = tutti_now_ns() + 10000 * MS;

	while (atomic_load(&s->calls) < calls && tutti_now_ns() < until)
		usleep(200);
	return atomic_load(&s->calls) >= calls;
}

static int count_entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static int threads(void)
{
	return count_entries("/proc/self/task");
}

static int descriptors(void)
{
	return count_entries("/proc/self/fd");
}

/* A thread that was joined may still be listed for a moment, and one that ends by
 * itself is gone a moment later. */
static bool threads_become(int n)
{
	int64_t until = tutti_now_ns() + 10000 * MS;

	while (threads() != n && tutti_now_ns() < until)
		usleep(500);
	return threads() == n;
}

Test(base_loop, event)
{
	struct seen s = { 0 };

	watch(&s, EPOLLIN);
	usleep(10000);
	cr_assert(!atomic_load(&s.calls));
	for (int i = 1; i <= 20; i++) {
		eventfd_write(s.fd, 1);
		cr_assert(called(&s, i));
		cr_assert(atomic_load(&s.events) == EPOLLIN);
	}
	unwatch(&s);
	cr_assert(atomic_load(&s.calls) == 20);
}

/* Once, and again when it is asked for; the event is still there then. */
Test(base_loop, oneshot)
{
	struct seen s = { .stay = true };

	watch(&s, EPOLLIN | EPOLLONESHOT);
	eventfd_write(s.fd, 1);
	for (int i = 1; i <= 20; i++) {
		cr_assert(called(&s, i));
		usleep(2000);
		cr_assert(atomic_load(&s.calls) == i);
		tutti_watch_events(s.watch, EPOLLIN | EPOLLONESHOT);
	}
	unwatch(&s);
}

Test(base_loop, other_events)
{
	struct seen s = { .stay = true };

	watch(&s, EPOLLIN);
	tutti_watch_events(s.watch, EPOLLOUT | EPOLLONESHOT);
	cr_assert(called(&s, 1));
	cr_assert(atomic_load(&s.events) == EPOLLOUT);
	tutti_watch_events(s.watch, 0);
	eventfd_write(s.fd, 1);
	usleep(10000);
	cr_assert(atomic_load(&s.calls) == 1);
	unwatch(&s);
}

Test(base_loop, times)
{
	struct seen s[3] = { 0 };
	int64_t began = tutti_now_ns();

	for (int i = 0; i < 3; i++) {
		watch(&s[i], 0);
		tutti_watch_at(s[i].watch, began + (60 - 20 * i) * MS);
	}
	for (int i = 2; i >= 0; i--) {
		cr_assert(called(&s[i], 1));
		cr_assert(atomic_load(&s[i].events) == 0);
		cr_assert(atomic_load(&s[i].last_ns) >=
			  began + (60 - 20 * i) * MS);
	}
	cr_assert(atomic_load(&s[2].last_ns) <= atomic_load(&s[1].last_ns));
	cr_assert(atomic_load(&s[1].last_ns) <= atomic_load(&s[0].last_ns));
	/* Each once; then a time that is past, and one that is taken back. */
	usleep(10000);
	cr_assert(atomic_load(&s[0].calls) == 1);
	tutti_watch_at(s[0].watch, 1);
	cr_assert(called(&s[0], 2));
	tutti_watch_at(s[1].watch, tutti_now_ns() + 30 * MS);
	tutti_watch_at(s[1].watch, 0);
	usleep(60000);
	cr_assert(atomic_load(&s[1].calls) == 1);
	/* A sooner time replaces one that the thread already sleeps for. */
	tutti_watch_at(s[2].watch, tutti_now_ns() + 3600000 * MS);
	usleep(5000);
	tutti_watch_at(s[2].watch, tutti_now_ns() + 10 * MS);
	cr_assert(called(&s[2], 2));
	for (int i = 0; i < 3; i++)
		unwatch(&s[i]);
}

static void again_soon(struct seen *s)
{
	tutti_watch_at(s->watch, tutti_now_ns() + MS);
}

Test(base_loop, periodic)
{
	struct seen s = { .then = again_soon };

	watch(&s, 0);
	tutti_watch_at(s.watch, 1);
	cr_assert(called(&s, 30));
	unwatch(&s);
}

/* A descriptor and a time on one watch. */
Test(base_loop, both)
{
	struct seen s = { 0 };

	watch(&s, EPOLLIN);
	tutti_watch_at(s.watch, tutti_now_ns() + 5 * MS);
	cr_assert(called(&s, 1));
	cr_assert(atomic_load(&s.events) == 0);
	eventfd_write(s.fd, 1);
	cr_assert(called(&s, 2));
	cr_assert(atomic_load(&s.events) == EPOLLIN);
	unwatch(&s);
}

/* ---- Adding and removing ------------------------------------------------ */

static void remove_self(struct seen *s)
{
	tutti_watch_remove(s->watch);
	s->watch = NULL;
}

Test(base_loop, removes_itself)
{
	int before = threads();

	for (int i = 0; i < 50; i++) {
		struct seen s = { .stay = true, .then = remove_self };

		watch(&s, EPOLLIN);
		eventfd_write(s.fd, 1);
		cr_assert(called(&s, 1));
		close(s.fd);
	}
	cr_assert(threads_become(before));
}

static void remove_other(struct seen *s)
{
	if (s->other && s->other->watch) {
		tutti_watch_remove(s->other->watch);
		s->other->watch = NULL;
	}
}

static void make_both_ready(struct seen *s)
{
	eventfd_write(s->other->fd, 1);
	eventfd_write(s->other->other->fd, 1);
}

/* Two that are ready at once, of which each removes the other: only one is
 * called, though both are in one batch. */
Test(base_loop, removes_another)
{
	for (int i = 0; i < 100; i++) {
		struct seen s[2] = { { .then = remove_other },
				     { .then = remove_other } };
		struct seen gate = { .then = make_both_ready,
				     .other = &s[0] };

		watch(&gate, EPOLLIN);
		for (int k = 0; k < 2; k++) {
			s[k].other = &s[1 - k];
			watch(&s[k], EPOLLIN);
		}
		for (int round = 1; round <= 2; round++) {
			eventfd_write(gate.fd, 1);
			cr_assert(called(&gate, round));
		}
		usleep(1000);
		cr_assert(!s[0].watch != !s[1].watch);
		for (int k = 0; k < 2; k++) {
			cr_assert(!atomic_load(&s[k].calls) == !s[k].watch);
			tutti_watch_remove(s[k].watch);
			close(s[k].fd);
		}
		unwatch(&gate);
	}
}

static struct seen late;

static void add_another(struct seen *s)
{
	if (late.watch)
		return;
	late.fd = -1;
	if (tutti_watch_add(&late.watch, -1, 0, on_event, &late))
		abort();
	tutti_watch_at(late.watch, 1);
}

Test(base_loop, adds_another)
{
	struct seen s = { .then = add_another };

	watch(&s, EPOLLIN);
	eventfd_write(s.fd, 1);
	cr_assert(called(&s, 1));
	cr_assert(called(&late, 1));
	unwatch(&late);
	unwatch(&s);
}

static void replace_self(struct seen *s)
{
	remove_self(s);
	add_another(s);
}

/* The last watch goes and another comes, in one call. */
Test(base_loop, replaces_itself)
{
	struct seen s = { .then = replace_self };
	int before = threads();

	watch(&s, EPOLLIN);
	eventfd_write(s.fd, 1);
	cr_assert(called(&late, 1));
	cr_assert(threads() == before + 1);
	unwatch(&late);
	cr_assert(threads_become(before));
	close(s.fd);
}

static void dawdle(struct seen *s)
{
	usleep(50000);
}

/* When remove returns, the handler does not run. */
Test(base_loop, remove_waits)
{
	struct seen keep = { 0 };

	watch(&keep, EPOLLIN);
	for (int i = 0; i < 5; i++) {
		struct seen s = { .then = dawdle };

		watch(&s, EPOLLIN);
		eventfd_write(s.fd, 1);
		while (!atomic_load(&s.events))
			usleep(100);
		tutti_watch_remove(s.watch);
		cr_assert(atomic_load(&s.calls) == 1);
		close(s.fd);
	}
	unwatch(&keep);
}

/* A handler that runs does not hold up the removal of another. */
Test(base_loop, remove_of_another_does_not_wait)
{
	struct seen slow = { .then = dawdle }, s = { 0 };
	struct seen keep = { 0 };

	watch(&keep, EPOLLIN);
	watch(&slow, EPOLLIN);
	watch(&s, EPOLLIN);
	eventfd_write(slow.fd, 1);
	while (!atomic_load(&slow.events))
		usleep(100);
	unwatch(&s);
	cr_assert(atomic_load(&slow.calls) == 0);
	cr_assert(called(&slow, 1));
	unwatch(&slow);
	unwatch(&keep);
}

Test(base_loop, many)
{
	static struct seen s[MANY];
	int before = threads(), fds = descriptors();

	for (int i = 0; i < MANY; i++)
		watch(&s[i], i % 2 ? EPOLLIN : 0);
	cr_assert(threads() == before + 1);
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < MANY; i++)
			if (i % 2)
				eventfd_write(s[i].fd, 1);
			else
				tutti_watch_at(s[i].watch,
					       tutti_now_ns() + i % 7 * MS);
		for (int i = 0; i < MANY; i++)
			cr_assert(called(&s[i], round), "%d", i);
	}
	for (int i = 0; i < MANY; i++)
		unwatch(&s[(i * 37 + 11) % MANY]);
	for (int i = 0; i < MANY; i++)
		cr_assert(atomic_load(&s[i].calls) == 3);
	cr_assert(threads_become(before));
	cr_assert(descriptors() == fds);
}

/* ---- The thread --------------------------------------------------------- */

Test(base_loop, begins_and_ends)
{
	int before = threads(), fds = descriptors();

	tutti_watch_remove(NULL);
	for (int i = 0; i < 100; i++) {
		struct seen s = { 0 };

		watch(&s, i % 2 ? EPOLLIN : 0);
		cr_assert(threads() == before + 1);
		if (i % 4 == 1) {
			eventfd_write(s.fd, 1);
			cr_assert(called(&s, 1));
		}
		unwatch(&s);
		cr_assert(threads_become(before));
		cr_assert(descriptors() == fds);
	}
}

static sigset_t seen_mask;

static void look_at_mask(struct seen *s)
{
	pthread_sigmask(SIG_SETMASK, NULL, &seen_mask);
}

/* case 65: signals go to the user's threads, whose masks stay. */
Test(base_loop, signals)
{
	struct seen s = { .then = look_at_mask };
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	watch(&s, 0);
	tutti_watch_at(s.watch, 1);
	cr_assert(called(&s, 1));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < 32; sig++) {
		cr_assert(sigismember(&before, sig) ==
			  sigismember(&after, sig));
		if (sig != SIGKILL && sig != SIGSTOP)
			cr_assert(sigismember(&seen_mask, sig) == 1, "%d",
				  sig);
	}
	unwatch(&s);
}

Test(base_loop, bad_descriptor)
{
	int before = threads(), fds = descriptors();
	struct seen keep = { 0 };
	struct tutti_watch *w = (void *)1;

	cr_assert(tutti_watch_add(&w, 1 << 20, EPOLLIN, on_event, NULL) ==
		  tuttiSystemError);
	cr_assert(!w);
	cr_assert(strstr(tutti_fail_text(), "Bad file descriptor"));
	cr_assert(threads_become(before) && descriptors() == fds);
	/* The same beside a watch that works. */
	watch(&keep, EPOLLIN);
	cr_assert(tutti_watch_add(&w, 1 << 20, EPOLLIN, on_event, NULL) ==
		  tuttiSystemError);
	eventfd_write(keep.fd, 1);
	cr_assert(called(&keep, 1));
	unwatch(&keep);
}

/* case 67: no descriptor left for the thread's own. */
Test(base_loop, too_few_descriptors)
{
	struct rlimit before, few;
	struct seen s = { .fd = -1 };
	int n = threads(), fds = descriptors();

	cr_assert(!getrlimit(RLIMIT_NOFILE, &before));
	few = before;
	few.rlim_cur = 3;
	cr_assert(!setrlimit(RLIMIT_NOFILE, &few));
	cr_assert(tutti_watch_add(&s.watch, -1, 0, on_event, &s) ==
		  tuttiSystemError);
	cr_assert(!setrlimit(RLIMIT_NOFILE, &before));
	cr_assert(strstr(tutti_fail_text(), "ulimit"));
	cr_assert(threads_become(n) && descriptors() == fds);
	watch(&s, EPOLLIN);
	eventfd_write(s.fd, 1);
	cr_assert(called(&s, 1));
	unwatch(&s);
}

/* ---- fork --------------------------------------------------------------- */

/* In the child: nothing of the parent's runs, and an own loop works. */
static int child_main(struct seen *parents)
{
	struct seen s = { .fd = parents->fd, .stay = true };
	int calls = atomic_load(&parents->calls);

	if (threads() != 1)
		return 1;
	if (tutti_watch_add(&s.watch, s.fd, EPOLLOUT | EPOLLONESHOT, on_event,
			    &s))
		return 2;
	if (!called(&s, 1))
		return 3;
	/* Removing the parent's watch does not touch that of the child, though
	 * it is of the same descriptor. */
	tutti_watch_remove(parents->watch);
	tutti_watch_events(s.watch, EPOLLOUT | EPOLLONESHOT);
	if (!called(&s, 2))
		return 4;
	tutti_watch_remove(s.watch);
	if (!threads_become(1) || atomic_load(&parents->calls) != calls)
		return 5;
	return 0;
}

Test(base_loop, fork, .timeout = 60)
{
	struct seen s = { 0 };

	watch(&s, EPOLLIN);
	eventfd_write(s.fd, 1);
	cr_assert(called(&s, 1));
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid = fork();

		cr_assert(pid >= 0);
		if (pid == 0)
			_exit(child_main(&s));
		eventfd_write(s.fd, 1);
		cr_assert(waitpid(pid, &status, 0) == pid);
		cr_assert(status == 0, "status %x", status);
		cr_assert(called(&s, i + 2));
	}
	unwatch(&s);
}

/* A child of a process whose loop is busy all the time. */
Test(base_loop, fork_while_busy, .timeout = 60)
{
	struct seen busy = { .then = again_soon }, other = { 0 };

	watch(&busy, 0);
	watch(&other, EPOLLIN);
	busy.stay = true;
	tutti_watch_at(busy.watch, 1);
	/* A thread that only begins may hold locks of a sanitizer. */
	cr_assert(called(&busy, 1));
	for (int i = 0; i < 50; i++) {
		int status;
		pid_t pid = fork();

		cr_assert(pid >= 0);
		if (pid == 0) {
			busy.then = NULL;
			_exit(child_main(&other));
		}
		cr_assert(waitpid(pid, &status, 0) == pid);
		cr_assert(status == 0, "status %x", status);
	}
	unwatch(&other);
	unwatch(&busy);
}
