/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs all ranks' schedules symbolically, without a byte moved, by the rule
 * in sched.h, and proves
 *   1 every output chunk that the collective promises holds every
 *     contribution exactly once, and nothing else was written to OUT;
 *   2 the same ordered expression on every rank that gets it;
 *   3 no read of an unwritten chunk, and no store of what is there already; no
 *     two unordered accesses to a chunk of which one writes, own or another
 *     rank's (vector clocks), and none to another rank's memory before it has
 *     begun or after it has ended; IN never written; with IN and OUT apart
 *     and with them one memory (in place);
 *   4 every message sent is received, with equal chunks; scratch and chunk
 *     indices in range;
 *   5 no deadlock with `credits` credits;
 *   6 a result marked final is complete, a complete result is marked final
 *     exactly once, and nothing is combined after it;
 *   7 steps and chunks sent equal what the algorithm's file states;
 *   8 for a barrier: no rank ends before every rank has begun.
 */
#ifndef TUTTI_SCHED_VERIFY_H
#define TUTTI_SCHED_VERIFY_H

#include "sched/algo.h"

/* What is told of a run to who wants to see it, as it happens: every message
 * that an operation takes, then the operation itself. */
struct tutti_firing {
	int rank;
	uint32_t lane, op;	/* index in the lane, repetitions unrolled */
	uint32_t slice, iter;
	const struct tutti_op *rec;
};

struct tutti_watch {
	void (*took)(struct tutti_watch *w, const struct tutti_firing *f,
		     int from, uint32_t from_op);
	void (*fired)(struct tutti_watch *w, const struct tutti_firing *f);
};

struct tutti_verify_args {
	uint32_t credits;	/* of each channel; 0: unlimited */
	uint32_t slices;	/* of each chunk; at most credits / 2 */
	/* How often the schedule runs for a part of every chunk each; 0: once.
	 * If more, costs are not compared. */
	uint32_t parts;
	bool in_place;
	/* In place and apart by one run (verify_memory.c): what passes so passes
	 * either way, what does not may pass yet. */
	bool both;
	/* If all schedules are turns of the first (verify_turn.c), prove them
	 * by it alone: time and memory of one rank instead of all. */
	bool turned;
	struct tutti_watch *watch;	/* NULL: nobody; not with turned */
	const struct tutti_cost *cost;	/* NULL: do not compare */
	const uint64_t *digest;		/* likewise, see the report */
};

/* What was found, for statistics and messages. */
struct tutti_verify_report {
	uint32_t steps;
	uint64_t chunks_sent;	/* by the busiest rank */
	uint64_t messages;	/* in all, or of one rank if turned */
	uint64_t fired;		/* operation slices, likewise */
	bool turned;		/* only the first rank was run */
	/* True if every element's expression is the balanced binary tree over
	 * rank order (design: strict). */
	bool strict;
	/* True if operands stand in rank order everywhere, under whatever
	 * association; and if every element is added in one combine so. */
	bool in_order, one_combine;
	/* True if a sum that lacks contributions, or is not final, was stored
	 * to OUT, where strict mode would round it too early. */
	bool sums_in_out;
	/* Of the ordered expressions of all results: equal for schedules
	 * that compute the same bits; if turned, among such. */
	uint64_t digest;
	char why[256];		/* the first breach, "" if none */
};

/* `scheds[r]` is rank r's; NULL for those that have no part in a sendrecv.
 *  tuttiSuccess if all is proven; tuttiInternalError
 * with report->why otherwise; tuttiSystemError without memory.  Logs nothing.
 * `report` may be NULL. */
tuttiResult_t tutti_sched_verify(struct tutti_sched *const *scheds, int ranks,
				 const struct tutti_verify_args *args,
				 struct tutti_verify_report *report);

/* Whether all schedules are turns of the first. */
bool tutti_scheds_turned(struct tutti_sched *const *scheds, int ranks);
/* Whether two sets of schedules are the same, or with their roots apart the one
 * is the other turned, so that what is proven for one holds for both. */
bool tutti_scheds_same(struct tutti_sched *const *a,
		       struct tutti_sched *const *b, int ranks);
/* The same with differences that leave the proof good (verify_turn.c): b adds
 * from left to right where a adds as a tree; b begins with a meeting of all
 * ranks (tutti_emit_meet), one step more. */
#define TUTTI_FOLLOWS_LEFT 1u
#define TUTTI_FOLLOWS_MEETING 2u
bool tutti_scheds_follow(struct tutti_sched *const *a,
			 struct tutti_sched *const *b, int ranks,
			 unsigned int how);

/* The schedules of all ranks; q->rank matters for sendrecv only.  To be freed
 * by tutti_scheds_free. */
tuttiResult_t tutti_scheds_build(struct tutti_sched ***out,
				 const struct tutti_algo *algo,
				 const struct tutti_query *q);
void tutti_scheds_free(struct tutti_sched **scheds, int ranks);

/*
 * Verify the schedules of one query, with the flags that its file states and,
 * if it is not composed, the cost; a composed algorithm states what the run
 * here counts.  `thorough`: as tutti_algo_verify does.  Else in place and not,
 * with 2 credits, one slice and one part, and turned where that serves, from which
 * the rest follows:
 *  - more credits only allow more, and firing never takes away;
 *  - with S slices and 2 S credits, an order that works with one slice works
 *    with each firing done S times in a row, and one order stands for all;
 *    slices never meet in memory, and every edge between two operations is
 *    there between their slices of one number;
 *  - a part begins, in one possible order, when the one before has ended on
 *    all ranks, all messages were received, and the notifications that it
 *    leaves out meet each other only; an access to another rank's memory is
 *    ordered before that rank's end.
 * tests/sched/mutate.c checks this with every fault it plants.
 */
tuttiResult_t tutti_scheds_prove(struct tutti_sched *const *scheds,
				 const struct tutti_algo *algo,
				 const struct tutti_query *q, bool thorough,
				 struct tutti_verify_report *report);

/* Build for every rank and verify, in place and not, for credits 2, 3, 4 and
 * unlimited, one slice and as many as the credits allow, one part and two;
 * with its cost and flags, and that the results never depend on any of these.
 * Of a strict query also that its expressions are, and that sums are stored to
 * OUT only when they are final. */
tuttiResult_t tutti_algo_verify(const struct tutti_algo_entry *entry,
				const struct tutti_query *query,
				struct tutti_verify_report *report);

#endif
