/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counting sink: what one rank does, without storing a record, so the
 * cost of a builder's schedule is known in the time of a few records however
 * many ranks there are.
 */
#include "config.h"

#include "sched/sched_impl.h"

struct counter {
	struct tutti_sink sink;		/* first */
	struct tutti_sched header;	/* for the arithmetic of spans */
	struct tutti_sched_stats *stats;
	uint32_t times;
};

static tuttiResult_t count_begin(struct tutti_sink *k,
				 const struct tutti_query *q, uint32_t pieces,
				 uint32_t scratch)
{
	struct counter *c = (struct counter *)k;

	c->header = (struct tutti_sched){
		.ranks = q->shape->ranks,
		.rank = q->rank,
		.pieces = pieces,
		.scratch = scratch,
	};
	tutti_coll_blocks(q->coll, q->shape->ranks, q->sending,
			  &c->header.blocks_in, &c->header.blocks_out);
	c->times = 1;
	return tuttiSuccess;
}

static tuttiResult_t count_lane(struct tutti_sink *k)
{
	((struct counter *)k)->times = 1;
	return tuttiSuccess;
}

static tuttiResult_t count_run(struct tutti_sink *k, uint32_t times)
{
	((struct counter *)k)->times = times;
	return tuttiSuccess;
}

/* Places of a span, over all repetitions, that lie with other ranks. */
static uint64_t count_remote(const struct counter *c,
			     const struct tutti_ref *ref)
{
	uint64_t n = 0;

	for (uint32_t t = 0; t < c->times; t++)
		for (uint32_t i = 0; i < ref->count; i++)
			n += tutti_ref_at(&c->header, ref, i, t).rank !=
			     c->header.rank;
	return n;
}

static tuttiResult_t count_op(struct tutti_sink *k, const struct tutti_op *op,
			      const struct tutti_ref *refs)
{
	struct counter *c = (struct counter *)k;
	struct tutti_sched_stats *s = c->stats;
	bool waits = false;

	for (uint32_t i = 0; i < (uint32_t)op->nsrc + op->ndst; i++) {
		uint64_t places = 0;

		if (refs[i].place != TUTTI_MAIL) {
			places = count_remote(c, &refs[i]);
		} else if (i >= op->nsrc) {
			places = (uint64_t)refs[i].count * c->times;
			s->messages += places;
		} else {
			waits = true;
		}
		s->chunks_sent += places * op->nchunks;
	}
	s->records += c->times > 0;
	s->ops += c->times;
	if (waits)
		s->rounds += c->times;
	return tuttiSuccess;
}

tuttiResult_t tutti_sched_count(struct tutti_sched_stats *out,
				const struct tutti_algo *algo,
				const struct tutti_query *q)
{
	struct tutti_sched_stats stats = { 0 };
	struct tutti_query own = *q;
	struct counter c = {
		.sink = {
			.begin = count_begin,
			.lane = count_lane,
			.run = count_run,
			.op = count_op,
		},
		.stats = &stats,
	};
	tuttiResult_t rc;

	rc = tutti_query_check(algo, q);
	if (rc)
		return rc;
	if (!(algo->flags & TUTTI_HAS_MAPPED))
		own.mapped = false;
	rc = algo->build(&c.sink, &own);
	if (!rc)
		*out = stats;
	return rc;
}
