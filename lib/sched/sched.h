/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A schedule: what one rank does for one collective.  Plain data; knows no
 * address, no byte count, no transport.  No I/O here, no clock, no settings.
 *
 * Data.  A collective moves blocks of `count` elements.  IN has blocks_in
 * blocks, OUT has blocks_out, and each block is cut into the same `pieces`
 * pieces; chunk c of IN or OUT is piece c % pieces of block c / pieces.
 * SCRATCH has scratch chunks, each with room for the largest piece.
 *
 * One operation form serves for all: *combine* reads its sources in list
 * order, reduces them from left to right, and stores the result to every
 * target.  A source is memory or the next message from a rank; a target is
 * memory or the next message to a rank.  So send, receive, copy, reduce, all
 * fusions, and reduce-k-push-m are patterns of it, and a combine of no chunks
 * is a notification.  *each* copies source i to target i, for a span of them.
 *
 * Targets of a combine may be its own sources at the same chunk; any other
 * overlap inside one operation is wrong.  A combine with one source, not
 * final, leaves a target alone that is the very memory of its source (in
 * place); so does each, pair by pair.  A contribution may have to be scaled
 * when it is read from IN, so a sum is best made of IN, not of a copy of it in
 * OUT and of IN again.
 *
 * Order.  The executor cuts every chunk into slices, all chunks into the same
 * number.  Slice s of an operation is slice s of each of its chunks, and one
 * message carries it; an operation of no chunks has one slice only.  Slice s
 * of an operation may run when
 *   - slice s of the operation before it in its lane is done, and slice s-1 of
 *     itself, and slice s of the operation it waits for in another lane; if
 *     one of the two has no chunks, all slices of the earlier one (so an
 *     operation of no chunks is a fence of its lane);
 *   - all its source messages have come and all its target messages have a
 *     credit (it fires as a whole or not at all);
 *   - all messages that operations before it in the lane owe to the same rank
 *     have been sent, and all they expect from the same rank were received:
 *     the messages of a lane between two ranks keep the order (operation,
 *     slice);
 *   - it is one of the TUTTI_WINDOW oldest unfinished operations of its lane.
 * Done means that targets are written, messages are on their way and sources
 * may be overwritten.  Slices at once are at most half the credits; a longer
 * operation runs the schedule again for the next part of every chunk, lane by
 * lane: the last operation of a part is the one before the first of the next.
 * The notifications with which a mail form begins are not repeated, and with
 * several lanes a part begins when all lanes have ended the one before, since
 * parts share SCRATCH.
 *
 * Firing never takes away what another needs, so either every order of firing
 * ends or none does: running the schedules once, in any order, proves the
 * absence of deadlock.  Executor, verifier and simulator share exactly this
 * rule.
 */
#ifndef TUTTI_SCHED_SCHED_H
#define TUTTI_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/shape.h"
#include "tutti.h"

#define TUTTI_WINDOW 8
#define TUTTI_LANES_MAX 2
#define TUTTI_CREDITS_MIN 2

enum tutti_coll {
	TUTTI_ALL_REDUCE,
	TUTTI_REDUCE,
	TUTTI_BROADCAST,
	TUTTI_ALL_GATHER,
	TUTTI_REDUCE_SCATTER,
	TUTTI_ALLTOALL,
	TUTTI_GATHER,
	TUTTI_SCATTER,
	TUTTI_BARRIER,
	TUTTI_SENDRECV,		/* one side of one message; root is the peer */
	TUTTI_COLLS
};

/* "all_reduce" and so on, as in tutti-perf; "sendrecv".  -1 if unknown. */
const char *tutti_coll_name(enum tutti_coll coll);
int tutti_coll_find(const char *name);

/* Adds contributions; only the root has a receive buffer; only the root has
 * a send buffer; either of the two. */
bool tutti_coll_reduces(enum tutti_coll coll);
bool tutti_coll_to_root(enum tutti_coll coll);
bool tutti_coll_from_root(enum tutti_coll coll);
bool tutti_coll_rooted(enum tutti_coll coll);

enum tutti_place {
	TUTTI_IN,		/* send buffer */
	TUTTI_OUT,		/* receive buffer */
	TUTTI_SCRATCH,
	TUTTI_MAIL,		/* the next message from or to a rank */
	TUTTI_PLACES
};

/*
 * A span of `count` places.  Place i of it, in repetition t of its run, is
 *   rank  (rank + i * rank_step + t * rank_iter) mod ranks
 *   chunk (chunk + i * chunk_step + t * chunk_iter) mod chunks of the place.
 * IN, OUT or SCRATCH with a rank other than one's own is that rank's memory,
 * which both must be able to reach (a mapped schedule).  The chunk numbers of
 * MAIL are 0 and mean nothing.
 */
struct tutti_ref {
	uint8_t place;
	uint32_t count;
	int32_t rank, rank_step, rank_iter;
	int32_t chunk, chunk_step, chunk_iter;
};

enum tutti_op_kind { TUTTI_COMBINE, TUTTI_EACH };

/* The result of this operation has every contribution: divide for the
 * average, round for good. */
#define TUTTI_FINAL 1u
/* Of a combine: add the sources as the balanced binary tree over their order,
 * split at the largest power of two below their number, instead of from left
 * to right.  Still one step: a short type is rounded once, after all of it. */
#define TUTTI_TREE 2u

struct tutti_op {
	uint8_t kind;
	uint8_t flags;
	uint16_t nsrc, ndst;	/* spans; sources first, then targets */
	uint32_t ref;		/* first span in sched->refs */
	uint32_t nchunks;	/* consecutive chunks of every place; 0: notify */
	/* Which chunk tells the length if no place is IN or OUT: of the larger
	 * of the two, and unless blocks are uneven only its piece counts. */
	int32_t piece, piece_iter;
	int32_t wait_lane;	/* -1: none */
	int32_t wait_op, wait_iter; /* index in that lane, repetitions unrolled */
};

/* `nops` operations from ops[first], done `times` times. */
struct tutti_run {
	uint32_t first, nops, times;
};

struct tutti_lane {
	uint32_t first, nruns;	/* in sched->runs */
	uint32_t nops;		/* repetitions unrolled */
};

struct tutti_sched {
	enum tutti_coll coll;
	const char *algo;	/* name; lives as long as the schedule */
	int ranks, rank, root;
	bool mapped;		/* reaches other ranks' memory */
	uint32_t blocks_in, blocks_out, pieces, scratch;
	/* The largest nchunks of any rank, where this one's may be less;
	 * otherwise 0. */
	uint32_t widest;
	uint32_t nlanes;
	struct tutti_lane lanes[TUTTI_LANES_MAX];
	struct tutti_run *runs;
	struct tutti_op *ops;
	struct tutti_ref *refs;
	uint32_t nruns, nops, nrefs;
};

/* Chunks of a place; of MAIL: those of the larger of IN and OUT. */
static inline uint32_t tutti_sched_chunks(const struct tutti_sched *s,
					  int place)
{
	switch (place) {
	case TUTTI_IN:
		return s->blocks_in * s->pieces;
	case TUTTI_OUT:
		return s->blocks_out * s->pieces;
	case TUTTI_SCRATCH:
		return s->scratch;
	default:
		return (s->blocks_in > s->blocks_out ? s->blocks_in :
			s->blocks_out) * s->pieces;
	}
}

/* Operation `index` of a lane, repetitions unrolled: the record and which
 * repetition of its run it is.  Constant time for one run. */
const struct tutti_op *tutti_sched_op(const struct tutti_sched *s, int lane,
				      uint32_t index, uint32_t *iter);

/* One place, worked out. */
struct tutti_spot {
	int place, rank;
	uint32_t chunk;
};

/* v mod n, never negative; nearly always in range, or less than n above. */
static inline uint32_t tutti_wrap(int64_t v, uint32_t n)
{
	if (v >= 0 && v < (int64_t)n)
		return (uint32_t)v;
	if (v >= 0 && v - n < (int64_t)n)
		return (uint32_t)(v - n);
	if (n == 0)
		return 0;
	v %= (int64_t)n;
	return (uint32_t)(v < 0 ? v + (int64_t)n : v);
}

static inline struct tutti_spot tutti_ref_at(const struct tutti_sched *s,
					     const struct tutti_ref *ref,
					     uint32_t i, uint32_t iter)
{
	int64_t rank = ref->rank + (int64_t)i * ref->rank_step +
		       (int64_t)iter * ref->rank_iter;
	int64_t chunk = ref->chunk + (int64_t)i * ref->chunk_step +
			(int64_t)iter * ref->chunk_iter;
	struct tutti_spot spot = {
		.place = ref->place,
		.rank = (int)tutti_wrap(rank, (uint32_t)s->ranks),
	};

	if (ref->place != TUTTI_MAIL)
		spot.chunk = tutti_wrap(chunk,
					tutti_sched_chunks(s, ref->place));
	return spot;
}

/* Blocks of IN and OUT; the same on all ranks, except that either side of a
 * sendrecv has one of the two only.  Of a gather only the root has OUT, of a
 * scatter only the root has IN, though their blocks are counted everywhere. */
void tutti_coll_blocks(enum tutti_coll coll, int ranks, bool sending,
		       uint32_t *blocks_in, uint32_t *blocks_out);

/* The largest nchunks of any operation, at least 1: a message carries so many
 * chunk slices at most.  The same on all ranks; a builder whose ranks differ
 * says how many it is (tutti_emit_widest). */
uint32_t tutti_sched_widest(const struct tutti_sched *s);

/* Number of places in `n` spans. */
uint32_t tutti_refs_count(const struct tutti_ref *refs, uint32_t n);

/* The chunk of IN or OUT that gives the length of a combine (or of pair i of
 * an each), and its piece. */
struct tutti_spot tutti_op_length(const struct tutti_sched *s,
				  const struct tutti_op *op, uint32_t i,
				  uint32_t iter);
uint32_t tutti_op_piece(const struct tutti_sched *s, const struct tutti_op *op,
			uint32_t i, uint32_t iter);

void tutti_sched_free(struct tutti_sched *s);

/* ---- Building --------------------------------------------------------- */

/* What a builder is asked for. */
struct tutti_query {
	enum tutti_coll coll;
	const struct tutti_shape *shape;
	int rank;
	int root;		/* of rooted collectives; peer of sendrecv */
	int radix;		/* 0: the algorithm's own choice */
	bool mapped;		/* other ranks' memory can be reached */
	bool sending;		/* sendrecv: this side */
	/* The expression of every element must be the balanced binary tree
	 * over rank order: the design's strict mode.  There, a short type stays
	 * float32 in SCRATCH and MAIL, but OUT is of the type: a sum may be
	 * stored to OUT only when it is final. */
	bool strict;
	/* Operands must stand in rank order, under whatever association: an
	 * operator that does not commute.  Only for the choice: builders look
	 * at strict, with which it is always so. */
	bool in_order;
	/* Blocks have lengths of their own (the v-forms), and of a collective
	 * but all-gather and reduce-scatter a rank knows those of its own
	 * buffers only. */
	bool uneven;
	/* Of a composed algorithm: those of its levels, as TUTTI_ALGO has them
	 * between parentheses; NULL: its own choice. */
	const char *levels;
	/* The schedule becomes a part of another.  Where an operation has no
	 * IN and no OUT, its piece must be the whole number of the chunk. */
	bool part;
};

/*
 * Where a builder puts its records: a list, or anything else that wants to
 * see them.  `begin` is called once, then records lane by lane.  A lane begins
 * with a run of one time; a run of 0 times is left out.
 */
struct tutti_sink {
	tuttiResult_t (*begin)(struct tutti_sink *k,
			       const struct tutti_query *q, uint32_t pieces,
			       uint32_t scratch);
	/* May be NULL: no operation of any rank has more chunks.  Called
	 * between begin and the first operation, if at all. */
	void (*widest)(struct tutti_sink *k, uint32_t nchunks);
	tuttiResult_t (*lane)(struct tutti_sink *k);
	/* Following operations are done `times` times, up to the next run. */
	tuttiResult_t (*run)(struct tutti_sink *k, uint32_t times);
	/* refs: op->nsrc sources, then op->ndst targets; copied. */
	tuttiResult_t (*op)(struct tutti_sink *k, const struct tutti_op *op,
			    const struct tutti_ref *refs);
};

struct tutti_algo;

/* Build one rank's schedule as a list, to be freed with tutti_sched_free.
 * q->mapped counts only for an algorithm with a mapped form.
 * tuttiInternalError if the query is not one that the algorithm serves. */
tuttiResult_t tutti_sched_build(struct tutti_sched **out,
				const struct tutti_algo *algo,
				const struct tutti_query *q);
/* The same without asking whether it serves: another rank's query, else the
 * same, was.  A composition takes long to say so. */
tuttiResult_t tutti_sched_build_served(struct tutti_sched **out,
				       const struct tutti_algo *algo,
				       const struct tutti_query *q);

/* What one rank does, counted without storing a record; errors as above. */
struct tutti_sched_stats {
	uint64_t records;	/* operations as emitted, runs not unrolled */
	uint64_t ops;		/* runs unrolled */
	uint64_t rounds;	/* of them, that wait for a message */
	uint64_t messages;	/* sent */
	uint64_t chunks_sent;	/* as in struct tutti_cost */
};
tuttiResult_t tutti_sched_count(struct tutti_sched_stats *out,
				const struct tutti_algo *algo,
				const struct tutti_query *q);

/* ---- Text ------------------------------------------------------------- */

/* Print in a form that tutti_sched_parse reads back to equal records.  The
 * grammar is in text.c.  The string is malloc'ed; NULL if there is no
 * memory. */
char *tutti_sched_print(const struct tutti_sched *s);
/* Any bytes are safe to parse, and what was parsed is safe to walk and to
 * verify.  tuttiInvalidArgument with the line and the reason. */
tuttiResult_t tutti_sched_parse(struct tutti_sched **out, const char *text);

#endif
