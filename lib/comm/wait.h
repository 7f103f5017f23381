/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a rank waits: spin for a bounded time, then yield, then sleep on its
 * bell.  The budgets come from how many ranks share the CPUs they may use.
 */
#ifndef TUTTI_COMM_WAIT_H
#define TUTTI_COMM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "net/xport.h"

/* What a rank may use of its machine, to be exchanged. */
struct tutti_cpus {
	uint64_t mask[16];	/* affinity, by OS number */
	int32_t quota;		/* whole CPUs of the cgroup's quota; 0: none */
	int32_t pad;
};

void tutti_cpus_read(struct tutti_cpus *c);

struct tutti_waiter {
	struct tutti_bell *bell;
	int spins;		/* looks before the first yield, as learnt */
	int spins_max;		/* as allowed */
	int yields;		/* yields before the first sleep */
	int waits;		/* since the last trial of spinning */
	/* Of the wait in progress. */
	int round;
	int64_t began_ns;	/* 0: the clock was not needed yet */
};

/* Choose budgets for a rank among `n` ranks of its node. */
void tutti_waiter_init(struct tutti_waiter *w, struct tutti_bell *bell,
		       const struct tutti_cpus *cpus, int n, int self);

/* What ended the wait, spinning or yielding, decides how long the next one
 * spins. */
void tutti_waiter_learn(struct tutti_waiter *w);

/* Something moved: begin anew. */
static inline void tutti_waiter_reset(struct tutti_waiter *w)
{
	if (w->round)
		tutti_waiter_learn(w);
	w->round = 0;
	w->began_ns = 0;
}

/* Nothing moved: spin or yield once; true when it is time to sleep instead,
 * or to look at the clock. */
bool tutti_waiter_pause(struct tutti_waiter *w);

/* Sleep until the bell rings or `ns` pass, unless it rang since `rung` was
 * read.  The caller announced itself with tutti_waiter_announce and looked
 * again in between. */
uint32_t tutti_waiter_announce(struct tutti_waiter *w);
void tutti_waiter_sleep(struct tutti_waiter *w, uint32_t rung, int64_t ns);
void tutti_waiter_awake(struct tutti_waiter *w);

#endif
