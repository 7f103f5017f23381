/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the verifier asks of the results, once all schedules have ended: every
 * promised chunk of OUT holds what the collective says, by one expression on
 * all ranks that get it; and what kind of expressions these are.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

#include <stdlib.h>
#include <string.h>

/* Which chunk of the collective's results a chunk of OUT is. */
static uint32_t result_of(const struct tutti_sched *s, uint32_t chunk)
{
	if (s->coll == TUTTI_REDUCE_SCATTER)
		return (uint32_t)s->rank * s->pieces + chunk;
	return chunk;
}

static bool gets_result(const struct tutti_sched *s)
{
	if (tutti_coll_to_root(s->coll))
		return s->rank == s->root;
	return s->blocks_out > 0;
}

/* A moved chunk: whose, and which chunk of its IN. */
static uint32_t moved(const struct tutti_verifier *v,
		      const struct tutti_sched *s, uint32_t chunk)
{
	uint32_t block = chunk / s->pieces, piece = chunk % s->pieces;
	uint32_t mine = (uint32_t)s->rank * s->pieces + piece;

	switch (s->coll) {
	case TUTTI_ALL_GATHER:
	case TUTTI_GATHER:
		return tutti_expr_leaf(&v->exprs, block, piece);
	case TUTTI_ALLTOALL:
		return tutti_expr_leaf(&v->exprs, block, mine);
	case TUTTI_SCATTER:
		return tutti_expr_leaf(&v->exprs, (uint32_t)s->root, mine);
	default:
		return tutti_expr_leaf(&v->exprs, (uint32_t)s->root, chunk);
	}
}

static bool check_reduced(struct tutti_verifier *v, uint32_t e,
			  uint32_t result, const char *where)
{
	struct tutti_expr x = tutti_expr_get(&v->exprs, e);

	if (x.kind != TUTTI_EXPR_FINAL)
		return tutti_breach(v, "%s ends with a value that is not marked final",
				    where);
	if (!tutti_expr_complete(&v->exprs, e))
		return tutti_breach(v, "%s ends without every contribution exactly once",
				    where);
	if (x.chunk != result)
		return tutti_breach(v, "%s ends with the sum of chunk %u of IN instead of %u",
				    where, x.chunk, result);
	if (!tutti_expr_strict(&v->exprs, e))
		v->report->strict = false;
	if (!tutti_expr_in_order(&v->exprs, e))
		v->report->in_order = false;
	if (!tutti_expr_one_combine(&v->exprs, e))
		v->report->one_combine = false;
	return true;
}

static bool check_chunk(struct tutti_verifier *v, int rank, uint32_t chunk,
			uint32_t slice, uint32_t *same)
{
	const struct tutti_sched *s = v->scheds[rank];
	struct tutti_spot spot = { TUTTI_OUT, rank, chunk };
	uint32_t result = result_of(s, chunk);
	const struct tutti_cell *cell =
		&tutti_cell(v, rank, TUTTI_OUT, chunk)[slice];
	uint32_t e = v->both && !cell->written ? 0 : cell->value;
	char where[64];

	if (e && e == (v->reduces ? same[result] : moved(v, s, chunk))) {
		same[result] = e;
		return true;
	}
	tutti_spot_text(where, sizeof(where), spot);
	if (!e)
		return tutti_breach(v, "%s is never written", where);
	if (v->reduces) {
		if (e != same[result] &&
		    !check_reduced(v, e, result, where))
			return false;
		if (same[result] && e != same[result])
			return tutti_breach(v, "%s is added in another order than on the ranks before it",
					    where);
	} else if (e != moved(v, s, chunk)) {
		struct tutti_expr x = tutti_expr_get(&v->exprs, e);

		return tutti_breach(v, "%s ends with chunk %u of rank %u",
				    where, x.chunk, x.a);
	}
	same[result] = e;
	return true;
}

/* Turned, rank 1 has in the next chunk what rank 0 has, turned: all ranks have
 * one expression of a chunk if these two have. */
static bool check_turned(struct tutti_verifier *v, const uint32_t *same)
{
	const struct tutti_sched *s = v->any;

	if (!v->turn.on || s->coll != TUTTI_ALL_REDUCE)
		return true;
	for (uint32_t c = 0; c < s->pieces; c++) {
		uint32_t next = tutti_turn_chunk(&v->turn, s, TUTTI_OUT, c, 1);

		if (same[next] != tutti_expr_turn(&v->exprs, same[c], 1))
			return tutti_breach(v, "OUT chunk %u of rank 1 is added in another order than on the rank before it",
					    next);
	}
	return true;
}

bool tutti_verify_results(struct tutti_verifier *v)
{
	struct tutti_verify_report *rep = v->report;
	uint32_t n = tutti_sched_chunks(v->any, TUTTI_MAIL);
	uint32_t *same = calloc((size_t)n + 1, sizeof(*same));
	bool ok = true;

	if (!same)
		return tutti_verify_no_memory(v);
	rep->strict = v->reduces;
	rep->in_order = v->reduces;
	rep->one_combine = v->reduces;
	for (int r = 0; ok && r < v->homes; r++) {
		if (!v->scheds[r] || !gets_result(v->scheds[r]))
			continue;
		for (uint32_t c = 0;
		     ok && c < tutti_sched_chunks(v->scheds[r], TUTTI_OUT); c++)
			for (uint32_t s = 0; ok && s < v->slices * v->parts;
			     s++)
				ok = check_chunk(v, r, c, s, same);
	}
	ok = ok && check_turned(v, same);
	for (uint32_t c = 0; ok && c < n; c++)
		if (same[c])
			rep->digest = tutti_mix(
				rep->digest,
				tutti_expr_get(&v->exprs, same[c]).hash);
	free(same);
	if (ok && v->args->digest && *v->args->digest != rep->digest)
		return tutti_breach(v, "the results are added in another order than they should");
	return ok;
}
