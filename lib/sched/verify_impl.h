/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verifier's own parts: mail (verify_mail.c), memory and clocks
 * (verify_memory.c), and the machine that fires operations (verify.c).  All
 * work on one struct tutti_verifier, of one thread.
 */
#ifndef TUTTI_VERIFY_IMPL_H
#define TUTTI_VERIFY_IMPL_H

#include "sched/expr.h"
#include "sched/verify.h"

/* ---- Turns ------------------------------------------------------------- */

/* What takes rank r's schedule to rank r + 1's (verify_turn.c); if `on`, only
 * rank 0's is run. */
struct tutti_turn {
	bool on;
	uint32_t stride[TUTTI_PLACES];	/* chunks, from one rank to the next */
	uint32_t piece;			/* likewise of a piece's number */
	uint8_t any_flags;		/* that may differ */
};

/* False, and not on, if some schedule is no turn of the first. */
bool tutti_turn_find(struct tutti_sched *const *scheds, int ranks,
		     struct tutti_turn *t);
/* What a piece or a chunk of one rank is to the rank `by` further; -ranks <
 * by < ranks.  What does not exist stays as it is. */
uint32_t tutti_turn_piece(const struct tutti_turn *t,
			  const struct tutti_sched *s, uint32_t piece, int by);
uint32_t tutti_turn_chunk(const struct tutti_turn *t,
			  const struct tutti_sched *s, int place,
			  uint32_t chunk, int by);

/* ---- Mail -------------------------------------------------------------- */

/* What a rank knew when it sent: clocks of all slices. */
struct tutti_snap {
	uint32_t users;
	uint32_t clock[];
};

struct tutti_msg {
	struct tutti_msg *next;
	struct tutti_snap *snap;	/* NULL if clocks do not travel */
	uint32_t from_op, slice, nchunks, piece, depth;
	uint32_t one, *values;		/* values is &one for one chunk */
	uint32_t *many, many_max;	/* values of more, kept when it is free */
};

#define TUTTI_MSG_SLAB 256

/* Messages are never given back singly. */
struct tutti_slab {
	struct tutti_slab *next;
	struct tutti_msg msg[TUTTI_MSG_SLAB];
};

/* Messages under way from one rank to another in one lane. */
struct tutti_way {
	uint64_t key;
	struct tutti_msg *first, *last;	/* last: while there is a first */
	uint32_t count;
	uint32_t claimed, reserved;	/* by operations about to fire */
};

struct tutti_mail {
	struct tutti_way *ways;
	uint32_t nways, ways_max;
	uint32_t *table;		/* open hash of index + 1; NULL if there
					 * is a way for every key */
	uint32_t mask;
	uint64_t under_way;		/* messages */
	struct tutti_msg *spare;
	struct tutti_slab *slabs;
};

/* Keys are below `keys`. */
bool tutti_mail_init(struct tutti_mail *m, uint64_t keys);
void tutti_mail_fini(struct tutti_mail *m);
/* Index of a way, made if it is new; UINT32_MAX without memory. */
uint32_t tutti_mail_way(struct tutti_mail *m, uint64_t key);
/* An empty message for nchunks values; NULL without memory. */
struct tutti_msg *tutti_msg_new(struct tutti_mail *m, uint32_t nchunks);
void tutti_msg_free(struct tutti_mail *m, struct tutti_msg *msg);
void tutti_mail_push(struct tutti_mail *m, struct tutti_way *w,
		     struct tutti_msg *msg);
struct tutti_msg *tutti_mail_pop(struct tutti_mail *m, struct tutti_way *w);

/* ---- Memory and clocks ------------------------------------------------- */

/* One slice of a chunk of OUT or SCRATCH. */
struct tutti_cell {
	uint32_t value;			/* expression; 0: unwritten */
	uint32_t piece, part;		/* of SCRATCH */
	uint32_t read_by, read_at;	/* last firing, and its pair or chunk */
	uint32_t written_by;
	bool written;			/* by an operation, IN and OUT apart */
};

/* Who touched it last, in the sense of happened-before. */
struct tutti_access {
	uint32_t write_who, write_when;	/* when 0: nobody */
	uint32_t read_who, read_when;
	uint32_t *readers;		/* all, if they are not ordered */
};

struct tutti_memory {
	size_t *base;			/* of each rank in cells */
	size_t ncells;
	struct tutti_cell *cells;
	struct tutti_access *access;	/* NULL: one lane, own memory only */
	struct tutti_access *apart;	/* of OUT alone, for v->both */
	uint32_t *clocks;		/* [rank][lane][slice][width] */
	uint32_t width;			/* entries of one clock */
	bool global;			/* they have an entry for every rank */
	uint32_t *touched;		/* [owner][slice][who]: last access */
	uint32_t *seen;			/* clocks by lane, op, slice: waits */
	size_t *seen_base;		/* of each lane */
};

/* Subtrees that a tree of up to 2^31 sources keeps at once. */
#define TUTTI_TREE_DEPTH 32

struct tutti_verifier;

bool tutti_memory_init(struct tutti_verifier *v);
void tutti_memory_fini(struct tutti_verifier *v);

/* This lane's clock for a slice. */
uint32_t *tutti_clock(struct tutti_verifier *v, int rank, uint32_t lane,
		      uint32_t slice);
void tutti_clock_join(struct tutti_verifier *v, uint32_t *a,
		      const uint32_t *b);
/* The same for a clock that came from another rank. */
void tutti_clock_learn(struct tutti_verifier *v, uint32_t *a,
		       const uint32_t *b, int from);

/* The cells of a place, one for each slice of each part; NULL for IN that is
 * memory of its own. */
struct tutti_cell *tutti_cell(struct tutti_verifier *v, int rank, int place,
			      uint32_t chunk);
/* Read or write one slice of one chunk as pair or chunk `at` of the operation
 * that fires; read gives the expression.  0 or false after a breach. */
uint32_t tutti_memory_read(struct tutti_verifier *v, struct tutti_spot spot,
			   uint32_t piece, uint32_t at);
bool tutti_memory_write(struct tutti_verifier *v, struct tutti_spot spot,
			uint32_t piece, uint32_t at, uint32_t value);
/* A copy that stays where it is in place, and is a store to `spot` apart. */
bool tutti_memory_stay(struct tutti_verifier *v, struct tutti_spot from,
		       struct tutti_spot spot, uint32_t piece, uint32_t at);
/* No access to a rank's memory after its end; all began before any ended. */
bool tutti_memory_check_end(struct tutti_verifier *v);

/* ---- The machine ------------------------------------------------------- */

/* How far the places of an operation have been found ready. */
struct tutti_scan {
	uint32_t span, i;
};

/* The operations of a lane that are under way; slot is index % window. */
struct tutti_lane_state {
	uint32_t head, nops;		/* parts one after the other */
	uint32_t base, skip;		/* of the first part; not repeated */
	bool queued;
	uint32_t done[TUTTI_WINDOW];	/* slices fired */
	struct tutti_scan scan[TUTTI_WINDOW];
	bool compared[TUTTI_WINDOW];	/* clash is worked out */
	uint8_t clash[TUTTI_WINDOW];	/* slots of earlier ones, same peers */
};

struct tutti_verifier {
	struct tutti_sched *const *scheds;
	const struct tutti_sched *any;	/* the first that is there */
	const struct tutti_verify_args *args;
	struct tutti_verify_report *report;
	int ranks;
	int homes;			/* ranks that are run: all, or the first */
	struct tutti_turn turn;
	uint32_t lanes;			/* most of any rank */
	uint32_t slices, parts;		/* slices of a part of each chunk */
	uint32_t widest;
	bool reduces;
	bool in_place, both;		/* both: and with IN and OUT apart */
	bool failed, no_memory;

	struct tutti_exprs exprs;
	struct tutti_mail mail;
	struct tutti_memory mem;
	struct tutti_lane_state *state;	/* [rank][lane] */
	uint32_t *depth;		/* [rank][lane][slice]: messages */
	uint32_t *depth_seen;		/* as mem.seen */
	uint64_t *sent;			/* [rank]: chunks */
	uint32_t *queue, queue_head, queue_len;
	uint32_t *mark, marked;		/* by rank, to compare peers */
	uint32_t *acc;			/* rows of values that a combine adds */

	/* The operation that is being looked at or fires. */
	int rank;
	uint32_t lane, op, part, iter, slice, firing;
	const struct tutti_op *rec;
};

/* Note the first breach; false. */
bool tutti_breach(struct tutti_verifier *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same with rank, lane and operation in front. */
bool tutti_breach_op(struct tutti_verifier *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool tutti_verify_no_memory(struct tutti_verifier *v);

/* "OUT chunk 3 of rank 2" into buf. */
const char *tutti_spot_text(char *buf, size_t cap, struct tutti_spot spot);

/* The rank that is run in this one's place. */
static inline int tutti_home(const struct tutti_verifier *v, int rank)
{
	return v->turn.on ? 0 : rank;
}

struct tutti_lane_state *tutti_lane_state(struct tutti_verifier *v, int rank,
					  uint32_t lane);
/* Look at this lane again: something it may wait for has come. */
void tutti_lane_enqueue(struct tutti_verifier *v, int rank, uint32_t lane);

/* Slices that an operation has. */
uint32_t tutti_slices_of(const struct tutti_verifier *v,
			 const struct tutti_op *op);
/* Operation `index` of a lane of v->rank, all parts counted. */
const struct tutti_op *tutti_lane_op(const struct tutti_verifier *v,
				     uint32_t lane, uint32_t index,
				     uint32_t *part, uint32_t *iter);
/* The end of the part before this one in another lane, or UINT32_MAX if there
 * is nothing to wait for: parts do not overlap where there are more lanes. */
uint32_t tutti_part_before(const struct tutti_verifier *v, uint32_t lane);
/* Is operation `index` of a lane far enough for this slice of v->rec? */
bool tutti_passed(struct tutti_verifier *v, uint32_t lane, uint32_t index);
/* The operation of v->rec->wait_lane that v->rec waits for; UINT32_MAX if
 * there is none. */
uint32_t tutti_waited_op(const struct tutti_verifier *v);
/* Messages between two ranks in v->lane; NULL without memory. */
struct tutti_way *tutti_way(struct tutti_verifier *v, int from, int to);
/* May v->rec fire?  False also after a breach. */
bool tutti_op_ready(struct tutti_verifier *v, struct tutti_lane_state *ls);
/* Fire it; false after a breach. */
bool tutti_op_fire(struct tutti_verifier *v);

/* Results complete, the same everywhere; fills the report. */
bool tutti_verify_results(struct tutti_verifier *v);

#endif
