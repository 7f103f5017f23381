/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list sink: collects a builder's records into one struct tutti_sched.
 * Runs without operations and runs of 0 times leave no record, and a run of
 * one time goes on with another of one time, so equal schedules are equal
 * records.
 */
#include "config.h"

#include "base/fail.h"
#include "sched/algo.h"
#include "sched/sched_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A schedule and the name it points to. */
struct named {
	struct tutti_sched sched;	/* first */
	char name[TUTTI_ALGO_NAME_MAX];
};

static tuttiResult_t no_memory(void)
{
	return tutti_fail(tuttiSystemError,
			  "no memory to store a schedule; free some and retry");
}

/* Make room for `need` elements of `size` bytes. */
static tuttiResult_t grow(void *array, uint32_t *max, uint64_t need,
			  size_t size)
{
	uint64_t n = *max ? *max : 8;
	void *p;

	if (need <= *max)
		return tuttiSuccess;
	while (n < need)
		n *= 2;
	if (n > INT32_MAX)
		return no_memory();
	memcpy(&p, array, sizeof(p));
	p = realloc(p, n * size);
	if (!p)
		return no_memory();
	memcpy(array, &p, sizeof(p));
	*max = (uint32_t)n;
	return tuttiSuccess;
}

tuttiResult_t tutti_list_begin(struct tutti_list *l,
			       const struct tutti_sched *header)
{
	struct named *n = calloc(1, sizeof(*n));

	if (!n)
		return no_memory();
	n->sched = *header;
	snprintf(n->name, sizeof(n->name), "%s",
		 header->algo ? header->algo : "");
	n->sched.algo = n->name;
	l->sched = &n->sched;
	return tuttiSuccess;
}

static tuttiResult_t list_begin(struct tutti_sink *k,
				const struct tutti_query *q, uint32_t pieces,
				uint32_t scratch)
{
	struct tutti_sched header = {
		.coll = q->coll,
		.ranks = q->shape->ranks,
		.rank = q->rank,
		.root = q->root,
		.mapped = q->mapped,
		.pieces = pieces,
		.scratch = scratch,
	};

	tutti_coll_blocks(q->coll, header.ranks, q->sending,
			  &header.blocks_in, &header.blocks_out);
	return tutti_list_begin((struct tutti_list *)k, &header);
}

static void list_widest(struct tutti_sink *k, uint32_t nchunks)
{
	((struct tutti_list *)k)->sched->widest = nchunks;
}

static tuttiResult_t list_lane(struct tutti_sink *k)
{
	struct tutti_list *l = (struct tutti_list *)k;
	struct tutti_sched *s = l->sched;

	if (s->nlanes == TUTTI_LANES_MAX)
		return tutti_fail(tuttiInternalError,
				  "a schedule has more than %d lanes",
				  TUTTI_LANES_MAX);
	s->lanes[s->nlanes].first = s->nruns;
	s->nlanes++;
	l->times = 1;
	l->run_open = false;
	return tuttiSuccess;
}

static tuttiResult_t list_run(struct tutti_sink *k, uint32_t times)
{
	struct tutti_list *l = (struct tutti_list *)k;

	l->times = times;
	l->run_open = false;
	return tuttiSuccess;
}

/* Append the run's record before its first operation, or go on with the last
 * one if both are of one time. */
static tuttiResult_t open_run(struct tutti_list *l)
{
	struct tutti_sched *s = l->sched;
	tuttiResult_t rc;

	if (l->times == 1 && s->lanes[s->nlanes - 1].nruns &&
	    s->runs[s->nruns - 1].times == 1) {
		l->run_open = true;
		return tuttiSuccess;
	}
	rc = grow(&s->runs, &l->runs_max, (uint64_t)s->nruns + 1,
		  sizeof(*s->runs));
	if (rc)
		return rc;
	s->runs[s->nruns++] = (struct tutti_run){
		.first = s->nops, .times = l->times,
	};
	s->lanes[s->nlanes - 1].nruns++;
	l->run_open = true;
	return tuttiSuccess;
}

static tuttiResult_t list_op(struct tutti_sink *k, const struct tutti_op *op,
			     const struct tutti_ref *refs)
{
	struct tutti_list *l = (struct tutti_list *)k;
	struct tutti_sched *s = l->sched;
	uint32_t n = (uint32_t)op->nsrc + op->ndst;
	tuttiResult_t rc;

	if (!s->nlanes)
		return tutti_fail(tuttiInternalError,
				  "a schedule has an operation outside a lane");
	if (op->kind != TUTTI_COMBINE && op->flags & TUTTI_TREE)
		return tutti_fail(tuttiInternalError,
				  "an operation of a schedule is a tree, but no combine");
	if (l->times == 0)
		return tuttiSuccess;
	if (!l->run_open) {
		rc = open_run(l);
		if (rc)
			return rc;
	}
	rc = grow(&s->ops, &l->ops_max, (uint64_t)s->nops + 1,
		  sizeof(*s->ops));
	if (rc)
		return rc;
	rc = grow(&s->refs, &l->refs_max, (uint64_t)s->nrefs + n,
		  sizeof(*s->refs));
	if (rc)
		return rc;
	s->ops[s->nops] = *op;
	s->ops[s->nops++].ref = s->nrefs;
	if (n)
		memcpy(&s->refs[s->nrefs], refs, n * sizeof(*refs));
	s->nrefs += n;
	s->runs[s->nruns - 1].nops++;
	return tuttiSuccess;
}

void tutti_list_init(struct tutti_list *l)
{
	*l = (struct tutti_list){
		.sink = {
			.begin = list_begin,
			.widest = list_widest,
			.lane = list_lane,
			.run = list_run,
			.op = list_op,
		},
	};
}

tuttiResult_t tutti_list_take(struct tutti_list *l, struct tutti_sched **out)
{
	struct tutti_sched *s = l->sched;

	if (!s)
		return tutti_fail(tuttiInternalError,
				  "a builder emitted no schedule");
	for (uint32_t i = 0; i < s->nlanes; i++) {
		struct tutti_lane *lane = &s->lanes[i];
		const struct tutti_run *run = &s->runs[lane->first];
		uint64_t n = 0;

		for (uint32_t r = 0; r < lane->nruns && n <= INT32_MAX; r++)
			n += (uint64_t)run[r].nops * run[r].times;
		if (n > INT32_MAX)
			return tutti_fail(tuttiInvalidArgument,
					  "lane %u of a schedule has more than %d operations",
					  i, INT32_MAX);
		lane->nops = (uint32_t)n;
	}
	*out = s;
	l->sched = NULL;
	return tuttiSuccess;
}

void tutti_list_fini(struct tutti_list *l)
{
	tutti_sched_free(l->sched);
	l->sched = NULL;
}

tuttiResult_t tutti_query_check(const struct tutti_algo *algo,
				const struct tutti_query *q)
{
	int n = q->shape->ranks;

	if (q->coll == algo->coll && n > 0 && q->rank >= 0 && q->rank < n &&
	    q->root >= 0 && q->root < n && algo->serves(q))
		return tuttiSuccess;
	return tutti_fail(tuttiInternalError,
			  "algorithm %s does not serve %s for rank %d of %d with root %d and radix %d",
			  tutti_algo_name(algo), tutti_coll_name(q->coll),
			  q->rank, n, q->root, q->radix);
}

tuttiResult_t tutti_sched_build_served(struct tutti_sched **out,
				       const struct tutti_algo *algo,
				       const struct tutti_query *q)
{
	struct tutti_query own = *q;
	struct tutti_list list;
	tuttiResult_t rc;

	if (!(algo->flags & TUTTI_HAS_MAPPED))
		own.mapped = false;
	tutti_list_init(&list);
	rc = algo->build(&list.sink, &own);
	if (!rc)
		rc = tutti_list_take(&list, out);
	tutti_list_fini(&list);
	if (rc)
		return rc;
	snprintf(((struct named *)*out)->name, TUTTI_ALGO_NAME_MAX, "%s",
		 tutti_algo_name(algo));
	return tuttiSuccess;
}

tuttiResult_t tutti_sched_build(struct tutti_sched **out,
				const struct tutti_algo *algo,
				const struct tutti_query *q)
{
	tuttiResult_t rc = tutti_query_check(algo, q);

	return rc ? rc : tutti_sched_build_served(out, algo, q);
}
