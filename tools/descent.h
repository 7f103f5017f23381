/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All processes that descend from this one.  With PR_SET_CHILD_SUBREAPER set,
 * a process whose parent ended becomes a child of this one, so nothing that a
 * rank started escapes: neither daemons nor sessions of their own.
 */
#ifndef TUTTI_TOOLS_DESCENT_H
#define TUTTI_TOOLS_DESCENT_H

#include <sys/types.h>

/* Send `sig` to the living descendants (0: send nothing), only to those in
 * process group `group` if that is over 0.  Returns how many there are; 0 also
 * without /proc. */
int tool_descent_signal(int sig, pid_t group);

/* Kill all descendants and reap them; returns when none is left, or after
 * `limit_ms`.  Returns how many are left. */
int tool_descent_end(int limit_ms);

#endif
