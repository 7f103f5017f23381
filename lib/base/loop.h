/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One helper thread per process that sleeps in epoll and calls handlers when
 * descriptors are ready or time has passed.  Started by the first watch, ended
 * when the last is gone.  All signals are blocked in it.
 *
 * Handlers run in the helper thread, one at a time, and must not block.  A
 * handler may add and remove watches, its own too.
 */
#ifndef TUTTI_BASE_LOOP_H
#define TUTTI_BASE_LOOP_H

#include <stdint.h>

#include "tutti.h"

struct tutti_watch;

/* `events` is EPOLLIN, EPOLLOUT, EPOLLERR or EPOLLHUP, or 0 when the watch's
 * time has come. */
typedef void (*tutti_watch_fn)(void *arg, uint32_t events);

/* Watch `fd` (-1: only time) for `events` (EPOLLIN | EPOLLOUT | EPOLLONESHOT;
 * level triggered).  Errors: tuttiSystemError (thread or descriptor limit). */
tuttiResult_t tutti_watch_add(struct tutti_watch **out, int fd,
			      uint32_t events, tutti_watch_fn fn, void *arg);

/* Wait for other events from now on; re-arms EPOLLONESHOT.  Any thread. */
void tutti_watch_events(struct tutti_watch *w, uint32_t events);

/* Call the handler with 0 at `when_ns` of the monotonic clock; 0: never.  Any
 * thread. */
void tutti_watch_at(struct tutti_watch *w, int64_t when_ns);

/* Stop watching and free.  When it returns, the handler is not running and
 * never will be again, unless called from the handler itself.  Does not close
 * the descriptor.  NULL is allowed. */
void tutti_watch_remove(struct tutti_watch *w);

#endif
