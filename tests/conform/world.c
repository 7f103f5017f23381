/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads or processes as ranks.
 */
#include "config.h"

#include "base/settings.h"
#include "comm/comm.h"
#include "conform/world.h"

#include <stdio.h>
#include <stdlib.h>

void world_meet(struct world *w)
{
	if (w->meet)
		pthread_barrier_wait(w->meet);
	else
		tuttiBarrier(w->comm, NULL);
}

void world_set(struct world *w, const char *name, const char *value)
{
	world_meet(w);
	if (!w->meet || w->rank == 0) {
		if (value)
			setenv(name, value, 1);
		else
			unsetenv(name);
		tutti_settings_reload();
	}
	/* Not the library's barrier: its plan may just have changed. */
	if (w->meet)
		pthread_barrier_wait(w->meet);
	tutti_plans_free(w->comm);
}

const struct tutti_shape *world_shape(const struct world *w)
{
	return &w->comm->shape;
}

struct seat {
	struct world world;
	tuttiUniqueId id;
	int (*fn)(struct world *);
	int failed;
	pthread_t thread;
};

static void *sit(void *arg)
{
	struct seat *s = arg;
	tuttiResult_t rc = tuttiCommInitRank(&s->world.comm, s->world.ranks,
					     s->id, s->world.rank);

	if (rc) {
		fprintf(stderr, "rank %d: init: %s\n", s->world.rank,
			tuttiGetLastError(NULL));
		s->failed = 1;
		return NULL;
	}
	s->failed = s->fn(&s->world) != 0;
	rc = tuttiCommDestroy(s->world.comm);
	if (rc) {
		fprintf(stderr, "rank %d: destroy: %s\n", s->world.rank,
			tuttiGetLastError(NULL));
		s->failed = 1;
	}
	return NULL;
}

int world_threads(int ranks, int (*fn)(struct world *), void *arg)
{
	struct seat *seats = calloc((size_t)ranks, sizeof(*seats));
	pthread_barrier_t meet;
	tuttiUniqueId id;
	int failed = 0;

	if (!seats || tuttiGetUniqueId(&id)) {
		fprintf(stderr, "no unique id: %s\n", tuttiGetLastError(NULL));
		free(seats);
		return ranks;
	}
	pthread_barrier_init(&meet, NULL, (unsigned int)ranks);
	for (int r = 0; r < ranks; r++) {
		seats[r].world = (struct world){ .rank = r, .ranks = ranks,
						 .meet = &meet, .arg = arg };
		seats[r].id = id;
		seats[r].fn = fn;
		if (pthread_create(&seats[r].thread, NULL, sit, &seats[r]))
			abort();
	}
	for (int r = 0; r < ranks; r++) {
		pthread_join(seats[r].thread, NULL);
		failed += seats[r].failed;
	}
	pthread_barrier_destroy(&meet);
	free(seats);
	return failed;
}

int world_process(int (*fn)(struct world *), void *arg)
{
	struct world w = { .arg = arg };
	int failed;

	if (tuttiCommInitEnv(&w.comm, NULL)) {
		fprintf(stderr, "init: %s\n", tuttiGetLastError(NULL));
		return 1;
	}
	tuttiCommCount(w.comm, &w.ranks);
	tuttiCommUserRank(w.comm, &w.rank);
	failed = fn(&w) != 0;
	if (tuttiCommDestroy(w.comm)) {
		fprintf(stderr, "rank %d: destroy: %s\n", w.rank,
			tuttiGetLastError(NULL));
		failed = 1;
	}
	return failed;
}
