/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation from start to end: plan, job, progress, waiting, and what is
 * said when it cannot end.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/comm.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A sleep is never longer than this, so that a lost wake-up, should there ever
 * be one, costs little. */
#define SLEEP_NS 50000000
/* After that long, ask whether the awaited rank calls something else, and then
 * again after twice as long. */
#define SUSPECT_NS 1000000000
/* A rank that fails tells the others and goes; its connection may be seen to
 * end before its news has come. */
#define FAULT_GRACE_NS 500000000
/* Sending the last bytes: yield for so long, then sleep between looks; and how
 * long the end of a communicator waits for it. */
#define FLUSH_SPIN_NS 1000000
#define FINAL_FLUSH_NS 1000000000
/* Looks at the awaited line between two rounds of looking at everything. */
#define LOOKS 16

/* One operation in progress. */
struct run {
	struct tuttiComm *comm;
	const struct tutti_call *call;
	uint64_t seq;
	bool p2p;
	bool warned;
	int64_t suspect_ns;	/* of waiting, before the peer is suspected */
	int64_t fault_ns;	/* when its connection was seen to be gone */
	bool alarmed;		/* before the last look for messages */
};

/* Whom the job waits for, or -1. */
static int waits_for(const struct tuttiComm *comm)
{
	return comm->job.waits_for ? comm->job.waits_for->peer : -1;
}

/* "is waiting for rank 2's data; not begun by ranks 2, 5" */
static void describe_wait(const struct run *r, char *out, size_t cap)
{
	struct tuttiComm *comm = r->comm;
	char missing[128];
	int n = snprintf(out, cap, "waits for %s rank %d",
			 comm->job.waits_for_credit ?
				 "buffer space at" : "data from",
			 waits_for(comm));

	if (n > 0 && (size_t)n < cap && !r->p2p &&
	    tutti_board_missing(comm, r->seq, missing, sizeof(missing)))
		snprintf(out + n, cap - (size_t)n,
			 "; of this node, not yet called by: rank %s", missing);
}

static tuttiResult_t fail_timeout(struct run *r, int64_t waited_ns)
{
	struct tuttiComm *comm = r->comm;
	char call[128], wait[256];

	tutti_call_describe(r->call, call, sizeof(call));
	describe_wait(r, wait, sizeof(wait));
	return tutti_comm_fail(comm, tuttiTimeout, true,
			       "%s, operation %llu on rank %d of %s, did not "
			       "end within %g s (TUTTI_TIMEOUT): it %s", call,
			       (unsigned long long)r->seq, comm->rank,
			       tutti_host_name(),
			       (double)(waited_ns / 100000000) / 10, wait);
}

static void warn_slow(struct run *r, int64_t waited_ns)
{
	char call[128], wait[256];

	r->warned = true;
	tutti_call_describe(r->call, call, sizeof(call));
	describe_wait(r, wait, sizeof(wait));
	tutti_warn("%s, operation %llu, has taken %lld s so far: it %s", call,
		   (unsigned long long)r->seq,
		   (long long)(waited_ns / 1000000000), wait);
}

/* A peer's connection is gone and what we wait for cannot come. */
static tuttiResult_t check_fault(struct run *r, int64_t now)
{
	struct tutti_chan *c = r->comm->job.waits_for;
	const char *why = c ? c->ops->fault(c) : NULL;
	char call[128];

	if (c && !why && tutti_board_left(r->comm, c->peer))
		why = "it left the communicator";
	if (!why) {
		r->fault_ns = 0;
		return tuttiSuccess;
	}
	if (!r->fault_ns)
		r->fault_ns = now;
	if (now - r->fault_ns < FAULT_GRACE_NS)
		return tuttiSuccess;
	tutti_call_describe(r->call, call, sizeof(call));
	return tutti_comm_fail(r->comm, tuttiRemoteError, true,
			       "%s, operation %llu: rank %d on %s lost rank "
			       "%d: %s", call, (unsigned long long)r->seq,
			       r->comm->rank, tutti_host_name(), c->peer, why);
}

/* No wrong message came, but perhaps the awaited rank sends none at all. */
static tuttiResult_t check_calls(struct run *r, int64_t waited_ns)
{
	int peer = waits_for(r->comm);
	bool ask = waited_ns >= r->suspect_ns;

	if (peer < 0 || waited_ns < SUSPECT_NS)
		return tuttiSuccess;
	if (ask)
		r->suspect_ns = 2 * waited_ns;
	if (!tutti_comm_suspect(r->comm, r->call, r->seq, peer, ask))
		return tuttiSuccess;
	return tutti_comm_mismatch(r->comm, r->call, r->seq, peer);
}

/* Whom news of a death would concern at once: the awaited rank, if all that it
 * ever sent was looked for after the news had come.  Otherwise this rank
 * itself, which is to say nobody. */
static int doomed(const struct run *r)
{
	const struct tuttiComm *comm = r->comm;
	struct tutti_chan *c = comm->job.waits_for;

	if (c && r->alarmed && (c->x == comm->shm || r->fault_ns))
		return c->peer;
	return comm->rank;
}

/* Clock, news and faults: looked at when the wait has become long. */
static tuttiResult_t look_around(struct run *r)
{
	struct tuttiComm *comm = r->comm;
	int64_t now = tutti_now_ns(), waited;
	tuttiResult_t rc;

	if (!comm->waiter.began_ns)
		comm->waiter.began_ns = now;
	waited = now - comm->waiter.began_ns;
	rc = tutti_comm_heed(comm, doomed(r));
	if (!rc)
		rc = check_fault(r, now);
	if (!rc)
		rc = check_calls(r, waited);
	if (!rc && waited >= comm->timeout_ns)
		rc = fail_timeout(r, waited);
	if (!rc && !r->warned && comm->warn_ns && waited >= comm->warn_ns)
		warn_slow(r, waited);
	return rc;
}

static bool progress_transports(struct tuttiComm *comm)
{
	bool moved = false;

	for (int i = 0; i < comm->nxports; i++)
		moved |= comm->ops[i]->progress(comm->xport[i]);
	return moved;
}

/* Fire what can fire.  Moving bytes counts as moving too. */
static tuttiResult_t step(struct run *r, bool *done, bool *moved)
{
	tuttiResult_t rc;

	/* Partner: on_death, which is told after the last store of a peer. */
	r->alarmed = atomic_load_explicit(&r->comm->alarmed,
					  memory_order_acquire);
	rc = tutti_job_progress(&r->comm->job, done, moved);
	if (rc == tuttiInvalidUsage)
		return tutti_comm_mismatch(r->comm, r->call, r->seq,
					   r->comm->job.mismatch_peer);
	if (rc)
		return tutti_comm_fail(r->comm, rc, true, "%s",
				       tutti_fail_text());
	if (!*done && progress_transports(r->comm))
		*moved = true;
	return tuttiSuccess;
}

/* Sleep until something arrives, unless it did meanwhile. */
static tuttiResult_t doze(struct run *r, bool *done, bool *moved)
{
	struct tuttiComm *comm = r->comm;
	uint32_t rung = tutti_waiter_announce(&comm->waiter);
	bool ready = atomic_load(&comm->error) != tuttiSuccess ||
		     atomic_load(&comm->alarmed);
	tuttiResult_t rc;

	for (int i = 0; i < comm->nxports; i++)
		ready |= comm->ops[i]->arm(comm->xport[i]);
	rc = step(r, done, moved);
	if (!rc && !*done && !*moved && !ready)
		tutti_waiter_sleep(&comm->waiter, rung, SLEEP_NS);
	tutti_waiter_awake(&comm->waiter);
	return rc;
}

static tuttiResult_t wait_job(struct run *r)
{
	struct tuttiComm *comm = r->comm;
	struct tutti_waiter *w = &comm->waiter;
	bool done, moved;
	tuttiResult_t rc;

	tutti_waiter_reset(w);
	for (;;) {
		rc = step(r, &done, &moved);
		if (rc || done)
			return rc;
		if (moved)
			tutti_waiter_reset(w);
		if (w->round < w->spins && tutti_job_spin(&comm->job, LOOKS))
			continue;
		if (moved)
			continue;
		if (!tutti_waiter_pause(w) && !atomic_load_explicit(
				&comm->alarmed, memory_order_relaxed))
			continue;
		rc = look_around(r);
		if (rc)
			return rc;
		if (w->round < w->spins ||
		    w->round - w->spins < w->yields)
			continue;
		rc = doze(r, &done, &moved);
		if (rc || done)
			return rc;
	}
}

/* The number of this call among those that it must match: collectives of the
 * communicator, or messages of the pair. */
static uint64_t next_number(struct tuttiComm *comm,
			    const struct tutti_call *call)
{
	if (call->coll != TUTTI_SENDRECV)
		return ++comm->seq;
	return call->sending ? ++comm->p2p_sent[call->root] :
			       ++comm->p2p_received[call->root];
}

static tuttiResult_t fail_start(struct run *r, tuttiResult_t rc)
{
	char call[128];

	tutti_call_describe(r->call, call, sizeof(call));
	return tutti_comm_fail(r->comm, rc, true,
			       "rank %d on %s could not begin %s: %s",
			       r->comm->rank, tutti_host_name(), call,
			       tutti_fail_text());
}

static tuttiResult_t run_inside(struct tuttiComm *comm,
				const struct tutti_call *call)
{
	struct run r = { .comm = comm, .call = call,
			 .p2p = call->coll == TUTTI_SENDRECV,
			 .suspect_ns = SUSPECT_NS };
	const struct tutti_recipe *recipe;
	const struct tutti_plan *plan;
	const void *in = call->in;
	tuttiResult_t rc;

	if (atomic_load_explicit(&comm->error, memory_order_acquire) ||
	    atomic_load_explicit(&comm->alarmed, memory_order_relaxed)) {
		rc = tutti_comm_heed(comm, -1);
		if (rc)
			return rc;
	}
	rc = tutti_plan_get(comm, call, &plan);
	/* What is wrong with the call is so on all ranks; what is wrong with
	 * this rank must be told. */
	if (rc == tuttiInvalidUsage || rc == tuttiInvalidArgument)
		return rc;
	r.seq = next_number(comm, call);
	if (rc)
		return fail_start(&r, rc);
	comm->algo_name = plan->algo;
	if (call->uneven)
		rc = tutti_counts_begin(comm, call, r.seq);
	tutti_board_begin(comm, call, r.seq);
	if (!call->count && call->coll != TUTTI_BARRIER && !call->uneven)
		return tuttiSuccess;
	recipe = &plan->recipe;
	if (!rc && tutti_blocks_wanted(call))
		rc = tutti_blocks_prepare(comm, call, plan, &recipe, &in);
	if (!rc)
		rc = tutti_job_start(&comm->job, recipe, in, call->out,
				     (uint32_t)(tutti_mix(plan->hash,
							  r.seq) >> 32));
	return rc ? fail_start(&r, rc) : wait_job(&r);
}

/* Before the process may exit, what was posted has to be on its way. */
static tuttiResult_t flush(struct tuttiComm *comm, int64_t limit_ns)
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

tuttiResult_t tutti_comm_run(struct tuttiComm *comm,
			     const struct tutti_call *call)
{
	tuttiResult_t rc;

	if (atomic_exchange_explicit(&comm->inside, 1, memory_order_seq_cst))
		return tutti_fail(tuttiInvalidUsage,
				  "two threads are inside communicator calls "
				  "of rank %d at once", comm->rank);
	rc = run_inside(comm, call);
	if (!rc)
		rc = flush(comm, comm->timeout_ns);
	atomic_store_explicit(&comm->inside, 0, memory_order_release);
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
	return flush(comm, tutti_min(comm->timeout_ns, FINAL_FLUSH_NS));
}
