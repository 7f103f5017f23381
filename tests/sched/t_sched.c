/* SPDX-License-Identifier: BSD-3-Clause */
/* See t_sched.h. */
#include "config.h"

#include "sched/emit.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Layouts of blocks that have domains or are alike. */
static void init_blocks(struct t_shape *s, int ranks, enum t_layout layout)
{
	int blocks = layout == T_BLOCKS ? 1 + (ranks - 1) / 4 :
		     layout == T_SOCKETS ? 2 :
		     layout == T_DOMAINS ? 4 : ranks / 2 + 1;

	blocks = blocks < ranks ? blocks : ranks;
	for (int r = 0; r < ranks; r++) {
		int b = (int)((int64_t)r * blocks / ranks);

		if (layout == T_SINGLES)
			b = r < ranks / 2 ? r : ranks / 2;
		s->domain[r] = b;
		s->node[r] = layout == T_SOCKETS ? 0 :
			     layout == T_DOMAINS ? b / 2 : b;
	}
	s->shape = (struct tutti_shape){
		.ranks = ranks,
		.nodes = s->node[ranks - 1] + 1,
		.node = s->node,
	};
	if (layout == T_SOCKETS || layout == T_DOMAINS) {
		s->shape.domains = blocks;
		s->shape.domain = s->domain;
	}
}

void t_shape_init(struct t_shape *s, int ranks, enum t_layout layout)
{
	int nodes = layout == T_ONE_NODE ? 1 : 1 + (ranks - 1) / 3;

	if (layout > T_UNEVEN) {
		init_blocks(s, ranks, layout);
		return;
	}
	for (int r = 0; r < ranks; r++)
		s->node[r] = layout == T_UNEVEN ?
			     (r < ranks / 2 ? 0 : nodes - 1) : r % nodes;
	if (layout == T_UNEVEN && ranks > 1)
		nodes = nodes > 1 ? 2 : 1;
	for (int r = 0; r < ranks; r++)
		if (s->node[r] >= nodes)
			s->node[r] = nodes - 1;
	s->shape = (struct tutti_shape){ .ranks = ranks, .nodes = nodes,
					 .node = s->node };
}

struct tutti_query t_query(const struct tutti_algo *algo,
			   const struct tutti_shape *shape, bool mapped,
			   int root)
{
	struct tutti_query q = {
		.coll = algo->coll,
		.shape = shape,
		.root = root,
		.mapped = mapped,
	};

	if (algo->coll == TUTTI_SENDRECV) {
		q.sending = true;
		q.root = shape->ranks - 1;
	}
	return q;
}

struct tutti_sched **t_build(const struct tutti_algo *algo,
			     const struct tutti_query *q)
{
	struct tutti_sched **scheds;

	scheds = calloc((size_t)q->shape->ranks, sizeof(*scheds));
	cr_assert_not_null(scheds);
	for (int r = 0; r < q->shape->ranks; r++) {
		struct tutti_query own = *q;

		if (q->coll == TUTTI_SENDRECV) {
			if (r != q->rank && r != q->root)
				continue;
			own.root = r == q->rank ? q->root : q->rank;
			own.sending = q->sending == (r == q->rank);
		}
		own.rank = r;
		cr_assert_eq(tutti_sched_build(&scheds[r], algo, &own),
			     tuttiSuccess);
	}
	return scheds;
}

void t_free(struct tutti_sched **scheds, int ranks)
{
	for (int r = 0; r < ranks; r++)
		tutti_sched_free(scheds[r]);
	free(scheds);
}

static void *copy_of(const void *p, size_t bytes)
{
	void *q = malloc(bytes + 1);

	cr_assert_not_null(q);
	if (bytes)
		memcpy(q, p, bytes);
	return q;
}

struct tutti_sched *t_copy(const struct tutti_sched *s)
{
	struct tutti_sched *c = copy_of(s, sizeof(*s));

	c->runs = copy_of(s->runs, s->nruns * sizeof(*s->runs));
	c->ops = copy_of(s->ops, s->nops * sizeof(*s->ops));
	c->refs = copy_of(s->refs, s->nrefs * sizeof(*s->refs));
	return c;
}

uint32_t t_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* ---- Two lanes --------------------------------------------------------- */

static void lane_add(struct tutti_emit *e, const struct tutti_query *q)
{
	int me = q->rank;

	for (int first = 1; first >= 0; first--) {
		int piece = first ? 0 : 1;
		struct tutti_ref in = tutti_chunk_iter(TUTTI_IN, me, piece, 1);

		tutti_emit_run(e, first ? 1 : T_LANES_PIECES - 1);
		tutti_emit_src(e, in);
		tutti_emit_dst(e, tutti_mail_others(q));
		tutti_emit_combine(e, 0, 1);
		tutti_emit_src_in_order(e, in);
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
		if (!first)
			tutti_emit_wait(e, 1, 0, 1);
		tutti_emit_combine(e, TUTTI_FINAL, 1);
	}
}

static void lane_store(struct tutti_emit *e, int me)
{
	tutti_emit_lane(e);
	tutti_emit_run(e, T_LANES_PIECES);
	tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
	tutti_emit_dst(e, tutti_chunk_iter(TUTTI_OUT, me, 0, 1));
	tutti_emit_wait(e, 0, 1, 2);
	tutti_emit_combine(e, 0, 1);
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, T_LANES_PIECES, 1);
	lane_add(&e, q);
	lane_store(&e, q->rank);
	return tutti_emit_end(&e);
}

static bool serves(const struct tutti_query *q)
{
	return q->shape->ranks > 1 && !q->mapped;
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	return (struct tutti_cost){
		.steps = T_LANES_PIECES,
		.chunks_sent = (uint64_t)(q->shape->ranks - 1) *
			       T_LANES_PIECES,
	};
}

static const struct tutti_algo two_lanes = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "for tests",
	.flags = TUTTI_ONE_COMBINE,
	.serves = serves,
	.build = build,
	.cost = cost,
};

const struct tutti_algo_entry t_two_lanes = { "two_lanes", &two_lanes };
