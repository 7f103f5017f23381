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

struct tutti_verify_args {
	uint32_t credits;	/* of each channel; 0: unlimited */
	uint32_t slices;	/* of each chunk; at most credits / 2 */
	/* How often the schedule runs for a part of every chunk each; 0: once.
	 * If more, costs are not compared. */
	uint32_t parts;
	bool in_place;
	const struct tutti_cost *cost;	/* NULL: do not compare */
	const uint64_t *digest;		/* likewise, see the report */
};

/* What was found, for statistics and messages. */
struct tutti_verify_report {
	uint32_t steps;
	uint64_t chunks_sent;	/* by the busiest rank */
	uint64_t messages;	/* in all */
	uint64_t fired;		/* operation slices in all */
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
	 * that compute the same bits. */
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

/* Build for every rank and verify, in place and not, for credits 2, 3, 4 and
 * unlimited, one slice and as many as the credits allow, one part and two;
 * with its cost and flags, and that the results never depend on any of these.
 * Of a strict query also that its expressions are, and that sums are stored to
 * OUT only when they are final. */
tuttiResult_t tutti_algo_verify(const struct tutti_algo_entry *entry,
				const struct tutti_query *query,
				struct tutti_verify_report *report);

#endif
