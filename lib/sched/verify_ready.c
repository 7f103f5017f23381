/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * May an operation of the verifier's machine fire?  What an operation needs
 * only ever becomes true, never false again, so the search through its places
 * goes on where it stopped; messages and credits found are claimed on the way.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

const struct tutti_op *tutti_lane_op(const struct tutti_verifier *v,
				     uint32_t lane, uint32_t index,
				     uint32_t *part, uint32_t *iter)
{
	const struct tutti_lane_state *ls =
		&v->state[(size_t)v->rank * v->lanes + lane];
	uint32_t again = ls->base - ls->skip;

	*part = 0;
	if (index >= ls->base) {
		*part = 1 + (index - ls->base) / again;
		index = ls->skip + (index - ls->base) % again;
	}
	return tutti_sched_op(v->scheds[v->rank], (int)lane, index, iter);
}

/* Where an operation of the schedule stands in a part of a lane. */
static uint32_t index_in_part(const struct tutti_lane_state *ls, uint32_t part,
			      uint32_t op)
{
	return part == 0 ? op :
	       ls->base + (part - 1) * (ls->base - ls->skip) + op - ls->skip;
}

uint32_t tutti_part_before(const struct tutti_verifier *v, uint32_t lane)
{
	const struct tutti_lane_state *own, *other;

	own = &v->state[(size_t)v->rank * v->lanes + v->lane];
	other = &v->state[(size_t)v->rank * v->lanes + lane];
	if (v->part == 0 || lane == v->lane || other->nops == 0 ||
	    v->op != index_in_part(own, v->part, own->skip))
		return UINT32_MAX;
	return index_in_part(other, v->part, other->skip) - 1;
}

/* Slices of operation `op` of a lane that are done, and how many it has. */
static uint32_t slices_done(const struct tutti_lane_state *ls, uint32_t op,
			    uint32_t slices)
{
	if (op < ls->head)
		return slices;
	return op < ls->head + TUTTI_WINDOW ? ls->done[op % TUTTI_WINDOW] : 0;
}

uint32_t tutti_slices_of(const struct tutti_verifier *v,
			 const struct tutti_op *op)
{
	return op->nchunks ? v->slices : 1;
}

bool tutti_passed(struct tutti_verifier *v, uint32_t lane, uint32_t index)
{
	uint32_t part, iter, slices, need;

	slices = tutti_slices_of(v, tutti_lane_op(v, lane, index, &part,
						  &iter));
	need = slices == tutti_slices_of(v, v->rec) ? v->slice + 1 : slices;
	return slices_done(tutti_lane_state(v, v->rank, lane), index, slices) >=
	       need;
}

uint32_t tutti_waited_op(const struct tutti_verifier *v)
{
	int64_t w = v->rec->wait_op + (int64_t)v->iter * v->rec->wait_iter;
	uint32_t lane = (uint32_t)v->rec->wait_lane;
	const struct tutti_lane_state *ls;

	if (lane >= v->scheds[v->rank]->nlanes || lane == v->lane)
		return UINT32_MAX;
	ls = &v->state[(size_t)v->rank * v->lanes + lane];
	if (w < 0 || w >= ls->base)
		return UINT32_MAX;
	/* What is not repeated was done in the first part. */
	return w < ls->skip ? (uint32_t)w :
	       index_in_part(ls, v->part, (uint32_t)w);
}

/* Turned, all ways of one distance are one. */
static uint64_t way_key(const struct tutti_verifier *v, int from, int to)
{
	if (v->turn.on) {
		to = to >= from ? to - from : to - from + v->ranks;
		from = 0;
	}
	return ((uint64_t)from * (uint64_t)v->ranks + (uint64_t)to) *
	       v->lanes + v->lane;
}

struct tutti_way *tutti_way(struct tutti_verifier *v, int from, int to)
{
	uint32_t i = tutti_mail_way(&v->mail, way_key(v, from, to));

	if (i == UINT32_MAX) {
		tutti_verify_no_memory(v);
		return NULL;
	}
	return &v->mail.ways[i];
}

/* Mark (or look for a mark at) the ranks that an operation sends to or
 * receives from. */
static bool mark_peers(struct tutti_verifier *v, uint32_t index, bool sends,
		       bool look)
{
	const struct tutti_sched *s = v->scheds[v->rank];
	const struct tutti_op *op;
	const struct tutti_ref *refs;
	uint32_t part, iter, n;

	op = tutti_lane_op(v, v->lane, index, &part, &iter);
	refs = &s->refs[op->ref + (sends ? op->nsrc : 0)];
	n = sends ? op->ndst : op->nsrc;
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t i = 0; refs[r].place == TUTTI_MAIL &&
				     i < refs[r].count; i++) {
			int peer = tutti_ref_at(s, &refs[r], i, iter).rank;

			if (!look)
				v->mark[peer] = v->marked;
			else if (v->mark[peer] == v->marked)
				return true;
		}
	return false;
}

/* Which earlier operations of the window share a peer with this one. */
static void find_clashes(struct tutti_verifier *v, struct tutti_lane_state *ls)
{
	uint32_t slot = v->op % TUTTI_WINDOW;

	ls->compared[slot] = true;
	ls->clash[slot] = 0;
	for (int sends = 0; sends < 2; sends++) {
		v->marked++;
		mark_peers(v, v->op, sends, false);
		for (uint32_t i = ls->head; i < v->op; i++)
			if (mark_peers(v, i, sends, true))
				ls->clash[slot] |=
					(uint8_t)(1u << i % TUTTI_WINDOW);
	}
}

/* Messages of earlier operations to or from the same rank go first. */
static bool clashes(struct tutti_verifier *v, struct tutti_lane_state *ls)
{
	uint32_t slot = v->op % TUTTI_WINDOW;

	if (ls->head == v->op)
		return false;
	if (!ls->compared[slot])
		find_clashes(v, ls);
	for (uint32_t i = ls->head; i < v->op; i++) {
		uint32_t part, iter, all;

		all = tutti_slices_of(v, tutti_lane_op(v, v->lane, i, &part,
						       &iter));
		if (ls->clash[slot] & 1u << i % TUTTI_WINDOW &&
		    slices_done(ls, i, all) < all)
			return true;
	}
	return false;
}

/* Claim the message, or the credit, that one place needs. */
static bool claim(struct tutti_verifier *v, bool sends, int peer)
{
	uint32_t credits = v->args->credits;
	struct tutti_way *w;

	if (peer == v->rank || !v->scheds[peer])
		return tutti_breach_op(v, "exchanges mail with rank %d", peer);
	w = sends ? tutti_way(v, v->rank, peer) : tutti_way(v, peer, v->rank);
	if (!w)
		return false;
	if (sends) {
		if (credits && w->count + w->reserved >= credits)
			return false;
		w->reserved++;
	} else {
		if (w->count == w->claimed)
			return false;
		w->claimed++;
	}
	return true;
}

/* Go on with the search through the places of v->rec. */
static bool places_ready(struct tutti_verifier *v, struct tutti_scan *scan)
{
	const struct tutti_sched *s = v->scheds[v->rank];
	const struct tutti_ref *refs = &s->refs[v->rec->ref];
	uint32_t n = (uint32_t)v->rec->nsrc + v->rec->ndst;

	for (; scan->span < n; scan->span++, scan->i = 0) {
		const struct tutti_ref *ref = &refs[scan->span];

		if (ref->place != TUTTI_MAIL)
			continue;
		for (; scan->i < ref->count; scan->i++)
			if (!claim(v, scan->span >= v->rec->nsrc,
				   tutti_ref_at(s, ref, scan->i,
						v->iter).rank))
				return false;
	}
	return true;
}

bool tutti_op_ready(struct tutti_verifier *v, struct tutti_lane_state *ls)
{
	if (v->op > 0 && !tutti_passed(v, v->lane, v->op - 1))
		return false;
	for (uint32_t l = 0; l < v->lanes; l++) {
		uint32_t last = tutti_part_before(v, l);

		if (last != UINT32_MAX &&
		    tutti_lane_state(v, v->rank, l)->head <= last)
			return false;
	}
	if (v->rec->wait_lane >= 0) {
		uint32_t w = tutti_waited_op(v);

		if (w == UINT32_MAX)
			return tutti_breach_op(v, "waits for an operation of lane %d that does not exist",
					       v->rec->wait_lane);
		if (!tutti_passed(v, (uint32_t)v->rec->wait_lane, w))
			return false;
	}
	return !clashes(v, ls) &&
	       places_ready(v, &ls->scan[v->op % TUTTI_WINDOW]);
}

