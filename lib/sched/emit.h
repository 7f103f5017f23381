/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What builders write with: names for the usual places, and a pen that keeps
 * the first error, so that a builder reads like the table in its comment.
 * Sources and targets are added first, the operation ends their list.  Ranks
 * and chunks may be given beyond their range; they are taken modulo it.
 */
#ifndef TUTTI_SCHED_EMIT_H
#define TUTTI_SCHED_EMIT_H

#include "sched/algo.h"

#define TUTTI_EMIT_REFS 80	/* of one operation; 2 * 32 for binary trees */

struct tutti_emit {
	struct tutti_sink *sink;
	const struct tutti_query *q;
	tuttiResult_t rc;		/* the first error */
	uint32_t chunks[TUTTI_PLACES];
	int32_t wait_lane, wait_op, wait_iter;
	int32_t piece, piece_iter;
	uint16_t nsrc, ndst;
	struct tutti_ref refs[TUTTI_EMIT_REFS];
};

/* One chunk of a place. */
static inline struct tutti_ref tutti_chunk(int place, int rank, int chunk)
{
	return (struct tutti_ref){ .place = (uint8_t)place, .count = 1,
				   .rank = rank, .chunk = chunk };
}

/* The same that moves on with every repetition of its run. */
static inline struct tutti_ref tutti_chunk_iter(int place, int rank, int chunk,
						int chunk_iter)
{
	return (struct tutti_ref){ .place = (uint8_t)place, .count = 1,
				   .rank = rank, .chunk = chunk,
				   .chunk_iter = chunk_iter };
}

/* `count` chunks, of consecutive ranks and every chunk_step-th chunk. */
static inline struct tutti_ref tutti_ranks(int place, int rank, int chunk,
					   int chunk_step, int count)
{
	return (struct tutti_ref){ .place = (uint8_t)place,
				   .count = (uint32_t)count,
				   .rank = rank, .rank_step = 1,
				   .chunk = chunk, .chunk_step = chunk_step };
}

/* `count` consecutive chunks of one rank. */
static inline struct tutti_ref tutti_chunks(int place, int rank, int chunk,
					    int count)
{
	return (struct tutti_ref){ .place = (uint8_t)place,
				   .count = (uint32_t)count, .rank = rank,
				   .chunk = chunk, .chunk_step = 1 };
}

static inline struct tutti_ref tutti_mail(int rank)
{
	return tutti_chunk(TUTTI_MAIL, rank, 0);
}

/* Mail of all other ranks, from the next one on. */
static inline struct tutti_ref tutti_mail_others(const struct tutti_query *q)
{
	return tutti_ranks(TUTTI_MAIL, q->rank + 1, 0, 0, q->shape->ranks - 1);
}

/* Begin the schedule and its first lane. */
void tutti_emit_begin(struct tutti_emit *e, struct tutti_sink *sink,
		      const struct tutti_query *q, uint32_t pieces,
		      uint32_t scratch);
/* Right after that: the largest nchunks of any rank, if ranks differ. */
void tutti_emit_widest(struct tutti_emit *e, int nchunks);
void tutti_emit_lane(struct tutti_emit *e);
/* What follows is done `times` times; 0: not at all. */
void tutti_emit_run(struct tutti_emit *e, int times);

/* Add to the list; a span of no places is left out. */
void tutti_emit_src(struct tutti_emit *e, struct tutti_ref ref);
void tutti_emit_dst(struct tutti_emit *e, struct tutti_ref ref);
/* Sources in rank order: mail of every other rank, `own` at one's place. */
void tutti_emit_src_in_order(struct tutti_emit *e, struct tutti_ref own);
/* The next operation waits for this one of another lane. */
void tutti_emit_wait(struct tutti_emit *e, int lane, int op, int iter);

/* The next operation is of this chunk of the larger of IN and OUT: needed if it
 * names none of either. */
void tutti_emit_piece(struct tutti_emit *e, int piece, int iter);

/* The operation with the places added since the last. */
void tutti_emit_combine(struct tutti_emit *e, unsigned int flags,
			uint32_t nchunks);
void tutti_emit_each(struct tutti_emit *e, uint32_t nchunks);

/*
 * Notify all other ranks, then await them all: what a mapped schedule begins
 * and ends with.  The mail form on one node begins with it too: there all
 * ranks learn whether every buffer can be reached, and go on with the one
 * form or the other.  Nothing for one rank.
 */
void tutti_emit_meet(struct tutti_emit *e);
/* True if this query's mail form begins with that. */
static inline bool tutti_emit_may_map(const struct tutti_query *q)
{
	return q->shape->nodes <= 1 && q->shape->ranks > 1;
}

/*
 * A schedule of one lane that has both forms: `mapped` with a meeting before
 * and after, or `mail`, after one if the query may be mapped.  One rank alone
 * takes the mapped form.  Both get the number of ranks and this one.
 */
tuttiResult_t tutti_emit_either(struct tutti_sink *k,
				const struct tutti_query *q, uint32_t pieces,
				void (*mapped)(struct tutti_emit *e, int n,
					       int me),
				void (*mail)(struct tutti_emit *e, int n,
					     int me));
/* Its cost: steps of the mail form itself, chunks moved by either. */
struct tutti_cost tutti_either_cost(const struct tutti_query *q,
				    uint32_t steps, uint64_t mail,
				    uint64_t mapped);

/* A schedule on a binomial tree, where all blocks below a number pass through
 * it: `root`, or `node` for number v with `size` blocks, in SCRATCH if more
 * than one. */
tuttiResult_t tutti_emit_binomial(struct tutti_sink *k,
				  const struct tutti_query *q,
				  void (*root)(struct tutti_emit *e, int n,
					       int me),
				  void (*node)(struct tutti_emit *e, int v,
					       int size));

/* For a descriptor's `serves`: any number of ranks, mapped on one node, not
 * strict; the same with strict; and the first, but not as a part. */
bool tutti_emit_serves(const struct tutti_query *q);
bool tutti_emit_serves_strict(const struct tutti_query *q);
bool tutti_emit_serves_whole(const struct tutti_query *q);
/* The flag of a combine of neighbours, in rank order: a tree if strict. */
static inline unsigned int tutti_emit_tree(const struct tutti_query *q)
{
	return q->strict ? TUTTI_TREE : 0;
}

/*
 * Sums by the circulant scheme of allreduce_circulant.c: chunk r of IN of all
 * ranks comes to rank r.  The sources of the last addition are left in the pen,
 * for targets to be added.  Uses so many chunks of SCRATCH.
 */
void tutti_emit_circulate_sums(struct tutti_emit *e);
static inline uint32_t tutti_circulate_scratch(const struct tutti_query *q)
{
	int n = q->shape->ranks;

	return n > 2 ? (uint32_t)((n + 1) / 2) : 0;
}

/*
 * The second half of many: number i of `n` ranks, which are rank `first` and
 * those after it, has chunk i of OUT, and in the end all have all, by the
 * circulant scheme of allgather_circulant.c.  What stores one's own chunk has
 * been added as places, and becomes the first operation, with these flags.
 */
void tutti_emit_circulate(struct tutti_emit *e, int first, int n,
			  unsigned int flags);

/* The first error, or success. */
tuttiResult_t tutti_emit_end(struct tutti_emit *e);

/* ---- Arithmetic of ranks ------------------------------------------------ */

/* The largest e with 2^e <= n; n over 0. */
static inline int tutti_log2_floor(uint32_t n)
{
	return 31 - __builtin_clz(n);
}

/* The smallest e with 2^e >= n; n over 0. */
static inline int tutti_log2_ceil(uint32_t n)
{
	return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

/* The rank's distance from the root, going up. */
static inline int tutti_from_root(const struct tutti_query *q)
{
	int n = q->shape->ranks;

	return (q->rank - q->root + n) % n;
}

/* A range of `count` of n chunks that goes on with chunk 0 after the last:
 * how many of it lie in one stretch.  The rest begins at chunk 0. */
static inline int tutti_stretch(int first, int count, int n)
{
	int room = n - first % n;

	return count < room ? count : room;
}

/* n halved k times, rounded up: the distances of a circulant scheme. */
static inline int tutti_halved(int n, int k)
{
	return (int)(((int64_t)n + (1LL << k) - 1) >> k);
}

/* The subtree of number v in a binomial tree of n: numbers v and up. */
static inline int tutti_binomial_size(int v, int n)
{
	int low = v & -v;

	return v && low < n - v ? low : n - v;
}

/* The largest of these but for that of number 0; n over 1. */
static inline int tutti_binomial_largest(int n)
{
	int top = 1 << tutti_log2_floor((uint32_t)n - 1);

	return n - top > top / 2 ? n - top : top / 2;
}

#endif
