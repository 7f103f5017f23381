/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithms a composition is made of: the text that names them, the
 * rule where it names none, and the list of all that are to be proven.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/compose_impl.h"

#include <stdio.h>
#include <string.h>

#define BIT(coll) (1u << (coll))

static const uint32_t colls[TUTTI_COLLS][TUTTI_LEVELS] = {
	[TUTTI_ALL_REDUCE] = {
		BIT(TUTTI_REDUCE_SCATTER) | BIT(TUTTI_ALL_GATHER) |
			BIT(TUTTI_REDUCE) | BIT(TUTTI_BROADCAST),
		BIT(TUTTI_ALL_REDUCE),
	},
	[TUTTI_REDUCE] = { BIT(TUTTI_REDUCE), BIT(TUTTI_REDUCE) },
	[TUTTI_BROADCAST] = { BIT(TUTTI_BROADCAST), BIT(TUTTI_BROADCAST) },
	[TUTTI_ALL_GATHER] = {
		BIT(TUTTI_ALL_GATHER) | BIT(TUTTI_BROADCAST),
		BIT(TUTTI_ALL_GATHER) | BIT(TUTTI_BROADCAST),
	},
	[TUTTI_REDUCE_SCATTER] = {
		BIT(TUTTI_REDUCE_SCATTER) | BIT(TUTTI_REDUCE),
		BIT(TUTTI_REDUCE_SCATTER) | BIT(TUTTI_REDUCE),
	},
	[TUTTI_BARRIER] = { BIT(TUTTI_BARRIER), BIT(TUTTI_BARRIER) },
};

uint32_t tutti_level_colls(enum tutti_coll coll, enum tutti_level level)
{
	return colls[coll][level];
}

/*
 * The rule where the text leaves a level open: the first line of the
 * collective that has so many ranks and serves.  Few ranks are reached in one
 * round; more take turns.  Two nodes have no more to send in one round than in
 * two halves; two domains have memory between them and no link, and add half
 * each.
 */
static const struct {
	enum tutti_coll coll;
	bool brief;		/* only of compositions for short messages */
	bool nodes;		/* only where groups are nodes */
	int ranks_max;		/* 0: any */
	const char *name;
} rule[] = {
	{ TUTTI_ALL_REDUCE, true, false, 0, "recursive" },
	{ TUTTI_ALL_REDUCE, false, true, 2, "direct1" },
	{ TUTTI_ALL_REDUCE, false, false, 4, "direct2" },
	{ TUTTI_ALL_REDUCE, false, false, 8, "ring" },
	{ TUTTI_ALL_REDUCE, false, false, 0, "circulant" },
	{ TUTTI_ALL_REDUCE, false, false, 0, "ring" },
	{ TUTTI_REDUCE_SCATTER, false, false, 8, "direct1" },
	{ TUTTI_REDUCE_SCATTER, false, false, 0, "ring" },
	{ TUTTI_ALL_GATHER, false, false, 8, "direct1" },
	{ TUTTI_ALL_GATHER, false, false, 0, "ring" },
	{ TUTTI_REDUCE, false, false, 8, "direct1" },
	{ TUTTI_REDUCE, false, false, 0, "binomial" },
	{ TUTTI_BROADCAST, false, false, 4, "direct1" },
	{ TUTTI_BROADCAST, false, false, 0, "binomial" },
	{ TUTTI_BARRIER, false, false, 8, "direct1" },
	{ TUTTI_BARRIER, false, false, 0, "dissemination" },
};

/* ---- The text ----------------------------------------------------------- */

/* Length up to a + outside parentheses, or the end; SIZE_MAX if these do not
 * match or it has a byte that no name has. */
static size_t level_length(const char *text)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n] && (depth || text[n] != '+'); n++) {
		char ch = text[n];

		depth += (ch == '(') - (ch == ')');
		if (depth < 0 ||
		    !((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
		      strchr("_+()", ch)))
			return SIZE_MAX;
	}
	return depth ? SIZE_MAX : n;
}

/* "name" or "name(levels)" of `text` into two; false if it is neither. */
static bool split_name(const char *text, char *name, char *levels)
{
	size_t n = strcspn(text, "("), len = strlen(text);

	if (len >= TUTTI_LEVELS_MAX || n == 0)
		return false;
	memcpy(name, text, n);
	name[n] = 0;
	levels[0] = 0;
	if (n == len)
		return true;
	if (text[len - 1] != ')')
		return false;
	memcpy(levels, text + n + 1, len - n - 2);
	levels[len - n - 2] = 0;
	/* "a(b)(c)" has a ) too early. */
	return level_length(levels) != SIZE_MAX;
}

bool tutti_levels_split(struct tutti_compose *c, const char *text)
{
	if (!text)
		return true;
	for (int l = 0; l < TUTTI_LEVELS; l++) {
		size_t n = level_length(text);

		if (n >= TUTTI_LEVELS_MAX)
			return false;
		memcpy(c->levels[l], text, n);
		c->levels[l][n] = 0;
		text += n;
		if (l == TUTTI_LEVELS - 1)
			break;
		if (*text++ != '+')
			return false;
	}
	return *text == 0;
}

/* By that name, or by the other name of the half of a two-shot. */
static const struct tutti_algo *named(enum tutti_coll coll, const char *name)
{
	const struct tutti_algo_entry *e;

	if ((coll == TUTTI_REDUCE_SCATTER || coll == TUTTI_ALL_GATHER) &&
	    !strcmp(name, "direct2"))
		name = "direct1";
	e = tutti_algo_find(coll, name);
	return e ? e->algo : NULL;
}

#define NAMES_MAX 32

/* The names that a level can have; the first is none. */
static uint32_t list_names(uint32_t mask, bool composed, const char **names)
{
	uint32_t n = 0;

	names[n++] = "";
	for (const struct tutti_algo_entry *e = tutti_algos;
	     e->name && n < NAMES_MAX; e++) {
		bool known = (!composed && e->algo->flags & TUTTI_COMPOSED) ||
			     !(mask & BIT(e->algo->coll));

		for (uint32_t i = 1; i < n && !known; i++)
			known = !strcmp(names[i], e->name);
		if (!known)
			names[n++] = e->name;
	}
	return n;
}

static void say_names(uint32_t mask, enum tutti_level level,
		      const char *name, char *reason, size_t cap)
{
	const char *names[NAMES_MAX];
	uint32_t n = list_names(mask, true, names);
	size_t used = (size_t)snprintf(reason, cap,
		"no phase %s groups has an algorithm \"%s\"; there are ",
		level == TUTTI_INSIDE ? "inside" : "across", name);

	for (uint32_t i = 1; i < n && used < cap; i++)
		used += (size_t)snprintf(reason + used, cap - used, "%s%s",
					 i > 1 ? ", " : "", names[i]);
}

static bool level_fault(enum tutti_coll coll, enum tutti_level level,
			const char *text, char *reason, size_t cap)
{
	char name[TUTTI_LEVELS_MAX], own[TUTTI_LEVELS_MAX];
	bool known = false, fits = false;

	if (!*text)
		return false;
	if (!split_name(text, name, own)) {
		snprintf(reason, cap, "\"%s\" is no name of an algorithm",
			 text);
		return true;
	}
	for (int c = 0; c < TUTTI_COLLS; c++) {
		const struct tutti_algo *a = colls[coll][level] & BIT(c) ?
			named((enum tutti_coll)c, name) : NULL;

		known = known || a;
		/* One of its collectives has to have them. */
		fits = fits || (a && (!*own || !tutti_levels_fault(a, own,
								   reason, cap)));
	}
	if (known)
		return !fits;
	say_names(colls[coll][level], level, name, reason, cap);
	return true;
}

const char *tutti_levels_fault(const struct tutti_algo *algo,
			       const char *text, char *reason, size_t cap)
{
	struct tutti_compose c = { 0 };

	if (!(algo->flags & TUTTI_COMPOSED)) {
		snprintf(reason, cap, "%s has no levels",
			 tutti_algo_name(algo));
		return reason;
	}
	if (!tutti_levels_split(&c, text)) {
		snprintf(reason, cap, "\"%s\" is not INSIDE+ACROSS", text);
		return reason;
	}
	for (int l = 0; l < TUTTI_LEVELS; l++)
		if (level_fault(algo->coll, (enum tutti_level)l, c.levels[l],
				reason, cap))
			return reason;
	return NULL;
}

/* ---- The algorithm of a phase ------------------------------------------- */

static bool serves(struct tutti_part *part, const struct tutti_algo *algo)
{
	part->algo = algo;
	part->q.levels = algo->flags & TUTTI_COMPOSED && part->levels[0] ?
				 part->levels : NULL;
	return !(algo->flags & TUTTI_NEEDS_ONE_NODE) && algo->serves(&part->q);
}

static bool by_rule(struct tutti_part *part, const struct tutti_compose *c)
{
	enum tutti_coll coll = part->q.coll;

	part->levels[0] = 0;
	/* A divided group is composed again. */
	if (part->shape.nodes < part->shape.ranks) {
		const struct tutti_algo *hier = named(coll, "hier");

		if (hier && serves(part, hier))
			return true;
	}
	for (size_t i = 0; i < tutti_countof(rule); i++) {
		const struct tutti_algo *algo;

		if (rule[i].coll != coll || (rule[i].brief && !c->brief) ||
		    (rule[i].nodes && c->q->shape->nodes <= 1) ||
		    (rule[i].ranks_max &&
		    part->shape.ranks > rule[i].ranks_max))
			continue;
		algo = named(coll, rule[i].name);
		if (algo && serves(part, algo))
			return true;
	}
	return false;
}

bool tutti_part_find(struct tutti_part *part, struct tutti_compose *c,
		     enum tutti_level level, enum tutti_coll coll,
		     const struct tutti_shape *shape)
{
	char name[TUTTI_LEVELS_MAX];
	const struct tutti_algo *algo;

	*part = (struct tutti_part){ .shape = *shape };
	part->q = (struct tutti_query){
		.coll = coll, .shape = &part->shape, .part = true,
	};
	if (!c->levels[level][0])
		return by_rule(part, c);
	if (!split_name(c->levels[level], name, part->levels))
		return false;
	algo = named(coll, name);
	if (!algo)
		return by_rule(part, c);
	if (serves(part, algo)) {
		c->used[level] = true;
		return true;
	}
	/* A group that is not divided, beside others that are. */
	if (algo->flags & TUTTI_COMPOSED &&
	    part->shape.nodes == part->shape.ranks)
		return by_rule(part, c);
	c->why = level == TUTTI_INSIDE ?
		"the algorithm named for inside groups does not serve them" :
		"the algorithm named for across groups does not serve them";
	return false;
}

/* ---- The list of all ---------------------------------------------------- */

/* Whether name i of one level meets name j of the other: each meets two. */
static bool partners(uint32_t i, uint32_t ni, uint32_t j, uint32_t nj)
{
	return j == i % nj || j == (i + 1) % nj || i == j % ni ||
	       i == (j + 1) % ni;
}

/* Pair number *i of names for these collectives; counts *i down if there are
 * fewer. */
static bool nth_pair(uint32_t inside, uint32_t across, uint32_t *i,
		     const char **a, const char **b)
{
	const char *in[NAMES_MAX], *out[NAMES_MAX];
	uint32_t nin = list_names(inside, false, in);
	uint32_t nout = list_names(across, false, out);

	for (uint32_t k = 0; k < nin; k++)
		for (uint32_t l = 0; l < nout; l++)
			if (partners(k, nin, l, nout) && (*i)-- == 0) {
				*a = in[k];
				*b = out[l];
				return true;
			}
	return false;
}

/* The collective whose composition stands inside: of several, the one that
 * moves parts. */
static enum tutti_coll inner_coll(enum tutti_coll coll)
{
	return coll == TUTTI_ALL_REDUCE ? TUTTI_REDUCE_SCATTER : coll;
}

bool tutti_levels_nth(const struct tutti_algo *algo, uint32_t i,
		      char text[TUTTI_LEVELS_MAX])
{
	enum tutti_coll coll = algo->coll, inner = inner_coll(coll);
	const char *a = "", *b = "";

	if (!(algo->flags & TUTTI_COMPOSED))
		return false;
	if (nth_pair(colls[coll][0], colls[coll][1], &i, &a, &b)) {
		snprintf(text, TUTTI_LEVELS_MAX, "%s+%s", a, b);
		return true;
	}
	if (!nth_pair(colls[inner][0], colls[inner][1], &i, &a, &b))
		return false;
	snprintf(text, TUTTI_LEVELS_MAX, "hier(%s+%s)+", a, b);
	return true;
}
