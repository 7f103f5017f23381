/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: which algorithm serves a call, and its programs, remembered.  Programs
 * do not depend on counts, so many plans share one.  A small table holds the
 * plans of recent calls; on a collision the older one is worked out again.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/comm.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define PLANS 256

/* A program and what it was built for. */
struct stored {
	const struct tutti_algo *algo;
	int root;
	bool sending, mapped, strict, uneven;
	char levels[TUTTI_LEVELS_MAX];
	struct tutti_program *program;
	struct stored *next;
};

struct tutti_plans {
	struct tutti_plan plan[PLANS];	/* hash 0: empty */
	struct stored *stored;
};

static struct tutti_plans *table_of(struct tuttiComm *comm)
{
	if (!comm->plans)
		comm->plans = calloc(1, sizeof(struct tutti_plans));
	return comm->plans;
}

static uint64_t call_hash(const struct tutti_call *c)
{
	uint64_t h = tutti_mix(0x7475747469ull + (uint64_t)c->coll,
			       c->uneven ? UINT64_MAX : c->count);

	h = tutti_mix(h, (uint64_t)c->type << 32 |
			 (uint64_t)tutti_call_redop(c));
	if (c->coll != TUTTI_SENDRECV)
		h = tutti_mix(h, (uint64_t)c->root);
	return h | 1;
}

static bool same_call(const struct tutti_plan *p, const struct tutti_call *c)
{
	return p->hash && p->coll == c->coll && p->count == c->count &&
	       p->type == c->type && p->redop == c->redop &&
	       p->root == c->root && p->sending == c->sending &&
	       p->uneven == c->uneven;
}

/* Counts of a v-form are no part of its hash, and on them may depend which
 * algorithm a rank takes. */
static uint64_t uneven_hash(const struct tutti_call *c, const char *algo)
{
	uint64_t h = call_hash(c);

	while (*algo)
		h = tutti_mix(h, (unsigned char)*algo++);
	return h | 1;
}

static tuttiResult_t get_program(struct tuttiComm *comm,
				 const struct tutti_algo_entry *entry,
				 const struct tutti_query *q,
				 const struct tutti_program **out)
{
	int lane = q->coll == TUTTI_SENDRECV ? TUTTI_NET_P2P : 0;
	struct tutti_plans *t = table_of(comm);
	struct tutti_sched *s;
	struct stored *k;
	tuttiResult_t rc;
	bool meets;

	for (k = t->stored; k; k = k->next)
		if (k->algo == entry->algo && k->root == q->root &&
		    k->sending == q->sending && k->mapped == q->mapped &&
		    k->strict == q->strict && k->uneven == q->uneven &&
		    !strcmp(k->levels, q->levels ? q->levels : "")) {
			*out = k->program;
			return tuttiSuccess;
		}
	k = calloc(1, sizeof(*k));
	if (!k)
		return tutti_fail(tuttiSystemError, "out of memory");
	k->algo = entry->algo;
	k->root = q->root;
	k->sending = q->sending;
	k->mapped = q->mapped;
	k->strict = q->strict;
	k->uneven = q->uneven;
	if (q->levels)
		memcpy(k->levels, q->levels, strlen(q->levels) + 1);
	rc = tutti_sched_build(&s, entry->algo, q);
	if (rc) {
		free(k);
		return rc;
	}
	/* Where peers' memory may be reached, ranks meet first. */
	meets = entry->algo->flags & TUTTI_HAS_MAPPED && comm->ranks > 1 &&
		comm->nodes == 1;
	rc = tutti_program_make(&k->program, s, lane, meets ? 2 : 0);
	tutti_sched_free(s);
	if (rc) {
		free(k);
		return rc;
	}
	k->next = t->stored;
	t->stored = k;
	*out = k->program;
	return tuttiSuccess;
}

/* What of the buffers a form in place reaches. */
static void fill_recipe(const struct tuttiComm *comm,
			const struct tutti_call *call, struct tutti_recipe *r)
{
	size_t block = call->count * tutti_type_size((int)call->type);
	uint32_t in, out;

	r->count = call->count;
	r->type = call->type;
	/* A factor comes before a sum; a function takes the sum's place. */
	r->redop = call->made ? tuttiSum : call->redop;
	if (call->made)
		r->made = *tutti_comm_redop(comm, call->redop);
	r->root = call->root;
	/* Mapped forms read others' IN, but all-gather stores to others'
	 * OUT, and all-reduce and reduce do both. */
	r->uses_in = call->coll != TUTTI_ALL_GATHER;
	r->uses_out = call->coll == TUTTI_ALL_REDUCE ||
		      call->coll == TUTTI_REDUCE ||
		      call->coll == TUTTI_ALL_GATHER;
	r->in_of_root_only = tutti_coll_from_root(call->coll);
	r->out_of_root_only = tutti_coll_to_root(call->coll);
	tutti_coll_blocks(call->coll, comm->ranks, call->sending, &in, &out);
	r->in_bytes = block * in;
	r->out_bytes = block * out;
}

static tuttiResult_t make_plan(struct tuttiComm *comm,
			       const struct tutti_call *call,
			       struct tutti_plan *p)
{
	struct tutti_query q = {
		.coll = call->coll, .shape = &comm->shape, .rank = comm->rank,
		.root = call->root, .sending = call->sending,
		.strict = comm->strict, .uneven = call->uneven,
		.in_order = call->made == TUTTI_REDOP_ORDERED,
	};
	const struct tutti_program *mail, *mapped = NULL;
	struct tutti_choice choice;
	tuttiResult_t rc;

	rc = tutti_choose(&choice, &q, call->count, call->type, call->redop);
	if (rc)
		return rc;
	tutti_log(TUTTI_LOG_TRACE, "%s%s of %zu %s: %s, because %s",
		  tutti_coll_name(call->coll), call->uneven ? "v" : "",
		  call->count,
		  tutti_type_name((int)call->type), choice.entry->name,
		  choice.reason);
	memset(p, 0, sizeof(*p));
	q.strict = choice.strict;
	if (choice.levels[0])
		q.levels = choice.levels;
	rc = get_program(comm, choice.entry, &q, &mail);
	if (!rc && choice.entry->algo->flags & TUTTI_HAS_MAPPED &&
	    comm->ranks > 1 && comm->exec.map_ops && !call->uneven &&
	    /* Nobody knows the factors of others. */
	    call->made != TUTTI_REDOP_PREMUL) {
		q.mapped = true;
		rc = get_program(comm, choice.entry, &q, &mapped);
	}
	if (rc)
		return rc;
	p->coll = call->coll;
	p->count = call->count;
	p->type = call->type;
	p->redop = call->redop;
	p->root = call->root;
	p->sending = call->sending;
	p->uneven = call->uneven;
	p->algo = choice.entry->name;
	fill_recipe(comm, call, &p->recipe);
	p->recipe.strict = q.strict;
	tutti_recipe_cut(&p->recipe, &comm->exec, mail, mapped);
	p->hash = call->uneven ? uneven_hash(call, p->algo) : call_hash(call);
	return tuttiSuccess;
}

tuttiResult_t tutti_plan_get(struct tuttiComm *comm,
			     const struct tutti_call *call,
			     const struct tutti_plan **out)
{
	struct tutti_plans *t = table_of(comm);
	uint64_t at = tutti_mix(call_hash(call) + call->count,
				(uint64_t)call->root * 2 + call->sending);
	struct tutti_plan *p;
	tuttiResult_t rc;

	if (!t)
		return tutti_fail(tuttiSystemError, "out of memory");
	p = &t->plan[at % PLANS];
	if (!same_call(p, call)) {
		p->hash = 0;
		rc = make_plan(comm, call, p);
		if (rc) {
			p->hash = 0;
			return rc;
		}
	}
	*out = p;
	return tuttiSuccess;
}

void tutti_plans_free(struct tuttiComm *comm)
{
	struct tutti_plans *t = comm->plans;

	while (t && t->stored) {
		struct stored *k = t->stored;

		t->stored = k->next;
		tutti_program_free(k->program);
		free(k);
	}
	free(t);
	comm->plans = NULL;
}
