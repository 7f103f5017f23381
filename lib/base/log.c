/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines.  The level and the file come from the settings at the first line
 * and stay; a file that cannot be opened leaves stderr and says so there.
 */
#include "config.h"

#include "base/log.h"
#include "base/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048

static __thread int log_rank = -1;
/* The first rank of the process, for lines of other threads. */
static _Atomic int process_rank = -1;
static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static char host[65];

bool tutti_log_on(enum tutti_log_level level)
{
	return (int64_t)level <= tutti_setting(TUTTI_SET_DEBUG);
}

void tutti_log_set_rank(int rank)
{
	int none = -1;

	log_rank = rank;
	atomic_compare_exchange_strong(&process_rank, &none, rank);
}

/* This thread's rank, or the process's, or the launcher's; -1: not known. */
static int file_rank(void)
{
	int rank = log_rank >= 0 ? log_rank : atomic_load(&process_rank);

	return rank >= 0 ? rank : (int)tutti_setting(TUTTI_SET_RANK);
}

static void find_host(void)
{
	char raw[65];

	if (gethostname(raw, sizeof(raw)) || !raw[0])
		strcpy(raw, "localhost");
	raw[sizeof(raw) - 1] = 0;
	tutti_escape(host, sizeof(host), raw, strlen(raw));
}

const char *tutti_host_name(void)
{
	pthread_once(&host_once, find_host);
	return host;
}

void tutti_escape(char *out, size_t cap, const char *in, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t used = 0;

	for (size_t i = 0; i < len && in[i]; i++) {
		unsigned char c = (unsigned char)in[i];

		if (c >= 0x20 && c < 0x7f) {
			if (used + 2 > cap)
				break;
			out[used++] = (char)c;
			continue;
		}
		if (used + 5 > cap)
			break;
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = hex[c >> 4];
		out[used++] = hex[c & 15];
	}
	if (cap)
		out[used] = 0;
}

/* The file's name with %r, %p and %h filled in. */
static void file_name(char *out, size_t cap, const char *pattern, int rank)
{
	size_t used = 0;

	for (const char *p = pattern; *p && used + 1 < cap; p++) {
		size_t room = cap - used;
		int n = 1;

		if (p[0] != '%' || !p[1]) {
			out[used] = *p;
		} else {
			p++;
			if (*p == 'r')
				n = snprintf(out + used, room, "%d", rank);
			else if (*p == 'p')
				n = snprintf(out + used, room, "%d",
					     (int)getpid());
			else if (*p == 'h')
				n = snprintf(out + used, room, "%s",
					     tutti_host_name());
			else
				out[used] = *p;
		}
		used += (size_t)n < room ? (size_t)n : room - 1;
	}
	out[used < cap ? used : cap - 1] = 0;
}

/* The file of this thread's rank.  Ranks that are threads have a file each if
 * its name holds %r; lines from before the rank is known go to stderr then. */
static int log_fd(void)
{
	static __thread int fd = -1, rank_of_fd;
	const char *pattern = tutti_setting_text(TUTTI_SET_DEBUG_FILE);
	int rank = file_rank();
	char name[512];

	if (!pattern[0] || (rank < 0 && strstr(pattern, "%r")))
		return STDERR_FILENO;
	if (fd >= 0 && (rank == rank_of_fd || !strstr(pattern, "%r")))
		return fd;
	if (fd > STDERR_FILENO)
		close(fd);
	file_name(name, sizeof(name), pattern, rank);
	fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	rank_of_fd = rank;
	if (fd < 0) {
		dprintf(STDERR_FILENO, "tutti: cannot open log file %s: %m\n",
			name);
		fd = STDERR_FILENO;
	}
	return fd;
}

void tutti_log(enum tutti_log_level level, const char *fmt, ...)
{
	static const char *const names[] = { "", "warning", "info", "trace" };
	char raw[LINE_MAX_BYTES - 128], line[LINE_MAX_BYTES];
	char who[32] = "";
	int saved = errno;
	va_list ap;
	int n;

	if (level < TUTTI_LOG_WARN || level > TUTTI_LOG_TRACE ||
	    !tutti_log_on(level))
		return;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	if (log_rank >= 0)
		snprintf(who, sizeof(who), " rank %d", log_rank);
	n = snprintf(line, sizeof(line), "tutti %s:%d%s %s: ",
		     tutti_host_name(), (int)getpid(), who, names[level]);
	tutti_escape(line + n, sizeof(line) - n - 1, raw, strlen(raw));
	n = (int)strlen(line);
	line[n] = '\n';
	/* A line that cannot be written has nowhere to complain. */
	while (write(log_fd(), line, n + 1) < 0 && errno == EINTR)
		continue;
	errno = saved;
}
