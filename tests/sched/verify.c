/* SPDX-License-Identifier: BSD-3-Clause */
/* Every registered algorithm, proven: rank counts, roots, radixes, shapes,
 * both forms, in place and not (tutti_algo_verify does that). */
#include "config.h"

#include "base/bits.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEXES_MAX 64

/* The parameter of a test is an index into the registry. */
static int indexes[INDEXES_MAX];

static struct criterion_test_params every_algorithm(void)
{
	size_t n = 0;

	while (tutti_algos[n].name && n < INDEXES_MAX) {
		indexes[n] = (int)n;
		n++;
	}
	return cr_make_param_array(int, indexes, n);
}

/* Prove one query, and give what was found. */
static struct tutti_verify_report prove(const struct tutti_algo_entry *a,
					const struct tutti_query *q)
{
	struct tutti_verify_report rep;
	tuttiResult_t rc = tutti_algo_verify(a, q, &rep);

	cr_assert_eq(rc, tuttiSuccess,
		     "%s %s, %d ranks on %d nodes, root %d, radix %d, %s: %s",
		     tutti_coll_name(q->coll), a->name, q->shape->ranks,
		     q->shape->nodes, q->root, q->radix,
		     q->mapped ? "mapped" : "mail", rep.why);
	return rep;
}

static bool rooted(const struct tutti_algo *algo)
{
	return tutti_coll_rooted(algo->coll);
}

/* Both forms, as far as they serve. */
static void prove_shape(const struct tutti_algo_entry *a,
			const struct tutti_shape *shape, int root, bool strict)
{
	uint64_t digest = 0;

	for (int mapped = 0; mapped < 2; mapped++) {
		struct tutti_query q = t_query(a->algo, shape, mapped, root);
		struct tutti_verify_report rep;

		q.strict = strict;
		if ((mapped && !(a->algo->flags & TUTTI_HAS_MAPPED)) ||
		    !a->algo->serves(&q))
			continue;
		rep = prove(a, &q);
		if (!mapped)
			digest = rep.digest;
		cr_assert_eq(rep.digest, digest,
			     "%s %s adds in another order if mapped",
			     tutti_coll_name(q.coll), a->name);
	}
}

/* On layouts `first` to `last`; of what adds also strict. */
static void prove_forms(const struct tutti_algo_entry *a, int ranks, int root,
			int first, int last)
{
	static struct t_shape shape;

	for (int layout = first; layout <= last; layout++) {
		t_shape_init(&shape, ranks, layout);
		if (layout && shape.shape.nodes == 1)
			continue;
		prove_shape(a, &shape.shape, root, false);
		if (tutti_coll_reduces(a->algo->coll))
			prove_shape(a, &shape.shape, root, true);
	}
}

ParameterizedTestParameters(sched_verify, small)
{
	return every_algorithm();
}

ParameterizedTest(int *index, sched_verify, small)
{
	const struct tutti_algo_entry *a = &tutti_algos[*index];

	for (int n = 1; n <= T_SMALL; n++) {
		int step = n <= 9 ? 1 : n / 2 + 1;

		for (int root = 0; root < n; root += step) {
			prove_forms(a, n, root, T_ONE_NODE, T_UNEVEN);
			if (!rooted(a->algo))
				break;
		}
	}
}

/* Messages that all ranks together send, or chunks if these are more. */
static uint64_t traffic(const struct tutti_algo *algo, int ranks)
{
	struct tutti_shape shape = { .ranks = ranks, .nodes = 1 };
	struct tutti_query q = t_query(algo, &shape, false, 0);
	struct tutti_sched_stats stats;

	if (!algo->serves(&q))
		return UINT64_MAX;
	q.rank = q.coll == TUTTI_SENDRECV ? 0 : ranks - 1;
	cr_assert_eq(tutti_sched_count(&stats, algo, &q), tuttiSuccess);
	return tutti_max(stats.messages, stats.chunks_sent) * (uint64_t)ranks;
}

ParameterizedTestParameters(sched_verify, large)
{
	return every_algorithm();
}

ParameterizedTest(int *index, sched_verify, large)
{
	const struct tutti_algo_entry *a = &tutti_algos[*index];
	uint64_t seed = 7;
	static const int sizes[] = { 48, 64, 100, 128 };

	for (size_t i = 0; i < tutti_countof(sizes) && sizes[i] <= T_LARGE; i++)
		prove_forms(a, sizes[i], rooted(a->algo) ? 17 : 0, T_ONE_NODE,
			    traffic(a->algo, sizes[i]) <= 8000 ?
			    T_INTERLEAVED : T_ONE_NODE);
	for (int i = 0; i < 6; i++) {
		int n = 34 + (int)(t_random(&seed) % (256 - 34));

		if (n <= T_LARGE && traffic(a->algo, n) <= 8000)
			prove_forms(a, n, (int)(t_random(&seed) % 34),
				    T_ONE_NODE, T_INTERLEAVED);
	}
}

/* Memory and time follow the messages, not the square of the ranks. */
ParameterizedTestParameters(sched_verify, thousands)
{
	return every_algorithm();
}

ParameterizedTest(int *index, sched_verify, thousands)
{
	const struct tutti_algo_entry *a = &tutti_algos[*index];
	static const int sizes[] = { 1000, 4099, 10000 };

	/* A barrier's proof needs a clock for each rank. */
	if (a->algo->coll == TUTTI_BARRIER)
		return;
	for (size_t i = 0; i < tutti_countof(sizes); i++)
		if (traffic(a->algo, sizes[i]) <= 60000)
			prove_forms(a, sizes[i], 0, T_INTERLEAVED,
				    T_INTERLEAVED);
}

Test(sched_verify, every_radix)
{
	static struct t_shape shape;

	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++) {
		if (strcmp(a->name, "recursive"))
			continue;
		for (int n = 1; n <= 49; n++)
			for (int radix = 2; radix <= 9; radix++) {
				struct tutti_query q;

				t_shape_init(&shape, n, T_INTERLEAVED);
				q = t_query(a->algo, &shape.shape, false, 0);
				q.radix = radix;
				if (a->algo->serves(&q))
					prove(a, &q);
				else
					cr_assert_eq(q.coll, TUTTI_ALL_GATHER);
				q.strict = true;
				if (tutti_coll_reduces(q.coll) &&
				    a->algo->serves(&q))
					prove(a, &q);
			}
	}
}

/* Which serve strict; that those which do are is proven by the others. */
Test(sched_verify, who_serves_strict)
{
	static const struct {
		enum tutti_coll coll;
		const char *name;
	} all[] = {
		{ TUTTI_ALL_REDUCE, "direct1" }, { TUTTI_ALL_REDUCE, "direct2" },
		{ TUTTI_ALL_REDUCE, "binomial" }, { TUTTI_REDUCE, "direct1" },
		{ TUTTI_REDUCE, "direct2" }, { TUTTI_REDUCE, "binomial" },
		{ TUTTI_REDUCE_SCATTER, "direct1" },
	}, none[] = {
		{ TUTTI_ALL_REDUCE, "ring" }, { TUTTI_REDUCE_SCATTER, "ring" },
	};
	const struct tutti_algo *rec =
		tutti_algo_find(TUTTI_ALL_REDUCE, "recursive")->algo;

	for (int n = 1; n <= 100; n++) {
		struct tutti_shape shape = { .ranks = n, .nodes = 1 };
		struct tutti_query q = { .shape = &shape, .root = n / 2,
					 .strict = true };
		const struct tutti_algo_entry *e;
		int odd = n / (n & -n);

		for (size_t i = 0; i < tutti_countof(all); i++) {
			q.coll = all[i].coll;
			e = tutti_algo_find(q.coll, all[i].name);
			cr_assert(e->algo->serves(&q), "%s", e->name);
		}
		for (size_t i = 0; i < tutti_countof(none); i++) {
			q.coll = none[i].coll;
			e = tutti_algo_find(q.coll, none[i].name);
			cr_assert_not(e->algo->serves(&q), "%s", e->name);
		}
		q.coll = TUTTI_ALL_REDUCE;
		cr_assert_eq(rec->serves(&q), odd <= 7, "%d ranks", n);
		q.radix = 2;
		cr_assert_eq(rec->serves(&q), odd == 1, "%d ranks", n);
		q.radix = 5;
		cr_assert_eq(rec->serves(&q), odd <= 5, "%d ranks", n);
	}
}

/* What the report says of schedules that were not asked to be strict. */
Test(sched_verify, strict_and_order)
{
	const struct tutti_algo_entry *rec, *bin, *ring, *two;
	static struct t_shape shape;

	rec = tutti_algo_find(TUTTI_ALL_REDUCE, "recursive");
	ring = tutti_algo_find(TUTTI_ALL_REDUCE, "ring");
	two = tutti_algo_find(TUTTI_ALL_REDUCE, "direct2");
	bin = tutti_algo_find(TUTTI_REDUCE, "binomial");
	for (int n = 2; n <= 33; n++) {
		bool power = !(n & (n - 1));
		struct tutti_verify_report rep;
		struct tutti_query q;

		t_shape_init(&shape, n, T_ONE_NODE);
		q = t_query(rec->algo, &shape.shape, false, 0);
		q.radix = 2;
		rep = prove(rec, &q);
		cr_assert(rep.in_order && (rep.strict || !power), "%d ranks",
			  n);
		cr_assert(rep.sums_in_out || n == 2, "%d ranks", n);
		q = t_query(bin->algo, &shape.shape, false, 0);
		rep = prove(bin, &q);
		cr_assert(rep.strict && rep.in_order && !rep.sums_in_out,
			  "%d ranks", n);
		q.root = 1;
		cr_assert_not(prove(bin, &q).in_order, "%d ranks", n);
		q = t_query(two->algo, &shape.shape, true, 0);
		rep = prove(two, &q);
		cr_assert(rep.one_combine && rep.strict == (n <= 3),
			  "%d ranks", n);
		q.strict = true;
		rep = prove(two, &q);
		cr_assert(rep.one_combine && rep.strict, "%d ranks", n);
		q = t_query(ring->algo, &shape.shape, false, 0);
		rep = prove(ring, &q);
		cr_assert(!rep.strict && !rep.in_order, "%d ranks", n);
	}
}

/* A file that says too much of itself is told. */
static struct tutti_algo lying;

static bool lies(const struct tutti_query *q)
{
	return true;
}

Test(sched_verify, false_statements)
{
	const struct tutti_algo_entry liar = { "liar", &lying };
	struct tutti_shape shape = { .ranks = 5, .nodes = 1 };
	struct tutti_verify_report rep;
	struct tutti_query q;

	lying = *tutti_algo_find(TUTTI_ALL_REDUCE, "ring")->algo;
	lying.flags |= TUTTI_IN_ORDER;
	q = t_query(&lying, &shape, false, 0);
	cr_assert_eq(tutti_algo_verify(&liar, &q, &rep), tuttiInternalError);
	cr_assert_str_eq(rep.why, "the file states operands in rank order, which they are not");
	lying.flags = 0;
	lying.serves = lies;
	q.strict = true;
	cr_assert_eq(tutti_algo_verify(&liar, &q, &rep), tuttiInternalError);
	cr_assert_str_eq(rep.why, "the query is strict, but the additions are not the balanced tree over rank order");
}

/* The right sums, but on their way through OUT, where they would be rounded. */
Test(sched_verify, sums_in_out)
{
	static const char *const text[2] = {
		"schedule all_reduce x\nranks 3 rank %d root 0 mail\n"
		"blocks 1 1 pieces 1 scratch 0\nlane\n"
		"combine in@0 mail@1 -> out@0\n"
		"combine final out@0 mail@2 -> out@0 mail@1/1*2\n",
		"schedule all_reduce x\nranks 3 rank %d root 0 mail\n"
		"blocks 1 1 pieces 1 scratch 0\nlane\n"
		"combine in@%d -> mail@0\ncombine mail@0 -> out@%d\n"
	};
	struct tutti_verify_args args = { .credits = 2 };
	struct tutti_verify_report rep;
	struct tutti_sched *s[3];
	char own[512];

	for (int r = 0; r < 3; r++) {
		snprintf(own, sizeof(own), text[r > 0], r, r, r);
		cr_assert_eq(tutti_sched_parse(&s[r], own), tuttiSuccess);
	}
	cr_assert_eq(tutti_sched_verify(s, 3, &args, &rep), tuttiSuccess, "%s",
		     rep.why);
	cr_assert(rep.strict && rep.sums_in_out);
	for (int r = 0; r < 3; r++)
		tutti_sched_free(s[r]);
}

/* The counting sink and the verifier count the same. */
Test(sched_verify, counts)
{
	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++) {
		for (int mapped = 0; mapped < 2; mapped++) {
			struct tutti_shape shape = { .ranks = 12, .nodes = 1 };
			struct tutti_query q = t_query(a->algo, &shape, mapped,
						       5);
			struct tutti_verify_report rep;
			uint64_t messages = 0, most = 0;

			if (q.coll == TUTTI_SENDRECV || !a->algo->serves(&q))
				continue;
			rep = prove(a, &q);
			for (q.rank = 0; q.rank < 12; q.rank++) {
				struct tutti_sched_stats st;

				cr_assert_eq(tutti_sched_count(&st, a->algo,
							       &q),
					     tuttiSuccess);
				most = tutti_max(most, st.chunks_sent);
				/* The last setting had three slices. */
				messages += st.messages;
			}
			cr_assert_eq(most, rep.chunks_sent);
			cr_assert_leq(messages, rep.messages);
			cr_assert_geq(3 * messages, rep.messages);
		}
	}
}

/* A direct or ring form is a handful of records for any number of ranks; one
 * of log2 n steps has a handful for each. */
Test(sched_verify, records)
{
	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++) {
		struct tutti_shape shape = { .ranks = 1000, .nodes = 1 };
		struct tutti_query q = t_query(a->algo, &shape, false, 0);
		uint32_t few = a->algo->cost(&q).steps <= 20 &&
			       a->algo->cost(&q).steps >= 9 ? 60 : 12;
		struct tutti_sched *s;

		q.rank = 1;
		if (!a->algo->serves(&q))
			continue;
		cr_assert_eq(tutti_sched_build(&s, a->algo, &q), tuttiSuccess);
		cr_assert_leq(s->nops, few, "%s %s: %u operations",
			      tutti_coll_name(q.coll), a->name, s->nops);
		cr_assert_leq(s->nrefs, few > 12 ? 320 : 24, "%s %s: %u spans",
			      tutti_coll_name(q.coll), a->name, s->nrefs);
		tutti_sched_free(s);
	}
}

Test(sched_verify, two_lanes_and_scratch)
{
	for (int n = 2; n <= 9; n++) {
		struct tutti_shape shape = { .ranks = n, .nodes = 1 };
		struct tutti_query q = t_query(t_two_lanes.algo, &shape, false,
					       0);

		prove(&t_two_lanes, &q);
	}
}

Test(sched_verify, registry)
{
	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++) {
		cr_assert_eq(tutti_algo_find(a->algo->coll, a->name), a);
		cr_assert_str_eq(tutti_algo_name(a->algo), a->name);
		cr_assert_geq(strlen(a->algo->help), 10);
	}
	for (int coll = 0; coll < TUTTI_COLLS; coll++)
		cr_assert_not_null(tutti_algo_find(coll, "direct1"), "%s",
				   tutti_coll_name(coll));
	cr_assert_null(tutti_algo_find(TUTTI_ALL_REDUCE, "direct"));
	cr_assert_null(tutti_algo_find(TUTTI_BARRIER, "ring"));
	cr_assert_str_eq(tutti_algo_name(t_two_lanes.algo), "");
}

/* A wrong statement in a file is a breach, too. */
Test(sched_verify, stated_cost)
{
	const struct tutti_algo *ring =
		tutti_algo_find(TUTTI_ALL_REDUCE, "ring")->algo;
	struct tutti_shape shape = { .ranks = 4, .nodes = 1 };
	struct tutti_query q = t_query(ring, &shape, false, 0);
	struct tutti_sched **scheds = t_build(ring, &q);
	struct tutti_cost cost = ring->cost(&q);
	struct tutti_verify_args args = { .credits = 2, .cost = &cost };
	struct tutti_verify_report rep;

	cr_assert_eq(tutti_sched_verify(scheds, 4, &args, &rep), tuttiSuccess);
	cost.steps++;
	cr_assert_eq(tutti_sched_verify(scheds, 4, &args, &rep),
		     tuttiInternalError);
	cr_assert_str_eq(rep.why,
			 "the schedule takes 6 steps, its file states 7");
	cost = ring->cost(&q);
	cost.chunks_sent--;
	cr_assert_eq(tutti_sched_verify(scheds, 4, &args, &rep),
		     tuttiInternalError);
	cr_assert_str_eq(rep.why,
			 "the busiest rank moves 6 chunks, the file states 5");
	t_free(scheds, 4);
}

/* The door's bound is tight: with one credit a ring stands still, and says
 * so. */
Test(sched_verify, one_credit_is_too_few)
{
	const struct tutti_algo *ring =
		tutti_algo_find(TUTTI_ALL_REDUCE, "ring")->algo;
	struct tutti_shape shape = { .ranks = 4, .nodes = 1 };
	struct tutti_query q = t_query(ring, &shape, false, 0);
	struct tutti_sched **scheds = t_build(ring, &q);
	struct tutti_verify_args args = { .credits = 1 };
	struct tutti_verify_report rep;

	cr_assert_eq(tutti_sched_verify(scheds, 4, &args, &rep),
		     tuttiInternalError);
	cr_assert_str_eq(rep.why, "operation 1 (slice 0) of rank 0, lane 0, waits for ever for a credit to send to rank 1");
	t_free(scheds, 4);
}
