/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather by a circulant scheme (J. L. Traeff): with n halved again and
 * again, rounded up, as distances s, rank r holds blocks r to r + s - 1 before
 * the round of distance s, gives the first of them to rank r - s, and so holds
 * twice as many (in the last round, as many as are missing) after it.
 *
 * Blocks keep their numbers, so nothing is moved about in memory; a message
 * whose blocks go on with block 0 after the last is cut in two there.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: n - 1 blocks.  Limits: none;
 * any number of ranks costs what the next power of two would.
 *
 * 5 ranks with a to e, distances 1, 2, 3; what each rank has:
 *
 *	rank        0        1        2        3        4
 *	            a        b        c        d        e
 *	distance 1  ab       bc       cd       de       ea
 *	distance 2  abc      bcd      cde      dea      eab
 *	distance 3  abcde    bcdea    cdeab    deabc    eabcd
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
	tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, q->rank));
	tutti_emit_circulate(&e, 0, q->shape->ranks, 0);
	return tutti_emit_end(&e);
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	uint32_t n = (uint32_t)q->shape->ranks;

	return (struct tutti_cost){
		.steps = (uint32_t)tutti_log2_ceil(n),
		.chunks_sent = n - 1,
	};
}

const struct tutti_algo tutti_algo_allgather_circulant = {
	.coll = TUTTI_ALL_GATHER,
	.help = "log2 n steps, n-1 blocks: what a rank has doubles, any n alike; medium and long messages, many ranks",
	.flags = TUTTI_UNEVEN,
	.serves = tutti_emit_serves,
	.build = build,
	.cost = cost,
};
