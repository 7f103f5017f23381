/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of collective calls share: the checks of every call. */
#ifndef TUTTI_API_COLL_H
#define TUTTI_API_COLL_H

#include <stdbool.h>

#include "comm/comm.h"

/* What is to be checked of one call. */
struct check {
	const char *name;
	struct tuttiComm *comm;
	tuttiStream_t stream;
	struct tutti_call call;
	bool reduces, rooted;
	size_t size;		/* of an element, once the type is checked */
	size_t in_blocks, out_blocks;
	bool needs_in, needs_out;
	/* In place, the smaller buffer is this rank's block of the larger. */
	size_t in_offset, out_offset;	/* blocks */
};

/* Communicator and stream; type, whose size is kept, and root; the operator,
 * whose details are kept in the call if a program made it. */
tuttiResult_t tutti_check_call(struct check *k);
/* What follows the checks, whose result is `rc`: run the call, or keep it for
 * the end of the group. */
tuttiResult_t tutti_checked_run(struct check *k, tuttiResult_t rc);

#endif
