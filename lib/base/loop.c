/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper thread.  One lock guards all watches; handlers run without it.
 * A watch that was removed is freed by the helper thread between two batches
 * of events, because the batch in hand may still name it.
 *
 * Who removes the last watch also joins the thread, so that no code of ours
 * runs once everything is gone; only if that happens in a handler is the
 * thread left to end by itself.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BATCH 64

struct tutti_watch {
	int fd;
	uint32_t events;
	tutti_watch_fn fn;
	void *arg;
	int64_t at_ns;		/* 0: never */
	bool removed;
	unsigned int forks;	/* of the process that made it */
	struct tutti_watch *next;
};

enum loop_state { LOOP_NONE, LOOP_RUNNING, LOOP_STOPPING };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;	/* state, or the handler in progress ended */
	enum loop_state state;
	unsigned int forks;	/* between the first process and this one */
	pthread_t thread;
	int epoll_fd, wake_fd;
	struct tutti_watch *watches, *garbage;
	struct tutti_watch *active;	/* whose handler runs */
} loop = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.epoll_fd = -1,
	.wake_fd = -1,
};

static void wake(void)
{
	/* Fails only if the counter is full, and then it is awake anyway. */
	eventfd_write(loop.wake_fd, 1);
}

/* Called with the lock. */
static bool in_loop(void)
{
	return loop.state != LOOP_NONE &&
	       pthread_equal(pthread_self(), loop.thread);
}

static void free_garbage(void)
{
	while (loop.garbage) {
		struct tutti_watch *w = loop.garbage;

		loop.garbage = w->next;
		free(w);
	}
}

/* Run one handler.  Called with the lock, returns with it. */
static void call(struct tutti_watch *w, uint32_t events)
{
	loop.active = w;
	pthread_mutex_unlock(&loop.lock);
	w->fn(w->arg, events);
	pthread_mutex_lock(&loop.lock);
	loop.active = NULL;
	pthread_cond_broadcast(&loop.changed);
}

/* Milliseconds until the next watch's time, -1: none. */
static int next_timeout(void)
{
	int64_t first = INT64_MAX, left;

	for (struct tutti_watch *w = loop.watches; w; w = w->next)
		if (w->at_ns && w->at_ns < first)
			first = w->at_ns;
	if (first == INT64_MAX)
		return -1;
	left = (first - tutti_now_ns() + 999999) / 1000000;
	return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

/* One handler may remove any watch, so start over after each. */
static void call_timers(void)
{
	int64_t now = tutti_now_ns();
	struct tutti_watch *w;

	do {
		for (w = loop.watches; w; w = w->next)
			if (w->at_ns && w->at_ns <= now)
				break;
		if (w) {
			w->at_ns = 0;
			call(w, 0);
		}
	} while (w);
}

static void *loop_main(void *arg)
{
	struct epoll_event ev[BATCH];
	bool self_stopped;

	(void)arg;
	pthread_mutex_lock(&loop.lock);
	while (loop.watches) {
		int ms = next_timeout();
		int n;

		pthread_mutex_unlock(&loop.lock);
		n = epoll_wait(loop.epoll_fd, ev, BATCH, ms);
		pthread_mutex_lock(&loop.lock);
		for (int i = 0; i < n; i++) {
			struct tutti_watch *w = ev[i].data.ptr;
			eventfd_t count;

			if (!w)
				eventfd_read(loop.wake_fd, &count);
			else if (!w->removed)
				call(w, ev[i].events);
		}
		call_timers();
		free_garbage();
	}
	free_garbage();
	self_stopped = loop.state == LOOP_RUNNING;
	tutti_close(&loop.epoll_fd);
	tutti_close(&loop.wake_fd);
	if (self_stopped) {
		pthread_detach(pthread_self());
		loop.state = LOOP_NONE;
		pthread_cond_broadcast(&loop.changed);
	}
	pthread_mutex_unlock(&loop.lock);
	return NULL;
}

/* In the child of a fork, which has neither the thread nor its locks. */
static void forget_parent(void)
{
	pthread_mutex_init(&loop.lock, NULL);
	pthread_cond_init(&loop.changed, NULL);
	loop.state = LOOP_NONE;
	loop.forks++;
	loop.watches = loop.garbage = loop.active = NULL;
	tutti_close(&loop.epoll_fd);
	tutti_close(&loop.wake_fd);
}

static void prepare_forks(void)
{
	/* Fails only without memory, and then start() will too. */
	pthread_atfork(NULL, NULL, forget_parent);
}

/* Start the thread.  Called with the lock. */
static tuttiResult_t start(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	sigset_t all, before;
	int err;

	loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop.epoll_fd < 0 || loop.wake_fd < 0 ||
	    epoll_ctl(loop.epoll_fd, EPOLL_CTL_ADD, loop.wake_fd, &ev)) {
		err = errno;
		goto err_close;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&loop.thread, NULL, loop_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		goto err_close;
	loop.state = LOOP_RUNNING;
	return tuttiSuccess;

err_close:
	tutti_close(&loop.epoll_fd);
	tutti_close(&loop.wake_fd);
	return tutti_fail_errno(err, "cannot start the helper thread (limits "
				"on threads and open files: ulimit -u -n)");
}

tuttiResult_t tutti_watch_add(struct tutti_watch **out, int fd,
			      uint32_t events, tutti_watch_fn fn, void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tutti_watch *w = calloc(1, sizeof(*w));
	struct epoll_event ev = { .events = events, .data.ptr = w };
	tuttiResult_t rc = tuttiSuccess;

	if (!w)
		return tutti_fail(tuttiSystemError, "out of memory");
	w->fd = fd;
	w->events = events;
	w->fn = fn;
	w->arg = arg;
	pthread_once(&once, prepare_forks);
	pthread_mutex_lock(&loop.lock);
	w->forks = loop.forks;
	/* A thread that has begun to end cannot take another watch; but a
	 * handler that removed the last may add one before it returns. */
	while (loop.state == LOOP_STOPPING ||
	       (loop.state == LOOP_RUNNING && !loop.watches && !in_loop()))
		pthread_cond_wait(&loop.changed, &loop.lock);
	w->next = loop.watches;
	loop.watches = w;
	/* The handler may run at once, so the caller's pointer comes first. */
	*out = w;
	if (loop.state == LOOP_NONE)
		rc = start();
	if (!rc && fd >= 0 &&
	    epoll_ctl(loop.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		rc = tutti_fail_errno(errno, "cannot watch descriptor %d", fd);
	if (rc) {
		*out = NULL;
		w->fd = -1;
		if (loop.state == LOOP_NONE) {
			loop.watches = NULL;
			free(w);
			w = NULL;
		}
	}
	pthread_mutex_unlock(&loop.lock);
	if (rc)
		tutti_watch_remove(w);
	return rc;
}

void tutti_watch_events(struct tutti_watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	pthread_mutex_lock(&loop.lock);
	w->events = events;
	if (w->fd >= 0 && !w->removed)
		epoll_ctl(loop.epoll_fd, EPOLL_CTL_MOD, w->fd, &ev);
	pthread_mutex_unlock(&loop.lock);
}

void tutti_watch_at(struct tutti_watch *w, int64_t when_ns)
{
	pthread_mutex_lock(&loop.lock);
	w->at_ns = when_ns;
	if (when_ns && !in_loop())
		wake();
	pthread_mutex_unlock(&loop.lock);
}

/* Stop the thread after its last watch went.  Called with the lock, returns
 * with it. */
static void stop(void)
{
	pthread_t thread = loop.thread;

	loop.state = LOOP_STOPPING;
	wake();
	pthread_mutex_unlock(&loop.lock);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&loop.lock);
	loop.state = LOOP_NONE;
	pthread_cond_broadcast(&loop.changed);
}

void tutti_watch_remove(struct tutti_watch *w)
{
	struct tutti_watch **p;
	bool inside;

	if (!w)
		return;
	pthread_mutex_lock(&loop.lock);
	if (w->forks != loop.forks) {
		/* Made by the parent of this process. */
		pthread_mutex_unlock(&loop.lock);
		free(w);
		return;
	}
	inside = in_loop();
	w->removed = true;
	if (w->fd >= 0)
		epoll_ctl(loop.epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	while (!inside && loop.active == w)
		pthread_cond_wait(&loop.changed, &loop.lock);
	for (p = &loop.watches; *p && *p != w; p = &(*p)->next)
		;
	if (*p)
		*p = w->next;
	w->next = loop.garbage;
	loop.garbage = w;
	if (!loop.watches && !inside && loop.state == LOOP_RUNNING)
		stop();
	pthread_mutex_unlock(&loop.lock);
}
