/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations in progress, and the one loop that waits for them: for a single
 * call, and for the calls of a group.  Not for other rooms.
 */
#ifndef TUTTI_COMM_RUN_H
#define TUTTI_COMM_RUN_H

#include "comm/comm.h"

/* A sleep is never longer than this, so that a lost wake-up, should there ever
 * be one, costs little. */
#define TUTTI_SLEEP_NS 50000000

/* One operation in progress. */
struct tutti_task {
	const struct tutti_call *call;
	struct tutti_job *job;
	uint64_t seq;
	int64_t fault_ns;	/* when its peer's connection was seen gone */
	int next;		/* of a group: the call that follows it */
	int asked;		/* see tutti_comm_suspect */
};

/* Those of one communicator, side by side, and how their wait stands. */
struct tutti_flight {
	struct tuttiComm *comm;
	struct tutti_task *task;	/* in no order */
	int tasks;			/* 0: all is done */
	/* A task is done: begin the next one in its place; *more is false if
	 * there is none.  NULL: there is this one task only. */
	tuttiResult_t (*follow)(struct tutti_flight *f, struct tutti_task *t,
				bool *more);
	bool warned;
	bool alarmed;		/* before the last look for messages */
	int64_t suspect_ns;	/* of waiting, before the next suspicion */
};

/* A flight with no task yet. */
void tutti_flight_init(struct tutti_flight *f, struct tuttiComm *comm,
		       struct tutti_task *tasks);

/* Number a call among those that it must match, and write it down for other
 * ranks to ask for. */
uint64_t tutti_flight_number(struct tuttiComm *comm,
			     const struct tutti_call *call);

/* Begin a call whose plan is known; *more is false if nothing moves in it, so
 * that it has ended.  An error fails the communicator. */
tuttiResult_t tutti_flight_begin(struct tutti_flight *f, struct tutti_task *t,
				 const struct tutti_recipe *recipe,
				 uint64_t hash, bool *more);

/* Look once, fire what can fire, and if nothing moved wait a little: a look, a
 * yield, or a sleep of at most `sleep_ns` (0: none).  All is done when
 * f->tasks is 0.  An error fails the communicator. */
tuttiResult_t tutti_flight_turn(struct tutti_flight *f, int64_t sleep_ns,
				bool *moved);

/* One call from start to end, by the thread inside. */
tuttiResult_t tutti_flight_run(struct tuttiComm *comm,
			       const struct tutti_call *call);

/* Move bytes by hand; true if any moved. */
bool tutti_flight_push(struct tuttiComm *comm);

/* Is everything on its way that was posted? */
bool tutti_flight_flushed(struct tuttiComm *comm);
/* See to it, within so long. */
tuttiResult_t tutti_flight_flush(struct tuttiComm *comm, int64_t limit_ns);

/* The sticky error, or news that ends all: asked before a call begins. */
tuttiResult_t tutti_flight_sound(struct tuttiComm *comm);

#endif
