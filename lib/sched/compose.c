/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks, and how a composition is planned, measured and emitted.
 * The translation of what a level algorithm emits is in compose_phase.c.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "sched/compose_impl.h"
#include "sched/verify.h"

#include <stdlib.h>
#include <string.h>

/* Chunks of a block that a composition may cut it into. */
#define UNIT_MAX (1u << 16)

/* ---- Groups ------------------------------------------------------------- */

static bool no_memory(struct tutti_compose *c)
{
	c->e.rc = tutti_fail(tuttiSystemError,
			     "no memory to compose a schedule; free some and retry");
	return false;
}

/* The numbers by which ranks are grouped; NULL if nothing divides them. */
static const int *group_ids(const struct tutti_shape *s, int *max)
{
	if (s->nodes > 1 && s->node) {
		*max = s->nodes;
		return s->node;
	}
	if (s->nodes <= 1 && s->domains > 1 && s->domain) {
		*max = s->domains;
		return s->domain;
	}
	return NULL;
}

/* Group and number in it of each rank; `of` gives the group of an id. */
static void number_groups(struct tutti_groups *g, int ranks, const int *ids,
			  int *of, int *size)
{
	for (int r = 0; r < ranks; r++) {
		int *group = &of[ids[r]];

		if (*group < 0)
			*group = g->groups++;
		g->group[r] = *group;
		g->index[r] = size[*group]++;
		g->id[r] = r;
	}
	for (int i = 0; i < g->groups; i++)
		g->first[i + 1] = g->first[i] + size[i];
	for (int r = 0; r < ranks; r++)
		g->member[g->first[g->group[r]] + g->index[r]] = r;
}

/* Number the domains of each node from 0. */
static void number_parts(struct tutti_groups *g, const struct tutti_shape *s,
			 int *of)
{
	for (int i = 0; i < s->ranks; i++) {
		int r = g->member[i], group = g->group[r];
		int *part = &of[s->domain[r]];

		if (*part < 0)
			*part = g->nodes[group]++;
		g->node[i] = *part;
	}
}

static bool make_groups(struct tutti_compose *c, const struct tutti_shape *s)
{
	struct tutti_groups *g = &c->g;
	size_t n = (size_t)s->ranks;
	bool by_node = s->nodes > 1;
	int max = 0, *of, *size;
	const int *ids = group_ids(s, &max);

	if (!ids || s->ranks < 3)
		return false;
	max = tutti_max(max, s->domain ? s->domains : 0);
	g->first = calloc(n + 1, sizeof(int));
	g->member = calloc(6 * n + 1, sizeof(int));
	g->nodes = calloc(n, sizeof(int));
	c->across = calloc(n, sizeof(int));
	of = malloc((size_t)max * sizeof(int));
	size = calloc(n, sizeof(int));
	if (g->first && g->member && g->nodes && c->across && of && size) {
		g->group = g->member + n;
		g->index = g->group + n;
		g->node = g->index + n;
		g->id = g->node + n;
		g->work = g->id + n;
		memset(of, -1, (size_t)max * sizeof(int));
		number_groups(g, s->ranks, ids, of, size);
		memset(of, -1, (size_t)max * sizeof(int));
		if (by_node && s->domain && s->domains > 1)
			number_parts(g, s, of);
	} else {
		no_memory(c);
	}
	free(of);
	free(size);
	return !c->e.rc && g->groups > 1 && g->groups < s->ranks;
}

struct tutti_shape tutti_group_shape(const struct tutti_groups *g, int group)
{
	int m = g->first[group + 1] - g->first[group];
	bool parts = g->nodes[group] > 1 && g->nodes[group] < m;

	/* Never one node: then a mail form would begin with a meeting. */
	return (struct tutti_shape){
		.ranks = m,
		.nodes = parts ? g->nodes[group] : m,
		.node = parts ? g->node + g->first[group] : g->id,
	};
}

struct tutti_shape tutti_across_shape(const struct tutti_groups *g)
{
	return (struct tutti_shape){
		.ranks = g->groups, .nodes = g->groups, .node = g->id,
	};
}

bool tutti_groups_alike(const struct tutti_compose *c)
{
	for (int g = 0; g < c->g.groups; g++)
		if (tutti_group_size(c, g) != tutti_group_size(c, 0))
			return false;
	for (int i = 0; i < c->q->shape->ranks; i++)
		if (c->g.member[i] != i)
			return false;
	return true;
}

/* ---- The plan ----------------------------------------------------------- */

static void be_rank(struct tutti_compose *c, int rank)
{
	const struct tutti_groups *g = &c->g;

	c->own.rank = rank;
	c->mine = g->group[rank];
	c->index = g->index[rank];
	c->size = g->first[c->mine + 1] - g->first[c->mine];
}

/* Groups and levels' names; false if the shape has nothing to compose, the
 * text is wrong, or there is no memory (c->e.rc). */
static bool init(struct tutti_compose *c, const struct tutti_query *q)
{
	*c = (struct tutti_compose){ .own = *q, .unit = 1, .wide_den = 1 };
	c->q = &c->own;
	if (!tutti_levels_split(c, q->levels) || !make_groups(c, q->shape))
		return false;
	be_rank(c, q->rank);
	return true;
}

static void fini(struct tutti_compose *c)
{
	free(c->g.first);
	free(c->g.member);
	free(c->g.nodes);
	free(c->across);
}

/* A sink that only wants to know the size of what it gets. */
struct probe {
	struct tutti_sink sink;		/* first */
	uint32_t pieces, widest, lanes;
};

static tuttiResult_t probe_begin(struct tutti_sink *k,
				 const struct tutti_query *q, uint32_t pieces,
				 uint32_t scratch)
{
	struct probe *p = (struct probe *)k;

	(void)q;
	(void)scratch;
	p->pieces = pieces;
	return tuttiSuccess;
}

static void probe_widest(struct tutti_sink *k, uint32_t nchunks)
{
	((struct probe *)k)->widest = nchunks;
}

static tuttiResult_t probe_lane(struct tutti_sink *k)
{
	((struct probe *)k)->lanes++;
	return tuttiSuccess;
}

static tuttiResult_t probe_run(struct tutti_sink *k, uint32_t times)
{
	(void)k;
	(void)times;
	return tuttiSuccess;
}

static tuttiResult_t probe_op(struct tutti_sink *k, const struct tutti_op *op,
			      const struct tutti_ref *refs)
{
	struct probe *p = (struct probe *)k;

	(void)refs;
	p->widest = tutti_max(p->widest, op->nchunks);
	return tuttiSuccess;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Take the pieces and the widest operation of a level algorithm in. */
static bool join(struct tutti_compose *c, uint32_t pieces, uint32_t widest)
{
	uint64_t unit = (uint64_t)c->unit / gcd(c->unit, pieces) * pieces;

	if (unit > UNIT_MAX)
		return false;
	c->unit = (uint32_t)unit;
	if ((uint64_t)widest * c->wide_den > (uint64_t)c->wide_num * pieces) {
		c->wide_num = widest;
		c->wide_den = pieces;
	}
	return true;
}

/* Rank 0 of a level tells pieces and widest operation of all. */
static bool survey(struct tutti_compose *c, enum tutti_level level,
		   enum tutti_coll coll, const struct tutti_shape *shape)
{
	struct probe probe = {
		.sink = {
			.begin = probe_begin,
			.widest = probe_widest,
			.lane = probe_lane,
			.run = probe_run,
			.op = probe_op,
		},
	};
	struct tutti_part part;

	if (shape->ranks == 1)
		return join(c, 1, 0);
	if (!tutti_part_find(&part, c, level, coll, shape))
		return false;
	if (part.algo->build(&probe.sink, &part.q) || probe.lanes != 1)
		return false;
	return join(c, probe.pieces, tutti_max(probe.widest, 1u));
}

static bool same_shape(const struct tutti_shape *a, const struct tutti_shape *b)
{
	return a->ranks == b->ranks && a->nodes == b->nodes &&
	       (a->node == b->node ||
		!memcmp(a->node, b->node, (size_t)a->ranks * sizeof(int)));
}

bool tutti_compose_inside(struct tutti_compose *c, enum tutti_coll coll,
			  int group)
{
	struct tutti_shape shape = tutti_group_shape(&c->g, group);

	for (int i = 0; i < c->asked[coll]; i++) {
		struct tutti_shape other = tutti_group_shape(&c->g, i);

		if (same_shape(&shape, &other))
			return true;
	}
	c->asked[coll] = group + 1;
	return survey(c, TUTTI_INSIDE, coll, &shape);
}

bool tutti_compose_across(struct tutti_compose *c, enum tutti_coll coll)
{
	struct tutti_shape shape = tutti_across_shape(&c->g);

	return survey(c, TUTTI_ACROSS, coll, &shape);
}

/* ---- Emitting ----------------------------------------------------------- */

uint32_t tutti_compose_widest(const struct tutti_compose *c)
{
	return tutti_max(1u, c->unit / c->wide_den * c->wide_num);
}

static void lay(struct tutti_compose *c, const struct tutti_form *form)
{
	if (c->q->strict)
		form->lay_strict(c);
	else
		form->lay(c);
}

/* Without emitting: does all fit, and how much scratch do the levels need? */
static tuttiResult_t measure(struct tutti_compose *c,
			     const struct tutti_form *form)
{
	c->measuring = true;
	c->scratch = 0;
	lay(c, form);
	c->measuring = false;
	return c->e.rc;
}

static bool plan(struct tutti_compose *c, const struct tutti_form *form,
		 const struct tutti_query *q)
{
	bool (*fits)(struct tutti_compose *c) = q->strict ? form->plan_strict :
							    form->plan;

	if (!fits || q->mapped || q->uneven || !init(c, q) || !fits(c))
		return false;
	/* A name that nothing here goes by; below another composition, other
	 * phases may. */
	for (int l = 0; l < TUTTI_LEVELS && !q->part; l++)
		if (c->levels[l][0] && !c->used[l])
			return false;
	return c->pieces <= INT32_MAX / 2 / (uint32_t)q->shape->ranks;
}

/* Levels are alike on all ranks, so two of these stand for all. */
bool tutti_compose_serves(const struct tutti_form *form,
			  const struct tutti_query *q)
{
	struct tutti_compose c = { 0 };
	int last = q->shape->ranks - 1;
	bool ok = plan(&c, form, q);

	for (int r = 0; ok && r <= last; r += tutti_max(last, 1)) {
		be_rank(&c, r);
		ok = !measure(&c, form);
	}
	fini(&c);
	return ok;
}

tuttiResult_t tutti_compose_build(const struct tutti_form *form,
				  struct tutti_sink *k,
				  const struct tutti_query *q)
{
	struct tutti_compose c = { 0 };
	tuttiResult_t rc = tuttiSuccess;

	if (!plan(&c, form, q))
		rc = c.e.rc ? c.e.rc :
		     tutti_fail(tuttiInternalError,
				"%s cannot be composed for %d ranks",
				tutti_coll_name(q->coll), q->shape->ranks);
	if (!rc)
		rc = measure(&c, form);
	if (!rc) {
		tutti_emit_begin(&c.e, k, c.q, c.pieces,
				 c.scratch_own + c.scratch);
		if (q->coll != TUTTI_BARRIER)
			tutti_emit_widest(&c.e, (int)tutti_compose_widest(&c));
		lay(&c, form);
		rc = tutti_emit_end(&c.e);
	}
	fini(&c);
	return rc;
}

/* ---- Cost --------------------------------------------------------------- */

struct tutti_cost tutti_compose_cost(const struct tutti_algo *algo,
				     const struct tutti_query *q)
{
	struct tutti_verify_args args = { .slices = 1 };
	struct tutti_verify_report rep = { 0 };
	struct tutti_sched **all;

	if (!tutti_scheds_build(&all, algo, q)) {
		tutti_sched_verify(all, q->shape->ranks, &args, &rep);
		tutti_scheds_free(all, q->shape->ranks);
	}
	return (struct tutti_cost){
		.steps = rep.steps, .chunks_sent = rep.chunks_sent,
	};
}
