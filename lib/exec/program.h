/* SPDX-License-Identifier: BSD-3-Clause */
/* A schedule unrolled, for the executor only. */
#ifndef TUTTI_EXEC_PROGRAM_H
#define TUTTI_EXEC_PROGRAM_H

#include "exec/exec.h"

struct tutti_xop {
	uint8_t kind, flags;
	/* Bit d - 1: must wait until the operation d before is wholly done,
	 * since both have a message with the same rank in one direction. */
	uint8_t after;
	bool mail;		/* has a message at all */
	uint32_t nsrc, ndst, nchunks;
	uint32_t piece;		/* length of a combine */
	/* The chunk whose length that is; of an each, of a pair of which
	 * neither side is IN or OUT. */
	struct tutti_spot length;
	int32_t wait_lane;
	uint32_t wait_op;
	const struct tutti_spot *src, *dst;
};

struct tutti_program {
	enum tutti_coll coll;
	int ranks, rank;
	int lane;		/* of the channels */
	uint32_t skip;		/* first operations of lane 0, done apart */
	uint32_t pieces, blocks_in, blocks_out, scratch;
	uint32_t nlanes, refs_max, chunks_max;
	bool moves_mail;	/* some message carries chunks */
	bool trees;		/* some combine is one */
	uint32_t nops[TUTTI_LANES_MAX];
	struct tutti_xop *ops[TUTTI_LANES_MAX];
	struct tutti_spot *spots;
};

#endif
