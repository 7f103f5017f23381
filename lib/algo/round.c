/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ways round a ring: see round.h. */
#include "config.h"

#include "algo/round.h"

void tutti_round_sums(struct tutti_emit *e)
{
	int n = e->q->shape->ranks, me = e->q->rank;

	if (n > 1) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me - 1));
		tutti_emit_dst(e, tutti_mail(me + 1));
		tutti_emit_combine(e, 0, 1);

		tutti_emit_run(e, n - 2);
		tutti_emit_src(e, tutti_mail(me - 1));
		tutti_emit_src(e, tutti_chunk_iter(TUTTI_IN, me, me - 2, -1));
		tutti_emit_dst(e, tutti_mail(me + 1));
		tutti_emit_combine(e, 0, 1);

		tutti_emit_run(e, 1);
		tutti_emit_src(e, tutti_mail(me - 1));
	}
	tutti_emit_src(e, tutti_chunk(TUTTI_IN, me, me));
}

void tutti_round(struct tutti_emit *e, unsigned int flags)
{
	int n = e->q->shape->ranks, me = e->q->rank;

	if (n > 1)
		tutti_emit_dst(e, tutti_mail(me + 1));
	tutti_emit_combine(e, flags, 1);
	if (n == 1)
		return;
	tutti_emit_run(e, n - 2);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_dst(e, tutti_chunk_iter(TUTTI_OUT, me, me - 1, -1));
	tutti_emit_dst(e, tutti_mail(me + 1));
	tutti_emit_combine(e, 0, 1);

	tutti_emit_run(e, 1);
	tutti_emit_src(e, tutti_mail(me - 1));
	tutti_emit_dst(e, tutti_chunk(TUTTI_OUT, me, me + 1));
	tutti_emit_combine(e, 0, 1);
}
