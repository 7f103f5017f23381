/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules as text: what is printed is read back to equal records, and no
 * bytes can do harm.  The sanitizer lane watches the second. */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_equal(const struct tutti_sched *a,
			 const struct tutti_sched *b)
{
	cr_assert_eq(a->coll, b->coll);
	cr_assert_str_eq(a->algo, b->algo);
	cr_assert_eq(a->ranks, b->ranks);
	cr_assert_eq(a->rank, b->rank);
	cr_assert_eq(a->root, b->root);
	cr_assert_eq(a->mapped, b->mapped);
	cr_assert_eq(a->blocks_in, b->blocks_in);
	cr_assert_eq(a->blocks_out, b->blocks_out);
	cr_assert_eq(a->pieces, b->pieces);
	cr_assert_eq(a->scratch, b->scratch);
	cr_assert_eq(a->widest, b->widest);
	cr_assert_eq(a->nlanes, b->nlanes);
	cr_assert_eq(a->nruns, b->nruns);
	cr_assert_eq(a->nops, b->nops);
	cr_assert_eq(a->nrefs, b->nrefs);
	cr_assert_arr_eq(a->lanes, b->lanes, a->nlanes * sizeof(*a->lanes));
	if (a->nops)
		cr_assert_arr_eq(a->runs, b->runs,
				 a->nruns * sizeof(*a->runs));
	for (uint32_t i = 0; i < a->nops; i++) {
		const struct tutti_op *x = &a->ops[i], *y = &b->ops[i];

		cr_assert(x->kind == y->kind && x->flags == y->flags &&
			  x->nsrc == y->nsrc && x->ndst == y->ndst &&
			  x->ref == y->ref && x->nchunks == y->nchunks &&
			  x->piece == y->piece &&
			  x->piece_iter == y->piece_iter &&
			  x->wait_lane == y->wait_lane &&
			  x->wait_op == y->wait_op &&
			  x->wait_iter == y->wait_iter);
	}
	for (uint32_t i = 0; i < a->nrefs; i++) {
		const struct tutti_ref *x = &a->refs[i], *y = &b->refs[i];

		cr_assert(x->place == y->place && x->count == y->count &&
			  x->rank == y->rank &&
			  x->rank_step == y->rank_step &&
			  x->rank_iter == y->rank_iter &&
			  x->chunk == y->chunk &&
			  x->chunk_step == y->chunk_step &&
			  x->chunk_iter == y->chunk_iter);
	}
}

static void round_trip(const struct tutti_sched *s)
{
	char *text = tutti_sched_print(s), *again;
	struct tutti_sched *t;

	cr_assert_not_null(text);
	cr_assert_eq(tutti_sched_parse(&t, text), tuttiSuccess, "%s\n%s",
		     tutti_fail_text(), text);
	expect_equal(s, t);
	again = tutti_sched_print(t);
	cr_assert_str_eq(text, again);
	tutti_sched_free(t);
	free(text);
	free(again);
}

Test(sched_text, round_trip)
{
	for (int n = 1; n <= 12; n++)
		for (const struct tutti_algo_entry *a = tutti_algos; a->name;
		     a++)
			for (int mapped = 0; mapped < 2; mapped++) {
				struct tutti_shape shape = { .ranks = n, .nodes = 1 };
				struct tutti_query q = t_query(
					a->algo, &shape, mapped, n / 2);
				struct tutti_sched **scheds;

				q.strict = n % 2 &&
					   tutti_coll_reduces(q.coll);
				if (!a->algo->serves(&q))
					continue;
				scheds = t_build(a->algo, &q);
				for (int r = 0; r < n; r++)
					if (scheds[r])
						round_trip(scheds[r]);
				t_free(scheds, n);
			}
}

/* Their headers have a word more. */
Test(sched_text, round_trip_composed)
{
	static struct t_shape shape;

	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++)
		for (int layout = T_UNEVEN; layout < T_LAYOUTS; layout++) {
			struct tutti_sched **scheds;
			struct tutti_query q;

			t_shape_init(&shape, 11, (enum t_layout)layout);
			q = t_query(a->algo, &shape.shape, false, 3);
			if (!(a->algo->flags & TUTTI_COMPOSED) ||
			    q.coll == TUTTI_BARRIER || !a->algo->serves(&q))
				continue;
			scheds = t_build(a->algo, &q);
			for (int r = 0; r < 11; r++) {
				cr_assert_gt(scheds[r]->widest, 0);
				round_trip(scheds[r]);
			}
			t_free(scheds, 11);
		}
}

Test(sched_text, round_trip_two_lanes)
{
	struct tutti_shape shape = { .ranks = 4, .nodes = 1 };
	struct tutti_query q = t_query(t_two_lanes.algo, &shape, false, 0);
	struct tutti_sched **scheds = t_build(t_two_lanes.algo, &q);

	for (int r = 0; r < 4; r++)
		round_trip(scheds[r]);
	t_free(scheds, 4);
}

#define HEAD "schedule all_reduce x\nranks 2 rank 0 root 0 mail\n" \
	     "blocks 1 1 pieces 2 scratch 0\n"

/* Every field that a record has, and comments. */
Test(sched_text, all_fields)
{
	static const char text[] =
		"# a comment\n\n  schedule reduce my-own # another\n"
		"ranks 7 rank 3 root 6 mapped\r\n"
		"blocks 1 1 pieces 5 scratch 2\n"
		"lane\nrun 4\n"
		"\teach chunks 2 in@-1/2/-3:4/-5/6*3 scratch@0/0/1:1 -> "
		"out@1:2*3 mail@4/0/2 piece 3/-1\n"
		"combine tree final in@0:0 mail@2 -> out@6:0 wait 1:2/3\n"
		"lane\ncombine chunks 0 -> mail@1*2\n";
	struct tutti_sched *s;

	cr_assert_eq(tutti_sched_parse(&s, text), tuttiSuccess, "%s",
		     tutti_fail_text());
	cr_assert_str_eq(s->algo, "my-own");
	cr_assert_eq(s->lanes[0].nops, 8);
	cr_assert_eq(s->lanes[1].nops, 1);
	cr_assert_eq(s->refs[0].rank_iter, -3);
	cr_assert_eq(s->refs[0].chunk_step, -5);
	cr_assert_eq(s->refs[0].count, 3);
	cr_assert_eq(s->ops[0].piece, 3);
	cr_assert_eq(s->ops[0].piece_iter, -1);
	cr_assert_eq(s->ops[1].wait_lane, 1);
	cr_assert_eq(s->ops[1].wait_iter, 3);
	cr_assert_eq(s->ops[1].flags, TUTTI_FINAL | TUTTI_TREE);
	cr_assert_eq(s->ops[2].nchunks, 0);
	round_trip(s);
	tutti_sched_free(s);
}

struct wrong {
	const char *text, *why;
};

static const struct wrong wrongs[] = {
	{ "", "line 1 of the schedule: a schedule must begin with \"schedule\"" },
	{ "plan\n", "line 1 of the schedule: a schedule must begin with \"schedule\"" },
	{ "schedule sum x\n", "line 1 of the schedule: \"sum\" is not a collective" },
	{ "schedule all_reduce\n", "line 1 of the schedule: a name of at most 31 bytes is expected" },
	{ "schedule all_reduce x\nrank 0\n", "line 2 of the schedule: a line with \"ranks\" is expected" },
	{ "schedule all_reduce x\nranks 2 rank 2 root 0 mail\n", "line 2 of the schedule: 2 in \"2\" is not in 0 to 1" },
	{ "schedule all_reduce x\nranks 0 rank 0 root 0 mail\n", "line 2 of the schedule: 0 in \"0\" is not in 1 to 16777216" },
	{ "schedule all_reduce x\nranks 2 rank 0 root 0 male\n", "line 2 of the schedule: \"male\" is neither mail nor mapped" },
	{ "schedule all_reduce x\nranks 99999999999 rank 0\n", "line 2 of the schedule: a number in \"99999999999\" is too large" },
	{ "schedule all_reduce x\nranks 2 rank 0 root 0 mail\nblocks 16777216 1 pieces 17 scratch 0\n", "line 3 of the schedule: more than 268435456 chunks" },
	{ HEAD "combine in@0:0 -> out@0:0\n", "line 4 of the schedule: an operation stands before the first lane" },
	{ HEAD "lane\nlane\nlane\n", "line 6 of the schedule: more than 2 lanes" },
	{ HEAD "lane\nrun 0\n", "line 5 of the schedule: 0 in \"0\" is not in 1 to 2147483647" },
	{ HEAD "lane\nrun\n", "line 5 of the schedule: a number is missing at the end" },
	{ HEAD "lane 1\n", "line 4 of the schedule: \"1\" is one word too many" },
	{ HEAD "lane\nsend in@0:0\n", "line 5 of the schedule: \"send\" is not lane, run, combine or each" },
	{ HEAD "lane\ncombine in@0:0 out@0:0\n", "line 5 of the schedule: an operation has no \"->\"" },
	{ HEAD "lane\ncombine inn@0:0 -> out@0:0\n", "line 5 of the schedule: \"inn@0:0\" is not a place like in@0:3" },
	{ HEAD "lane\ncombine in:0 -> out@0:0\n", "line 5 of the schedule: \"in:0\" is not a place like in@0:3" },
	{ HEAD "lane\ncombine in@0:0*0 -> out@0:0\n", "line 5 of the schedule: 0 in \"in@0:0*0\" is not in 1 to 16777216" },
	{ HEAD "lane\ncombine in@0:0x -> out@0:0\n", "line 5 of the schedule: \"in@0:0x\" does not end where a place ends" },
	{ HEAD "lane\ncombine in@0:0*16777216 in@0:0 -> out@0:0\n", "line 5 of the schedule: more than 16777216 places" },
	{ HEAD "lane\ncombine in@0:0 -> out@0:0 wait 2:0\n", "line 5 of the schedule: 2 in \"2:0\" is not in 0 to 1" },
	{ HEAD "lane\ncombine in@0:0 -> out@0:0 wait 1\n", "line 5 of the schedule: \"1\" is not LANE:OPERATION" },
	{ HEAD "lane\neach tree in@0:0 -> out@0:0\n", "line 5 of the schedule: each adds nothing, so it cannot be a tree" },
	{ HEAD "lane\ncombine in@0:0 -> out@0:0 piece\n", "line 5 of the schedule: the piece is missing" },
	{ HEAD "lane\nrun 2147483647\neach in@0:0 -> out@0:0\neach in@0:0 -> out@0:0\n", "lane 0 of a schedule has more than 2147483647 operations" },
};

Test(sched_text, errors_name_the_line)
{
	for (size_t i = 0; i < tutti_countof(wrongs); i++) {
		struct tutti_sched *s = NULL;

		cr_assert_eq(tutti_sched_parse(&s, wrongs[i].text),
			     tuttiInvalidArgument, "%s", wrongs[i].text);
		cr_assert_str_eq(tutti_fail_text(), wrongs[i].why);
		cr_assert_null(s);
	}
}

Test(sched_text, long_words_and_lists)
{
	size_t n = 400000, len = strlen(HEAD);
	char *text = calloc(1, n + len + 64);
	struct tutti_sched *s;

	cr_assert_not_null(text);
	strcpy(text, HEAD);
	memset(text + len, 'a', n);
	cr_assert_eq(tutti_sched_parse(&s, text), tuttiInvalidArgument);
	cr_assert_str_eq(tutti_fail_text(), "line 4 of the schedule: a word is longer than 127 bytes");
	len += (size_t)sprintf(text + len, "lane\neach ");
	for (int i = 0; i < 66000; i++)
		memcpy(text + len + 5 * i, "in@0 ", 5);
	strcpy(text + len + 5 * 66000, "-> in@0\n");
	cr_assert_eq(tutti_sched_parse(&s, text), tuttiInvalidArgument);
	cr_assert_str_eq(tutti_fail_text(), "line 5 of the schedule: more than 65535 sources");
	free(text);
}

/* ---- Any bytes --------------------------------------------------------- */

/* Small enough that the verifier ends soon; larger ones are legal. */
static bool modest(const struct tutti_sched *s)
{
	uint64_t places = 0, ops = 0;

	for (uint32_t i = 0; i < s->nrefs; i++)
		places += s->refs[i].count;
	for (uint32_t l = 0; l < s->nlanes; l++)
		ops += s->lanes[l].nops;
	return s->scratch <= 10000 && s->pieces <= 1000 && places <= 10000 &&
	       ops <= 10000 && tutti_sched_widest(s) <= 10000;
}

/* Parse; walk, print and verify among its sound peers if it is legal. */
static bool survive(struct tutti_sched **scheds, int ranks, int rank,
		    const char *text)
{
	struct tutti_verify_args args = { .credits = 4, .slices = 2 };
	struct tutti_sched *was = scheds[rank], *s;
	struct tutti_verify_report rep;
	tuttiResult_t rc;

	rc = tutti_sched_parse(&s, text);
	if (rc) {
		cr_assert_eq(rc, tuttiInvalidArgument);
		cr_assert_eq(strncmp(tutti_fail_text(), "l", 1), 0);
		return false;
	}
	round_trip(s);
	if (modest(s)) {
		scheds[rank] = s;
		rc = tutti_sched_verify(scheds, ranks, &args, &rep);
		cr_assert_neq(rc, tuttiSystemError);
		cr_assert_eq(rc == tuttiSuccess, rep.why[0] == 0);
		scheds[rank] = was;
	}
	tutti_sched_free(s);
	return true;
}

static void damage(char *text, uint64_t *seed)
{
	static const char bytes[] = "0123456789-/:*@ \n#inoutmailscratch>\xff\x01";
	size_t len = strlen(text);

	for (uint32_t i = 1 + t_random(seed) % 3; i; i--) {
		size_t at = t_random(seed) % len;

		switch (t_random(seed) % 3) {
		case 0:
			text[at] = bytes[t_random(seed) % (sizeof(bytes) - 1)];
			break;
		case 1:
			memmove(text + at, text + at + 1, len - at);
			len--;
			break;
		default:
			memmove(text + at + 1, text + at, len - at + 1);
			text[at] = bytes[t_random(seed) % 10];
			len++;
			break;
		}
		if (!len)
			return;
	}
}

static void damage_all(const struct tutti_algo *algo, int ranks, int times,
		       uint64_t *seed, uint32_t *read)
{
	static struct t_shape shape;
	struct tutti_sched **scheds;
	struct tutti_query q;
	char *text, *copy;

	t_shape_init(&shape, ranks, algo->flags & TUTTI_COMPOSED ? T_UNEVEN :
								   T_ONE_NODE);
	q = t_query(algo, &shape.shape, times % 2 &&
				!(algo->flags & TUTTI_COMPOSED), 0);
	scheds = t_build(algo, &q);
	text = tutti_sched_print(scheds[0]);
	copy = calloc(1, strlen(text) + 8);
	cr_assert(text && copy);
	for (int i = 0; i < times; i++) {
		strcpy(copy, text);
		damage(copy, seed);
		*read += survive(scheds, ranks, 0, copy);
	}
	free(copy);
	free(text);
	t_free(scheds, ranks);
}

Test(sched_text, damaged)
{
	uint64_t seed = 42;
	uint32_t read = 0;

	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++) {
		damage_all(a->algo, 4, 300, &seed, &read);
		damage_all(a->algo, 5, 301, &seed, &read);
	}
	damage_all(t_two_lanes.algo, 3, 1000, &seed, &read);
	cr_assert_gt(read, 500, "only %u were read at all", read);
}

Test(sched_text, noise)
{
	static const char words[] = "lane run each combine in@0:0 -> mail@1 final chunks piece wait 1:0 3 * / # \n ranks blocks schedule all_reduce";
	uint64_t seed = 1;
	char text[600];

	for (int i = 0; i < 20000; i++) {
		uint32_t len = t_random(&seed) % (sizeof(text) - 1);
		struct tutti_sched *s;

		for (uint32_t k = 0; k < len; k++)
			text[k] = i % 2 ? (char)(1 + t_random(&seed) % 255) :
				  words[(k + t_random(&seed) % 3) %
					(sizeof(words) - 1)];
		text[len] = 0;
		if (tutti_sched_parse(&s, text) == tuttiSuccess)
			tutti_sched_free(s);
	}
}
