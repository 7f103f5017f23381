/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making the connections.  One poll over the listening socket and all
 * greetings in progress; each greeting has its own short time, so a stranger,
 * a scanner or a slow one delays nobody.  Whatever fails before a greeting has
 * ended is dropped; the dialer tries again, at growing distances, until the
 * deadline.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "net/tcp/hello.h"
#include "net/tcp/meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS 1000000LL
#define GREETING_NS (5000 * MS)		/* of a connection that came */
#define ATTEMPT_NS (15000 * MS)		/* of one that was dialled */
#define STOP_LOOK_NS (20 * MS)
#define PAUSE_MIN_NS (10 * MS)		/* between attempts */
#define PAUSE_MAX_NS (1000 * MS)
#define STRANGERS_MAX 64		/* greeted at a time */
#define ACCEPT_BATCH 32
#define NAMED_MAX 6			/* peers named in an error */

/* A greeting in progress. */
struct conn {
	int fd;
	bool dialling;		/* connect() has not ended */
	bool failed;		/* to be dropped */
	int64_t until_ns;
	struct tutti_hello hello;
	struct conn *next;
};

/* What is known of a peer that is still missing. */
struct missing {
	bool wanted;
	bool busy;		/* an attempt is in progress */
	int64_t at_ns, pause_ns; /* next attempt */
	char why[96];
};

struct meet {
	const struct tutti_xport_env *env;
	int listen_fd;
	const uint8_t *addrs;
	int *fds;
	int64_t deadline_ns;
	struct missing *peers;
	int left;		/* peers still missing */
	struct conn *conns;	/* newest first */
	int greeted;		/* of them, those that came to us */
	int dropped;		/* strangers so far */
	int64_t accept_ns;	/* not before this */
	struct pollfd *polls;
	size_t polls_max;
};

/* ---- Addresses ---------------------------------------------------------- */

static int family(const uint8_t *addr)
{
	sa_family_t f;

	memcpy(&f, addr, sizeof(f));
	return f == AF_INET || f == AF_INET6 ? f : AF_UNSPEC;
}

static socklen_t addr_len(const uint8_t *addr)
{
	return family(addr) == AF_INET ? sizeof(struct sockaddr_in) :
					 sizeof(struct sockaddr_in6);
}

/* The scope of a link-local address, or 0. */
static uint32_t scope(const struct sockaddr_in6 *a)
{
	return IN6_IS_ADDR_LINKLOCAL(&a->sin6_addr) ? a->sin6_scope_id : 0;
}

void tutti_tcp_where(char out[TUTTI_TCP_WHERE], const uint8_t *addr)
{
	char host[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	memcpy(&v4, addr, sizeof(v4));
	memcpy(&v6, addr, sizeof(v6));
	switch (family(addr)) {
	case AF_INET:
		inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
		snprintf(out, TUTTI_TCP_WHERE, "%s:%u", host,
			 ntohs(v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
		snprintf(out, TUTTI_TCP_WHERE, "[%s]:%u", host,
			 ntohs(v6.sin6_port));
		break;
	default:
		snprintf(out, TUTTI_TCP_WHERE, "an unknown address");
	}
}

static void set_port_zero(struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)a)->sin_port = 0;
	else
		((struct sockaddr_in6 *)a)->sin6_port = 0;
}

tuttiResult_t tutti_tcp_listen(int *out, uint8_t addr[TUTTI_TCP_ADDR],
			       const struct tutti_xport_env *env)
{
	struct sockaddr_storage a = { 0 };
	socklen_t len = sizeof(a);
	char where[TUTTI_TCP_WHERE];
	int fd, err;

	tutti_tcp_where(where, env->address);
	if (family(env->address) == AF_UNSPEC)
		return tutti_fail(tuttiSystemError, "rank %d on %s has no "
				  "address for TCP", env->rank,
				  tutti_host_name());
	memcpy(&a, env->address, TUTTI_TCP_ADDR);
	set_port_zero(&a);
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&a, addr_len(env->address)) ||
	    listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		err = errno;
		tutti_close(&fd);
		return tutti_fail_errno(err, "rank %d on %s cannot listen at "
					"%s", env->rank, tutti_host_name(),
					where);
	}
	memcpy(addr, &a, TUTTI_TCP_ADDR);
	*out = fd;
	return tuttiSuccess;
}

/* ---- Greetings ---------------------------------------------------------- */

/* Options of a socket that carries messages.  TCP_USER_TIMEOUT is left alone:
 * it would also end a connection to a peer that merely does not read for that
 * long, because it computes. */
static void set_options(int fd)
{
	const struct {
		int level, name, value;
	} o[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 10 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
	};

	/* None is needed for right results. */
	for (size_t i = 0; i < tutti_countof(o); i++)
		setsockopt(fd, o[i].level, o[i].name, &o[i].value,
			   sizeof(o[i].value));
}

/* Remember why an attempt failed, and when to try again. */
static void try_later(struct meet *m, int peer, const char *why)
{
	struct missing *p = &m->peers[peer];

	p->busy = false;
	p->at_ns = tutti_now_ns() + p->pause_ns;
	p->pause_ns = tutti_min(2 * p->pause_ns, PAUSE_MAX_NS);
	snprintf(p->why, sizeof(p->why), "%s", why);
}

static void try_later_errno(struct meet *m, int peer, int err)
{
	char text[64];

	try_later(m, peer, strerror_r(err, text, sizeof(text)));
}

/* Note that a greeting failed; it is freed by sweep(). */
static void give_up(struct meet *m, struct conn *c, const char *why)
{
	int peer = c->hello.peer;

	c->failed = true;
	if (c->hello.dials)
		try_later(m, peer, why);
	else if (peer >= 0 && m->peers[peer].wanted)
		snprintf(m->peers[peer].why, sizeof(m->peers[peer].why), "%s",
			 why);
	m->dropped += !c->hello.dials;
}

static void sweep(struct meet *m)
{
	struct conn **link = &m->conns, *c;

	while ((c = *link)) {
		if (!c->failed) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		m->greeted -= !c->hello.dials;
		tutti_close(&c->fd);
		free(c);
	}
}

/* The greeting has ended well: the socket is the peer's. */
static void win(struct meet *m, struct conn *c)
{
	int peer = c->hello.peer;

	m->fds[peer] = c->fd;
	m->peers[peer].wanted = false;
	m->left--;
	c->fd = -1;
	c->failed = true;
}

static tuttiResult_t add_conn(struct meet *m, int fd, int peer, bool dialling)
{
	struct conn *c = calloc(1, sizeof(*c));
	int err = c ? tutti_hello_begin(&c->hello, m->env, peer >= 0, peer) :
		      ENOMEM;

	if (err) {
		free(c);
		tutti_close(&fd);
		return tutti_fail_errno(err, "rank %d on %s cannot begin a "
					"greeting", m->env->rank,
					tutti_host_name());
	}
	set_options(fd);
	c->fd = fd;
	c->dialling = dialling;
	c->until_ns = tutti_now_ns() + (peer >= 0 ? ATTEMPT_NS : GREETING_NS);
	c->next = m->conns;
	m->conns = c;
	m->greeted += peer < 0;
	return tuttiSuccess;
}

/* Move bytes until the socket has no more or the greeting is over. */
static void move(struct meet *m, struct conn *c)
{
	enum tutti_hello_state state = TUTTI_HELLO_GOING;
	char text[64];

	while (state == TUTTI_HELLO_GOING) {
		bool writes = tutti_hello_writes(&c->hello);
		size_t bytes;
		void *p = tutti_hello_bytes(&c->hello, &bytes);
		ssize_t n = writes ? send(c->fd, p, bytes, MSG_NOSIGNAL) :
				     recv(c->fd, p, bytes, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0) {
			give_up(m, c, strerror_r(errno, text, sizeof(text)));
			return;
		}
		if (n == 0) {
			give_up(m, c, "it closed the connection in the "
				"greeting");
			return;
		}
		state = tutti_hello_moved(&c->hello, (size_t)n);
	}
}

static tuttiResult_t serve(struct meet *m, struct conn *c)
{
	int err = 0, peer;
	socklen_t len = sizeof(err);
	char text[64];

	if (c->dialling) {
		if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len))
			err = errno;
		if (err) {
			give_up(m, c, strerror_r(err, text, sizeof(text)));
			return tuttiSuccess;
		}
		c->dialling = false;
	}
	move(m, c);
	peer = c->hello.peer;
	if (!c->failed && peer >= 0 && !m->peers[peer].wanted)
		give_up(m, c, "it is connected or not wanted");
	if (c->failed)
		return tuttiSuccess;
	switch (c->hello.state) {
	case TUTTI_HELLO_SURE:
		win(m, c);
		break;
	case TUTTI_HELLO_STRANGER:
		give_up(m, c, c->hello.why);
		break;
	case TUTTI_HELLO_MISMATCH:
		return tutti_fail(tuttiInvalidUsage, "rank %d on %s cannot "
				  "work with rank %d: %s; run one version and "
				  "the same settings on all ranks",
				  m->env->rank, tutti_host_name(), peer,
				  c->hello.why);
	case TUTTI_HELLO_GOING:
		break;
	}
	return tuttiSuccess;
}

/* ---- Dialling and accepting --------------------------------------------- */

static tuttiResult_t fail_descriptors(struct meet *m, int err)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return tutti_fail_errno(err, "rank %d on %s cannot connect to its "
				"peers, %d of which are missing (%llu open "
				"files are allowed: ulimit -n)",
				m->env->rank, tutti_host_name(), m->left,
				(unsigned long long)limit.rlim_cur);
}

static tuttiResult_t dial(struct meet *m, int peer)
{
	const uint8_t *addr = m->addrs + (size_t)peer * TUTTI_TCP_ADDR;
	struct sockaddr_storage a = { 0 };
	struct sockaddr_in6 own;
	int fd, err = 0;

	memcpy(&a, addr, TUTTI_TCP_ADDR);
	if (a.ss_family == AF_INET6) {
		/* A scope has a meaning on one host only. */
		memcpy(&own, m->env->address, sizeof(own));
		((struct sockaddr_in6 *)&a)->sin6_scope_id = scope(&own);
	}
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return fail_descriptors(m, errno);
	if (connect(fd, (struct sockaddr *)&a, addr_len(addr)))
		err = errno;
	/* An interrupted connect goes on by itself. */
	if (err && err != EINPROGRESS && err != EINTR) {
		tutti_close(&fd);
		try_later_errno(m, peer, err);
		return tuttiSuccess;
	}
	m->peers[peer].busy = true;
	return add_conn(m, fd, peer, true);
}

static tuttiResult_t dial_due(struct meet *m, int64_t now)
{
	tuttiResult_t rc;

	for (int r = m->env->rank + 1; r < m->env->ranks; r++) {
		struct missing *p = &m->peers[r];

		if (!p->wanted || p->busy || p->at_ns > now)
			continue;
		rc = dial(m, r);
		if (rc)
			return rc;
	}
	return tuttiSuccess;
}

/* Drop the oldest of those that came to us; false if there is none. */
static bool drop_oldest(struct meet *m)
{
	struct conn *oldest = NULL;

	for (struct conn *c = m->conns; c; c = c->next)
		if (!c->failed && !c->hello.dials)
			oldest = c;
	if (!oldest)
		return false;
	give_up(m, oldest, "too many greetings at once");
	sweep(m);
	return true;
}

static tuttiResult_t accept_some(struct meet *m)
{
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		int fd = accept4(m->listen_fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		tuttiResult_t rc;

		if (fd < 0) {
			switch (errno) {
			case EAGAIN:
				return tuttiSuccess;
			case EMFILE:
			case ENFILE:
			case ENOBUFS:
			case ENOMEM:
				if (!drop_oldest(m))
					return fail_descriptors(m, errno);
				m->accept_ns = tutti_now_ns() + PAUSE_MIN_NS;
				return tuttiSuccess;
			default:
				/* One connection failed, not the listener. */
				continue;
			}
		}
		if (m->greeted >= m->left + STRANGERS_MAX)
			drop_oldest(m);
		rc = add_conn(m, fd, -1, false);
		if (rc)
			return rc;
	}
	return tuttiSuccess;
}

/* ---- The loop ----------------------------------------------------------- */

/* Whether anybody has still to come to us. */
static bool expects(const struct meet *m)
{
	for (int r = 0; r < m->env->rank; r++)
		if (m->peers[r].wanted)
			return true;
	return false;
}

static tuttiResult_t fail_missing(struct meet *m)
{
	char list[768] = "", where[TUTTI_TCP_WHERE];
	int named = 0;

	for (int r = 0; r < m->env->ranks && named < NAMED_MAX; r++) {
		size_t used = strlen(list);

		if (!m->peers[r].wanted)
			continue;
		tutti_tcp_where(where, m->addrs + (size_t)r * TUTTI_TCP_ADDR);
		snprintf(list + used, sizeof(list) - used,
			 "%srank %d at %s (%s)", named ? ", " : "", r, where,
			 m->peers[r].why);
		named++;
	}
	return tutti_fail(tuttiTimeout, "rank %d on %s has no connection to %d "
			  "of its peers at the deadline: %s%s; is there a "
			  "firewall, or does TUTTI_IFNAME name the wrong "
			  "network?", m->env->rank, tutti_host_name(), m->left,
			  list, m->left > named ? " and others" : "");
}

static bool is_stopped(const struct tutti_xport_env *env)
{
	return env->stopped && env->stopped(env->stop_arg);
}

/* When something has to be done although nothing comes. */
static int64_t next_time(const struct meet *m)
{
	int64_t first = m->deadline_ns;

	if (m->env->stopped)
		first = tutti_min(first, tutti_now_ns() + STOP_LOOK_NS);
	if (m->accept_ns)
		first = tutti_min(first, m->accept_ns);
	for (const struct conn *c = m->conns; c; c = c->next)
		first = tutti_min(first, c->until_ns);
	for (int r = m->env->rank + 1; r < m->env->ranks; r++)
		if (m->peers[r].wanted && !m->peers[r].busy)
			first = tutti_min(first, m->peers[r].at_ns);
	return first;
}

/* Fill m->polls: the listening socket, then the greetings in list order. */
static bool fill_polls(struct meet *m, size_t *count)
{
	size_t n = 1;

	for (struct conn *c = m->conns; c; c = c->next)
		n++;
	if (n > m->polls_max) {
		struct pollfd *more = reallocarray(m->polls, 2 * n,
						   sizeof(*more));

		if (!more)
			return false;
		m->polls = more;
		m->polls_max = 2 * n;
	}
	m->polls[0].fd = expects(m) && !m->accept_ns ? m->listen_fd : -1;
	m->polls[0].events = POLLIN;
	n = 1;
	for (struct conn *c = m->conns; c; c = c->next) {
		bool writes = c->dialling || tutti_hello_writes(&c->hello);

		m->polls[n].fd = c->fd;
		m->polls[n].events = writes ? POLLOUT : POLLIN;
		n++;
	}
	*count = n;
	return true;
}

/* Wait for something and serve it. */
static tuttiResult_t turn(struct meet *m)
{
	int64_t ms = (next_time(m) - tutti_now_ns() + MS - 1) / MS, now;
	tuttiResult_t rc = tuttiSuccess;
	size_t count, i = 1;
	int ready;

	if (!fill_polls(m, &count))
		return tutti_fail(tuttiSystemError, "out of memory");
	ready = poll(m->polls, count, (int)tutti_max(0, tutti_min(ms, 60000)));
	if (ready < 0 && errno != EINTR && errno != EAGAIN)
		return tutti_fail_errno(errno, "poll");
	now = tutti_now_ns();
	if (m->accept_ns && m->accept_ns <= now)
		m->accept_ns = 0;
	for (struct conn *c = m->conns; c && !rc; c = c->next, i++) {
		if (ready > 0 && m->polls[i].revents)
			rc = serve(m, c);
		if (!c->failed && c->until_ns <= now)
			give_up(m, c, "the greeting took too long");
	}
	sweep(m);
	if (!rc && ready > 0 && m->polls[0].revents)
		rc = accept_some(m);
	return rc;
}

/* Peers that cannot be dialled are left out; the others are counted. */
static void find_missing(struct meet *m, const bool *want)
{
	const uint8_t *own = m->addrs + (size_t)m->env->rank * TUTTI_TCP_ADDR;

	for (int r = 0; r < m->env->ranks; r++) {
		const uint8_t *addr = m->addrs + (size_t)r * TUTTI_TCP_ADDR;
		struct missing *p = &m->peers[r];
		char where[TUTTI_TCP_WHERE], here[TUTTI_TCP_WHERE];

		if (!want[r] || r == m->env->rank)
			continue;
		if (family(addr) == AF_UNSPEC || family(addr) != family(own)) {
			tutti_tcp_where(where, addr);
			tutti_tcp_where(here, own);
			tutti_warn("rank %d at %s cannot be reached by TCP "
				   "from rank %d at %s: the addresses are of "
				   "different kinds", r, where, m->env->rank,
				   here);
			continue;
		}
		p->wanted = true;
		p->pause_ns = PAUSE_MIN_NS;
		strcpy(p->why, r < m->env->rank ? "no connection came from it" :
						  "no answer");
		m->left++;
	}
}

tuttiResult_t tutti_tcp_meet(const struct tutti_xport_env *env, int listen_fd,
			     const bool *want, const uint8_t *addrs, int *fds,
			     int64_t deadline_ns)
{
	struct meet m = {
		.env = env,
		.listen_fd = listen_fd,
		.addrs = addrs,
		.fds = fds,
		.deadline_ns = deadline_ns,
		.peers = calloc((size_t)env->ranks, sizeof(*m.peers)),
	};
	tuttiResult_t rc = tuttiSuccess;

	for (int r = 0; r < env->ranks; r++)
		fds[r] = -1;
	if (!m.peers)
		return tutti_fail(tuttiSystemError, "out of memory");
	find_missing(&m, want);
	while (m.left && !rc) {
		int64_t now = tutti_now_ns();

		if (is_stopped(env)) {
			rc = tutti_fail(tuttiRemoteError, "rank %d gave up "
					"connecting, since another rank "
					"cannot join", env->rank);
			break;
		}
		rc = now >= deadline_ns ? fail_missing(&m) : dial_due(&m, now);
		if (!rc)
			rc = turn(&m);
	}
	for (struct conn *c = m.conns; c; c = c->next)
		c->failed = true;
	sweep(&m);
	for (int r = 0; rc && r < env->ranks; r++)
		tutti_close(&fds[r]);
	if (m.dropped)
		tutti_info("dropped %d connections that did not pass the "
			   "greeting",
			   m.dropped);
	free(m.polls);
	free(m.peers);
	return rc;
}
