/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The product of algorithm, count, type, operator, root, in place or not, and
 * kind of memory: the whole of it, or a sample with every pair.  Rank counts
 * and nodes are the launcher's; see tests/proc/matrix.sh.
 *
 *   matrix --sample SEED    this rank's part of a sample
 *   matrix --full           of everything
 *   matrix --roots          every operation and root, by the default rule or
 *                           what TUTTI_ALGO says, which has no v-forms then
 *   matrix --few            the same with few roots, small
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
	bool full, few;
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

/* ---- Every operation and root -------------------------------------------- */

static const size_t sizes[] = { 3, 2500, 70001 };

static size_t nsizes(const struct world *w)
{
	const struct job *j = w->arg;

	return j->few ? 2 : tutti_countof(sizes);
}

/* How far it is from one root, or peer, to the next. */
static int stride(const struct world *w)
{
	const struct job *j = w->arg;

	return j->few ? tutti_max(w->ranks / 2, 1) : 1;
}

static int walk_plain(struct world *w, enum tutti_coll coll, size_t *calls)
{
	int roots = tutti_coll_rooted(coll) ? w->ranks : 1, bad = 0;

	for (size_t i = 0; i < nsizes(w); i++)
		for (int r = 0; r < roots && !bad; r += stride(w)) {
			struct shot s = {
				.coll = coll, .count = sizes[i],
				.type = tuttiFloat32, .root = r,
				.in_place = (r + (int)i) % 2,
			};

			bad = shoot(w, &s);
			(*calls)++;
		}
	return bad;
}

static int walk_v(struct world *w, enum tutti_coll coll, size_t *calls)
{
	int roots = tutti_coll_rooted(coll) ? w->ranks : 1, bad = 0;

	for (int i = 0; i < 3; i++)
		for (int r = 0; r < roots && !bad; r += stride(w)) {
			struct shot_v v = {
				.s = { .coll = coll, .type = tuttiFloat32,
				       .root = r, .in_place = (r + i) % 2 },
				.seed = (unsigned int)(r * 3 + i),
				.layout = i,
			};

			bad = shoot_v(w, &v);
			(*calls)++;
		}
	return bad;
}

/* To the rank `far` behind this one, from the one as far before it. */
static int pass_on(struct world *w, int far, size_t count)
{
	int n = w->ranks, to = (w->rank + far) % n;
	int from = (w->rank + n - far) % n, bad = 0;
	float *out = malloc(2 * count * sizeof(*out)), *in = out + count;
	tuttiResult_t rc;

	if (!out)
		return 1;
	for (size_t i = 0; i < count; i++) {
		out[i] = (float)(w->rank * 1000 + (int)(i % 977));
		in[i] = -1;
	}
	tuttiGroupStart();
	tuttiSend(out, count, tuttiFloat32, to, w->comm, NULL);
	tuttiRecv(in, count, tuttiFloat32, from, w->comm, NULL);
	rc = tuttiGroupEnd();
	for (size_t i = 0; i < count && !rc; i++)
		bad += in[i] != (float)(from * 1000 + (int)(i % 977));
	free(out);
	if (rc || bad)
		fprintf(stderr, "rank %d: sendrecv of %zu from %d: %d wrong, "
			"%s\n", w->rank, count, from, bad,
			rc ? tuttiGetLastError(w->comm) : "no error");
	return rc || bad;
}

static int walk_pairs(struct world *w, size_t *calls)
{
	int bad = 0;

	for (size_t i = 0; i < nsizes(w); i++)
		for (int far = 0; far < w->ranks && !bad; far += stride(w)) {
			bad = pass_on(w, far, sizes[i]);
			(*calls)++;
		}
	return bad;
}

/* Every operation by the default rule, every root, small and large. */
static int walk_roots(struct world *w)
{
	static const enum tutti_coll uneven[] = {
		TUTTI_ALL_GATHER, TUTTI_REDUCE_SCATTER, TUTTI_ALLTOALL,
		TUTTI_GATHER, TUTTI_SCATTER,
	};
	const char *algo = getenv("TUTTI_ALGO");
	size_t calls = 0;
	int bad = 0;

	for (int c = 0; c < TUTTI_SENDRECV && !bad; c++)
		bad = walk_plain(w, (enum tutti_coll)c, &calls);
	for (size_t i = 0; i < tutti_countof(uneven) && !bad && !algo; i++)
		bad = walk_v(w, uneven[i], &calls);
	if (!bad)
		bad = walk_pairs(w, &calls);
	if (!bad && w->rank == 0)
		printf("%d ranks on %d nodes: %zu calls, all right\n",
		       w->ranks, world_shape(w)->nodes, calls);
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
	else if (argc == 2 && !strcmp(argv[1], "--few"))
		j.few = true;
	else if (argc != 2 || strcmp(argv[1], "--roots") != 0)
		return 2;
	if (!strcmp(argv[1], "--roots") || j.few)
		return world_process(walk_roots, &j);
	return world_process(walk_rows, &j);
}
