/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_gather by Bruck's algorithm: what a rank has doubles in each step, and
 * each step is one message.  SCRATCH holds the blocks by their distance from
 * the rank, so whatever is sent is one stretch; at the end they are put in
 * their places.
 *
 * Steps: log2 n, rounded up.  Sent by each rank: n - 1 blocks.  Limits: none;
 * short messages, since all blocks are copied once more (circulant does not,
 * but has more messages).
 *
 * 5 ranks with a to e; what each rank has in SCRATCH:
 *
 *	rank           0        1        2        3        4
 *	               a        b        c        d        e
 *	from rank + 1  ab       bc       cd       de       ea
 *	from rank + 2  abcd     bcde     cdea     deab     eabc
 *	from rank + 4  abcde    bcdea    cdeab    deabc    eabcd
 *	OUT            abcde    abcde    abcde    abcde    abcde
 */
#include "config.h"

#include "sched/emit.h"

static void around(struct tutti_emit *e, int n, int me)
{
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, 0));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me));
	if (n > 2)
		tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
	tutti_emit_dst(e, tutti_mail(me - 1));
	tutti_emit_combine(e, 0, 1);

	for (int have = 1, count; have < n; have += count) {
		count = have < n - have ? have : n - have;
		if (have > 1) {
			tutti_emit_src(e, tutti_chunk(TUTTI_SCRATCH, me, 0));
			tutti_emit_dst(e, tutti_mail(me - have));
			tutti_emit_piece(e, me, 0);
			tutti_emit_combine(e, 0, (uint32_t)count);
		}
		tutti_emit_src(e, tutti_mail(me + have));
		tutti_emit_dst(e, n > 2 ? tutti_chunk(TUTTI_SCRATCH, me, have) :
					  tutti_chunk(TUTTI_OUT, me, me + 1));
		tutti_emit_piece(e, me + have, 0);
		tutti_emit_combine(e, 0, (uint32_t)count);
	}
	if (n > 2) {
		tutti_emit_src(e, tutti_chunks(TUTTI_SCRATCH, me, 1, n - 1));
		tutti_emit_dst(e, tutti_chunks(TUTTI_OUT, me, me + 1, n - 1));
		tutti_emit_each(e, 1);
	}
}

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	int n = q->shape->ranks, me = q->rank;
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, n > 2 ? (uint32_t)n : 0);
	if (n == 1) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, me, 0));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, me, 0));
		tutti_emit_combine(&e, 0, 1);
	} else {
		around(&e, n, me);
	}
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

const struct tutti_algo tutti_algo_allgather_bruck = {
	.coll = TUTTI_ALL_GATHER,
	.help = "log2 n steps of one message, n-1 blocks, all copied once more; short messages, many ranks",
	.flags = TUTTI_UNEVEN,
	/* Not as a part: what is IN there may be where SCRATCH has it already. */
	.serves = tutti_emit_serves_whole,
	.build = build,
	.cost = cost,
};
