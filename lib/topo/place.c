/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks sit, and which of a node's ranks sit together. */
#include "config.h"

#include "base/bits.h"
#include "topo/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Places -------------------------------------------------------------- */

/* Joins the PUs that a rank may use. */
struct joined {
	bool any;
	int package, numa, llc;		/* as of a PU */
};

static void join(struct joined *j, const struct tutti_topo_pu *p)
{
	if (!j->any)
		*j = (struct joined){ true, p->package, p->numa, p->llc };
	if (j->package != p->package)
		j->package = -1;
	if (j->numa != p->numa)
		j->numa = -1;
	if (j->llc != p->llc)
		j->llc = -1;
}

/* An object's first CPU names it: to every process of the machine alike, and
 * no other object of its kind has it. */
static int32_t name_of(const struct tutti_topo *t, int object)
{
	if (object < 0)
		return -1;
	return t->pus[t->objects[object].pu_first].os_number;
}

/* A cache of a pair of cores is no place of its own. */
static int32_t name_of_llc(const struct tutti_topo *t, int object)
{
	return t->llc_level < 3 ? -1 : name_of(t, object);
}

static struct tutti_topo_place place_joined(const struct tutti_topo *t,
					    const struct joined *j)
{
	if (!j->any)
		return (struct tutti_topo_place){ -1, -1, -1 };
	return (struct tutti_topo_place){
		.package = name_of(t, j->package),
		.numa = name_of(t, j->numa),
		.llc = name_of_llc(t, j->llc),
	};
}

struct tutti_topo_place tutti_topo_place_of(const struct tutti_topo *t,
					    const uint64_t *mask, int words)
{
	struct joined j = { 0 };

	for (int i = 0; i < t->npus; i++) {
		int os = t->pus[i].os_number;

		if (os >= 0 && os / 64 < words &&
		    mask[os / 64] >> (os % 64) & 1)
			join(&j, &t->pus[i]);
	}
	return place_joined(t, &j);
}

/* Does an allowed core begin at PU `i`: is it the first allowed one of its
 * core? */
static bool begins_core(const struct tutti_topo *t, int i)
{
	const struct tutti_topo_pu *p = &t->pus[i];

	if (!p->allowed)
		return false;
	if (p->core < 0)
		return true;
	for (int k = t->objects[p->core].pu_first; k < i; k++)
		if (t->pus[k].allowed)
			return false;
	return true;
}

/* The seat from core `from` to before core `to`, in the package in which it
 * begins. */
static void find_seat(const struct tutti_topo *t, int64_t from, int64_t to,
		      int *first, int *count)
{
	int64_t core = -1;

	*first = *count = 0;
	for (int i = 0; i < t->npus; i++) {
		core += begins_core(t, i);
		if (core < from || !t->pus[i].allowed)
			continue;
		if (core >= to || (*count &&
				   t->pus[i].package != t->pus[*first].package))
			return;
		if (!*count)
			*first = i;
		*count = i + 1 - *first;
	}
}

struct tutti_topo_place tutti_topo_seat(const struct tutti_topo *t, int i,
					int n, int *pu_first, int *pu_count)
{
	int64_t cores = 0, from, to;
	struct joined j = { 0 };

	for (int k = 0; k < t->npus; k++)
		cores += begins_core(t, k);
	from = i * cores / n;
	to = tutti_max((i + 1) * cores / n, from + 1);
	find_seat(t, from, to, pu_first, pu_count);
	for (int k = *pu_first; k < *pu_first + *pu_count; k++)
		if (t->pus[k].allowed)
			join(&j, &t->pus[k]);
	return place_joined(t, &j);
}

/* ---- Domains ------------------------------------------------------------- */

enum { BY_PACKAGE, BY_NUMA, BY_LLC, LEVELS };

static const char *const level_name[] = {
	"package", "NUMA domain", "last-level cache",
};

static int32_t id_at(const struct tutti_topo_place *p, int level)
{
	return level == BY_PACKAGE ? p->package :
	       level == BY_NUMA ? p->numa : p->llc;
}

/* The ranks of a node at one level. */
struct division {
	int domains;		/* 0: a rank's place is not known */
	int largest;
	int lost;		/* that rank */
};

/* `mine` are the n ranks of a node; seen[] and size[] have room for n. */
static struct division divide(const struct tutti_topo_place *place,
			      const int *mine, int n, int level,
			      int32_t *seen, int *size)
{
	struct division d = { .lost = -1 };

	for (int i = 0; i < n; i++) {
		int32_t id = id_at(&place[mine[i]], level);
		int k = 0;

		if (id < 0)
			return (struct division){ .lost = mine[i] };
		while (k < d.domains && seen[k] != id)
			k++;
		if (k == d.domains) {
			seen[d.domains++] = id;
			size[k] = 0;
		}
		size[k]++;
		d.largest = tutti_max(d.largest, size[k]);
	}
	return d;
}

/* Why a node is not divided: what is true at the narrowest level that is
 * known of all ranks. */
static void say_undivided(char *why, size_t cap, const struct division *d)
{
	int known = LEVELS - 1;

	while (known >= 0 && d[known].lost >= 0)
		known--;
	if (known < 0)
		snprintf(why, cap, "not divided: rank %d may run in several "
			 "packages, or where it sits is not known; bind ranks "
			 "to have them grouped", d[BY_PACKAGE].lost);
	else if (d[known].domains == 1)
		snprintf(why, cap, "not divided: all ranks sit in one %s",
			 level_name[known]);
	else
		snprintf(why, cap, "not divided: no two ranks share a %s",
			 level_name[known]);
}

static void say(char *why, size_t cap, const struct division *d, int best)
{
	if (best >= 0)
		snprintf(why, cap, "%d domains, one for each %s, of %d ranks "
			 "at most", d[best].domains, level_name[best],
			 d[best].largest);
	else
		say_undivided(why, cap, d);
}

/* The level at which to divide a node, or -1. */
static int choose_level(const struct division *d)
{
	int best = -1;

	for (int l = 0; l < LEVELS; l++) {
		if (d[l].domains < 2 || d[l].largest < 2)
			continue;
		if (best < 0 || d[l].domains + d[l].largest <
				d[best].domains + d[best].largest)
			best = l;
	}
	return best;
}

/* Scratch for the ranks of one node at a time. */
struct grouping {
	int *mine, *size;
	int32_t *seen;
};

/* The domains of the node of rank `first`: each gets the lowest rank of its
 * own.  True if there are several. */
static bool group_node(struct grouping *g, const struct tutti_topo_place *place,
		       const int *node, int ranks, int first, int *domain,
		       char *why, size_t cap)
{
	struct division d[LEVELS];
	int n = 0, best;

	for (int r = first; r < ranks; r++)
		if (!node || node[r] == node[first])
			g->mine[n++] = r;
	for (int l = 0; l < LEVELS; l++)
		d[l] = divide(place, g->mine, n, l, g->seen, g->size);
	best = choose_level(d);
	say(why, cap, d, best);
	for (int i = 0; i < n; i++) {
		int k = best < 0 ? 0 : i;

		for (int j = 0; j < k; j++)
			if (id_at(&place[g->mine[j]], best) ==
			    id_at(&place[g->mine[i]], best))
				k = j;
		domain[g->mine[i]] = g->mine[k];
	}
	return best >= 0;
}

/* From lowest ranks to numbers without gaps. */
static int number(int *domain, int ranks)
{
	int n = 0;

	for (int r = 0; r < ranks; r++)
		domain[r] = domain[r] == r ? n++ : domain[domain[r]];
	return n;
}

int tutti_topo_group(const struct tutti_topo_place *place, const int *node,
		     int ranks, int self, int *domain, char *why, size_t cap)
{
	size_t n = (size_t)ranks;
	struct grouping g = {
		.mine = malloc(n * sizeof(int)),
		.size = malloc(n * sizeof(int)),
		.seen = malloc(n * sizeof(int32_t)),
	};
	bool divided = false;
	int domains = -1;

	if (!g.mine || !g.size || !g.seen)
		goto out;
	for (int r = 0; r < ranks; r++)
		domain[r] = -1;
	for (int r = 0; r < ranks; r++) {
		char text[256];

		if (domain[r] >= 0)
			continue;
		divided |= group_node(&g, place, node, ranks, r, domain, text,
				      sizeof(text));
		if (domain[self] >= 0 &&
		    (node ? node[self] == node[r] : true))
			snprintf(why, cap, "%s", text);
	}
	domains = divided ? number(domain, ranks) : 0;
out:
	free(g.mine);
	free(g.size);
	free(g.seen);
	return domains;
}
