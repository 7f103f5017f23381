/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deadline for calls that know none, such as a name service or a process
 * manager's library: they run in a thread of their own, on their own copy of
 * the arguments, and are left behind when time is up.
 */
#include "config.h"

#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct errand {
	pthread_mutex_t lock;
	pthread_cond_t done_cond;
	bool done;
	int users;		/* the caller and the thread */
	void (*fn)(void *arg);
	size_t size;
	max_align_t arg[];
};

/* Called with the lock, which it gives up. */
static void drop(struct errand *e)
{
	bool last = --e->users == 0;

	pthread_mutex_unlock(&e->lock);
	if (!last)
		return;
	pthread_cond_destroy(&e->done_cond);
	pthread_mutex_destroy(&e->lock);
	tutti_auth_forget(e->arg, e->size);	/* may hold a secret */
	free(e);
}

static void *run(void *arg)
{
	struct errand *e = arg;

	e->fn(e->arg);
	pthread_mutex_lock(&e->lock);
	e->done = true;
	pthread_cond_signal(&e->done_cond);
	drop(e);
	return NULL;
}

static struct errand *create(void (*fn)(void *arg), const void *arg,
			     size_t size)
{
	struct errand *e = malloc(sizeof(*e) + size);
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->done_cond, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&e->lock, NULL);
	e->users = 1;
	e->fn = fn;
	e->size = size;
	memcpy(e->arg, arg, size);
	return e;
}

int tutti_bounded(void (*fn)(void *arg), void *arg, size_t size,
		  int64_t deadline_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / 1000000000),
		.tv_nsec = (long)(deadline_ns % 1000000000),
	};
	struct errand *e = create(fn, arg, size);
	sigset_t all, before;
	pthread_t thread;
	int err;

	if (!e)
		return ENOMEM;
	pthread_mutex_lock(&e->lock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err) {
		e->users++;
		pthread_detach(thread);
		while (!e->done && !err)
			err = pthread_cond_timedwait(&e->done_cond, &e->lock,
						     &until);
		if (e->done) {
			memcpy(arg, e->arg, size);
			err = 0;
		}
	}
	drop(e);
	return err;
}
