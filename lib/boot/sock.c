/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets that a forked child does not keep.  A set of our descriptors is
 * kept under one lock, which fork takes too, so the child finds it whole.
 */
#include "config.h"

#include "base/io.h"
#include "boot/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEEPALIVE_IDLE_S 10
#define KEEPALIVE_EVERY_S 4
#define KEEPALIVE_COUNT 4
#define UNACKED_MS 26000
#define HOOKS 4

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	uint8_t *open;		/* one byte per descriptor number */
	size_t size;
	void (*hook[HOOKS])(void);
	int hooks;
	bool failed;
} ours = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

static void before_fork(void)
{
	pthread_mutex_lock(&ours.lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&ours.lock);
}

static void in_child(void)
{
	for (size_t fd = 0; fd < ours.size; fd++) {
		if (ours.open[fd])
			close((int)fd);
		ours.open[fd] = 0;
	}
	for (int i = 0; i < ours.hooks; i++)
		ours.hook[i]();
	pthread_mutex_unlock(&ours.lock);
}

static void install(void)
{
	ours.failed = pthread_atfork(before_fork, in_parent, in_child) != 0;
}

bool tutti_sock_after_fork(void (*fn)(void))
{
	bool ok;

	pthread_once(&ours.once, install);
	pthread_mutex_lock(&ours.lock);
	ok = !ours.failed && ours.hooks < HOOKS;
	if (ok)
		ours.hook[ours.hooks++] = fn;
	pthread_mutex_unlock(&ours.lock);
	return ok;
}

/* Room for descriptor `fd` in the set.  With the lock. */
static bool reserve(size_t fd)
{
	size_t size = ours.size ? ours.size : 64;
	uint8_t *p;

	if (fd < ours.size)
		return true;
	while (size <= fd)
		size *= 2;
	p = realloc(ours.open, size);
	if (!p)
		return false;
	memset(p + ours.size, 0, size - ours.size);
	ours.open = p;
	ours.size = size;
	return true;
}

/* Enter a new descriptor, or pass on the error of the call that made none.
 * With the lock. */
static int enter(int fd)
{
	if (fd < 0)
		return -1;
	if (!reserve((size_t)fd)) {
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	ours.open[fd] = 1;
	return fd;
}

/* True if there may be a descriptor now where there was none. */
static bool raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

int tutti_sock_open(int family)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	const int one = 1;
	int fd;

	pthread_once(&ours.once, install);
	pthread_mutex_lock(&ours.lock);
	fd = socket(family, type, 0);
	if (fd < 0 && errno == EMFILE && raise_limit())
		fd = socket(family, type, 0);
	fd = enter(fd);
	pthread_mutex_unlock(&ours.lock);
	/* Both ends: a port that a finished connection lingers on must serve
	 * the next job's listener. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one,
				 sizeof(one));
	return fd;
}

int tutti_sock_accept(int listener, union tutti_sockaddr *from)
{
	socklen_t len = sizeof(*from);
	int fd;

	memset(from, 0, sizeof(*from));
	pthread_mutex_lock(&ours.lock);
	do {
		fd = accept4(listener, &from->sa, &len,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED ||
			    (errno == EMFILE && raise_limit())));
	fd = enter(fd);
	pthread_mutex_unlock(&ours.lock);
	return fd;
}

void tutti_sock_close(int *fd)
{
	if (*fd < 0)
		return;
	pthread_mutex_lock(&ours.lock);
	if ((size_t)*fd < ours.size)
		ours.open[*fd] = 0;
	tutti_close(fd);
	pthread_mutex_unlock(&ours.lock);
}

static void set(int fd, int level, int name, int value)
{
	/* None of these is needed for correct results. */
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

void tutti_sock_tune(int fd)
{
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED_MS);
}

int tutti_sock_dial(int fd, const union tutti_sockaddr *to)
{
	/* An interrupted connect goes on by itself, like one that would
	 * block; calling it again would fail. */
	if (!connect(fd, &to->sa, tutti_sock_len(to)) ||
	    errno == EINPROGRESS || errno == EINTR)
		return 0;
	return errno;
}

int tutti_sock_dialled(int fd)
{
	union tutti_sockaddr here, there;
	socklen_t here_len = sizeof(here), there_len = sizeof(there);
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return errno;
	if (err)
		return err;
	memset(&here, 0, sizeof(here));
	memset(&there, 0, sizeof(there));
	if (getsockname(fd, &here.sa, &here_len) ||
	    getpeername(fd, &there.sa, &there_len))
		return errno;
	/* A port that nobody listens on may be given to ourselves as the
	 * local one, and then TCP connects us to us. */
	if (here_len == there_len && !memcmp(&here, &there, here_len))
		return ECONNREFUSED;
	return 0;
}

socklen_t tutti_sock_len(const union tutti_sockaddr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

void tutti_sock_unmap(union tutti_sockaddr *a)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (a->sa.sa_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr))
		return;
	in.sin_port = a->in6.sin6_port;
	memcpy(&in.sin_addr, &a->in6.sin6_addr.s6_addr[12], 4);
	memset(a, 0, sizeof(*a));
	a->in = in;
}

const char *tutti_sock_text(const union tutti_sockaddr *a,
			    char out[TUTTI_SOCKADDR_TEXT])
{
	char host[INET6_ADDRSTRLEN], scope[16] = "";
	union tutti_sockaddr plain = *a;

	tutti_sock_unmap(&plain);
	if (plain.sa.sa_family == AF_INET &&
	    inet_ntop(AF_INET, &plain.in.sin_addr, host, sizeof(host))) {
		snprintf(out, TUTTI_SOCKADDR_TEXT, "%s:%d", host,
			 ntohs(plain.in.sin_port));
	} else if (plain.sa.sa_family == AF_INET6 &&
		   inet_ntop(AF_INET6, &plain.in6.sin6_addr, host,
			     sizeof(host))) {
		if (plain.in6.sin6_scope_id)
			snprintf(scope, sizeof(scope), "%%%u",
				 plain.in6.sin6_scope_id);
		snprintf(out, TUTTI_SOCKADDR_TEXT, "[%s%s]:%d", host, scope,
			 ntohs(plain.in6.sin6_port));
	} else {
		snprintf(out, TUTTI_SOCKADDR_TEXT, "(no address)");
	}
	return out;
}
