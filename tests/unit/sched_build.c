/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of spans and runs, the list sink and the pen, and that a
 * query which no algorithm serves is refused. */
#include "config.h"

#include "base/fail.h"
#include "sched/emit.h"
#include "sched/verify.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(sched_build, collectives)
{
	for (int c = 0; c < TUTTI_COLLS; c++)
		cr_assert_eq(tutti_coll_find(tutti_coll_name(c)), c);
	cr_assert_eq(tutti_coll_find("allreduce"), -1);
	cr_assert_eq(tutti_coll_find(""), -1);
	cr_assert_str_eq(tutti_coll_name(TUTTI_COLLS), "?");
}

Test(sched_build, blocks)
{
	uint32_t in, out;

	tutti_coll_blocks(TUTTI_ALL_GATHER, 7, false, &in, &out);
	cr_assert(in == 1 && out == 7);
	tutti_coll_blocks(TUTTI_REDUCE_SCATTER, 7, false, &in, &out);
	cr_assert(in == 7 && out == 1);
	tutti_coll_blocks(TUTTI_BARRIER, 7, false, &in, &out);
	cr_assert(in == 0 && out == 0);
	tutti_coll_blocks(TUTTI_SENDRECV, 7, true, &in, &out);
	cr_assert(in == 1 && out == 0);
	tutti_coll_blocks(TUTTI_SENDRECV, 7, false, &in, &out);
	cr_assert(in == 0 && out == 1);
}

Test(sched_build, spans_wrap)
{
	struct tutti_sched s = { .ranks = 5, .blocks_in = 1, .blocks_out = 5,
				 .pieces = 3, .scratch = 2 };
	struct tutti_ref ref = { .place = TUTTI_OUT, .count = 9, .rank = 3,
				 .rank_step = 1, .rank_iter = -2, .chunk = 1,
				 .chunk_step = -1, .chunk_iter = 4 };
	struct tutti_spot spot;

	for (int i = 0; i < 9; i++)
		for (int t = 0; t < 9; t++) {
			spot = tutti_ref_at(&s, &ref, (uint32_t)i, (uint32_t)t);
			cr_assert_eq(spot.place, TUTTI_OUT);
			cr_assert_eq(spot.rank, (3 + i - 2 * t + 50) % 5);
			cr_assert_eq(spot.chunk,
				     (uint32_t)(1 - i + 4 * t + 150) % 15);
		}
	ref.place = TUTTI_SCRATCH;
	cr_assert_eq(tutti_ref_at(&s, &ref, 0, 0).chunk, 1);
	cr_assert_eq(tutti_ref_at(&s, &ref, 1, 0).chunk, 0);
	/* The largest numbers that can be read do not overflow. */
	ref.rank_step = ref.rank_iter = INT32_MAX;
	ref.rank = INT32_MAX;
	spot = tutti_ref_at(&s, &ref, (1 << 24) - 1, INT32_MAX);
	cr_assert(spot.rank >= 0 && spot.rank < 5);
	/* A place of no chunks, and mail, which has none. */
	s.scratch = 0;
	cr_assert_eq(tutti_ref_at(&s, &ref, 7, 0).chunk, 0);
	ref.place = TUTTI_MAIL;
	cr_assert_eq(tutti_ref_at(&s, &ref, 7, 3).chunk, 0);
}

/* ---- The pen and the list ---------------------------------------------- */

/* Two lanes, runs of all kinds, a wait and a piece. */
static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 4, 2);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, -1));
	tutti_emit_dst(&e, tutti_mail(q->rank - 1));
	tutti_emit_combine(&e, 0, 1);
	tutti_emit_run(&e, 0);
	tutti_emit_src(&e, tutti_mail(0));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	tutti_emit_combine(&e, 0, 1);
	tutti_emit_run(&e, 1);
	tutti_emit_src(&e, tutti_mail(1));
	tutti_emit_src(&e, tutti_ranks(TUTTI_MAIL, 0, 0, 0, 0));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_SCRATCH, q->rank, 3));
	tutti_emit_piece(&e, 6, -1);
	tutti_emit_combine(&e, 0, 1);
	tutti_emit_run(&e, 3);
	tutti_emit_dst(&e, tutti_mail_others(q));
	tutti_emit_combine(&e, 0, 0);
	tutti_emit_src(&e, tutti_mail_others(q));
	tutti_emit_combine(&e, 0, 0);
	tutti_emit_lane(&e);
	tutti_emit_src(&e, tutti_chunks(TUTTI_SCRATCH, q->rank, 0, 2));
	tutti_emit_dst(&e, tutti_chunks(TUTTI_OUT, q->rank, 2, 2));
	tutti_emit_wait(&e, 0, 1, 2);
	tutti_emit_each(&e, 1);
	return tutti_emit_end(&e);
}

static bool serves(const struct tutti_query *q)
{
	return q->radix != 13;
}

static const struct tutti_algo odd = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "for this test",
	.serves = serves,
	.build = build,
};

static const struct tutti_shape five = { .ranks = 5, .nodes = 1 };

Test(sched_build, list)
{
	struct tutti_query q = { .shape = &five, .mapped = true };
	struct tutti_sched *s;
	const struct tutti_op *op;
	uint32_t iter;

	cr_assert_eq(tutti_sched_build(&s, &odd, &q), tuttiSuccess);
	cr_assert_str_eq(s->algo, "");
	cr_assert_not(s->mapped, "it has no mapped form");
	cr_assert_eq(s->nlanes, 2);
	/* The run of 0 times is gone, those of one time are one. */
	cr_assert_eq(s->lanes[0].nruns, 2);
	cr_assert_eq(s->lanes[0].nops, 8);
	cr_assert_eq(s->lanes[1].nops, 1);
	cr_assert_eq(s->nops, 5);
	cr_assert_eq(s->refs[0].chunk, 3);
	cr_assert_eq(s->refs[1].rank, 4);

	op = tutti_sched_op(s, 0, 1, &iter);
	cr_assert_eq(iter, 0);
	cr_assert_eq(op->nsrc, 1, "a span of no places is left out");
	cr_assert_eq(s->refs[op->ref + 1].chunk, 1);
	cr_assert_eq(tutti_op_piece(s, op, 0, 0), 2);
	cr_assert_eq(tutti_op_piece(s, op, 0, 1), 1);
	cr_assert_eq(tutti_op_piece(s, op, 0, 7), 3);
	for (uint32_t i = 2; i < 8; i++) {
		op = tutti_sched_op(s, 0, i, &iter);
		cr_assert_eq(iter, (i - 2) / 2);
		cr_assert_eq(op->nsrc, i % 2);
		cr_assert_eq(op->nchunks, 0);
		cr_assert_eq(tutti_refs_count(&s->refs[op->ref], 1), 4);
	}
	cr_assert_null(tutti_sched_op(s, 0, 8, &iter));

	op = tutti_sched_op(s, 1, 0, &iter);
	cr_assert(op->wait_lane == 0 && op->wait_op == 1 &&
		  op->wait_iter == 2);
	cr_assert_eq(op->kind, TUTTI_EACH);
	cr_assert_eq(tutti_op_piece(s, op, 0, 0), 2);
	cr_assert_eq(tutti_op_piece(s, op, 1, 0), 3);
	cr_assert_eq(tutti_sched_widest(s), 1);
	tutti_sched_free(s);
}

Test(sched_build, counts)
{
	struct tutti_query q = { .shape = &five };
	struct tutti_sched_stats st;

	cr_assert_eq(tutti_sched_count(&st, &odd, &q), tuttiSuccess);
	cr_assert_eq(st.records, 5);
	cr_assert_eq(st.ops, 9);
	cr_assert_eq(st.rounds, 4);
	cr_assert_eq(st.messages, 1 + 3 * 4);
	cr_assert_eq(st.chunks_sent, 1);
}

Test(sched_build, refused)
{
	struct tutti_query q = { .shape = &five, .radix = 13 };
	struct tutti_sched_stats st;
	struct tutti_sched *s = NULL;

	cr_assert_eq(tutti_sched_build(&s, &odd, &q), tuttiInternalError);
	cr_assert_eq(tutti_sched_count(&st, &odd, &q), tuttiInternalError);
	q.radix = 0;
	q.rank = 5;
	cr_assert_eq(tutti_sched_build(&s, &odd, &q), tuttiInternalError);
	q.rank = 0;
	q.root = -1;
	cr_assert_eq(tutti_sched_build(&s, &odd, &q), tuttiInternalError);
	q.root = 0;
	q.coll = TUTTI_REDUCE;
	cr_assert_eq(tutti_sched_build(&s, &odd, &q), tuttiInternalError);
	cr_assert_null(s);
	cr_assert_not_null(strstr(tutti_fail_text(), "does not serve reduce"));
}

/* A builder that asks for too much is told, and nothing is left. */
static tuttiResult_t build_too_much(struct tutti_sink *k,
				    const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (q->root)
		for (int i = 0; i < TUTTI_LANES_MAX; i++)
			tutti_emit_lane(&e);
	for (int i = 0; i < 100; i++)
		tutti_emit_src(&e, tutti_mail(i));
	tutti_emit_combine(&e, 0, 0);
	return tutti_emit_end(&e);
}

static const struct tutti_algo too_much = {
	.coll = TUTTI_ALL_REDUCE,
	.help = "for this test",
	.serves = serves,
	.build = build_too_much,
};

Test(sched_build, too_much)
{
	struct tutti_query q = { .shape = &five };
	struct tutti_sched *s = NULL;

	cr_assert_eq(tutti_sched_build(&s, &too_much, &q), tuttiInternalError);
	cr_assert_not_null(strstr(tutti_fail_text(), "more than 80 spans"));
	q.root = 1;
	cr_assert_eq(tutti_sched_build(&s, &too_much, &q), tuttiInternalError);
	cr_assert_not_null(strstr(tutti_fail_text(), "more than 2 lanes"));
	cr_assert_null(s);
}

/* ---- What the verifier says -------------------------------------------- */

struct spoken {
	const char *text[2];		/* bodies of ranks 0 and 1 */
	const char *why;
};

/* One breach of every promise, in schedules of two ranks. */
static const struct spoken spoken[] = {
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "" },
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final in@1:0 mail@0 -> out@1:0\n" },
	  "OUT chunk 0 of rank 1 is added in another order than on the ranks before it" },
	{ { "combine in@0:0 -> mail@1\ncombine in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "OUT chunk 0 of rank 0 ends with a value that is not marked final" },
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, marks final what lacks or repeats a contribution" },
	{ { "combine in@0:0 -> mail@1\ncombine in@0:0 in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, adds 3 contributions of 2 ranks" },
	{ { "combine in@0:0 -> mail@1\ncombine in@0:0 mail@1 -> in@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, writes IN chunk 0 of rank 0" },
	{ { "combine out@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 0 (slice 0) of rank 0, lane 0, reads OUT chunk 0 of rank 0 before it is written" },
	{ { "combine final in@0:0 mail@1 -> out@0:0\ncombine in@0:0 -> mail@1\n",
	    "combine final mail@0 in@1:0 -> out@1:0\ncombine in@1:0 -> mail@0\n" },
	  "operation 0 (slice 0) of rank 0, lane 0, waits for ever for a message from rank 1" },
	{ { "combine in@0:0 -> mail@1 mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 0 of rank 0, lane 0, sends a message that rank 1 never receives" },
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine chunks 0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, expects 1 chunks of piece 0, slice 0, from rank 1, whose operation 0 sent 0 of piece 0, slice 0" },
	{ { "combine in@1:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 0 (slice 0) of rank 0, lane 0, touches IN chunk 0 of rank 1 in a schedule that is not mapped" },
	{ { "combine in@0:0 -> mail@0\ncombine final in@0:0 mail@1 -> out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 0 (slice 0) of rank 0, lane 0, exchanges mail with rank 0" },
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0 out@0:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, writes OUT chunk 0 of rank 0 twice" },
	{ { "each in@0:0*2 -> mail@1\n", "combine in@1:0 -> mail@0\n" },
	  "record 0 of rank 0 is each, but final, a tree or with unequal sides" },
	{ { "combine in@0:0 -> mail@1\n", "combine in@1:0 -> \n" },
	  "record 0 of rank 1 has no source or no target" },
	{ { "combine chunks 2 in@0:0 -> mail@1\n",
	    "combine chunks 2 in@1:0 -> mail@0\n" },
	  "record 0 of rank 0 has more chunks than there are" },
	{ { "combine in@0:0 -> mail@1\ncombine final in@0:0 mail@1 -> out@0:0 wait 1:0\n",
	    "combine in@1:0 -> mail@0\ncombine final mail@0 in@1:0 -> out@1:0\n" },
	  "operation 1 (slice 0) of rank 0, lane 0, waits for an operation of lane 1 that does not exist" },
};

static void speak(const struct spoken *sp, bool mapped)
{
	struct tutti_verify_args args = { .credits = 2 };
	struct tutti_sched *scheds[2] = { NULL, NULL };
	struct tutti_verify_report rep;
	char text[1024];

	for (int r = 0; r < 2; r++) {
		snprintf(text, sizeof(text),
			 "schedule all_reduce test\nranks 2 rank %d root 0 %s\n"
			 "blocks 1 1 pieces 1 scratch 0\nlane\n%s", r,
			 mapped ? "mapped" : "mail", sp->text[r]);
		cr_assert_eq(tutti_sched_parse(&scheds[r], text), tuttiSuccess,
			     "%s\n%s", tutti_fail_text(), text);
	}
	cr_assert_eq(tutti_sched_verify(scheds, 2, &args, &rep),
		     *sp->why ? tuttiInternalError : tuttiSuccess);
	cr_assert_str_eq(rep.why, sp->why);
	tutti_sched_free(scheds[0]);
	tutti_sched_free(scheds[1]);
}

Test(sched_build, breaches_are_sentences)
{
	for (size_t i = 0; i < sizeof(spoken) / sizeof(spoken[0]); i++)
		speak(&spoken[i], false);
}

#define MEET(me, other) \
	"combine chunks 0 -> mail@" #other "\n" \
	"combine chunks 0 mail@" #other " ->\n"

/* What can go wrong in other ranks' memory. */
static const struct spoken reached[] = {
	{ { MEET(0, 1) "combine final in@0:0 in@1:0 -> out@0:0 out@1:0\n"
	    MEET(0, 1), MEET(1, 0) MEET(1, 0) }, "" },
	{ { "combine final in@0:0 in@1:0 -> out@0:0 out@1:0\n" MEET(0, 1),
	    MEET(1, 0) },
	  "operation 0 (slice 0) of rank 0, lane 0, touches IN chunk 0 of rank 1 before that rank is known to have begun" },
	{ { MEET(0, 1) "combine final in@0:0 in@1:0 -> out@0:0 out@1:0\n",
	    MEET(1, 0) },
	  "rank 1 ends before operation 2 of rank 0, lane 0 has left its memory" },
	{ { MEET(0, 1) "combine final in@0:0 in@1:0 -> out@0:0\n" MEET(0, 1),
	    MEET(1, 0) "combine final in@0:0 in@1:0 -> out@1:0 out@0:0\n"
	    MEET(1, 0) },
	  "operation 2 (slice 0) of rank 0, lane 0, writes OUT chunk 0 of rank 0, unordered with operation 2 of rank 1, lane 0, which writes it" },
};

Test(sched_build, breaches_in_others_memory)
{
	for (size_t i = 0; i < sizeof(reached) / sizeof(reached[0]); i++)
		speak(&reached[i], true);
}

/* A barrier that lets a rank go too early. */
Test(sched_build, barrier_too_short)
{
	static const char *const body[3] = {
		"combine chunks 0 -> mail@1\ncombine chunks 0 mail@2 ->\n",
		"combine chunks 0 -> mail@2\ncombine chunks 0 mail@0 ->\n",
		"combine chunks 0 -> mail@0\ncombine chunks 0 mail@1 ->\n",
	};
	struct tutti_verify_args args = { .credits = 2 };
	struct tutti_sched *scheds[3];
	struct tutti_verify_report rep;
	char text[512];

	for (int r = 0; r < 3; r++) {
		snprintf(text, sizeof(text),
			 "schedule barrier test\nranks 3 rank %d root 0 mail\n"
			 "blocks 0 0 pieces 1 scratch 0\nlane\n%s", r, body[r]);
		cr_assert_eq(tutti_sched_parse(&scheds[r], text),
			     tuttiSuccess);
	}
	cr_assert_eq(tutti_sched_verify(scheds, 3, &args, &rep),
		     tuttiInternalError);
	cr_assert_str_eq(rep.why,
			 "rank 0 ends before it knows that rank 1 has begun");
	for (int r = 0; r < 3; r++)
		tutti_sched_free(scheds[r]);
}
