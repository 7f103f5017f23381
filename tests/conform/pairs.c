/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Greedy: for a pair that no row has yet, try some random rows with it and keep
 * the one that has most new pairs.
 */
#include "config.h"

#include "conform/pairs.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 24	/* rows compared */
#define ATTEMPTS 400	/* to find one that is allowed at all */

struct table {
	const struct pairs *p;
	uint64_t state;
	size_t base[PAIRS_FACTORS][PAIRS_FACTORS];
	char *seen;		/* by pair of values */
	int *rows;
	size_t nrows, max;
};

static int draw(struct table *t, int below)
{
	t->state = t->state * 6364136223846793005u + 1442695040888963407u;
	return (int)((t->state >> 33) % (uint64_t)below);
}

static char *cell(struct table *t, int a, int b, int va, int vb)
{
	return &t->seen[t->base[a][b] + (size_t)va * (size_t)t->p->size[b] +
			(size_t)vb];
}

static int new_pairs(struct table *t, const int *row)
{
	int n = 0;

	for (int a = 0; a < t->p->factors; a++)
		for (int b = a + 1; b < t->p->factors; b++)
			n += !*cell(t, a, b, row[a], row[b]);
	return n;
}

static bool keep(struct table *t, const int *row)
{
	size_t bytes = (size_t)t->p->factors * sizeof(*row);

	if (t->nrows == t->max) {
		size_t max = t->max ? 2 * t->max : 256;
		int *more = realloc(t->rows, max * bytes);

		if (!more)
			return false;
		t->rows = more;
		t->max = max;
	}
	memcpy((char *)t->rows + t->nrows++ * bytes, row, bytes);
	for (int a = 0; a < t->p->factors; a++)
		for (int b = a + 1; b < t->p->factors; b++)
			*cell(t, a, b, row[a], row[b]) = 1;
	return true;
}

/* The best row with these two values; false if none is allowed. */
static bool find_row(struct table *t, int a, int b, int va, int vb, int *best)
{
	int row[PAIRS_FACTORS], most = 0;

	for (int i = 0, found = 0; i < ATTEMPTS && found < TRIES; i++) {
		int n;

		for (int f = 0; f < t->p->factors; f++)
			row[f] = draw(t, t->p->size[f]);
		row[a] = va;
		row[b] = vb;
		if (!t->p->allowed(row, t->p->arg))
			continue;
		found++;
		n = new_pairs(t, row);
		if (n <= most)
			continue;
		most = n;
		memcpy(best, row, sizeof(row));
	}
	return most > 0;
}

static bool cover(struct table *t, int a, int b)
{
	int row[PAIRS_FACTORS];

	for (int va = 0; va < t->p->size[a]; va++)
		for (int vb = 0; vb < t->p->size[b]; vb++)
			if (!*cell(t, a, b, va, vb) &&
			    find_row(t, a, b, va, vb, row) && !keep(t, row))
				return false;
	return true;
}

size_t pairs_make(const struct pairs *p, uint64_t seed, int **rows)
{
	struct table t = { .p = p, .state = seed };
	size_t n = 0;
	bool ok;

	for (int a = 0; a < p->factors; a++)
		for (int b = a + 1; b < p->factors; b++) {
			t.base[a][b] = n;
			n += (size_t)p->size[a] * (size_t)p->size[b];
		}
	t.seen = calloc(n, 1);
	ok = t.seen != NULL;
	for (int a = 0; ok && a < p->factors; a++)
		for (int b = a + 1; ok && b < p->factors; b++)
			ok = cover(&t, a, b);
	free(t.seen);
	*rows = t.rows;
	if (ok)
		return t.nrows;
	free(t.rows);
	*rows = NULL;
	return 0;
}
