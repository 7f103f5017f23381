/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One algorithm and one query, all ranks: built, and verified in place and
 * not, with few credits and many.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
	uint32_t credits, slices, parts;
} settings[] = {
	{ 2, 1, 2 }, { 3, 1, 1 }, { 4, 2, 2 }, { 0, 1, 1 }, { 0, 3, 1 },
};

/* The query of one rank; false for one that has no part in it. */
static bool rank_query(const struct tutti_query *q, int rank,
		       struct tutti_query *out)
{
	*out = *q;
	if (q->coll != TUTTI_SENDRECV) {
		out->rank = rank;
		return true;
	}
	if (rank == q->root) {
		out->rank = q->root;
		out->root = q->rank;
		out->sending = !q->sending;
	}
	return rank == q->root || rank == q->rank;
}

void tutti_scheds_free(struct tutti_sched **scheds, int ranks)
{
	for (int r = 0; scheds && r < ranks; r++)
		tutti_sched_free(scheds[r]);
	free(scheds);
}

tuttiResult_t tutti_scheds_build(struct tutti_sched ***out,
				 const struct tutti_algo *algo,
				 const struct tutti_query *q)
{
	int ranks = q->shape->ranks;
	struct tutti_sched **scheds;
	bool served = false;
	tuttiResult_t rc = tuttiSuccess;

	scheds = calloc((size_t)ranks, sizeof(*scheds));
	if (!scheds)
		return tuttiSystemError;
	for (int r = 0; r < ranks && !rc; r++) {
		struct tutti_query own;

		if (!rank_query(q, r, &own))
			continue;
		rc = served ? tutti_sched_build_served(&scheds[r], algo, &own) :
			      tutti_sched_build(&scheds[r], algo, &own);
		served = true;
	}
	if (rc)
		tutti_scheds_free(scheds, ranks);
	else
		*out = scheds;
	return rc;
}

/* What must not depend on credits, slices or places. */
static tuttiResult_t compare(const struct tutti_algo *algo,
			     const struct tutti_query *q, bool first,
			     uint64_t *digest, struct tutti_verify_report *rep)
{
	const char *fault = NULL;

	if (first)
		*digest = rep->digest;
	else if (*digest != rep->digest)
		fault = "the order of additions depends on credits, slices or being in place";
	if (algo->flags & TUTTI_ONE_COMBINE && !rep->one_combine)
		fault = "the file states one combine in rank order, which it is not";
	else if (algo->flags & TUTTI_IN_ORDER && !rep->in_order)
		fault = "the file states operands in rank order, which they are not";
	else if (q->strict && tutti_coll_reduces(q->coll) && !rep->strict)
		fault = "the query is strict, but the additions are not the balanced tree over rank order";
	else if (q->strict && rep->sums_in_out)
		fault = "the query is strict, but a sum that is not final is stored to OUT";
	if (!fault)
		return tuttiSuccess;
	snprintf(rep->why, sizeof(rep->why), "%s", fault);
	return tuttiInternalError;
}

/* One setting, in place and not: by one run, or by two where that is not
 * enough to tell. */
static tuttiResult_t prove_places(struct tutti_sched *const *scheds, int ranks,
				  struct tutti_verify_args *args,
				  struct tutti_verify_report *rep)
{
	enum tutti_coll coll = scheds[0] ? scheds[0]->coll : TUTTI_SENDRECV;
	bool two = coll != TUTTI_BARRIER && coll != TUTTI_SENDRECV;
	uint64_t digest;
	tuttiResult_t rc;

	args->both = two;
	rc = tutti_sched_verify(scheds, ranks, args, rep);
	args->both = false;
	if (!two || rc != tuttiInternalError)
		return rc;
	rc = tutti_sched_verify(scheds, ranks, args, rep);
	if (rc)
		return rc;
	digest = rep->digest;
	args->in_place = true;
	args->digest = &digest;
	rc = tutti_sched_verify(scheds, ranks, args, rep);
	args->in_place = false;
	args->digest = NULL;
	return rc;
}

tuttiResult_t tutti_scheds_prove(struct tutti_sched *const *scheds,
				 const struct tutti_algo *algo,
				 const struct tutti_query *q, bool thorough,
				 struct tutti_verify_report *rep)
{
	size_t n = thorough ? tutti_countof(settings) : 1;
	bool composed = algo->flags & TUTTI_COMPOSED;
	struct tutti_cost cost = { 0 };
	uint64_t digest = 0;

	/* That of a composed one is counted as here: nothing to compare. */
	if (!composed)
		cost = algo->cost(q);
	for (size_t i = 0; i < n; i++) {
		struct tutti_verify_args args = {
			.credits = settings[i].credits,
			.slices = settings[i].slices,
			.parts = thorough ? settings[i].parts : 1,
			.turned = !thorough,
			.cost = composed ? NULL : &cost,
		};
		tuttiResult_t rc;

		rc = prove_places(scheds, q->shape->ranks, &args, rep);
		if (!rc)
			rc = compare(algo, q, i == 0, &digest, rep);
		if (rc)
			return rc;
	}
	return tuttiSuccess;
}

tuttiResult_t tutti_algo_verify(const struct tutti_algo_entry *entry,
				const struct tutti_query *query,
				struct tutti_verify_report *report)
{
	struct tutti_verify_report own, *rep = report ? report : &own;
	struct tutti_query q = *query;
	struct tutti_sched **scheds;
	tuttiResult_t rc;

	*rep = (struct tutti_verify_report){ 0 };
	if (!(entry->algo->flags & TUTTI_HAS_MAPPED))
		q.mapped = false;
	rc = tutti_scheds_build(&scheds, entry->algo, &q);
	if (rc) {
		snprintf(rep->why, sizeof(rep->why),
			 "a schedule cannot be built");
		return rc;
	}
	rc = tutti_scheds_prove(scheds, entry->algo, &q, true, rep);
	tutti_scheds_free(scheds, q.shape->ranks);
	return rc;
}
