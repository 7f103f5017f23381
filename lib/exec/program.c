/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unrolling.  Two passes over the schedule: count, then fill.  What each
 * operation must wait for in its own lane is worked out here, with the lane
 * taken as a circle, because a long operation runs the lane again and again.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "exec/program.h"

#include <stdlib.h>

_Static_assert(TUTTI_WINDOW <= 9, "`after` has a bit for each earlier step");
_Static_assert(TUTTI_LANES_MAX <= TUTTI_NET_P2P, "lanes of collectives");

static struct tutti_spot *unroll(const struct tutti_sched *s,
				 struct tutti_spot *to,
				 const struct tutti_ref *refs, uint32_t n,
				 uint32_t iter)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < refs[k].count; i++)
			*to++ = tutti_ref_at(s, &refs[k], i, iter);
	return to;
}

static bool share_rank(const struct tutti_spot *a, uint32_t na,
		       const struct tutti_spot *b, uint32_t nb)
{
	for (uint32_t i = 0; i < na; i++)
		for (uint32_t k = 0; a[i].place == TUTTI_MAIL && k < nb; k++)
			if (b[k].place == TUTTI_MAIL && b[k].rank == a[i].rank)
				return true;
	return false;
}

/* `ops` are the `n` that are repeated. */
static uint8_t find_after(const struct tutti_xop *ops, uint32_t n, uint32_t at)
{
	const struct tutti_xop *op = &ops[at];
	uint8_t after = 0;

	for (uint32_t d = 1; d < TUTTI_WINDOW; d++) {
		const struct tutti_xop *old =
			&ops[(at + n * TUTTI_WINDOW - d) % n];

		if (op->mail && old->mail &&
		    (share_rank(op->src, op->nsrc, old->src, old->nsrc) ||
		     share_rank(op->dst, op->ndst, old->dst, old->ndst)))
			after |= (uint8_t)(1u << (d - 1));
	}
	return after;
}

static bool has_mail(const struct tutti_spot *spots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (spots[i].place == TUTTI_MAIL)
			return true;
	return false;
}

static struct tutti_spot *fill_lane(struct tutti_program *p,
				    const struct tutti_sched *s, uint32_t lane,
				    struct tutti_spot *to)
{
	uint32_t skip = lane == 0 ? p->skip : 0;

	for (uint32_t i = 0; i < p->nops[lane]; i++) {
		struct tutti_xop *x = &p->ops[lane][i];
		uint32_t iter;
		const struct tutti_op *op = tutti_sched_op(s, (int)lane, i,
							   &iter);
		const struct tutti_ref *refs = &s->refs[op->ref];

		x->kind = op->kind;
		x->flags = op->flags;
		x->nchunks = op->nchunks;
		x->wait_lane = op->wait_lane;
		x->wait_op = (uint32_t)(op->wait_op +
					op->wait_iter * (int32_t)iter);
		x->length = tutti_op_length(s, op, op->kind == TUTTI_COMBINE ?
						   0 : UINT32_MAX, iter);
		x->piece = x->length.chunk % s->pieces;
		x->src = to;
		to = unroll(s, to, refs, op->nsrc, iter);
		x->nsrc = (uint32_t)(to - x->src);
		x->dst = to;
		to = unroll(s, to, refs + op->nsrc, op->ndst, iter);
		x->ndst = (uint32_t)(to - x->dst);
		p->trees |= op->flags & TUTTI_TREE;
		x->mail = has_mail(x->src, x->nsrc + x->ndst);
		if (x->mail && x->nchunks)
			p->moves_mail = true;
		p->refs_max = tutti_max(p->refs_max,
					tutti_max(x->nsrc, x->ndst));
	}
	for (uint32_t i = skip; i < p->nops[lane]; i++)
		p->ops[lane][i].after = find_after(p->ops[lane] + skip,
						   p->nops[lane] - skip,
						   i - skip);
	return to;
}

static size_t count_spots(const struct tutti_sched *s)
{
	size_t n = 0;

	for (uint32_t lane = 0; lane < s->nlanes; lane++)
		for (uint32_t i = 0; i < s->lanes[lane].nops; i++) {
			uint32_t iter;
			const struct tutti_op *op =
				tutti_sched_op(s, (int)lane, i, &iter);

			n += tutti_refs_count(&s->refs[op->ref],
					      (uint32_t)op->nsrc + op->ndst);
		}
	return n;
}

tuttiResult_t tutti_program_make(struct tutti_program **out,
				 const struct tutti_sched *s, int lane,
				 uint32_t skip)
{
	struct tutti_program *p = calloc(1, sizeof(*p));
	struct tutti_spot *to;

	if (!p)
		goto err_memory;
	p->coll = s->coll;
	p->ranks = s->ranks;
	p->rank = s->rank;
	p->lane = lane;
	p->skip = skip;
	p->pieces = s->pieces;
	p->blocks_in = s->blocks_in;
	p->blocks_out = s->blocks_out;
	p->scratch = s->scratch;
	p->nlanes = s->nlanes;
	p->chunks_max = tutti_sched_widest(s);
	p->spots = calloc(count_spots(s) + 1, sizeof(*p->spots));
	if (!p->spots)
		goto err_memory;
	to = p->spots;
	for (uint32_t i = 0; i < s->nlanes; i++) {
		p->nops[i] = s->lanes[i].nops;
		p->ops[i] = calloc(p->nops[i] + 1, sizeof(*p->ops[i]));
		if (!p->ops[i])
			goto err_memory;
		to = fill_lane(p, s, i, to);
	}
	*out = p;
	return tuttiSuccess;

err_memory:
	tutti_program_free(p);
	return tutti_fail(tuttiSystemError, "out of memory for a schedule of "
			  "%d ranks", s->ranks);
}

void tutti_program_free(struct tutti_program *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < TUTTI_LANES_MAX; i++)
		free(p->ops[i]);
	free(p->spots);
	free(p);
}
