/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the registry: every algorithm of every collective, forced, over
 * counts, types, operators, roots, in place and not, and kinds of memory.  An
 * algorithm gets all this by being in the list.
 *
 *   walk [RANKS...]   ranks are threads; default 1 to 9, 16 and 17
 *   walk --launched   this process is one rank of a launcher
 */
#include "config.h"

#include "base/bits.h"
#include "conform/coll.h"
#include "sched/algo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shoot_all(struct world *w, const struct shot *shots, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n && !bad; i++)
		bad = shoot(w, &shots[i]);
	return bad;
}

static bool reduces(enum tutti_coll c)
{
	return c == TUTTI_ALL_REDUCE || c == TUTTI_REDUCE ||
	       c == TUTTI_REDUCE_SCATTER;
}

/* Integer averages need one combine of all ranks; others refuse them. */
static bool allowed(const struct tutti_algo *a, tuttiDataType_t t,
		    tuttiRedOp_t op)
{
	return op != tuttiAvg || t >= tuttiFloat16 ||
	       a->flags & TUTTI_ONE_COMBINE;
}

static int walk_types(struct world *w, const struct tutti_algo *a)
{
	int ops = reduces(a->coll) ? tuttiNumOps : 1, bad = 0;

	for (int t = 0; t < tuttiNumTypes; t++)
		for (int op = 0; op < ops; op++) {
			const struct shot shots[] = {
				{ a->coll, 37, t, op, 0, false, 0 },
				{ a->coll, 1, t, op, w->ranks - 1, true, 0 },
				{ a->coll, 700, t, op, w->ranks / 2, true, 0 },
			};

			if (allowed(a, t, op) && !bad)
				bad = shoot_all(w, shots,
						tutti_countof(shots));
		}
	return bad;
}

static int walk_counts(struct world *w, const struct tutti_algo *a)
{
	size_t n = (size_t)w->ranks;
	const size_t counts[] = { 0, 1, 2, n - 1, n, n + 1, 13, 14, 15, 1000,
				  4099, 16384, 65537, 300007 };
	size_t many = w->ranks > 9 ? 11 : tutti_countof(counts);
	int bad = 0;

	/* Its blocks grow with the square of the ranks. */
	if (a->coll == TUTTI_ALLTOALL && w->ranks > 3)
		many = tutti_min(many, 12);
	for (size_t i = 0; i < many && !bad; i++)
		for (int in_place = 0; in_place < 2 && !bad; in_place++) {
			struct shot s = { a->coll, counts[i], tuttiFloat32,
					  tuttiSum, (int)(i % n), in_place,
					  0 };

			bad = shoot(w, &s);
		}
	return bad;
}

static int walk_memory(struct world *w, const struct tutti_algo *a)
{
	const size_t counts[] = { 1, 1500, 40009 };
	int bad = 0;

	for (size_t i = 0; i < tutti_countof(counts) && !bad; i++)
		for (int k = 0; k < 4 && !bad; k++) {
			struct shot s = { a->coll, counts[i], tuttiFloat32,
					  tuttiSum, w->ranks - 1, k % 2 != 0,
					  1 + k / 2 };

			bad = shoot(w, &s);
		}
	return bad;
}

static int walk_roots(struct world *w, const struct tutti_algo *a)
{
	int bad = 0;

	if (!tutti_coll_rooted(a->coll))
		return 0;
	for (int root = 0; root < w->ranks && !bad; root++) {
		struct shot s = { a->coll, 1111, tuttiInt32, tuttiSum, root,
				  root % 2 != 0, 0 };

		bad = shoot(w, &s);
	}
	return bad;
}

/* The v-form: all types, then roots, layouts and kinds of memory. */
static int walk_uneven(struct world *w, const struct tutti_algo *a)
{
	int bad = 0;

	for (int t = 0; t < tuttiNumTypes && !bad; t++) {
		int op = reduces(a->coll) ? t % tuttiNumOps : 0;
		struct shot_v v = {
			.s = { a->coll, 0, t, op, t % w->ranks, t % 2, 0 },
			.seed = (unsigned int)t, .layout = t % 3,
		};

		if (allowed(a, t, op))
			bad = shoot_v(w, &v);
	}
	for (int k = 0; k < 24 && !bad; k++) {
		struct shot_v v = {
			.s = { a->coll, 0, tuttiFloat32, tuttiSum,
			       k % w->ranks, k % 2 != 0, k / 6 % 3 },
			.seed = 100u + (unsigned int)k / 2, .layout = k / 2 % 3,
		};

		bad = shoot_v(w, &v);
	}
	return bad;
}

static int walk_algo(struct world *w, const struct tutti_algo_entry *e)
{
	struct tutti_query q = { .coll = e->algo->coll,
				 .rank = w->rank };
	char force[64];
	int bad;

	q.shape = world_shape(w);
	q.strict = getenv("TUTTI_DETERMINISM") && reduces(q.coll) &&
		   !strcmp(getenv("TUTTI_DETERMINISM"), "strict");
	if (e->algo->coll == TUTTI_SENDRECV || !e->algo->serves(&q))
		return 0;
	snprintf(force, sizeof(force), "%s:%s",
		 tutti_coll_name(e->algo->coll), e->name);
	world_set(w, "TUTTI_ALGO", force);
	if (e->algo->coll == TUTTI_BARRIER) {
		struct shot s = { .coll = TUTTI_BARRIER };

		return shoot(w, &s);
	}
	bad = walk_types(w, e->algo);
	if (!bad)
		bad = walk_counts(w, e->algo);
	if (!bad)
		bad = walk_roots(w, e->algo);
	if (!bad)
		bad = walk_memory(w, e->algo);
	if (!bad && e->algo->flags & TUTTI_UNEVEN)
		bad = walk_uneven(w, e->algo);
	if (bad)
		fprintf(stderr, "rank %d: %s failed\n", w->rank, force);
	return bad;
}

/* Messages between all pairs, both ways, and around. */
static int walk_messages(struct world *w)
{
	const size_t counts[] = { 0, 1, 14, 15, 5000, 300007 };
	int bad = 0;

	for (size_t k = 0; k < tutti_countof(counts); k++) {
		size_t n = counts[k];
		int *buf = malloc((n + 1) * sizeof(int));

		for (int a = 0; a < w->ranks && !bad; a++)
			for (int b = 0; b < w->ranks && !bad; b++) {
				if (a == b || (w->rank != a && w->rank != b))
					continue;
				for (size_t i = 0; i < n; i++)
					buf[i] = w->rank == a ?
						 a * 1000 + b + (int)i : -1;
				bad = w->rank == a ?
				      tuttiSend(buf, n, tuttiInt32, b,
						w->comm, NULL) :
				      tuttiRecv(buf, n, tuttiInt32, a,
						w->comm, NULL);
				for (size_t i = 0; i < n && !bad; i++)
					bad = buf[i] != a * 1000 + b + (int)i;
			}
		free(buf);
	}
	if (bad)
		fprintf(stderr, "rank %d: send and receive failed: %s\n",
			w->rank, tuttiGetLastError(w->comm));
	return bad;
}

static int walk(struct world *w)
{
	int bad = walk_messages(w);

	for (const struct tutti_algo_entry *e = tutti_algos; e->name && !bad;
	     e++)
		bad = walk_algo(w, e);
	if (!bad)
		world_set(w, "TUTTI_ALGO", NULL);
	return bad;
}

int main(int argc, char **argv)
{
	static const int usual[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17 };
	int failed = 0;

	/* A wrong result on one rank leaves the others waiting. */
	setenv("TUTTI_TIMEOUT", "60", 0);
	if (argc > 1 && !strcmp(argv[1], "--launched"))
		return world_process(walk, NULL);
	for (int i = 1; i < argc; i++)
		failed += world_threads(atoi(argv[i]), walk, NULL);
	for (size_t i = 0; argc < 2 && i < tutti_countof(usual); i++)
		failed += world_threads(usual[i], walk, NULL);
	return failed != 0;
}
