/* SPDX-License-Identifier: BSD-3-Clause */
/* Once round a ring, with n - 1 messages of one chunk from every rank. */
#ifndef TUTTI_ALGO_ROUND_H
#define TUTTI_ALGO_ROUND_H

#include "sched/emit.h"

/* Partial sums go round: chunk r of IN of all ranks comes to rank r.  The
 * sources of the last addition are left in the pen, for targets to be added. */
void tutti_round_sums(struct tutti_emit *e);

/* Rank r has chunk r of OUT, and in the end all have all.  What stores one's
 * own chunk has been added as places, and becomes the first operation, with
 * these flags. */
void tutti_round(struct tutti_emit *e, unsigned int flags);

#endif
