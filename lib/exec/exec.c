/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor.  A job walks each lane of its program with a small window of
 * unfinished operations and fires slices by the rule in sched/sched.h.
 *
 * A long operation is cut into slices that fit a message; `segment_slices` of
 * them go through the whole lane together, then the next segment does.  A step
 * is an operation of a segment: step / nops is the segment, step % nops the
 * operation.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "exec/job.h"

#include <string.h>

/* Operations of a lane in one segment, and in all. */
static uint32_t lane_ops(const struct tutti_job *j, int lane)
{
	return j->c->p->nops[lane] - (lane == 0 ? j->c->p->skip : 0);
}

static uint32_t lane_steps(const struct tutti_job *j, int lane)
{
	return lane_ops(j, lane) * j->c->segments;
}

static const struct tutti_xop *lane_op(const struct tutti_job *j, int lane,
				       uint32_t step)
{
	return &j->c->p->ops[lane][(lane == 0 ? j->c->p->skip : 0) +
				step % lane_ops(j, lane)];
}

/* Slices that a step has: fewer in the last segment, one if it moves no
 * chunk. */
static uint32_t step_slices(const struct tutti_job *j, int lane, uint32_t step)
{
	uint32_t first = step / lane_ops(j, lane) * j->c->segment_slices;

	if (!lane_op(j, lane, step)->nchunks)
		return 1;
	return tutti_min(j->c->segment_slices, j->c->slices - first);
}

/* Has a step done what slice s of `op` needs: slice s too, or everything if
 * one of the two moves no chunk? */
static bool step_done(const struct tutti_job *j, int lane, uint32_t step,
		      const struct tutti_xop *op, uint32_t s)
{
	const struct tutti_lane_state *l = &j->lane[lane];
	uint32_t all, done;

	if (step < l->step)
		return true;
	if (step >= l->step + TUTTI_WINDOW)
		return false;
	done = l->done[step - l->step];
	all = step_slices(j, lane, step);
	return done >= all ||
	       (done > s && op->nchunks && lane_op(j, lane, step)->nchunks);
}

/* With several lanes, the next part may overwrite what another lane still
 * reads, so it begins when all lanes have ended the one before. */
static bool part_may_begin(const struct tutti_job *j, int lane, uint32_t step)
{
	uint32_t part = step / lane_ops(j, lane);

	for (uint32_t o = 0; j->c->p->nlanes > 1 && o < j->c->p->nlanes; o++)
		if (j->lane[o].step < part * lane_ops(j, (int)o))
			return false;
	return true;
}

/* Whether the order of the lane lets slice s of step l->step + i run. */
static bool in_order(const struct tutti_job *j, int lane,
		     const struct tutti_xop *op, uint32_t i, uint32_t s)
{
	const struct tutti_lane_state *l = &j->lane[lane];
	uint32_t step = l->step + i;

	if (i && !step_done(j, lane, step - 1, op, s))
		return false;
	if (!part_may_begin(j, lane, step))
		return false;
	for (uint32_t d = 1; d <= i; d++)
		if (op->after >> (d - 1) & 1 &&
		    l->done[i - d] < step_slices(j, lane, step - d))
			return false;
	if (op->wait_lane < 0)
		return true;
	/* The same segment's operation in the other lane. */
	step = step / lane_ops(j, lane) * lane_ops(j, op->wait_lane) +
	       op->wait_op - (op->wait_lane == 0 ? j->c->p->skip : 0);
	return step_done(j, op->wait_lane, step, op, s);
}

/* Fire what one step of a lane can. */
static enum tutti_fired push_step(struct tutti_job *j, int lane, uint32_t i,
			    bool *moved)
{
	struct tutti_lane_state *l = &j->lane[lane];
	uint32_t step = l->step + i, n = step_slices(j, lane, step);
	const struct tutti_xop *op = lane_op(j, lane, step);
	uint32_t first = step / lane_ops(j, lane) * j->c->segment_slices;

	while (l->done[i] < n) {
		enum tutti_fired f;

		if (!in_order(j, lane, op, i, l->done[i]))
			return TUTTI_WAITING;
		f = tutti_fire(j, lane, op, first + l->done[i]);
		if (f != TUTTI_FIRED)
			return f;
		l->done[i]++;
		*moved = true;
	}
	return TUTTI_FIRED;
}

static void retire(struct tutti_job *j, int lane)
{
	struct tutti_lane_state *l = &j->lane[lane];
	uint32_t steps = lane_steps(j, lane), n = 0;

	while (n < TUTTI_WINDOW && l->step + n < steps &&
	       l->done[n] >= step_slices(j, lane, l->step + n))
		n++;
	if (!n)
		return;
	memmove(l->done, l->done + n, (TUTTI_WINDOW - n) * sizeof(*l->done));
	memset(l->done + TUTTI_WINDOW - n, 0, n * sizeof(*l->done));
	l->step += n;
}

/* One slice in all: each step when the one before is done. */
static enum tutti_fired push_single(struct tutti_job *j, int lane, bool *moved)
{
	struct tutti_lane_state *l = &j->lane[lane];
	const struct tutti_xop *ops = j->c->p->ops[lane] +
				      (lane == 0 ? j->c->p->skip : 0);
	uint32_t steps = lane_ops(j, lane);

	while (l->step < steps) {
		enum tutti_fired f;

		if (ops[l->step].wait_lane >= 0 &&
		    !in_order(j, lane, &ops[l->step], 0, 0))
			return TUTTI_WAITING;
		f = tutti_fire(j, lane, &ops[l->step], 0);
		if (f != TUTTI_FIRED)
			return f;
		l->step++;
		*moved = true;
	}
	return TUTTI_FIRED;
}

static enum tutti_fired push_lane(struct tutti_job *j, int lane, bool *moved)
{
	uint32_t steps = lane_steps(j, lane);
	struct tutti_lane_state *l = &j->lane[lane];

	if (j->c->slices == 1)
		return push_single(j, lane, moved);

	while (l->step < steps) {
		bool here = false;

		for (uint32_t i = 0; i < TUTTI_WINDOW && l->step + i < steps;
		     i++) {
			enum tutti_fired f = push_step(j, lane, i, &here);

			if (f == TUTTI_MISMATCH)
				return f;
			/* Later steps cannot run before its first slice. */
			if (f == TUTTI_WAITING && !l->done[i])
				break;
		}
		if (!here)
			return TUTTI_WAITING;
		*moved = true;
		retire(j, lane);
	}
	return TUTTI_FIRED;
}

tuttiResult_t tutti_job_progress(struct tutti_job *j, bool *done, bool *moved)
{
	enum tutti_fired f = TUTTI_FIRED;

	*done = *moved = false;
	if (j->arriving) {
		tuttiResult_t rc;

		f = tutti_job_arrive(j, moved);
		if (f == TUTTI_MISMATCH)
			return tuttiInvalidUsage;
		if (f == TUTTI_WAITING)
			return tuttiSuccess;
		rc = tutti_job_decide(j);
		if (rc)
			return rc;
	}
	*done = true;
	for (uint32_t lane = 0; lane < j->c->p->nlanes; lane++) {
		f = push_lane(j, (int)lane, moved);
		if (f == TUTTI_MISMATCH)
			return tuttiInvalidUsage;
		if (f == TUTTI_WAITING)
			*done = false;
	}
	return tuttiSuccess;
}

bool tutti_job_spin(const struct tutti_job *j, int looks)
{
	struct tutti_chan *c = j->waits_for;

	for (int i = 0; c && !j->waits_for_credit && i < looks; i++) {
		uint32_t tag = j->tag;

		if (tutti_chan_rx(c, j->waits_bytes, &tag))
			return true;
		tutti_relax();
	}
	return false;
}
