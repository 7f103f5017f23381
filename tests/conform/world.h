/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks for tests: threads of one process, or the processes of a launcher.
 * Both run the same function, once for each rank.
 */
#ifndef TESTS_CONFORM_WORLD_H
#define TESTS_CONFORM_WORLD_H

#include <pthread.h>

#include "sched/shape.h"
#include "tutti.h"

struct world {
	int rank, ranks;
	tuttiComm_t comm;
	pthread_barrier_t *meet;	/* of threads; NULL: processes */
	void *arg;
};

/* Return only when all ranks have called it, without using what is tested if
 * the ranks are threads. */
void world_meet(struct world *w);

/* Change a setting for all ranks, between two operations of the
 * communicator.  NULL removes it.  Forgets remembered plans. */
void world_set(struct world *w, const char *name, const char *value);

/* Where the ranks sit, as the library found it. */
const struct tutti_shape *world_shape(const struct world *w);

/* Run `fn` on `ranks` threads, each with a communicator; returns the number of
 * ranks on which init failed or fn returned non-zero. */
int world_threads(int ranks, int (*fn)(struct world *), void *arg);

/* Run `fn` in this process, which a launcher started as one rank. */
int world_process(int (*fn)(struct world *), void *arg);

#endif
