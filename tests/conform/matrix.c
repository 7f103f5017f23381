/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The product of algorithm, count, type, operator, root, in place or not, and
 * kind of memory: the whole of it, or a sample with every pair.  Rank counts
 * and nodes are the launcher's; see tests/proc/matrix.sh.
 *
 *   matrix --sample SEED    this rank's part of a sample
 *   matrix --full           of everything
 *   matrix --roots          every operation and root, by the default rule
 */
#include "config.h"

#include "base/bits.h"
#include "conform/coll.h"
#include "conform/pairs.h"
#include "sched/algo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALGO, COUNT, TYPE, REDOP, ROOT, IN_PLACE, MEMORY, FACTORS };

static const size_t counts[] = { 0, 1, 13, 1021, 66601 };

/* All ranks build the same rows from the same arguments. */
struct job {
	int ranks;
	const struct tutti_shape *shape;
	uint64_t seed;
	bool full;
};

static bool allowed(const int *row, const void *arg)
{
	const struct job *j = arg;
	const struct tutti_algo *a = tutti_algos[row[ALGO]].algo;
	bool reduces = tutti_coll_reduces(a->coll);
	struct tutti_query q = { .coll = a->coll, .shape = j->shape };

	if (a->coll == TUTTI_SENDRECV || (!reduces && row[REDOP]) ||
	    (!tutti_coll_rooted(a->coll) && row[ROOT]) ||
	    (a->coll == TUTTI_BARRIER &&
	     (row[COUNT] || row[TYPE] || row[IN_PLACE] || row[MEMORY])))
		return false;
	/* Integer averages need one combine of all ranks; others refuse. */
	if (reduces && row[REDOP] == tuttiAvg && row[TYPE] < tuttiFloat16 &&
	    !(a->flags & TUTTI_ONE_COMBINE))
		return false;
	/* Roots that coincide on few ranks are one. */
	if (row[ROOT] >= tutti_min(j->ranks, 3))
		return false;
	return (!(a->flags & TUTTI_NEEDS_ONE_NODE) || j->shape->nodes == 1) &&
	       a->serves(&q);
}

static struct shot shot_of(const int *row, int ranks)
{
	const int roots[] = { 0, ranks - 1, ranks / 2 };

	return (struct shot){
		.coll = tutti_algos[row[ALGO]].algo->coll,
		.count = counts[row[COUNT]],
		.type = (tuttiDataType_t)row[TYPE],
		.redop = (tuttiRedOp_t)row[REDOP],
		.root = roots[row[ROOT]],
		.in_place = row[IN_PLACE],
		.memory = row[MEMORY],
	};
}

static int compare_rows(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(int));
}

/* Every allowed row, one after another. */
static size_t all_rows(const struct pairs *p, int **rows)
{
	size_t n = 0, max = 0, total = 1;
	int *out = NULL, row[FACTORS];

	for (int f = 0; f < FACTORS; f++)
		total *= (size_t)p->size[f];
	for (size_t i = 0; i < total; i++) {
		size_t rest = i;

		for (int f = 0; f < FACTORS; f++) {
			row[f] = (int)(rest % (size_t)p->size[f]);
			rest /= (size_t)p->size[f];
		}
		if (!p->allowed(row, p->arg))
			continue;
		if (n == max) {
			max = max ? 2 * max : 1024;
			out = realloc(out, max * sizeof(row));
			if (!out)
				abort();
		}
		memcpy(out + n++ * FACTORS, row, sizeof(row));
	}
	*rows = out;
	return n;
}

static int run_rows(struct world *w, int *rows, size_t n)
{
	int last = -1, bad = 0;

	qsort(rows, n, FACTORS * sizeof(*rows), compare_rows);
	for (size_t i = 0; i < n && !bad; i++) {
		const int *row = rows + i * FACTORS;
		const struct tutti_algo_entry *e = &tutti_algos[row[ALGO]];
		struct shot s = shot_of(row, w->ranks);
		char force[64];

		if (row[ALGO] != last) {
			snprintf(force, sizeof(force), "%s:%s",
				 tutti_coll_name(e->algo->coll), e->name);
			world_set(w, "TUTTI_ALGO", force);
			last = row[ALGO];
		}
		bad = shoot(w, &s);
		if (bad)
			fprintf(stderr, "rank %d: %s failed\n", w->rank, force);
	}
	return bad;
}

static int walk_rows(struct world *w)
{
	struct job *j = w->arg;
	struct pairs p = { .factors = FACTORS, .allowed = allowed, .arg = j };
	int *rows, bad;
	size_t n;

	j->ranks = w->ranks;
	j->shape = world_shape(w);
	while (tutti_algos[p.size[ALGO]].name)
		p.size[ALGO]++;
	p.size[COUNT] = (int)tutti_countof(counts);
	p.size[TYPE] = tuttiNumTypes;
	p.size[REDOP] = tuttiNumOps;
	p.size[ROOT] = 3;
	p.size[IN_PLACE] = 2;
	p.size[MEMORY] = 3;
	n = j->full ? all_rows(&p, &rows) : pairs_make(&p, j->seed, &rows);
	if (!n) {
		fprintf(stderr, "no rows\n");
		return 1;
	}
	bad = run_rows(w, rows, n);
	if (!bad && w->rank == 0)
		printf("%d ranks on %d nodes: %zu calls, all right\n",
		       w->ranks, j->shape->nodes, n);
	free(rows);
	return bad;
}

/* Every operation by the default rule, every root, small and large. */
static int walk_roots(struct world *w)
{
	static const size_t sizes[] = { 3, 2500, 70001 };
	int bad = 0;

	for (int c = 0; c < TUTTI_COLLS && !bad; c++) {
		enum tutti_coll coll = (enum tutti_coll)c;
		int roots = tutti_coll_rooted(coll) ? w->ranks : 1;

		if (coll == TUTTI_SENDRECV)
			continue;
		for (size_t i = 0; i < tutti_countof(sizes); i++)
			for (int r = 0; r < roots && !bad; r++) {
				struct shot s = {
					.coll = coll, .count = sizes[i],
					.type = tuttiFloat32, .root = r,
					.in_place = (r + (int)i) % 2,
				};

				bad = shoot(w, &s);
			}
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct job j = { .seed = 1 };

	/* A wrong result on one rank leaves the others waiting. */
	setenv("TUTTI_TIMEOUT", "60", 0);
	if (argc == 3 && !strcmp(argv[1], "--sample"))
		j.seed = strtoull(argv[2], NULL, 0);
	else if (argc == 2 && !strcmp(argv[1], "--full"))
		j.full = true;
	else if (argc == 2 && !strcmp(argv[1], "--roots"))
		return world_process(walk_roots, NULL);
	else
		return 2;
	return world_process(walk_rows, &j);
}
