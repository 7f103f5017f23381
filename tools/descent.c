/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds descendants by the parent of every process in /proc.  The list is
 * made anew for every signal, since processes come and go; whoever wants them
 * all gone repeats until there are none.
 */
#include "config.h"

#include "descent.h"

#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
	pid_t pid, parent, group;
	bool ours;
};

static bool read_process(const char *pid, struct process *p)
{
	char name[64], text[512], state;
	const char *end;
	int fd, threads;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%.20s/stat", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	/* The name in brackets may itself contain brackets and spaces. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u"
			   " %*u %*u %*d %*d %*d %*d %d",
			   &state, &p->parent, &p->group, &threads) != 4)
		return false;
	p->pid = atoi(pid);
	p->ours = false;
	/* A zombie with threads is a program whose main thread has ended. */
	return state != 'X' && (state != 'Z' || threads > 1);
}

/* Living processes; to be freed.  NULL without /proc or memory. */
static struct process *read_all(size_t *count)
{
	struct process *all = NULL, *more;
	size_t n = 0, cap = 0;
	struct dirent *e;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir)
		return NULL;
	while ((e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (n == cap) {
			cap = cap ? 2 * cap : 256;
			more = realloc(all, cap * sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		n += read_process(e->d_name, &all[n]);
	}
	closedir(dir);
	*count = n;
	return all;
}

/* Marks whose parent is `root` or marked, until nothing changes: one or two
 * passes, since parents are mostly older than children and listed first. */
static void mark(struct process *all, size_t count, pid_t root)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			bool ours = all[i].parent == root;

			if (all[i].ours)
				continue;
			for (size_t j = 0; j < count && !ours; j++)
				ours = all[j].ours &&
				       all[j].pid == all[i].parent;
			all[i].ours = ours;
			changed |= ours;
		}
	}
}

int tool_descent_signal(int sig, pid_t group)
{
	struct process *all;
	size_t count = 0;
	int found = 0;

	all = read_all(&count);
	if (!all)
		return 0;
	mark(all, count, getpid());
	for (size_t i = 0; i < count; i++) {
		if (!all[i].ours || (group > 0 && all[i].group != group))
			continue;
		found++;
		if (sig)
			kill(all[i].pid, sig);
	}
	free(all);
	return found;
}

int tool_descent_end(int limit_ms)
{
	int64_t until_ms = tutti_now_ms() + limit_ms;
	int left;

	for (;;) {
		left = tool_descent_signal(SIGKILL, 0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		/* Zombies are not counted, but are waited for. */
		if (!left && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return 0;
		if (tutti_now_ms() >= until_ms)
			return left;
		usleep(5000);
	}
}
