/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups.  A call between start and end is kept in the queue of its
 * communicator, in its *line*: collectives form one, messages one for each
 * peer and direction.  The end of the outermost group runs the front of every
 * line of every queue side by side, so that only the order within a line
 * matters, and no order of communicators.
 *
 * A queue belongs to its communicator and is kept for the next group; it is
 * touched by whoever holds comm->inside.  Abort leaves one that holds calls to
 * the thread whose group it is in.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Several communicators share so long a sleep. */
#define SHARED_SLEEP_NS 1000000
#define FLUSH_PAUSE_NS 100000
#define COLLECTIVES 0		/* the line of */

/* A call as kept. */
struct item {
	struct tutti_call call;
	struct tutti_recipe recipe;
	uint64_t hash, seq;
	const char *algo;
	int next;		/* of its line; -1: none */
	/* Of a v-form, where its counts and displacements are kept: those of
	 * IN, then of OUT; 1 + the index in queue->kept, 0: it has none. */
	size_t kept[4];
};

struct line {
	int first, last;
};

struct tutti_queue {
	struct tuttiComm *comm;
	struct tutti_queue *next;	/* in the thread's group */
	const void *owner;		/* that group; NULL: none */
	struct item *item;
	int items, items_max;
	size_t *kept;			/* copies of what calls point to */
	size_t nkept, kept_max;
	struct line *line;		/* 1 + 2 * ranks */
	int *used;			/* lines that hold calls */
	int nused;
	/* One for each line in use; of the first jobs on, those of messages. */
	struct tutti_task *task;
	struct tutti_job *job;
	int tasks_max;
	struct tutti_flight flight;
	int64_t flush_ns;		/* when flushing began; 0: not yet */
};

/* What a thread has open. */
struct group {
	int depth;
	struct tutti_queue *first, **last;
	tuttiResult_t rc;		/* of a call that was refused */
	char text[TUTTI_ERROR_TEXT];
};

_Atomic int tutti_groups;
static _Thread_local struct group group;

bool tutti_group_here(void)
{
	return group.depth > 0;
}

void tutti_group_start(void)
{
	struct group *g = &group;

	if (g->depth++)
		return;
	g->first = NULL;
	g->last = &g->first;
	g->rc = tuttiSuccess;
	atomic_fetch_add_explicit(&tutti_groups, 1, memory_order_relaxed);
}

/* The first error is the one returned at the end. */
static tuttiResult_t note(struct group *g, tuttiResult_t rc)
{
	if (rc && !g->rc) {
		g->rc = rc;
		snprintf(g->text, sizeof(g->text), "%s", tutti_fail_text());
	}
	return rc;
}

/* ---- Queues -------------------------------------------------------------- */

static void queue_free(struct tutti_queue *q)
{
	for (int i = 0; i < q->tasks_max; i++)
		tutti_job_fini(&q->job[i]);
	free(q->job);
	free(q->task);
	free(q->item);
	free(q->kept);
	free(q->line);
	free(q->used);
	free(q);
}

static int line_count(const struct tuttiComm *comm)
{
	return 1 + 2 * comm->ranks;
}

static int line_of(const struct tutti_call *call)
{
	if (call->coll != TUTTI_SENDRECV)
		return COLLECTIVES;
	return 1 + 2 * call->root + call->sending;
}

static struct tutti_queue *queue_new(struct tuttiComm *comm)
{
	struct tutti_queue *q = calloc(1, sizeof(*q));
	size_t n = (size_t)line_count(comm);

	if (!q)
		return NULL;
	q->comm = comm;
	q->line = calloc(n, sizeof(*q->line));
	q->used = calloc(n, sizeof(*q->used));
	if (!q->line || !q->used) {
		queue_free(q);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		q->line[i].first = -1;
	return q;
}

static struct tutti_queue *queue_of(struct tuttiComm *comm)
{
	struct tutti_queue *q = atomic_load(&comm->queue);

	if (!q) {
		q = queue_new(comm);
		atomic_store(&comm->queue, q);
	}
	return q;
}

static bool grow_items(struct tutti_queue *q)
{
	int max = q->items_max ? 2 * q->items_max : 16;
	struct item *more;

	if (q->items < q->items_max)
		return true;
	if (q->items_max > INT_MAX / 2)
		return false;
	more = realloc(q->item, (size_t)max * sizeof(*more));
	if (!more)
		return false;
	q->item = more;
	q->items_max = max;
	return true;
}

static bool grow_tasks(struct tutti_queue *q)
{
	int max = q->tasks_max ? 2 * q->tasks_max : 4;
	struct tutti_task *tasks;
	struct tutti_job *jobs;

	if (q->nused < q->tasks_max)
		return true;
	tasks = realloc(q->task, (size_t)max * sizeof(*tasks));
	if (!tasks)
		return false;
	q->task = tasks;
	jobs = realloc(q->job, (size_t)max * sizeof(*jobs));
	if (!jobs)
		return false;
	q->job = jobs;
	for (int i = q->tasks_max; i < max; i++)
		tutti_job_init_mail(&jobs[i], &q->comm->exec);
	q->tasks_max = max;
	return true;
}

static void queue_clear(struct tutti_queue *q)
{
	for (int i = 0; i < q->nused; i++)
		q->line[q->used[i]].first = -1;
	q->nused = 0;
	q->items = 0;
	q->nkept = 0;
	q->owner = NULL;
}

void tutti_queue_drop(struct tuttiComm *comm)
{
	struct tutti_queue *q = atomic_exchange(&comm->queue, NULL);

	if (q && !q->owner)
		queue_free(q);
}

tuttiResult_t tutti_group_none(struct tuttiComm *comm, const char *function)
{
	const struct tutti_queue *q = atomic_load(&comm->queue);

	if (!q || !q->items)
		return tuttiSuccess;
	return tutti_fail(tuttiInvalidUsage,
			  "%s: %d calls on this communicator wait for "
			  "tuttiGroupEnd; end the group first, or abort",
			  function, q->items);
}

/* ---- Adding -------------------------------------------------------------- */

static bool to_self(const struct tuttiComm *comm, const struct tutti_call *c)
{
	return c->coll == TUTTI_SENDRECV && c->root == comm->rank;
}

static bool keep(struct tutti_queue *q, const size_t *from, size_t n,
		 size_t *where)
{
	size_t max = tutti_max(2 * q->kept_max, q->nkept + n);
	size_t *more;

	*where = 0;
	if (!from)
		return true;
	if (q->nkept + n > q->kept_max) {
		more = realloc(q->kept, max * sizeof(*more));
		if (!more)
			return false;
		q->kept = more;
		q->kept_max = max;
	}
	memcpy(q->kept + q->nkept, from, n * sizeof(*from));
	*where = 1 + q->nkept;
	q->nkept += n;
	return true;
}

/* The next item's call, with the arrays of a v-form: the caller's may be gone
 * when the group ends. */
static bool keep_call(struct tutti_queue *q, const struct tutti_call *call)
{
	const struct tutti_layout *in = &call->in_blocks;
	const struct tutti_layout *out = &call->out_blocks;
	struct item *it = &q->item[q->items];
	uint32_t nin, nout;

	memset(it, 0, sizeof(*it));
	it->call = *call;
	it->next = -1;
	if (!call->uneven)
		return true;
	tutti_coll_blocks(call->coll, q->comm->ranks, false, &nin, &nout);
	return keep(q, in->counts, nin, &it->kept[0]) &&
	       keep(q, in->displs, nin, &it->kept[1]) &&
	       keep(q, out->counts, nout, &it->kept[2]) &&
	       keep(q, out->displs, nout, &it->kept[3]);
}

/* What was kept does not move any more. */
static void point_to_kept(struct tutti_queue *q, struct item *it)
{
	const size_t *at[4];

	for (int i = 0; i < 4; i++)
		at[i] = it->kept[i] ? q->kept + it->kept[i] - 1 : NULL;
	it->call.in_blocks = (struct tutti_layout){ at[0], at[1] };
	it->call.out_blocks = (struct tutti_layout){ at[2], at[3] };
}

/* Of keep_call(). */
static void append(struct tutti_queue *q, const struct tutti_plan *plan)
{
	int at = q->items++;
	struct item *it = &q->item[at];
	int number = line_of(&it->call);
	struct line *l = &q->line[number];

	if (plan) {
		/* A copy: its place in the cache may be needed for another. */
		it->recipe = plan->recipe;
		it->hash = plan->hash;
		it->algo = plan->algo;
	}
	if (l->first < 0) {
		l->first = at;
		q->used[q->nused++] = number;
	} else {
		q->item[l->last].next = at;
	}
	l->last = at;
}

static void join_group(struct group *g, struct tutti_queue *q)
{
	if (q->owner)
		return;
	q->owner = g;
	q->next = NULL;
	*g->last = q;
	g->last = &q->next;
}

static tuttiResult_t add_inside(struct group *g, struct tuttiComm *comm,
				const struct tutti_call *call)
{
	const struct tutti_plan *plan = NULL;
	struct tutti_queue *q;
	tuttiResult_t rc = tutti_flight_sound(comm);

	if (!rc && !to_self(comm, call))
		rc = tutti_plan_get(comm, call, &plan);
	if (rc)
		return rc;
	q = queue_of(comm);
	if (q && q->owner && q->owner != g)
		return tutti_fail(tuttiInvalidUsage,
				  "groups of two threads hold calls on one "
				  "communicator of rank %d", comm->rank);
	if (!q || !grow_items(q) || !grow_tasks(q) || !keep_call(q, call))
		return tutti_fail(tuttiSystemError, "out of memory");
	append(q, plan);
	join_group(g, q);
	return tuttiSuccess;
}

static tuttiResult_t add(struct group *g, struct tuttiComm *comm,
			 const struct tutti_call *call)
{
	tuttiResult_t rc = tutti_comm_enter(comm);
	char text[128];

	if (rc)
		return rc;
	rc = add_inside(g, comm, call);
	/* What is wrong with this rank alone must be told. */
	if (rc == tuttiSystemError && !atomic_load(&comm->error)) {
		tutti_call_describe(call, text, sizeof(text));
		rc = tutti_comm_fail(comm, rc, true, "rank %d on %s could not "
				     "keep %s for its group: %s", comm->rank,
				     tutti_host_name(), text,
				     tutti_fail_text());
	}
	tutti_comm_leave(comm);
	return rc;
}

tuttiResult_t tutti_group_add(struct tuttiComm *comm,
			      const struct tutti_call *call, tuttiResult_t rc)
{
	struct group *g = &group;

	return note(g, rc ? rc : add(g, comm, call));
}

/* ---- Messages to oneself ------------------------------------------------- */

static struct item *line_first(struct tutti_queue *q, int number)
{
	int at = q->line[number].first;

	return at < 0 ? NULL : &q->item[at];
}

static struct item *line_next(struct tutti_queue *q, const struct item *it)
{
	return it->next < 0 ? NULL : &q->item[it->next];
}

static tuttiResult_t check_self(struct tutti_queue *q)
{
	int number = 1 + 2 * q->comm->rank, n = 1;
	struct item *in = line_first(q, number + 1);
	struct item *out = line_first(q, number);
	char sent[128] = "no send", wanted[128] = "no receive";

	while (in && out && in->call.count == out->call.count &&
	       in->call.type == out->call.type) {
		in = line_next(q, in);
		out = line_next(q, out);
		n++;
	}
	if (!in && !out)
		return tuttiSuccess;
	if (in)
		tutti_call_describe(&in->call, sent, sizeof(sent));
	if (out)
		tutti_call_describe(&out->call, wanted, sizeof(wanted));
	return tutti_fail(tuttiInvalidUsage,
			  "tuttiGroupEnd: message %d of rank %d to itself has "
			  "%s and %s in this group; nothing was run", n,
			  q->comm->rank, sent, wanted);
}

static void copy_self(struct tutti_queue *q)
{
	int number = 1 + 2 * q->comm->rank;
	struct item *in = line_first(q, number + 1);
	struct item *out = line_first(q, number);

	for (; in && out; in = line_next(q, in), out = line_next(q, out)) {
		size_t size = tutti_type_size((int)in->call.type);

		if (in->call.count && in->call.in != out->call.out)
			memmove(out->call.out, in->call.in,
				in->call.count * size);
	}
}

/* ---- Running one queue --------------------------------------------------- */

/* Put call `at`, or the first after it that moves anything, into a task. */
static tuttiResult_t begin_from(struct tutti_queue *q, struct tutti_task *t,
				int at, bool *more)
{
	struct tuttiComm *comm = q->comm;
	tuttiResult_t rc;

	*more = false;
	for (; at >= 0; at = q->item[at].next) {
		struct item *it = &q->item[at];

		comm->algo_name = it->algo;
		t->call = &it->call;
		t->seq = it->seq;
		t->next = it->next;
		t->asked = 0;
		rc = tutti_flight_begin(&q->flight, t, &it->recipe, it->hash,
					more);
		if (rc || *more)
			return rc;
	}
	return tuttiSuccess;
}

static tuttiResult_t follow(struct tutti_flight *f, struct tutti_task *t,
			    bool *more)
{
	struct tutti_queue *q = (void *)((char *)f -
					 offsetof(struct tutti_queue, flight));

	return begin_from(q, t, t->next, more);
}

static tuttiResult_t queue_begin(struct tutti_queue *q)
{
	struct tuttiComm *comm = q->comm;
	tuttiResult_t rc = tutti_flight_sound(comm);

	tutti_flight_init(&q->flight, comm, q->task);
	q->flight.follow = follow;
	q->flush_ns = 0;
	if (rc)
		return rc;
	for (int i = 0; i < q->items; i++)
		point_to_kept(q, &q->item[i]);
	for (int i = 0; i < q->items; i++)
		if (!to_self(comm, &q->item[i].call))
			q->item[i].seq = tutti_flight_number(
				comm, &q->item[i].call);
	copy_self(q);
	for (int i = 0; !rc && i < q->nused; i++) {
		int number = q->used[i];
		struct tutti_task *t = &q->task[q->flight.tasks];
		bool more;

		if ((number - 1) / 2 == comm->rank && number != COLLECTIVES)
			continue;
		t->job = number == COLLECTIVES ? &comm->job : &q->job[i];
		rc = begin_from(q, t, q->line[number].first, &more);
		q->flight.tasks += more;
	}
	return rc;
}

/* All is done, but bytes may wait in this process. */
static tuttiResult_t queue_flush(struct tutti_queue *q, bool alone,
				 bool *moved, bool *over)
{
	struct tuttiComm *comm = q->comm;
	int64_t now;

	*over = alone || tutti_flight_flushed(comm);
	if (*over)
		return tutti_flight_flush(comm, comm->timeout_ns);
	now = tutti_now_ns();
	if (!q->flush_ns)
		q->flush_ns = now;
	*moved = tutti_flight_push(comm);
	*over = atomic_load(&comm->error) ||
		now - q->flush_ns > comm->timeout_ns;
	return *over ? tutti_flight_flush(comm, 0) : tuttiSuccess;
}

static void queue_leave(struct tutti_queue *q)
{
	struct tuttiComm *comm = q->comm;

	queue_clear(q);
	tutti_comm_leave(comm);
}

/* ---- The end ------------------------------------------------------------- */

/* An aborted communicator left this queue behind. */
static bool orphaned(const struct tutti_queue *q)
{
	return atomic_load(&q->comm->queue) != q;
}

/* Take queues out of the group, running nothing. */
static void drop_all(struct tutti_queue *q, bool entered)
{
	while (q) {
		struct tutti_queue *next = q->next;

		if (orphaned(q))
			queue_free(q);
		else if (entered)
			queue_leave(q);
		else
			queue_clear(q);
		q = next;
	}
}

/* Aborted ones leave the list. */
static tuttiResult_t enter_all(struct group *g)
{
	struct tutti_queue **link = &g->first, *q;
	tuttiResult_t rc = tuttiSuccess;

	while (!rc && (q = *link)) {
		if (orphaned(q)) {
			note(g, tutti_fail(tuttiRemoteError,
					   "tuttiGroupEnd: a communicator of "
					   "this group was aborted; its %d "
					   "calls were dropped", q->items));
			*link = q->next;
			queue_free(q);
			continue;
		}
		rc = tutti_comm_check(q->comm, "tuttiGroupEnd");
		if (!rc)
			rc = tutti_comm_enter(q->comm);
		if (!rc)
			link = &q->next;
	}
	if (!rc)
		return rc;
	q = *link;
	*link = NULL;
	drop_all(q, false);
	return rc;
}

/* One turn of each; what is over leaves the list.  True if any moved. */
static bool turn_all(struct group *g, int n, int64_t sleep_ns)
{
	struct tutti_queue **link = &g->first, *q;
	bool any = false;

	while ((q = *link)) {
		bool moved = false, over = false;
		tuttiResult_t rc;

		if (q->flight.tasks)
			rc = tutti_flight_turn(&q->flight, sleep_ns, &moved);
		else
			rc = queue_flush(q, n == 1, &moved, &over);
		any |= moved;
		note(g, rc);
		if (!rc && !over) {
			link = &q->next;
			continue;
		}
		*link = q->next;
		queue_leave(q);
		any = true;
	}
	return any;
}

static int count_queues(const struct tutti_queue *q, bool *flying)
{
	int n = 0;

	for (*flying = false; q; q = q->next, n++)
		*flying |= q->flight.tasks > 0;
	return n;
}

static void run_all(struct group *g)
{
	struct timespec pause = { .tv_nsec = FLUSH_PAUSE_NS };
	struct tutti_queue **link = &g->first, *q;
	bool moved = true, flying;
	int n;

	while ((q = *link)) {
		if (!note(g, queue_begin(q))) {
			link = &q->next;
			continue;
		}
		*link = q->next;
		queue_leave(q);
	}
	while ((n = count_queues(g->first, &flying))) {
		if (!flying && !moved)
			nanosleep(&pause, NULL);
		moved = turn_all(g, n, n == 1 ? TUTTI_SLEEP_NS :
				 moved ? 0 : SHARED_SLEEP_NS / n);
	}
}

static tuttiResult_t check_all(const struct tutti_queue *q)
{
	tuttiResult_t rc = tuttiSuccess;

	for (; !rc && q; q = q->next)
		rc = check_self((struct tutti_queue *)q);
	return rc;
}

tuttiResult_t tutti_group_end(void)
{
	struct group *g = &group;
	bool entered = false;
	tuttiResult_t rc;

	if (!g->depth)
		return tutti_fail(tuttiInvalidUsage,
				  "tuttiGroupEnd: no group is open in this "
				  "thread; call tuttiGroupStart first");
	if (--g->depth)
		return tuttiSuccess;
	atomic_fetch_sub_explicit(&tutti_groups, 1, memory_order_relaxed);
	rc = g->rc;
	if (!rc) {
		entered = true;
		rc = note(g, enter_all(g));
	}
	if (!rc)
		rc = note(g, check_all(g->first));
	if (rc)
		drop_all(g->first, entered);
	else
		run_all(g);
	if (g->rc)
		tutti_fail_set(g->text);
	return g->rc;
}
