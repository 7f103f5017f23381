/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keeper: parent of the ranks.  One thread, one loop over epoll: orders of
 * the front, ends of ranks, time.  It decides once what the job's exit status
 * is, and leaves only when no descendant is left.
 *
 * Ends of ranks are taken from process descriptors, since epoll reports them
 * in the order in which they came: which rank failed first is what a user
 * needs to know, and wait() alone would name the lowest.
 */
#include "config.h"

#include "descent.h"
#include "keeper.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the first failure: by this time another rank that was killed by a
 * signal is taken for the cause. */
#define CAUSE_MS	250
/* How long ranks may take to end by themselves after a failure, and to obey a
 * signal, before they are killed. */
#define MOMENT_MS	2000
#define GRACE_MS	2000
/* The same for what ranks left behind. */
#define LEFT_MS		500
/* Two signals of one cause (timeout(1) sends two) are closer than this. */
#define SAME_CAUSE_MS	200

static void enter(struct keeper *k, enum phase phase, int ms)
{
	k->phase = phase;
	k->phase_ms = tutti_now_ms() + ms;
}

/* ---- Signals to ranks -------------------------------------------------- */

static void signal_ranks(struct keeper *k, int sig)
{
	if (k->job->share_group) {
		tool_descent_signal(sig, k->job->group);
		return;
	}
	for (int i = 0; i < k->job->nranks; i++)
		if (k->rank[i].pid)
			kill(-k->rank[i].pid, sig);
}

/* A signal that ends, and SIGCONT, since a stopped process obeys none. */
static void ask_to_end(struct keeper *k, int sig)
{
	if (sig)
		signal_ranks(k, sig);
	signal_ranks(k, SIGCONT);
}

static void kill_all(struct keeper *k)
{
	for (int i = 0; i < k->job->nranks; i++)
		if (k->rank[i].pid)
			kill(k->rank[i].pid, SIGKILL);
	tool_descent_signal(SIGKILL, 0);
}

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* ---- Why the job ends -------------------------------------------------- */

/* The program could not be executed: say so once for all ranks. */
static bool exec_failed(struct keeper *k)
{
	struct exec_error e;

	if (read(k->errors[0], &e, sizeof(e)) != sizeof(e))
		return false;
	launch_say("cannot execute %s: %s", k->job->path, strerror(e.err));
	return true;
}

static void tell_failure(struct keeper *k)
{
	const struct failure *f = &k->first;
	char how[64];

	if (WIFSIGNALED(f->status))
		snprintf(how, sizeof(how), "was killed by %s%s",
			 launch_signal_name(WTERMSIG(f->status)),
			 WCOREDUMP(f->status) ? " (core dumped)" : "");
	else
		snprintf(how, sizeof(how), "ended with status %d",
			 WEXITSTATUS(f->status));
	launch_say("rank %d (process %d on %s) %s%s", f->rank, (int)f->pid,
		   tutti_host_name(), how,
		   k->running ? "; ending the others" : "");
}

static void settle_failure(struct keeper *k)
{
	struct failure *f = &k->first;

	if (f->rank < 0 || f->told)
		return;
	f->told = true;
	k->result = WIFSIGNALED(f->status) ? 128 + WTERMSIG(f->status)
					   : WEXITSTATUS(f->status);
	tell_failure(k);
}

static bool killed_itself(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
}

static void drop_descriptor(struct keeper *k, int rank)
{
	struct rank *r = &k->rank[rank];

	if (r->fd < 0)
		return;
	/* Closing is not enough: a child may hold a copy until it executes. */
	epoll_ctl(k->epoll, EPOLL_CTL_DEL, r->fd, NULL);
	close(r->fd);
	r->fd = -1;
}

static void rank_ended(struct keeper *k, int rank, int status)
{
	struct failure f = { rank, k->rank[rank].pid, status, 0, false };

	drop_descriptor(k, rank);
	k->rank[rank].pid = 0;
	k->running--;
	if (!status || k->phase > MOMENT)
		return;
	if (k->phase == RUN) {
		f.tell_ms = tutti_now_ms() + CAUSE_MS;
		f.told = exec_failed(k);
		k->first = f;
		enter(k, MOMENT, MOMENT_MS);
		if (f.told) {
			k->result = WEXITSTATUS(status);
			enter(k, KILL, LAUNCH_STUCK_MS);
		}
		return;
	}
	/* Peers see a dying rank's connections close before its parent sees it
	 * end, so the first to end may have ended because of this one. */
	if (!k->first.told && killed_itself(status) &&
	    !killed_itself(k->first.status)) {
		f.tell_ms = k->first.tell_ms;
		k->first = f;
	}
}

static void end_by_signal(struct keeper *k, const struct launch_order *order)
{
	int64_t now_ms = tutti_now_ms();

	if (k->signal_ms) {
		if (order->sig != SIGHUP &&
		    now_ms - k->signal_ms >= SAME_CAUSE_MS)
			enter(k, KILL, LAUNCH_STUCK_MS);
		return;
	}
	k->signal_ms = now_ms;
	if (k->result < 0) {
		/* What ranks did a moment ago, they did for this signal. */
		k->first.told = true;
		k->result = 128 + order->sig;
	}
	if (k->phase == KILL)
		return;
	ask_to_end(k, order->keys && k->job->share_group ? 0 : order->sig);
	if (order->sig == SIGTERM)
		enter(k, TERM, GRACE_MS);
	else
		enter(k, ASKED, GRACE_MS / 2);
}

static void follow_orders(struct keeper *k)
{
	struct launch_order order;
	ssize_t n;

	while (k->front >= 0) {
		n = recv(k->front, &order, sizeof(order), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != sizeof(order)) {
			/* Killed: nobody is left to be patient for. */
			close(k->front);
			k->front = -1;
			k->result = LAUNCH_EXIT_TROUBLE;
			enter(k, KILL, LAUNCH_STUCK_MS);
			return;
		}
		if (order.sig == SIGINT || order.sig == SIGTERM ||
		    order.sig == SIGHUP || order.sig == SIGQUIT)
			end_by_signal(k, &order);
		else if (!order.keys || !k->job->share_group)
			signal_ranks(k, order.sig);
	}
}

/* ---- Time -------------------------------------------------------------- */

static void next_phase(struct keeper *k)
{
	switch (k->phase) {
	case RUN:
		launch_say("the %g s of --timeout are over; ending %d rank%s",
			   (double)k->job->timeout_ms / 1e3, k->running,
			   plural(k->running));
		k->result = LAUNCH_EXIT_TIMEOUT;
		ask_to_end(k, SIGTERM);
		enter(k, TERM, GRACE_MS);
		break;
	case MOMENT:
	case ASKED:
		ask_to_end(k, SIGTERM);
		enter(k, TERM, GRACE_MS / 2);
		break;
	case TERM:
		launch_say("%d rank%s did not end when asked to; killed",
			   k->running, plural(k->running));
		enter(k, KILL, LAUNCH_STUCK_MS);
		break;
	case KILL:
		launch_say("%d rank%s cannot be killed: stuck in the kernel",
			   k->running, plural(k->running));
		_exit(k->result);
	}
}

static int64_t deadline(const struct keeper *k)
{
	int64_t at = k->phase == RUN ? k->limit_ms : k->phase_ms;

	if (k->phase == MOMENT && !k->first.told && k->first.tell_ms < at)
		at = k->first.tell_ms;
	return at;
}

static int sleep_ms(const struct keeper *k)
{
	int64_t at = deadline(k), left;

	if (k->phase == KILL)
		return 10;
	if (!at)
		return -1;
	left = at - tutti_now_ms() + 1;
	if (left < 0)
		return 0;
	return left > 1000000 ? 1000000 : (int)left;
}

static void on_time(struct keeper *k)
{
	int64_t now_ms = tutti_now_ms();

	if (k->phase == MOMENT && !k->first.told && now_ms >= k->first.tell_ms)
		settle_failure(k);
	if (k->phase == RUN ? k->limit_ms && now_ms >= k->limit_ms
			    : now_ms >= k->phase_ms)
		next_phase(k);
	if (k->phase == KILL)
		kill_all(k);
}

/* ---- The loop ---------------------------------------------------------- */

static void drain(int fd)
{
	struct signalfd_siginfo info[8];

	while (read(fd, info, sizeof(info)) > 0)
		;
}

/* A rank's descriptor says that it has ended.  If a debugger is told first,
 * SIGCHLD will say when it is our turn. */
static void reap(struct keeper *k, int rank)
{
	int status;

	if (k->rank[rank].pid &&
	    waitpid(k->rank[rank].pid, &status, WNOHANG) > 0)
		rank_ended(k, rank, status);
	else
		drop_descriptor(k, rank);
}

/* Handle what is ready within `ms`; false if that was nothing. */
static bool take_events(struct keeper *k, int ms, bool *sweep)
{
	struct epoll_event e[64];
	int n;

	n = epoll_wait(k->epoll, e, 64, ms);
	for (int i = 0; i < n; i++) {
		uint32_t key = e[i].data.u32;

		if (key == KEY_CHILD) {
			drain(k->child);
			*sweep = true;
		} else if (key == KEY_FRONT) {
			follow_orders(k);
		} else {
			reap(k, (int)key);
		}
	}
	return n > 0;
}

/* Reap what has no descriptor: orphans that the ranks left, and ranks if there
 * were too few descriptors. */
static void sweep_children(struct keeper *k)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < k->job->nranks; i++)
			if (k->rank[i].pid == pid)
				rank_ended(k, i, status);
}

static void run(struct keeper *k)
{
	bool sweep;

	while (k->running) {
		sweep = false;
		if (take_events(k, sleep_ms(k), &sweep))
			while (take_events(k, 0, &sweep))
				;
		if (sweep)
			sweep_children(k);
		if (k->running)
			on_time(k);
	}
	/* The terminal's keys reach ranks that share its group before the
	 * front has told of them. */
	if (k->job->share_group && k->first.rank >= 0 && !k->first.told)
		take_events(k, 50, &sweep);
	settle_failure(k);
}

/* Ranks have ended; end what they left running. */
static void end_left(struct keeper *k)
{
	int64_t start_ms = tutti_now_ms();
	bool asked = false, sweep;
	int left;

	while (k->phase != KILL) {
		sweep_children(k);
		left = tool_descent_signal(0, 0);
		if (!left && waitpid(-1, NULL, WNOHANG) < 0)
			return;
		if (tutti_now_ms() - start_ms >= (asked ? 2 : 1) * LEFT_MS) {
			if (asked)
				break;
			asked = true;
			launch_say("ending %d process%s that the ranks left "
				   "running", left, left == 1 ? "" : "es");
			tool_descent_signal(SIGTERM, 0);
			tool_descent_signal(SIGCONT, 0);
		}
		take_events(k, 10, &sweep);
	}
	left = tool_descent_end(LAUNCH_STUCK_MS);
	if (left)
		launch_say("%d process%s cannot be killed: stuck in the "
			   "kernel, or another user's", left,
			   left == 1 ? "" : "es");
}

int launch_keep(const struct launch *job, int front)
{
	struct keeper k = {
		.job = job, .front = front, .result = -1,
		.first = { .rank = -1 },
	};
	tuttiUniqueId id;

	/* A group of its own: whoever kills the front's whole group shall not
	 * get the one process that cleans up. */
	setpgid(0, 0);
	prctl(PR_SET_NAME, "tutti-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (recv(front, &id, sizeof(id), 0) != sizeof(id))
		return LAUNCH_EXIT_TROUBLE;
	if (!keeper_open(&k)) {
		launch_say("cannot start: %s", strerror(errno));
		return LAUNCH_EXIT_TROUBLE;
	}
	if (job->timeout_ms)
		k.limit_ms = tutti_now_ms() + job->timeout_ms;
	if (!keeper_start(&k, &id)) {
		k.result = LAUNCH_EXIT_TROUBLE;
		enter(&k, KILL, LAUNCH_STUCK_MS);
	}
	explicit_bzero(&id, sizeof(id));
	launch_drop_input();
	run(&k);
	end_left(&k);
	return k.result < 0 ? 0 : k.result;
}
