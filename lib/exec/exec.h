/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs schedules over channels.  A *program* is a schedule with its
 * repetitions unrolled, made once and kept; a *job* is one operation on it.
 * Nothing here blocks: progress fires what can fire and returns, so the caller
 * decides how to wait.  The firing rule is the one in sched/sched.h.
 */
#ifndef TUTTI_EXEC_EXEC_H
#define TUTTI_EXEC_EXEC_H

#include "net/chan.h"
#include "reduce/reduce.h"
#include "sched/sched.h"

/* Where the executor finds the communicator's means. */
struct tutti_exec {
	int rank, ranks;
	struct tutti_chan *chans;	/* [peer * TUTTI_NET_LANES + lane] */
	const struct tutti_kernels *kernels;
	size_t slot_bytes;		/* the same on all ranks */
	uint32_t credits;		/* likewise: slots of a channel */
	size_t slice_bytes;		/* 0: what fits a slot */
	/* The transport that maps peers' buffers; NULL: none does. */
	const struct tutti_xport_ops *map_ops;
	struct tutti_xport *map_xport;
};

static inline struct tutti_chan *tutti_exec_chan(const struct tutti_exec *e,
						 int peer, int lane)
{
	return &e->chans[(size_t)peer * TUTTI_NET_LANES + (size_t)lane];
}

struct tutti_program;

/* Unroll a schedule.  `lane` is the channels' lane of the schedule's lane 0.
 * The first `skip` operations of lane 0 are not repeated with the others: 2
 * for an algorithm that has a mapped form, whose both forms begin with a
 * notification of and from every rank; else 0.  Errors: tuttiSystemError. */
tuttiResult_t tutti_program_make(struct tutti_program **out,
				 const struct tutti_sched *s, int lane,
				 uint32_t skip);
void tutti_program_free(struct tutti_program *p);

/* What one rank tells about its buffers at the start of an operation. */
struct tutti_arrival {
	struct tutti_region in, out;
};

/* A block of a buffer, in elements. */
struct tutti_block {
	size_t at, len;
};

/* How a count of elements is cut for a program. */
struct tutti_cut {
	const struct tutti_program *p;
	size_t elem;		/* bytes */
	size_t wire;		/* the same in messages and scratch */
	size_t piece_elems, slice_elems;
	uint32_t slices, segment_slices, segments;
};

/* An operator that a program made, of one communicator. */
struct tutti_redop {
	int kind;		/* TUTTI_REDOP_PREMUL and on; 0: none */
	/* A factor for this rank's contribution; read at each call from
	 * factor_at, unless that is NULL. */
	tuttiDataType_t type;
	unsigned char factor[8];
	const void *factor_at;
	/* Or a function. */
	tuttiReduceFn fn;	/* NULL: none */
	void *context;
};

/* All about an operation that does not depend on its buffers, so that it is
 * worked out once for many calls. */
struct tutti_recipe {
	struct tutti_cut mail;
	/* The same algorithm reaching peers' memory, p NULL if there is none.
	 * If there is one, the operation begins by telling where buffers
	 * are. */
	struct tutti_cut mapped;
	size_t count;			/* elements of a block; of the longest */
	/* If blocks have lengths of their own: those of both buffers.  The
	 * program has one piece a block and no mapped form then. */
	bool uneven;
	const struct tutti_block *in_blocks, *out_blocks;
	tuttiDataType_t type;
	tuttiRedOp_t redop;		/* of the kernels; of `fn`: any */
	struct tutti_redop made;
	/* Partial results must not be rounded. */
	bool strict;
	/* Bytes of the whole buffers, which regions must cover. */
	size_t in_bytes, out_bytes;
	/* Which ranks' buffers a mapped form reaches: all, or the root's;
	 * others' regions do not matter. */
	bool uses_in, uses_out, in_of_root_only, out_of_root_only;
	int root;
	tutti_reduce_fn reduce;
	bool stream;			/* results pass the caches */
	bool wide;			/* short type, float32 on the wire */
	bool rounds;			/* the order of additions matters */
};

/* Fill the cuts, reduce and what follows it of a recipe whose other fields and
 * programs are set. */
void tutti_recipe_cut(struct tutti_recipe *r, const struct tutti_exec *e,
		      const struct tutti_program *mail,
		      const struct tutti_program *mapped);

struct tutti_lane_state {
	uint32_t step;			/* oldest unfinished; segments unrolled */
	uint32_t done[TUTTI_WINDOW];	/* slices done of step + i */
};

struct tutti_job {
	const struct tutti_exec *exec;
	const struct tutti_recipe *r;
	const void *in;
	void *out;
	/* Of every message of the operation; if blocks are uneven, of the
	 * message at hand, made from the operation's and its blocks'
	 * lengths. */
	uint32_t tag, op_tag;
	const struct tutti_cut *c;	/* in use now */
	bool arriving;			/* still exchanging arrivals */
	bool mapped;			/* went on in place */
	struct tutti_lane_state lane[TUTTI_LANES_MAX];
	/* Why the last progress came to a stop. */
	struct tutti_chan *waits_for;	/* whose message or credit */
	size_t waits_bytes;
	bool waits_for_credit;
	int mismatch_peer;		/* -1: none */
	/* Kept from job to job. */
	char *scratch;
	size_t scratch_bytes;
	const void **src;
	void **dst;
	const void **mail;		/* arrived, of the sources */
	void **plain;			/* of the targets: see combine.c */
	uint32_t refs_max;
	char *temps;			/* blocks of TUTTI_TEMP_BYTES */
	uint32_t levels;		/* of them */
	/* Of this operation: not for plain kernels; its factor, in the type
	 * that it is computed in. */
	bool special, scaled;
	unsigned char factor[8];
	char **in_of, **out_of;		/* peers' buffers, mapped here */
	struct tutti_region *in_region, *out_region;
};

/* Zero, then init once per communicator; fini frees what grew. */
tuttiResult_t tutti_job_init(struct tutti_job *j, const struct tutti_exec *e);
void tutti_job_fini(struct tutti_job *j);
/* Init of a job for algorithms without a mapped form; allocates nothing. */
void tutti_job_init_mail(struct tutti_job *j, const struct tutti_exec *e);

/* Begin an operation.  The recipe and the buffers stay the caller's.  Errors:
 * tuttiSystemError (no memory for scratch). */
tuttiResult_t tutti_job_start(struct tutti_job *j,
			      const struct tutti_recipe *r, const void *in,
			      void *out, uint32_t tag);

/* Fire what can fire.  *done when everything has; *moved if anything did.
 * tuttiInvalidUsage: a message of another operation came, see mismatch_peer
 * (nothing of it was used). */
tuttiResult_t tutti_job_progress(struct tutti_job *j, bool *done, bool *moved);

/* Look for the awaited message only, up to `looks` times; true if it came. */
bool tutti_job_spin(const struct tutti_job *j, int looks);

#endif
