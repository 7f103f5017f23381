/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of one message: the sender's IN becomes the receiver's OUT.  The
 * query's root is the peer.
 *
 * Steps: 1.  Sent: 1 block.  Limits: not to oneself.
 *
 * Rank 0 of 4 sends a to rank 2:
 *
 *	rank       0          1          2          3
 *	           a to 2                OUT = a
 */
#include "config.h"

#include "sched/emit.h"

static tuttiResult_t build(struct tutti_sink *k, const struct tutti_query *q)
{
	struct tutti_emit e;

	tutti_emit_begin(&e, k, q, 1, 0);
	if (q->sending) {
		tutti_emit_src(&e, tutti_chunk(TUTTI_IN, q->rank, 0));
		tutti_emit_dst(&e, tutti_mail(q->root));
	} else {
		tutti_emit_src(&e, tutti_mail(q->root));
		tutti_emit_dst(&e, tutti_chunk(TUTTI_OUT, q->rank, 0));
	}
	tutti_emit_combine(&e, 0, 1);
	return tutti_emit_end(&e);
}

static bool serves(const struct tutti_query *q)
{
	return tutti_emit_serves(q) && q->rank != q->root;
}

static struct tutti_cost cost(const struct tutti_query *q)
{
	return (struct tutti_cost){ .steps = 1, .chunks_sent = 1 };
}

const struct tutti_algo tutti_algo_sendrecv_direct1 = {
	.coll = TUTTI_SENDRECV,
	.help = "1 step, 1 block: the sender sends, the receiver receives",
	.serves = serves,
	.build = build,
	.cost = cost,
};
