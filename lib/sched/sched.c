/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a schedule: names of the collectives, and the arithmetic of spans,
 * runs and pieces.  Everything here is pure, takes constant time but where it
 * says otherwise, and is safe on whatever tutti_sched_parse accepts.
 */
#include "config.h"

#include "sched/sched.h"

#include <stdlib.h>
#include <string.h>

static const char *const coll_names[TUTTI_COLLS] = {
	[TUTTI_ALL_REDUCE] = "all_reduce",
	[TUTTI_REDUCE] = "reduce",
	[TUTTI_BROADCAST] = "broadcast",
	[TUTTI_ALL_GATHER] = "all_gather",
	[TUTTI_REDUCE_SCATTER] = "reduce_scatter",
	[TUTTI_ALLTOALL] = "alltoall",
	[TUTTI_GATHER] = "gather",
	[TUTTI_SCATTER] = "scatter",
	[TUTTI_BARRIER] = "barrier",
	[TUTTI_SENDRECV] = "sendrecv",
};

const char *tutti_coll_name(enum tutti_coll coll)
{
	return (unsigned int)coll < TUTTI_COLLS ? coll_names[coll] : "?";
}

int tutti_coll_find(const char *name)
{
	for (int c = 0; c < TUTTI_COLLS; c++)
		if (!strcmp(name, coll_names[c]))
			return c;
	return -1;
}

bool tutti_coll_reduces(enum tutti_coll coll)
{
	return coll == TUTTI_ALL_REDUCE || coll == TUTTI_REDUCE ||
	       coll == TUTTI_REDUCE_SCATTER;
}

bool tutti_coll_to_root(enum tutti_coll coll)
{
	return coll == TUTTI_REDUCE || coll == TUTTI_GATHER;
}

bool tutti_coll_from_root(enum tutti_coll coll)
{
	return coll == TUTTI_BROADCAST || coll == TUTTI_SCATTER;
}

bool tutti_coll_rooted(enum tutti_coll coll)
{
	return tutti_coll_to_root(coll) || tutti_coll_from_root(coll);
}

void tutti_coll_blocks(enum tutti_coll coll, int ranks, bool sending,
		       uint32_t *blocks_in, uint32_t *blocks_out)
{
	*blocks_in = 1;
	*blocks_out = 1;
	switch (coll) {
	case TUTTI_ALL_GATHER:
	case TUTTI_GATHER:
		*blocks_out = (uint32_t)ranks;
		break;
	case TUTTI_REDUCE_SCATTER:
	case TUTTI_SCATTER:
		*blocks_in = (uint32_t)ranks;
		break;
	case TUTTI_ALLTOALL:
		*blocks_in = (uint32_t)ranks;
		*blocks_out = (uint32_t)ranks;
		break;
	case TUTTI_BARRIER:
		*blocks_in = 0;
		*blocks_out = 0;
		break;
	case TUTTI_SENDRECV:
		*blocks_in = sending;
		*blocks_out = !sending;
		break;
	default:
		break;
	}
}

/* Walks the runs of the lane, of which there are few. */
const struct tutti_op *tutti_sched_op(const struct tutti_sched *s, int lane,
				      uint32_t index, uint32_t *iter)
{
	const struct tutti_lane *l = &s->lanes[lane];
	const struct tutti_run *run = &s->runs[l->first];

	for (uint32_t i = 0; i < l->nruns; i++, run++) {
		uint64_t ops = (uint64_t)run->nops * run->times;

		if (index < ops) {
			*iter = index / run->nops;
			return &s->ops[run->first + index % run->nops];
		}
		index -= (uint32_t)ops;
	}
	return NULL;
}

uint32_t tutti_sched_widest(const struct tutti_sched *s)
{
	uint32_t widest = s->widest ? s->widest : 1;

	for (uint32_t i = 0; i < s->nops; i++)
		if (s->ops[i].nchunks > widest)
			widest = s->ops[i].nchunks;
	return widest;
}

uint32_t tutti_refs_count(const struct tutti_ref *refs, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += refs[i].count;
	return count;
}

/* Place `i` of `n` spans, if it is a chunk of IN or OUT. */
static bool find_length(const struct tutti_sched *s,
			const struct tutti_ref *refs, uint32_t n, uint32_t i,
			uint32_t iter, struct tutti_spot *spot)
{
	while (n && i >= refs->count) {
		i -= refs->count;
		refs++;
		n--;
	}
	if (!n || (refs->place != TUTTI_IN && refs->place != TUTTI_OUT))
		return false;
	*spot = tutti_ref_at(s, refs, i, iter);
	return true;
}

/* Takes time for each span of the operation. */
struct tutti_spot tutti_op_length(const struct tutti_sched *s,
				  const struct tutti_op *op, uint32_t i,
				  uint32_t iter)
{
	const struct tutti_ref *refs = &s->refs[op->ref];
	struct tutti_spot spot;

	if (op->kind == TUTTI_EACH) {
		if (find_length(s, refs, op->nsrc, i, iter, &spot) ||
		    find_length(s, refs + op->nsrc, op->ndst, i, iter, &spot))
			return spot;
	} else {
		for (uint32_t r = 0; r < (uint32_t)op->nsrc + op->ndst; r++)
			if (find_length(s, refs + r, 1, 0, iter, &spot))
				return spot;
	}
	spot.place = s->blocks_in > s->blocks_out ? TUTTI_IN : TUTTI_OUT;
	spot.rank = s->rank;
	spot.chunk = tutti_wrap(op->piece + (int64_t)iter * op->piece_iter,
				tutti_sched_chunks(s, spot.place));
	return spot;
}

uint32_t tutti_op_piece(const struct tutti_sched *s, const struct tutti_op *op,
			uint32_t i, uint32_t iter)
{
	return tutti_op_length(s, op, i, iter).chunk % s->pieces;
}

void tutti_sched_free(struct tutti_sched *s)
{
	if (!s)
		return;
	free(s->runs);
	free(s->ops);
	free(s->refs);
	free(s);
}
