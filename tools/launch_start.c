/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the keeper starts ranks.  Each dies with the keeper (PR_SET_PDEATHSIG),
 * which works because the keeper has one thread; each leads a process group of
 * its own unless the terminal's keys shall reach it.
 */
#include "config.h"

#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The child's side; only calls that are safe after fork(). */
static void become_rank(const struct keeper *k, int rank, char **envp,
			pid_t keeper)
{
	const struct launch *job = k->job;
	struct exec_error e = { 0 };
	int null = -1;

	setpgid(0, job->share_group ? job->group : 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(LAUNCH_EXIT_TROUBLE);
	if (rank)
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (rank && dup2(null, STDIN_FILENO) < 0)
		close(STDIN_FILENO);
	if (!job->share_group) {
		/* A shell that starts us with & made us ignore the keys of
		 * its terminal; no key reaches a group of its own. */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &job->mask, NULL);
	execvpe(job->path, job->argv, envp);
	e.err = errno;
	if (write(k->errors[1], &e, sizeof(e)) != sizeof(e))
		_exit(LAUNCH_EXIT_TROUBLE);
	_exit(e.err == ENOENT ? LAUNCH_EXIT_NO_FILE : LAUNCH_EXIT_NO_EXEC);
}

static void watch(struct keeper *k, int fd, uint32_t key)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = key };

	epoll_ctl(k->epoll, EPOLL_CTL_ADD, fd, &e);
}

static bool start_rank(struct keeper *k, struct launch_env *env, int rank)
{
	char **envp = launch_env_rank(env, rank);
	struct rank *r = &k->rank[rank];
	pid_t keeper = getpid();

	r->pid = fork();
	if (!r->pid)
		become_rank(k, rank, envp, keeper);
	if (r->pid < 0) {
		r->pid = 0;
		return false;
	}
	/* Both sides do it, so that neither can be too early. */
	setpgid(r->pid, k->job->share_group ? k->job->group : r->pid);
	k->running++;
	r->fd = pidfd_open(r->pid, 0);
	if (r->fd >= 0)
		watch(k, r->fd, (uint32_t)rank);
	return true;
}

bool keeper_open(struct keeper *k)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	k->child = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	k->rank = calloc((size_t)k->job->nranks, sizeof(*k->rank));
	if (k->epoll < 0 || k->child < 0 || !k->rank ||
	    pipe2(k->errors, O_CLOEXEC | O_NONBLOCK))
		return false;
	watch(k, k->front, KEY_FRONT);
	watch(k, k->child, KEY_CHILD);
	return true;
}

bool keeper_start(struct keeper *k, const tuttiUniqueId *id)
{
	struct launch_env *env = launch_env_create(k->job, id);
	int rank = 0;

	if (!env)
		errno = ENOMEM;
	while (env && rank < k->job->nranks && start_rank(k, env, rank))
		rank++;
	if (rank < k->job->nranks)
		launch_say("cannot start rank %d of %d: %s%s", rank,
			   k->job->nranks, strerror(errno),
			   errno == EAGAIN ? "; the limit of processes "
			   "(`ulimit -u`, or pids.max of the cgroup) is "
			   "reached" : "");
	launch_env_destroy(env);
	return rank == k->job->nranks;
}
