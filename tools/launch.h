/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `tutti run`.
 *
 * Two processes watch over a job.  The front is the one that the user started
 * and sees: it takes signals and keeps the meeting point.  The keeper is its
 * child and the parent of the ranks: it starts them, waits for them and ends
 * them.  Each outlives the other's SIGKILL by long enough to end everything:
 * the keeper sees the front's socket close, the front inherits the keeper's
 * children.  Should both be killed at once, the kernel kills the ranks.
 */
#ifndef TUTTI_TOOLS_LAUNCH_H
#define TUTTI_TOOLS_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tutti.h"

#define LAUNCH_MAX_RANKS	4096

#define LAUNCH_EXIT_TIMEOUT	124	/* as timeout(1) */
#define LAUNCH_EXIT_TROUBLE	125	/* the launcher itself failed */
#define LAUNCH_EXIT_NO_EXEC	126	/* found, but cannot be executed */
#define LAUNCH_EXIT_NO_FILE	127	/* not found */

#define LAUNCH_STUCK_MS		10000	/* for a process that ignores SIGKILL */

struct launch {
	int nranks;
	int *node;		/* believed node of each rank; NULL: no --nodes */
	int64_t timeout_ms;	/* 0: none */
	char *path;		/* the program, with a slash in it */
	char **argv;		/* its name and arguments */
	/* Ranks are in the front's process group, so that the terminal's keys
	 * reach them and they may read it.  Otherwise each has its own. */
	bool share_group;	/* set by launch_run(), as the rest */
	pid_t group;		/* the front's */
	sigset_t mask;		/* signal mask to give to ranks */
};

/* What the front sends to the keeper: first the id, then orders. */
struct launch_order {
	int sig;		/* a signal that the front got */
	bool keys;		/* from the terminal's keys: shared groups have
				 * it already */
};

/* Run the job; returns its exit status, or does not return but dies of SIGINT
 * if the terminal's key ended the job, so that a shell's loop ends too. */
int launch_run(struct launch *job);

/* The keeper, from start to end; returns the job's exit status.  Called in
 * a fresh child with all signals blocked; `front` is its end of the socket. */
int launch_keep(const struct launch *job, int front);

/* The environment of ranks.  launch_env_create() copies this process's own
 * without what other launchers left; launch_env_rank() fills in one rank.
 * NULL if there is no memory. */
struct launch_env;
struct launch_env *launch_env_create(const struct launch *job,
				     const tuttiUniqueId *id);
char **launch_env_rank(struct launch_env *env, int rank);
void launch_env_destroy(struct launch_env *env);

/* Let go of standard input, so that its writer sees when rank 0 is done with
 * it and not only when the job ends. */
void launch_drop_input(void);

/* One line on stderr after "tutti run: ", in one write; dropped if the reader
 * does not read, so that a full pipe cannot keep the keeper from its work. */
void launch_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "SIGKILL"; a number for signals without a name. */
const char *launch_signal_name(int sig);

#endif
