/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front: the process that the user started.  It forks the keeper before
 * the library starts a thread, then makes the job's id, whose meeting point
 * lives in this process, and passes on signals until the keeper ends.
 */
#include "config.h"

#include "descent.h"
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct front {
	struct launch *job;
	pid_t keeper;
	int orders;		/* socket to the keeper */
	sigset_t set;		/* signals to take */
	bool keys_ignored;	/* started with & by a plain shell */
	bool int_key;		/* SIGINT came from the terminal */
};

const char *launch_signal_name(int sig)
{
	static char text[24];
	const char *name = sigabbrev_np(sig);

	if (name)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "signal %d", sig);
	return text;
}

void launch_say(const char *fmt, ...)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[1024];
	size_t len, cap = sizeof(line) - 1;
	va_list ap;
	int n;

	len = (size_t)snprintf(line, cap, "tutti run: ");
	va_start(ap, fmt);
	n = vsnprintf(line + len, cap - len, fmt, ap);
	va_end(ap);
	len += (size_t)n < cap - len ? (size_t)n : cap - len - 1;
	line[len++] = '\n';
	if (poll(&err, 1, 1000) == 1 && write(STDERR_FILENO, line, len) < 0)
		return;		/* nobody is left to tell */
}

static bool ignored(int sig)
{
	struct sigaction sa;

	return !sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN;
}

/* Descriptors 0 to 2 exist, so that none of ours lands there. */
static bool open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

void launch_drop_input(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void take_signals(struct front *f)
{
	static const int sigs[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP,
		SIGCHLD,
	};
	sigset_t all;

	/* Inherited as ignored, our children would leave no status. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&f->set);
	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaddset(&f->set, sigs[i]);
	if (ignored(SIGHUP))	/* nohup(1) */
		sigdelset(&f->set, SIGHUP);
	if (ignored(SIGTSTP))
		sigdelset(&f->set, SIGTSTP);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &f->job->mask);
}

static bool fork_keeper(struct front *f)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	f->keeper = fork();
	if (!f->keeper) {
		close(ends[0]);
		_exit(launch_keep(f->job, ends[1]));
	}
	close(ends[1]);
	f->orders = ends[0];
	return f->keeper > 0;
}

static void order(struct front *f, int sig, bool keys)
{
	struct launch_order o = { sig, keys };

	/* Fails only if the keeper is gone, which SIGCHLD will tell. */
	send(f->orders, &o, sizeof(o), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Stop with the ranks, as the user wants, until continued.  The default action
 * of SIGTSTP knows when nobody could continue us: then it does nothing. */
static void stop_too(struct front *f, bool keys)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	order(f, SIGTSTP, keys);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	order(f, SIGCONT, false);
}

static void pass_on(struct front *f, const siginfo_t *info)
{
	int sig = info->si_signo;
	bool keys = info->si_code == SI_KERNEL;

	if (keys && f->keys_ignored && (sig == SIGINT || sig == SIGQUIT))
		return;
	f->int_key |= keys && sig == SIGINT;
	if (sig == SIGTSTP)
		stop_too(f, keys);
	else
		order(f, sig, keys);
}

/* Until the keeper ends; returns its wait status. */
static int wait_keeper(struct front *f)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (waitpid(f->keeper, &status, WNOHANG) > 0)
			return status;
		if (sigwaitinfo(&f->set, &info) > 0 &&
		    info.si_signo != SIGCHLD)
			pass_on(f, &info);
	}
}

static void die_of_sigint(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int finish(struct front *f, int status)
{
	if (WIFSIGNALED(status)) {
		/* Its children are ours now. */
		tool_descent_end(LAUNCH_STUCK_MS);
		launch_say("the helper process was killed by %s; all ranks "
			   "were ended",
			   launch_signal_name(WTERMSIG(status)));
		return LAUNCH_EXIT_TROUBLE;
	}
	if (f->int_key && WEXITSTATUS(status) == 128 + SIGINT)
		die_of_sigint();
	return WEXITSTATUS(status);
}

int launch_run(struct launch *job)
{
	struct front f = { .job = job, .orders = -1 };
	tuttiUniqueId id;
	int status;

	if (!open_standard())
		return LAUNCH_EXIT_TROUBLE;
	f.keys_ignored = ignored(SIGINT);
	job->group = getpgrp();
	job->share_group = has_terminal() && !f.keys_ignored && job->group > 0;
	take_signals(&f);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!fork_keeper(&f)) {
		launch_say("cannot start a process: %s", strerror(errno));
		return LAUNCH_EXIT_TROUBLE;
	}
	launch_drop_input();
	if (tuttiGetUniqueId(&id)) {
		launch_say("%s", tuttiGetLastError(NULL));
		close(f.orders);
		waitpid(f.keeper, &status, 0);
		return LAUNCH_EXIT_TROUBLE;
	}
	send(f.orders, &id, sizeof(id), MSG_NOSIGNAL);
	explicit_bzero(&id, sizeof(id));
	status = wait_keeper(&f);
	return finish(&f, status);
}
