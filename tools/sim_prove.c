/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank count of one algorithm: every query that it serves is built for all
 * ranks, and proven, unless the very same schedules were, or the same turned to
 * another root, or others from which it follows (tutti_scheds_follow).
 */
#include "config.h"

#include "sim.h"

#include "base/bits.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 8		/* sets of schedules kept for comparison */

/* Schedules that were proven, and as what. */
struct kept {
	struct tutti_sched **scheds;
	struct tutti_cost cost;
	bool strict;
};

struct proof {
	const struct sim_job *job;
	struct sim_target *out;
	struct tutti_shape shape;
	enum sim_shape kind;
	int *node, *domain;
	struct kept kept[KEPT];
	unsigned int nkept;		/* ever; the last KEPT are there */
	const char *levels;		/* of a composed one; NULL: its own */
	char text[TUTTI_LEVELS_MAX];
	uint64_t over;			/* events of a query over the budget */
	bool failed;
};

/* Places that one rank touches, by the chunk. */
static uint64_t events_of_one(const struct tutti_sched *s)
{
	uint64_t n = 0;

	for (uint32_t r = 0; r < s->nruns; r++)
		for (uint32_t i = 0; i < s->runs[r].nops; i++) {
			const struct tutti_op *op =
				&s->ops[s->runs[r].first + i];
			uint64_t places;

			places = tutti_refs_count(&s->refs[op->ref],
						  (uint32_t)op->nsrc +
						  op->ndst);
			n += places * tutti_max(1u, op->nchunks) *
			     s->runs[r].times;
		}
	return n;
}

/* What there is to run: of all ranks, or of the first if all are turns of it;
 * and the clocks that ranks with common memory need. */
static uint64_t events_of(struct tutti_sched *const *scheds, int ranks)
{
	const struct tutti_sched *s = scheds[0];
	uint64_t n = 0, p = (uint64_t)ranks;
	bool clocks;

	if (s && tutti_scheds_turned(scheds, ranks))
		return events_of_one(s);
	for (int r = 0; r < ranks; r++)
		n += scheds[r] ? events_of_one(scheds[r]) : 0;
	clocks = s && (s->mapped || s->coll == TUTTI_BARRIER);
	return clocks ? n + p * p * p / 16 : n;
}

/* Whether what was proven stands for this one too. */
static bool stands_for(const struct proof *p, const struct kept *was,
		       const struct kept *k)
{
	unsigned int how = 0;

	if (was->strict < k->strict ||
	    was->cost.chunks_sent != k->cost.chunks_sent)
		return false;
	if (was->strict > k->strict)
		how |= TUTTI_FOLLOWS_LEFT;
	if (was->cost.steps != k->cost.steps) {
		if (was->cost.steps + 1 != k->cost.steps || p->job->thorough)
			return false;
		how |= TUTTI_FOLLOWS_MEETING;
	}
	return tutti_scheds_follow(was->scheds, k->scheds, p->shape.ranks,
				   how);
}

static bool proven_before(const struct proof *p, const struct kept *k)
{
	for (unsigned int i = 0; i < tutti_min(p->nkept, KEPT); i++)
		if (stands_for(p, &p->kept[i], k))
			return true;
	return false;
}

static void keep(struct proof *p, const struct kept *k)
{
	unsigned int slot = p->nkept++ % KEPT;

	if (p->nkept > KEPT)
		tutti_scheds_free(p->kept[slot].scheds, p->shape.ranks);
	p->kept[slot] = *k;
}

static void tell(struct proof *p, const struct tutti_query *q, const char *why)
{
	p->failed = true;
	if (p->out->faults++ < 3)
		fprintf(stderr, "tutti sim: %s %s%s%s%s, %d ranks on %d nodes (%s), root %d, %s%s%s: %s\n",
			tutti_coll_name(q->coll), p->out->entry->name,
			p->levels ? "(" : "", p->levels ? p->levels : "",
			p->levels ? ")" : "", q->shape->ranks, q->shape->nodes,
			sim_shape_names[p->kind], q->root,
			q->mapped ? "mapped" : "mail",
			q->strict ? ", strict" : "",
			q->uneven ? ", uneven" : "", why);
}

/* The schedules of all ranks.  Those of a composed algorithm have much to
 * build, so that this ends as soon as they are over the budget: *events is
 * what all would have if they were like the first, and *out is NULL. */
static tuttiResult_t build(const struct proof *p, const struct tutti_query *q,
			   struct tutti_sched ***out, uint64_t *events)
{
	const struct tutti_algo *algo = p->out->entry->algo;
	int ranks = p->shape.ranks;
	struct tutti_sched **scheds;
	struct tutti_query own = *q;
	tuttiResult_t rc = tuttiSuccess;

	*events = 0;
	*out = NULL;
	if (!(algo->flags & TUTTI_COMPOSED))
		return tutti_scheds_build(out, algo, q);
	scheds = calloc((size_t)ranks, sizeof(*scheds));
	if (!scheds)
		return tuttiSystemError;
	for (own.rank = 0; own.rank < ranks && !rc; own.rank++) {
		rc = tutti_sched_build_served(&scheds[own.rank], algo, &own);
		if (!rc)
			*events += events_of_one(scheds[own.rank]);
		if (rc || *events <= p->job->budget)
			continue;
		*events = *events / ((uint64_t)own.rank + 1) * (uint64_t)ranks;
		*events = tutti_max(*events, p->job->budget + 1);
		tutti_scheds_free(scheds, ranks);
		return tuttiSuccess;
	}
	if (rc)
		tutti_scheds_free(scheds, ranks);
	else
		*out = scheds;
	return rc;
}

/* False without memory. */
static bool prove(struct proof *p, const struct tutti_query *q)
{
	const struct tutti_algo *algo = p->out->entry->algo;
	struct kept k = { .strict = q->strict };
	struct tutti_verify_report rep = { 0 };
	uint64_t events;
	tuttiResult_t rc;

	/* A composed one's cost is counted from its schedules. */
	if (!(algo->flags & TUTTI_COMPOSED))
		k.cost = algo->cost(q);
	rc = build(p, q, &k.scheds, &events);
	if (rc == tuttiSystemError)
		return false;
	p->out->queries++;
	if (rc) {
		tell(p, q, tutti_fail_text());
		return true;
	}
	if (!k.scheds) {
		p->over = tutti_max(p->over, events);
		return true;
	}
	if (proven_before(p, &k)) {
		tutti_scheds_free(k.scheds, p->shape.ranks);
		return true;
	}
	events = events_of(k.scheds, p->shape.ranks);
	if (events > p->job->budget) {
		p->over = tutti_max(p->over, events);
		tutti_scheds_free(k.scheds, p->shape.ranks);
		return true;
	}
	rc = tutti_scheds_prove(k.scheds, algo, q, p->job->thorough, &rep);
	p->out->sets++;
	p->out->schedules += q->coll == TUTTI_SENDRECV ?
			     2 : (uint64_t)p->shape.ranks;
	p->out->turned += rep.turned;
	p->out->thorough += p->job->thorough;
	if (rc && rc != tuttiSystemError)
		tell(p, q, rep.why);
	keep(p, &k);
	return rc != tuttiSystemError;
}

/* The forms of a query: blocks of one length or not, strict or not, mapped or
 * not.  Strict first: it asks for more, of what are often the same schedules. */
static bool prove_forms(struct proof *p, int root)
{
	const struct tutti_algo *algo = p->out->entry->algo;

	for (unsigned int form = 0; form < 8; form++) {
		struct tutti_query q = {
			.coll = algo->coll,
			.shape = &p->shape,
			.root = root,
			.mapped = form & 1,
			.strict = !(form & 2),
			.uneven = form & 4,
			.sending = algo->coll == TUTTI_SENDRECV,
		};

		if (q.mapped && !(algo->flags & TUTTI_HAS_MAPPED))
			continue;
		if (q.strict && !tutti_coll_reduces(q.coll))
			continue;
		if (q.uneven && !(algo->flags & TUTTI_UNEVEN))
			continue;
		q.levels = p->levels;
		if (algo->serves(&q) && !prove(p, &q))
			return false;
	}
	return true;
}

/* Its own choice of level algorithms, and every other. */
static bool prove_levels(struct proof *p, int root)
{
	bool ok;

	p->levels = NULL;
	ok = prove_forms(p, root);
	for (uint32_t i = 0; ok && p->job->target->composed &&
			     tutti_levels_nth(p->out->entry->algo, i, p->text);
	     i++) {
		p->levels = p->text;
		ok = prove_forms(p, root);
	}
	return ok;
}

/* All roots, or the first, the last, and one between; of a message the last
 * is the peer of rank 0. */
static bool prove_roots(struct proof *p)
{
	enum tutti_coll coll = p->out->entry->algo->coll;
	int n = p->shape.ranks;
	bool all = n <= p->job->all_roots;

	if (coll == TUTTI_SENDRECV)
		return prove_forms(p, n - 1);
	if (!tutti_coll_rooted(coll))
		return prove_levels(p, 0);
	if (!all)
		return prove_levels(p, 0) && prove_levels(p, n / 3) &&
		       prove_levels(p, n - 1);
	for (int root = 0; root < n; root++)
		if (!prove_levels(p, root))
			return false;
	return true;
}

/* A flat algorithm knows of nodes only whether there is one. */
static bool wanted(const struct sim_job *job, enum sim_shape kind)
{
	if (job->shape >= 0)
		return (int)kind == job->shape;
	return job->all_shapes || kind == SIM_ONE || kind == SIM_INTERLEAVED;
}

static bool prove_shapes(struct proof *p)
{
	/* One node last: its mail form follows from that of several. */
	for (int kind = SIM_SHAPES - 1; kind >= 0; kind--) {
		if (!wanted(p->job, (enum sim_shape)kind))
			continue;
		p->kind = (enum sim_shape)kind;
		sim_shape_init(&p->shape, p->kind, p->job->ranks, p->node,
			       p->domain);
		if (!prove_roots(p))
			return false;
	}
	return true;
}

static void count(const struct proof *p, uint64_t queries)
{
	struct sim_target *t = p->out;
	int n = p->job->ranks;

	if (p->over) {
		t->over_min = t->over ? tutti_min(t->over_min, n) : n;
		t->over_max = tutti_max(t->over_max, n);
		t->over_events = tutti_max(t->over_events, p->over);
		t->over++;
	} else if (!p->failed && t->queries > queries) {
		t->counts_min = t->counts ? tutti_min(t->counts_min, n) : n;
		t->counts_max = tutti_max(t->counts_max, n);
		t->counts++;
	}
}

bool sim_prove(const struct sim_job *job, struct sim_target *out)
{
	size_t n = (size_t)job->ranks;
	struct proof p = {
		.job = job,
		.out = out,
		.node = calloc(n, sizeof(*p.node)),
		.domain = calloc(n, sizeof(*p.domain)),
	};
	uint64_t queries = out->queries;
	bool ok = p.node && p.domain && prove_shapes(&p);

	if (ok)
		count(&p, queries);
	for (unsigned int i = 0; i < tutti_min(p.nkept, KEPT); i++)
		tutti_scheds_free(p.kept[i].scheds, job->ranks);
	free(p.node);
	free(p.domain);
	return ok;
}
