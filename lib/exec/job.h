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

/* Exchange arrivals: the leading pair of operations. */
enum tutti_fired tutti_job_arrive(struct tutti_job *j, bool *moved);
/* All arrivals are known: go on in place if all buffers can be reached, by
 * copies if one cannot.  Every rank sees the same words, so all decide
 * alike. */
tuttiResult_t tutti_job_decide(struct tutti_job *j);

#endif
