/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations from start to end: plan, job, progress, waiting, and what is said
 * when one cannot end.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/run.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* After that long, look whether another rank calls something else, and again
 * and again; what has to be sent for it is sent once. */
#define SUSPECT_NS 100000000
#define LOOK_AGAIN_NS 20000000
/* A rank that fails tells the others and goes; its connection may be seen to
 * end before its news has come. */
#define FAULT_GRACE_NS 500000000
/* Sending the last bytes: yield for so long, then sleep between looks; and how
 * long the end of a communicator waits for it. */
#define FLUSH_SPIN_NS 1000000
#define FINAL_FLUSH_NS 1000000000
/* Looks at the awaited line between two rounds of looking at everything. */
#define LOOKS 16

/* ---- What is said -------------------------------------------------------- */

/* Whom the task waits for, or -1. */
static int waits_for(const struct tutti_task *t)
{
	return t->job->waits_for ? t->job->waits_for->peer : -1;
}

static bool is_message(const struct tutti_task *t)
{
	return t->call->coll == TUTTI_SENDRECV;
}

/* "send of 5 float to rank 2, message 7 of this pair" or "all_reduce of 100
 * float, sum, operation 3". */
static void describe_task(const struct tutti_task *t, char *out, size_t cap)
{
	char call[128];

	tutti_call_describe(t->call, call, sizeof(call));
	if (is_message(t))
		snprintf(out, cap, "%s %s rank %d, message %llu of this pair",
			 call, t->call->sending ? "to" : "from",
			 t->call->root, (unsigned long long)t->seq);
	else
		snprintf(out, cap, "%s, operation %llu", call,
			 (unsigned long long)t->seq);
}

/* "waits for data from rank 2; of this node, not yet called by: rank 2, 5" */
static void describe_wait(const struct tutti_flight *f,
			  const struct tutti_task *t, char *out, size_t cap)
{
	char missing[128], task[192];
	int n = snprintf(out, cap, "waits for %s rank %d",
			 t->job->waits_for_credit ?
				 "buffer space at" : "data from",
			 waits_for(t));

	if (n > 0 && (size_t)n < cap && !is_message(t) &&
	    tutti_board_missing(f->comm, t->seq, missing, sizeof(missing)))
		n += snprintf(out + n, cap - (size_t)n,
			      "; of this node, not yet called by: rank %s",
			      missing);
	if (f->tasks < 2 || n < 0 || (size_t)n >= cap)
		return;
	describe_task(t == f->task ? t + 1 : f->task, task, sizeof(task));
	snprintf(out + n, cap - (size_t)n, "; %d more of its group %s: %s%s",
		 f->tasks - 1, f->tasks == 2 ? "waits" : "wait", task,
		 f->tasks == 2 ? "" : ", and others");
}

static tuttiResult_t fail_timeout(struct tutti_flight *f, int64_t waited_ns)
{
	struct tuttiComm *comm = f->comm;
	char task[192], wait[512];

	describe_task(f->task, task, sizeof(task));
	describe_wait(f, f->task, wait, sizeof(wait));
	return tutti_comm_fail(comm, tuttiTimeout, true,
			       "%s, on rank %d of %s, did not "
			       "end within %g s (TUTTI_TIMEOUT): it %s", task,
			       comm->rank, tutti_host_name(),
			       (double)(waited_ns / 100000000) / 10, wait);
}

static void warn_slow(struct tutti_flight *f, int64_t waited_ns)
{
	char task[192], wait[512];

	f->warned = true;
	describe_task(f->task, task, sizeof(task));
	describe_wait(f, f->task, wait, sizeof(wait));
	tutti_warn("%s, has taken %lld s so far: it %s", task,
		   (long long)(waited_ns / 1000000000), wait);
}

static tuttiResult_t fail_start(struct tutti_flight *f,
				const struct tutti_call *call,
				tuttiResult_t rc)
{
	char text[128];

	tutti_call_describe(call, text, sizeof(text));
	return tutti_comm_fail(f->comm, rc, true,
			       "rank %d on %s could not begin %s: %s",
			       f->comm->rank, tutti_host_name(), text,
			       tutti_fail_text());
}

/* ---- Looking around ------------------------------------------------------ */

/* A peer's connection is gone and what we wait for cannot come. */
static tuttiResult_t check_fault(struct tutti_flight *f, struct tutti_task *t,
				 int64_t now)
{
	struct tutti_chan *c = t->job->waits_for;
	const char *why = c ? c->ops->fault(c) : NULL;
	char task[192];

	if (c && !why && tutti_board_left(f->comm, c->peer))
		why = "it left the communicator";
	if (!why) {
		t->fault_ns = 0;
		return tuttiSuccess;
	}
	if (!t->fault_ns)
		t->fault_ns = now;
	if (now - t->fault_ns < FAULT_GRACE_NS)
		return tuttiSuccess;
	describe_task(t, task, sizeof(task));
	return tutti_comm_fail(f->comm, tuttiRemoteError, true,
			       "%s: rank %d on %s lost rank %d: %s", task,
			       f->comm->rank, tutti_host_name(), c->peer, why);
}

/* No wrong message came, but perhaps an awaited one never will. */
static tuttiResult_t check_calls(struct tutti_flight *f, int64_t waited_ns)
{
	tuttiResult_t rc = tuttiSuccess;

	/* A new wait began. */
	if (waited_ns < SUSPECT_NS)
		f->suspect_ns = SUSPECT_NS;
	if (waited_ns < f->suspect_ns)
		return tuttiSuccess;
	f->suspect_ns = waited_ns + LOOK_AGAIN_NS;
	for (int i = 0; !rc && i < f->tasks; i++) {
		struct tutti_task *t = &f->task[i];

		rc = tutti_comm_suspect(f->comm, t->call, t->seq, waits_for(t),
					&t->asked);
	}
	return rc;
}

/* Whom news of a death would concern at once: the awaited rank, if all that it
 * ever sent was looked for after the news had come.  Otherwise this rank
 * itself, which is to say nobody. */
static int doomed(const struct tutti_flight *f, const struct tutti_task *t)
{
	const struct tuttiComm *comm = f->comm;
	struct tutti_chan *c = t->job->waits_for;

	if (c && f->alarmed && (c->x == comm->shm || t->fault_ns))
		return c->peer;
	return comm->rank;
}

/* Clock, news and faults: looked at when the wait has become long. */
static tuttiResult_t look_around(struct tutti_flight *f)
{
	struct tuttiComm *comm = f->comm;
	int64_t now = tutti_now_ns(), waited;
	tuttiResult_t rc = tuttiSuccess;

	if (!comm->waiter.began_ns)
		comm->waiter.began_ns = now;
	waited = now - comm->waiter.began_ns;
	for (int i = 0; !rc && i < f->tasks; i++)
		rc = tutti_comm_heed(comm, doomed(f, &f->task[i]));
	for (int i = 0; !rc && i < f->tasks; i++)
		rc = check_fault(f, &f->task[i], now);
	if (!rc)
		rc = check_calls(f, waited);
	if (!rc && waited >= comm->timeout_ns)
		rc = fail_timeout(f, waited);
	if (!rc && !f->warned && comm->warn_ns && waited >= comm->warn_ns)
		warn_slow(f, waited);
	return rc;
}

/* ---- Moving -------------------------------------------------------------- */

bool tutti_flight_push(struct tuttiComm *comm)
{
	bool moved = false;

	for (int i = 0; i < comm->nxports; i++)
		moved |= comm->ops[i]->progress(comm->xport[i]);
	return moved;
}

static tuttiResult_t fail_step(struct tutti_flight *f,
			       const struct tutti_task *t, tuttiResult_t rc)
{
	if (rc == tuttiInvalidUsage)
		return tutti_comm_mismatch(f->comm, t->call, t->seq,
					   t->job->mismatch_peer);
	return tutti_comm_fail(f->comm, rc, true, "%s", tutti_fail_text());
}

/* Task i is done: what follows it takes its place. */
static tuttiResult_t end_task(struct tutti_flight *f, int i)
{
	bool more = false;
	tuttiResult_t rc = f->follow(f, &f->task[i], &more);

	if (!rc && !more)
		f->task[i] = f->task[--f->tasks];
	return rc;
}

static tuttiResult_t step_all(struct tutti_flight *f, bool *moved)
{
	bool done, fired;

	*moved = false;
	for (int i = 0; i < f->tasks; i += !done) {
		tuttiResult_t rc = tutti_job_progress(f->task[i].job, &done,
						      &fired);

		if (rc)
			return fail_step(f, &f->task[i], rc);
		*moved |= fired;
		if (done)
			rc = end_task(f, i);
		if (rc)
			return rc;
	}
	return tuttiSuccess;
}

/* Fire what can fire.  Moving bytes counts as moving too. */
static tuttiResult_t step(struct tutti_flight *f, bool *moved)
{
	bool done = false;
	tuttiResult_t rc;

	/* Partner: on_death, which is told after the last store of a peer. */
	f->alarmed = atomic_load_explicit(&f->comm->alarmed,
					  memory_order_acquire);
	if (f->follow) {
		rc = step_all(f, moved);
	} else {
		rc = tutti_job_progress(f->task->job, &done, moved);
		if (rc)
			rc = fail_step(f, f->task, rc);
		f->tasks = !done;
	}
	if (!rc && f->tasks && tutti_flight_push(f->comm))
		*moved = true;
	return rc;
}

/* Look for awaited messages only; true if one came. */
static bool spin(const struct tutti_flight *f)
{
	if (f->tasks == 1)
		return tutti_job_spin(f->task->job, LOOKS);
	for (int i = 0; i < f->tasks; i++)
		if (tutti_job_spin(f->task[i].job, 1))
			return true;
	return false;
}

/* Sleep until something arrives, unless it did meanwhile. */
static tuttiResult_t doze(struct tutti_flight *f, int64_t sleep_ns,
			  bool *moved)
{
	struct tuttiComm *comm = f->comm;
	uint32_t rung = tutti_waiter_announce(&comm->waiter);
	bool ready = atomic_load(&comm->error) != tuttiSuccess ||
		     atomic_load(&comm->alarmed);
	tuttiResult_t rc;

	for (int i = 0; i < comm->nxports; i++)
		ready |= comm->ops[i]->arm(comm->xport[i]);
	rc = step(f, moved);
	if (!rc && f->tasks && !*moved && !ready && sleep_ns)
		tutti_waiter_sleep(&comm->waiter, rung, sleep_ns);
	tutti_waiter_awake(&comm->waiter);
	return rc;
}

static inline tuttiResult_t turn(struct tutti_flight *f, int64_t sleep_ns,
				 bool *moved)
{
	struct tutti_waiter *w = &f->comm->waiter;
	tuttiResult_t rc = step(f, moved);

	if (rc || !f->tasks)
		return rc;
	if (*moved)
		tutti_waiter_reset(w);
	if ((w->round < w->spins && spin(f)) || *moved)
		return tuttiSuccess;
	if (!tutti_waiter_pause(w) &&
	    !atomic_load_explicit(&f->comm->alarmed, memory_order_relaxed))
		return tuttiSuccess;
	rc = look_around(f);
	if (rc || w->round < w->spins || w->round - w->spins < w->yields)
		return rc;
	return doze(f, sleep_ns, moved);
}

tuttiResult_t tutti_flight_turn(struct tutti_flight *f, int64_t sleep_ns,
				bool *moved)
{
	return turn(f, sleep_ns, moved);
}

/* ---- A single call ------------------------------------------------------- */

/* The number of this call among those that it must match: collectives of the
 * communicator, or messages of the pair. */
static inline uint64_t next_number(struct tuttiComm *comm,
				   const struct tutti_call *call)
{
	if (call->coll != TUTTI_SENDRECV)
		return ++comm->seq;
	return call->sending ? ++comm->p2p_sent[call->root] :
			       ++comm->p2p_received[call->root];
}

uint64_t tutti_flight_number(struct tuttiComm *comm,
			     const struct tutti_call *call)
{
	return next_number(comm, call);
}

void tutti_flight_init(struct tutti_flight *f, struct tuttiComm *comm,
		       struct tutti_task *tasks)
{
	*f = (struct tutti_flight){ .comm = comm, .task = tasks,
				    .suspect_ns = SUSPECT_NS };
	tutti_waiter_reset(&comm->waiter);
}

/* Nothing moves in such a call. */
static inline bool is_empty(const struct tutti_call *call)
{
	return !call->count && call->coll != TUTTI_BARRIER && !call->uneven;
}

tuttiResult_t tutti_flight_begin(struct tutti_flight *f, struct tutti_task *t,
				 const struct tutti_recipe *recipe,
				 uint64_t hash, bool *more)
{
	uint32_t tag = (uint32_t)(tutti_mix(hash, t->seq) >> 32);
	const struct tutti_call *call = t->call;
	const void *in = call->in;
	tuttiResult_t rc = tuttiSuccess;

	if (call->uneven)
		rc = tutti_counts_begin(f->comm, call, t->seq);
	tutti_board_begin(f->comm, call, t->seq);
	*more = !is_empty(call);
	if (!*more)
		return tuttiSuccess;
	if (!rc && tutti_blocks_wanted(call))
		rc = tutti_blocks_prepare(f->comm, call, &recipe, &in);
	if (!rc)
		rc = tutti_job_start(t->job, recipe, in, call->out, tag);
	t->fault_ns = 0;
	return rc ? fail_start(f, call, rc) : tuttiSuccess;
}

tuttiResult_t tutti_flight_sound(struct tuttiComm *comm)
{
	if (atomic_load_explicit(&comm->error, memory_order_acquire) ||
	    atomic_load_explicit(&comm->alarmed, memory_order_relaxed))
		return tutti_comm_heed(comm, -1);
	return tuttiSuccess;
}

static tuttiResult_t run_inside(struct tuttiComm *comm,
				const struct tutti_call *call)
{
	struct tutti_task task = { .call = call, .job = &comm->job };
	struct tutti_flight f;
	const struct tutti_plan *plan;
	tuttiResult_t rc = tutti_flight_sound(comm);
	bool moved;

	if (rc)
		return rc;
	rc = tutti_plan_get(comm, call, &plan);
	/* What is wrong with the call is so on all ranks; what is wrong with
	 * this rank must be told. */
	if (rc == tuttiInvalidUsage || rc == tuttiInvalidArgument)
		return rc;
	tutti_flight_init(&f, comm, &task);
	task.seq = next_number(comm, call);
	if (rc)
		return fail_start(&f, call, rc);
	comm->algo_name = plan->algo;
	rc = tutti_flight_begin(&f, &task, &plan->recipe, plan->hash, &moved);
	for (f.tasks = moved; !rc && f.tasks;)
		rc = turn(&f, TUTTI_SLEEP_NS, &moved);
	return rc;
}

/* ---- Flushing ------------------------------------------------------------ */

bool tutti_flight_flushed(struct tuttiComm *comm)
{
	for (int i = 0; i < comm->nxports; i++)
		if (!comm->ops[i]->flushed(comm->xport[i]))
			return false;
	return true;
}

/* Before the process may exit, what was posted has to be on its way. */
tuttiResult_t tutti_flight_flush(struct tuttiComm *comm, int64_t limit_ns)
{
	struct timespec pause = { .tv_nsec = 100000 };
	int64_t began = 0;

	for (int i = 0; i < comm->nxports; i++)
		while (!comm->ops[i]->flushed(comm->xport[i])) {
			int64_t now = tutti_now_ns();

			if (!began)
				began = now;
			if (atomic_load(&comm->error))
				return tutti_comm_error(comm);
			if (now - began > limit_ns)
				return tutti_comm_fail(
					comm, tuttiTimeout, true,
					"rank %d on %s could not send all its "
					"data within %g s: a connection is "
					"stuck", comm->rank, tutti_host_name(),
					(double)limit_ns / 1e9);
			if (comm->ops[i]->progress(comm->xport[i]))
				continue;
			if (now - began < FLUSH_SPIN_NS)
				sched_yield();
			else
				nanosleep(&pause, NULL);
		}
	return tuttiSuccess;
}

tuttiResult_t tutti_flight_run(struct tuttiComm *comm,
			       const struct tutti_call *call)
{
	tuttiResult_t rc = run_inside(comm, call);

	return rc ? rc : tutti_flight_flush(comm, comm->timeout_ns);
}

/* ---- The door ------------------------------------------------------------ */

tuttiResult_t tutti_comm_enter(struct tuttiComm *comm)
{
	if (atomic_exchange_explicit(&comm->inside, 1, memory_order_seq_cst))
		return tutti_fail(tuttiInvalidUsage,
				  "two threads are inside communicator calls "
				  "of rank %d at once", comm->rank);
	return tuttiSuccess;
}

void tutti_comm_leave(struct tuttiComm *comm)
{
	atomic_store_explicit(&comm->inside, 0, memory_order_release);
}

tuttiResult_t tutti_comm_run(struct tuttiComm *comm,
			     const struct tutti_call *call)
{
	tuttiResult_t rc = tutti_comm_enter(comm);

	if (rc)
		return rc;
	rc = tutti_flight_run(comm, call);
	tutti_comm_leave(comm);
	return rc;
}

tuttiResult_t tutti_comm_finalize(struct tuttiComm *comm)
{
	if (atomic_exchange(&comm->finalized, true))
		return tutti_fail(tuttiInvalidUsage,
				  "tuttiCommFinalize was called twice");
	if (atomic_load(&comm->error))
		return tutti_comm_error(comm);
	/* Waits for no rank for long: one may be stopped. */
	return tutti_flight_flush(comm, tutti_min(comm->timeout_ns,
						  FINAL_FLUSH_NS));
}
