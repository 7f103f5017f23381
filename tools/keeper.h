/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two files of the keeper share: launch_start.c starts the ranks,
 * launch_keep.c does all that follows. */
#ifndef TUTTI_TOOLS_KEEPER_H
#define TUTTI_TOOLS_KEEPER_H

#include "launch.h"

/* What an event of epoll is about, besides numbers of ranks. */
#define KEY_FRONT	0xfffffff0u
#define KEY_CHILD	0xfffffff1u

enum phase {
	RUN,
	MOMENT,			/* a rank failed; others may notice */
	ASKED,			/* got the user's signal */
	TERM,			/* got SIGTERM */
	KILL
};

struct rank {
	pid_t pid;		/* 0: gone */
	int fd;			/* its process descriptor, or -1 */
};

struct failure {
	int rank;		/* -1: none so far */
	pid_t pid;
	int status;		/* of wait() */
	int64_t tell_ms;	/* when the cause is settled */
	bool told;
};

struct keeper {
	const struct launch *job;
	struct rank *rank;
	int running;
	int front;		/* -1: the front is gone */
	int epoll, child, errors[2];
	enum phase phase;
	int64_t phase_ms;	/* end of the phase */
	int64_t limit_ms;	/* of --timeout; 0: none */
	int64_t signal_ms;	/* first signal that ends the job; 0: none */
	int result;		/* -1: not settled */
	struct failure first;
};

/* What a child writes to `errors` if it could not become a rank. */
struct exec_error {
	int err;
};

/* Make descriptors and memory.  False with errno set. */
bool keeper_open(struct keeper *k);

/* Start all ranks.  False, told, if one could not be started. */
bool keeper_start(struct keeper *k, const tuttiUniqueId *id);

#endif
