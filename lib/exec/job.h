/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the executor share. */
#ifndef TUTTI_EXEC_JOB_H
#define TUTTI_EXEC_JOB_H

#include "exec/program.h"

enum tutti_fired {
	TUTTI_FIRED,
	TUTTI_WAITING,		/* j->waits_for says for whom */
	TUTTI_MISMATCH		/* j->mismatch_peer says with whom */
};

/* Go on with a cut, from its first repeated operation. */
tuttiResult_t tutti_job_follow(struct tutti_job *j, const struct tutti_cut *c);

struct tutti_chan *tutti_job_chan(const struct tutti_job *j, int lane,
				  const struct tutti_spot *s);

/* Are all messages of `bytes` that a combine takes here, into j->mail, and
 * may all go that it sends? */
enum tutti_fired tutti_fire_ready(struct tutti_job *j, int lane,
				  const struct tutti_xop *op, size_t bytes);
/* Post what a combine has written, release what it has read. */
void tutti_fire_finish(struct tutti_job *j, int lane,
		       const struct tutti_xop *op, size_t bytes);
/* Slice g of an operation. */
enum tutti_fired tutti_fire(struct tutti_job *j, int lane,
			    const struct tutti_xop *op, uint32_t g);

/* Blocks of intermediate results; all of a combine stay in L1. */
#define TUTTI_TEMP_BYTES 4096
#define TUTTI_OPERANDS_MAX 36

/* A float of less than 32 bits. */
bool tutti_type_is_short(tuttiDataType_t type);
/* Blocks that a combine of so many sources needs. */
uint32_t tutti_combine_levels(uint32_t sources);
/* Of a combine that one call of a kernel cannot do: j->src to j->dst. */
void tutti_combine(struct tutti_job *j, const struct tutti_xop *op,
		   size_t elems);
/* A copy that scales or converts; changes j->src[0] and j->dst[0]. */
void tutti_move(struct tutti_job *j, const struct tutti_spot *from,
		const struct tutti_spot *to, const void *src, void *dst,
		size_t elems);

/* Up to three sources, a tree is what adding from the left is. */
static inline bool tutti_is_tree(const struct tutti_job *j,
				 const struct tutti_xop *op)
{
	return op->flags & TUTTI_TREE && op->nsrc > 3 && j->r->rounds;
}

/* Exchange arrivals: the leading pair of operations. */
enum tutti_fired tutti_job_arrive(struct tutti_job *j, bool *moved);
/* All arrivals are known: go on in place if all buffers can be reached, by
 * copies if one cannot.  Every rank sees the same words, so all decide
 * alike. */
tuttiResult_t tutti_job_decide(struct tutti_job *j);

#endif
