/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine that runs all ranks' schedules by the firing rule of sched.h,
 * and the loop around it.  Firing never takes away what another operation
 * needs, so one order stands for all: lanes are tried whenever a message, a
 * credit or a lane they may wait for has come, until nothing moves.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Breaches ---------------------------------------------------------- */

static void vbreach(struct tutti_verifier *v, const char *head,
		    const char *fmt, va_list ap)
{
	size_t cap = sizeof(v->report->why);
	int n;

	if (v->failed)
		return;
	v->failed = true;
	n = snprintf(v->report->why, cap, "%s", head);
	vsnprintf(v->report->why + n, cap - (size_t)n, fmt, ap);
}

bool tutti_breach(struct tutti_verifier *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vbreach(v, "", fmt, ap);
	va_end(ap);
	return false;
}

bool tutti_breach_op(struct tutti_verifier *v, const char *fmt, ...)
{
	char head[96];
	va_list ap;

	snprintf(head, sizeof(head),
		 "operation %u (slice %u) of rank %d, lane %u, ", v->op,
		 v->slice, v->rank, v->lane);
	va_start(ap, fmt);
	vbreach(v, head, fmt, ap);
	va_end(ap);
	return false;
}

bool tutti_verify_no_memory(struct tutti_verifier *v)
{
	v->no_memory = true;
	return tutti_breach(v, "the verifier has no memory");
}

const char *tutti_spot_text(char *buf, size_t cap, struct tutti_spot spot)
{
	static const char *const names[TUTTI_PLACES] = {
		"IN", "OUT", "SCRATCH", "MAIL"
	};

	snprintf(buf, cap, "%s chunk %u of rank %d", names[spot.place],
		 spot.chunk, spot.rank);
	return buf;
}

/* ---- The loop ---------------------------------------------------------- */

struct tutti_lane_state *tutti_lane_state(struct tutti_verifier *v, int rank,
					  uint32_t lane)
{
	return &v->state[(size_t)tutti_home(v, rank) * v->lanes + lane];
}

void tutti_lane_enqueue(struct tutti_verifier *v, int rank, uint32_t lane)
{
	struct tutti_lane_state *ls = tutti_lane_state(v, rank, lane);
	uint32_t n = (uint32_t)v->homes * v->lanes;

	if (ls->queued || ls->head == ls->nops)
		return;
	ls->queued = true;
	v->queue[(v->queue_head + v->queue_len++) % n] =
		(uint32_t)tutti_home(v, rank) * v->lanes + lane;
}

/* Operation `op` of the lane is the one being looked at. */
static void look_at(struct tutti_verifier *v, const struct tutti_lane_state *ls,
		    uint32_t op)
{
	v->op = op;
	v->rec = tutti_lane_op(v, v->lane, op, &v->part, &v->iter);
	v->slice = ls->done[op % TUTTI_WINDOW];
}

/* Forget the operations at the head that are done. */
static void advance(struct tutti_verifier *v, struct tutti_lane_state *ls)
{
	while (ls->head < ls->nops) {
		uint32_t part, iter, slot = ls->head % TUTTI_WINDOW;
		const struct tutti_op *op = tutti_lane_op(v, v->lane, ls->head,
							  &part, &iter);

		if (ls->done[slot] < tutti_slices_of(v, op))
			return;
		ls->done[slot] = 0;
		ls->scan[slot] = (struct tutti_scan){ 0 };
		ls->compared[slot] = false;
		ls->head++;
	}
}

/* Fire what can fire in the window, once through; true if anything did. */
static bool pass(struct tutti_verifier *v, struct tutti_lane_state *ls)
{
	uint32_t end = tutti_min(ls->nops, ls->head + TUTTI_WINDOW);
	bool any = false;

	for (uint32_t op = ls->head; op < end; op++) {
		look_at(v, ls, op);
		if (v->slice == tutti_slices_of(v, v->rec))
			continue;
		if (!tutti_op_ready(v, ls) || v->failed)
			continue;
		if (!tutti_op_fire(v))
			return false;
		ls->scan[op % TUTTI_WINDOW] = (struct tutti_scan){ 0 };
		ls->done[op % TUTTI_WINDOW]++;
		any = true;
	}
	advance(v, ls);
	return any;
}

static void run_lane(struct tutti_verifier *v, uint32_t index)
{
	struct tutti_lane_state *ls = &v->state[index];
	bool any = false;

	v->rank = (int)(index / v->lanes);
	v->lane = index % v->lanes;
	ls->queued = false;
	while (!v->failed && ls->head < ls->nops && pass(v, ls))
		any = true;
	for (uint32_t l = 0; any && l < v->lanes; l++)
		if (l != v->lane)
			tutti_lane_enqueue(v, v->rank, l);
}

/* Say for one lane that stands still what it waits for. */
static void explain(struct tutti_verifier *v, uint32_t index)
{
	struct tutti_lane_state *ls = &v->state[index];
	const struct tutti_sched *s;
	struct tutti_scan *scan;
	struct tutti_spot spot;

	v->rank = (int)(index / v->lanes);
	v->lane = index % v->lanes;
	s = v->scheds[v->rank];
	look_at(v, ls, ls->head);
	if (tutti_op_ready(v, ls) || v->failed)
		return;
	scan = &ls->scan[v->op % TUTTI_WINDOW];
	if (v->rec->wait_lane >= 0 &&
	    !tutti_passed(v, (uint32_t)v->rec->wait_lane, tutti_waited_op(v))) {
		tutti_breach_op(v, "waits for ever for operation %u of lane %d",
				tutti_waited_op(v), v->rec->wait_lane);
		return;
	}
	for (uint32_t l = 0; l < v->lanes; l++) {
		uint32_t last = tutti_part_before(v, l);

		if (last != UINT32_MAX &&
		    tutti_lane_state(v, v->rank, l)->head <= last) {
			tutti_breach_op(v, "waits for ever for the end of part %u in lane %u",
					v->part - 1, l);
			return;
		}
	}
	spot = tutti_ref_at(s, &s->refs[v->rec->ref + scan->span], scan->i,
			    v->iter);
	tutti_breach_op(v, scan->span < v->rec->nsrc ?
			"waits for ever for a message from rank %d" :
			"waits for ever for a credit to send to rank %d",
			spot.rank);
}

static bool check_done(struct tutti_verifier *v)
{
	for (uint32_t i = 0; i < (uint32_t)v->homes * v->lanes; i++)
		if (v->state[i].head < v->state[i].nops) {
			explain(v, i);
			return false;
		}
	for (uint32_t i = 0; v->mail.under_way && i < v->mail.nways; i++) {
		const struct tutti_way *w = &v->mail.ways[i];
		uint64_t key = v->mail.table ? w->key : i;
		uint64_t pair = key / v->lanes;

		if (w->count)
			return tutti_breach(v, "operation %u of rank %llu, lane %llu, sends a message that rank %llu never receives",
					    w->first->from_op,
					    (unsigned long long)(pair / (uint64_t)v->ranks),
					    (unsigned long long)(key % v->lanes),
					    (unsigned long long)(pair % (uint64_t)v->ranks));
	}
	return true;
}

static bool run(struct tutti_verifier *v)
{
	uint32_t n = (uint32_t)v->homes * v->lanes;

	for (uint32_t i = 0; i < n; i++)
		tutti_lane_enqueue(v, (int)(i / v->lanes), i % v->lanes);
	while (v->queue_len && !v->failed) {
		uint32_t index = v->queue[v->queue_head];

		v->queue_head = (v->queue_head + 1) % n;
		v->queue_len--;
		run_lane(v, index);
	}
	return !v->failed && check_done(v) && tutti_memory_check_end(v);
}

/* ---- Before and after -------------------------------------------------- */

/* A record that no executor should see. */
static const char *record_fault(const struct tutti_sched *s,
				const struct tutti_op *op)
{
	const struct tutti_ref *refs = &s->refs[op->ref];
	uint32_t n = (uint32_t)op->nsrc + op->ndst, most;

	if ((uint64_t)op->ref + n > s->nrefs)
		return "has places beyond the list";
	if (op->kind > TUTTI_EACH || op->flags & ~(TUTTI_FINAL | TUTTI_TREE))
		return "is of an unknown kind";
	for (uint32_t i = 0; i < n; i++) {
		if (refs[i].place >= TUTTI_PLACES || refs[i].count == 0)
			return "has a place that does not exist";
		if (refs[i].place != TUTTI_MAIL && op->nchunks == 0)
			return "has memory but no chunks";
		if (refs[i].place == TUTTI_MAIL &&
		    (refs[i].chunk || refs[i].chunk_step ||
		     refs[i].chunk_iter))
			return "has mail with a chunk number";
	}
	if (op->nchunks == 0)
		return op->kind == TUTTI_EACH || op->flags || n == 0 ?
		       "has no chunks but is no notification" : NULL;
	most = tutti_max(s->scratch, tutti_sched_chunks(s, TUTTI_MAIL));
	if (op->nchunks > most)
		return "has more chunks than there are";
	if (op->nsrc == 0 || op->ndst == 0)
		return "has no source or no target";
	if (op->kind == TUTTI_EACH &&
	    (op->flags || tutti_refs_count(refs, op->nsrc) !=
			  tutti_refs_count(refs + op->nsrc, op->ndst)))
		return "is each, but final, a tree or with unequal sides";
	return NULL;
}

/* The first thing in a header that does not fit the others. */
static const char *header_fault(const struct tutti_verifier *v, int rank)
{
	const struct tutti_sched *s = v->scheds[rank], *a = v->any;
	uint32_t in, out;

	if (s->ranks != v->ranks || s->rank != rank)
		return "ranks";
	if (s->coll != a->coll || (unsigned int)s->coll >= TUTTI_COLLS)
		return "collective";
	if (s->mapped != a->mapped)
		return "form (mail or mapped)";
	if (s->root < 0 || s->root >= v->ranks ||
	    (s->coll != TUTTI_SENDRECV && s->root != a->root))
		return "root";
	if (s->pieces != a->pieces || s->pieces == 0)
		return "pieces";
	tutti_coll_blocks(s->coll, v->ranks, s->blocks_in > 0, &in, &out);
	if (s->blocks_in != in || s->blocks_out != out)
		return "blocks";
	if (s->nlanes > TUTTI_LANES_MAX)
		return "lanes";
	if (s->widest > tutti_sched_chunks(s, TUTTI_MAIL))
		return "widest operation";
	return tutti_sched_widest(s) != v->widest &&
	       s->coll != TUTTI_SENDRECV ? "widest operation" : NULL;
}

static bool check_records(struct tutti_verifier *v)
{
	for (int r = 0; r < v->ranks; r++) {
		const struct tutti_sched *s = v->scheds[r];
		const char *fault;

		if (!s && v->any->coll == TUTTI_SENDRECV)
			continue;
		if (!s)
			return tutti_breach(v, "rank %d has no schedule", r);
		fault = header_fault(v, r);
		if (fault)
			return tutti_breach(v, "the %s of rank %d's schedule cannot be, or differ from another's",
					    fault, r);
		for (uint32_t i = 0; i < s->nops; i++) {
			fault = record_fault(s, &s->ops[i]);
			if (fault)
				return tutti_breach(v, "record %u of rank %d %s",
						    i, r, fault);
		}
		v->lanes = tutti_max(v->lanes, s->nlanes);
	}
	return true;
}

static void init_lane(struct tutti_verifier *v, int rank, uint32_t lane)
{
	struct tutti_lane_state *ls = tutti_lane_state(v, rank, lane);
	const struct tutti_sched *s = v->scheds[rank];
	uint32_t iter;

	ls->base = s->lanes[lane].nops;
	while (!s->mapped && lane == 0 && ls->skip < ls->base &&
	       !tutti_sched_op(s, 0, ls->skip, &iter)->nchunks)
		ls->skip++;
	ls->nops = ls->base + (v->parts - 1) * (ls->base - ls->skip);
}

/* Rows of values that a combine may hold at once. */
static size_t acc_rows(const struct tutti_verifier *v)
{
	for (int r = 0; r < v->ranks; r++)
		for (uint32_t i = 0; v->scheds[r] && i < v->scheds[r]->nops;
		     i++)
			if (v->scheds[r]->ops[i].flags & TUTTI_TREE)
				return TUTTI_TREE_DEPTH;
	return 2;
}

/* Sums that are made at most, and how often one is rounded or finished. */
static uint64_t count_sums(const struct tutti_verifier *v)
{
	uint64_t n = 0;

	for (int r = 0; v->reduces && r < v->homes; r++) {
		const struct tutti_sched *s = v->scheds[r];

		for (uint32_t k = 0; k < s->nruns; k++)
			for (uint32_t i = 0; i < s->runs[k].nops; i++) {
				const struct tutti_op *op =
					&s->ops[s->runs[k].first + i];
				uint32_t src = op->kind == TUTTI_EACH ? 0 :
					tutti_refs_count(&s->refs[op->ref],
							 op->nsrc);

				if (src > 1 || op->flags & TUTTI_FINAL)
					n += (uint64_t)(src + 1) *
					     op->nchunks * s->runs[k].times;
			}
	}
	return n;
}

static bool init(struct tutti_verifier *v)
{
	size_t lanes = (size_t)v->homes * v->lanes;

	v->state = calloc(lanes, sizeof(*v->state));
	v->depth = calloc(lanes * v->slices, sizeof(*v->depth));
	v->sent = calloc((size_t)v->homes, sizeof(*v->sent));
	v->queue = calloc(lanes, sizeof(*v->queue));
	v->mark = calloc((size_t)v->ranks, sizeof(*v->mark));
	v->acc = calloc(((size_t)v->widest + 1) * acc_rows(v),
			sizeof(*v->acc));
	if (!v->state || !v->depth || !v->sent || !v->queue || !v->mark ||
	    !v->acc)
		return tutti_verify_no_memory(v);
	for (int r = 0; r < v->homes; r++)
		for (uint32_t l = 0; v->scheds[r] && l < v->scheds[r]->nlanes;
		     l++)
			init_lane(v, r, l);
	if (!tutti_exprs_init(&v->exprs, (uint32_t)v->ranks,
			      tutti_max(1u, v->any->coll == TUTTI_SENDRECV ?
					v->any->pieces :
					tutti_sched_chunks(v->any, TUTTI_IN)),
			      v->turn.on ? v->turn.stride[TUTTI_IN] :
					   TUTTI_EXPR_FIXED,
			      count_sums(v)) ||
	    !tutti_mail_init(&v->mail, (uint64_t)v->homes *
				       (uint64_t)v->ranks * v->lanes) ||
	    !tutti_memory_init(v))
		return tutti_verify_no_memory(v);
	return true;
}

static void fini(struct tutti_verifier *v)
{
	tutti_memory_fini(v);
	tutti_mail_fini(&v->mail);
	tutti_exprs_fini(&v->exprs);
	free(v->state);
	free(v->depth);
	free(v->depth_seen);
	free(v->sent);
	free(v->queue);
	free(v->mark);
	free(v->acc);
}

static bool check_cost(struct tutti_verifier *v)
{
	struct tutti_verify_report *rep = v->report;
	const struct tutti_cost *cost = v->args->cost;
	size_t lanes = (size_t)v->homes * v->lanes;

	for (size_t i = 0; i < lanes * v->slices; i++)
		rep->steps = tutti_max(rep->steps, v->depth[i]);
	for (int r = 0; r < v->homes; r++)
		rep->chunks_sent = tutti_max(rep->chunks_sent, v->sent[r]);
	if (v->parts > 1)
		return true;
	if (cost && cost->steps != rep->steps)
		return tutti_breach(v, "the schedule takes %u steps, its file states %u",
				    rep->steps, cost->steps);
	if (cost && cost->chunks_sent != rep->chunks_sent)
		return tutti_breach(v, "the busiest rank moves %llu chunks, the file states %llu",
				    (unsigned long long)rep->chunks_sent,
				    (unsigned long long)cost->chunks_sent);
	return true;
}

tuttiResult_t tutti_sched_verify(struct tutti_sched *const *scheds, int ranks,
				 const struct tutti_verify_args *args,
				 struct tutti_verify_report *report)
{
	struct tutti_verify_report own;
	struct tutti_verifier v = {
		.scheds = scheds,
		.args = args,
		.report = report ? report : &own,
		.ranks = ranks,
		.lanes = 1,
		.slices = tutti_max(1u, args->slices),
		.parts = tutti_max(1u, args->parts),
		.in_place = args->in_place || args->both,
		.both = args->both,
	};

	*v.report = (struct tutti_verify_report){ 0 };
	for (int r = 0; r < ranks && !v.any; r++)
		v.any = scheds[r];
	if (!v.any) {
		tutti_breach(&v, "there is no schedule");
		return tuttiInternalError;
	}
	v.reduces = tutti_coll_reduces(v.any->coll);
	v.widest = tutti_sched_widest(v.any);
	if (!check_records(&v))
		return tuttiInternalError;
	v.homes = args->turned && tutti_turn_find(scheds, ranks, &v.turn) ?
		  1 : ranks;
	v.report->turned = v.turn.on;
	if (init(&v) && run(&v) &&
	    tutti_verify_results(&v))
		check_cost(&v);
	fini(&v);
	if (v.no_memory)
		return tuttiSystemError;
	return v.failed ? tuttiInternalError : tuttiSuccess;
}
