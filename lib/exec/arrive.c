/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an operation with a mapped form begins: every rank tells where its
 * buffers are, and then all go on in place or all by copies.
 */
#include "config.h"

#include "exec/job.h"

#include <string.h>

static struct tutti_arrival own_arrival(struct tutti_job *j)
{
	const struct tutti_exec *e = j->exec;
	struct tutti_arrival a = { { 0 }, { 0 } };

	if (!e->map_ops)
		return a;
	if (j->r->uses_in && (!j->r->in_of_root_only || e->rank == j->r->root))
		a.in = e->map_ops->expose(e->map_xport, j->in,
					  j->r->in_bytes);
	if (j->r->uses_out && (!j->r->out_of_root_only || e->rank == j->r->root))
		a.out = e->map_ops->expose(e->map_xport, j->out,
					   j->r->out_bytes);
	return a;
}

/* The first operation of both forms: tell every rank about my buffers. */
static enum tutti_fired fire_arrive(struct tutti_job *j,
				    const struct tutti_xop *op)
{
	struct tutti_arrival a;
	enum tutti_fired f = tutti_fire_ready(j, 0, op, sizeof(a));

	if (f != TUTTI_FIRED)
		return f;
	a = own_arrival(j);
	j->in_region[j->exec->rank] = a.in;
	j->out_region[j->exec->rank] = a.out;
	for (uint32_t i = 0; i < op->ndst; i++)
		memcpy(tutti_chan_tx(tutti_job_chan(j, 0, &op->dst[i]), sizeof(a)),
		       &a, sizeof(a));
	tutti_fire_finish(j, 0, op, sizeof(a));
	return TUTTI_FIRED;
}

/* The second: hear of everyone's. */
static enum tutti_fired fire_await(struct tutti_job *j,
				   const struct tutti_xop *op)
{
	enum tutti_fired f = tutti_fire_ready(j, 0, op, sizeof(struct tutti_arrival));

	if (f != TUTTI_FIRED)
		return f;
	for (uint32_t i = 0; i < op->nsrc; i++) {
		const struct tutti_arrival *a = j->mail[i];

		j->in_region[op->src[i].rank] = a->in;
		j->out_region[op->src[i].rank] = a->out;
	}
	tutti_fire_finish(j, 0, op, sizeof(struct tutti_arrival));
	return TUTTI_FIRED;
}

/* Find rank r's buffers here; false unless they can be reached in place. */
static bool reach(struct tutti_job *j, int r)
{
	const struct tutti_exec *e = j->exec;
	bool in = j->r->uses_in && (!j->r->in_of_root_only || r == j->r->root);
	bool out = j->r->uses_out && (!j->r->out_of_root_only || r == j->r->root);

	if (r == e->rank)
		return (!in || j->in_region[r].direct) &&
		       (!out || j->out_region[r].direct);
	/* Both are looked up, so that a segment not mapped yet becomes so. */
	if (in)
		j->in_of[r] = e->map_ops->map(e->map_xport, r,
					      &j->in_region[r], j->r->in_bytes);
	if (out)
		j->out_of[r] = e->map_ops->map(e->map_xport, r,
					       &j->out_region[r],
					       j->r->out_bytes);
	return (!in || j->in_of[r]) && (!out || j->out_of[r]);
}

tuttiResult_t tutti_job_decide(struct tutti_job *j)
{
	bool all = j->exec->map_ops != NULL;

	j->arriving = false;
	for (int r = 0; j->exec->map_ops && r < j->exec->ranks; r++)
		all = reach(j, r) && all;
	j->mapped = all;
	return tutti_job_follow(j, all ? &j->r->mapped : &j->r->mail);
}

enum tutti_fired tutti_job_arrive(struct tutti_job *j, bool *moved)
{
	struct tutti_lane_state *l = &j->lane[0];
	enum tutti_fired f = TUTTI_FIRED;

	if (l->step == 0) {
		f = fire_arrive(j, &j->c->p->ops[0][0]);
		if (f != TUTTI_FIRED)
			return f;
		l->step = 1;
		*moved = true;
	}
	f = fire_await(j, &j->c->p->ops[0][1]);
	if (f == TUTTI_FIRED)
		*moved = true;
	return f;
}
