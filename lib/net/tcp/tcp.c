/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP transport: one non-blocking socket to each peer, all lanes over it.
 * Framing and credits are those of net/stream.h, greetings those of meet.h;
 * here bytes go to and from sockets.
 *
 * Every socket is in the transport's own epoll set, so progress is one system
 * call however many peers there are, and the helper thread watches that set
 * alone.  It is asked for one ring at a time: when a rank goes to sleep.
 *
 * A connection that ended is read to its end before the fault shows, because
 * what the peer sent before it left is still good.  After a write has failed
 * reading goes on for the same reason.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "base/loop.h"
#include "net/stream.h"
#include "net/tcp/meet.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECES 32		/* frames in one system call */
#define EVENTS 32
#define READS 8			/* of one peer before the next has its turn */
#define DRAIN_BYTES (16 << 20)	/* thrown away at most when closing */

struct peer {
	int rank, fd;
	struct tutti_stream *stream;
	bool reading, writing;	/* the direction is alive */
	bool blocked;		/* the socket took less than it was given */
	bool unconfirmed;	/* bytes were sent since all were received */
	bool owes_ack;		/* bytes came and none were sent since */
	bool due;		/* is in x->due */
	bool watched;		/* is in the epoll set */
	struct peer *next_due, *next;
	char where[TUTTI_TCP_WHERE];
	char fault[256];
};

struct tutti_xport {
	struct tutti_xport_env env;
	uint8_t secret[16];
	uint8_t addr[TUTTI_TCP_ADDR];
	int listen_fd, epoll_fd;
	struct peer **by_rank;	/* NULL: not reached */
	struct peer *peers;
	struct peer *due;	/* a credit waits to be told */
	bool owing;		/* some peer has owes_ack */
	struct tutti_watch *watch;
	_Atomic bool armed;	/* the watch will ring; cleared by it */
};

/* ---- Opening ------------------------------------------------------------ */

static void tcp_close(struct tutti_xport *x);

static tuttiResult_t tcp_open(struct tutti_xport **out,
			      const struct tutti_xport_env *env)
{
	struct tutti_xport *x = calloc(1, sizeof(*x));
	tuttiResult_t rc;

	if (!x)
		return tutti_fail(tuttiSystemError, "out of memory");
	x->env = *env;
	memcpy(x->secret, env->secret, sizeof(x->secret));
	x->env.secret = x->secret;
	x->listen_fd = x->epoll_fd = -1;
	x->by_rank = calloc((size_t)env->ranks, sizeof(*x->by_rank));
	rc = x->by_rank ? tutti_tcp_listen(&x->listen_fd, x->addr, env) :
			  tutti_fail(tuttiSystemError, "out of memory");
	if (rc) {
		tcp_close(x);
		return rc;
	}
	*out = x;
	return tuttiSuccess;
}

static void tcp_local_addr(struct tutti_xport *x, void *addr)
{
	memcpy(addr, x->addr, sizeof(x->addr));
}

/* In the helper thread. */
static void on_ready(void *arg, uint32_t events)
{
	struct tutti_xport *x = arg;

	/* Partner: tcp_arm.  The ring has the fence in between. */
	atomic_store_explicit(&x->armed, false, memory_order_relaxed);
	tutti_bell_ring(x->env.bell);
}

/* Take over a connected socket. */
static tuttiResult_t add_peer(struct tutti_xport *x, int rank, int fd,
			      const uint8_t *addr)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = p };
	tuttiResult_t rc;

	if (!p) {
		tutti_close(&fd);
		return tutti_fail(tuttiSystemError, "out of memory");
	}
	p->rank = rank;
	p->fd = fd;
	p->reading = p->writing = p->watched = true;
	tutti_tcp_where(p->where, addr);
	/* From here on tcp_close frees it. */
	x->by_rank[rank] = p;
	p->next = x->peers;
	x->peers = p;
	rc = tutti_stream_create(&p->stream, &x->env);
	if (!rc && epoll_ctl(x->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		rc = tutti_fail_errno(errno, "cannot watch the connection to "
				      "rank %d", rank);
	return rc;
}

static tuttiResult_t add_peers(struct tutti_xport *x, int *fds,
			       const uint8_t *addrs)
{
	tuttiResult_t rc = tuttiSuccess;

	x->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (x->epoll_fd < 0)
		rc = tutti_fail_errno(errno, "epoll_create");
	for (int r = 0; r < x->env.ranks; r++) {
		if (!rc && fds[r] >= 0)
			rc = add_peer(x, r, fds[r],
				      addrs + (size_t)r * TUTTI_TCP_ADDR);
		else
			tutti_close(&fds[r]);
	}
	if (!rc && x->peers)
		rc = tutti_watch_add(&x->watch, x->epoll_fd, EPOLLONESHOT,
				     on_ready, x);
	return rc;
}

static tuttiResult_t tcp_connect(struct tutti_xport *x, const bool *want,
				 const void *addrs, bool *reached,
				 int64_t deadline_ns)
{
	int *fds = calloc((size_t)x->env.ranks, sizeof(*fds));
	tuttiResult_t rc;

	if (!fds)
		return tutti_fail(tuttiSystemError, "out of memory");
	rc = tutti_tcp_meet(&x->env, x->listen_fd, want, addrs, fds,
			    deadline_ns);
	tutti_close(&x->listen_fd);
	if (!rc)
		rc = add_peers(x, fds, addrs);
	for (int r = 0; !rc && r < x->env.ranks; r++)
		reached[r] = x->by_rank[r] != NULL;
	free(fds);
	return rc;
}

static tuttiResult_t tcp_chan_init(struct tutti_xport *x, struct tutti_chan *c)
{
	struct peer *p = x->by_rank[c->peer];

	c->priv = p;
	return tutti_stream_open_lane(p->stream, c->lane);
}

/* ---- Bytes to and from sockets ------------------------------------------ */

/* Wait in the epoll set for what this peer's state asks for. */
static void watch_peer(struct tutti_xport *x, struct peer *p)
{
	struct epoll_event ev = { .data.ptr = p };
	int op = p->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (p->reading)
		ev.events |= EPOLLIN;
	if (p->writing && p->blocked)
		ev.events |= EPOLLOUT;
	/* Of a socket in the set hang-ups are told even if nobody asks. */
	if (!ev.events)
		op = EPOLL_CTL_DEL;
	if (ev.events || p->watched)
		epoll_ctl(x->epoll_fd, op, p->fd, &ev);
	p->watched = ev.events != 0;
}

static void put_due(struct tutti_xport *x, struct peer *p)
{
	if (p->due || !tutti_stream_pending(p->stream))
		return;
	p->due = true;
	p->next_due = x->due;
	x->due = p;
}

/* Nothing more will come. */
static void end_reading(struct tutti_xport *x, struct peer *p, const char *why)
{
	p->reading = false;
	snprintf(p->fault, sizeof(p->fault), "the connection to rank %d at %s "
		 "%s", p->rank, p->where, why);
	watch_peer(x, p);
}

/* Send what waits and the socket takes.  True if anything went. */
static bool flush(struct tutti_xport *x, struct peer *p)
{
	struct iovec iov[PIECES];
	struct msghdr msg = { .msg_iov = iov };
	bool moved = false;

	while (p->writing && !p->blocked) {
		int n = tutti_stream_gather(p->stream, iov, PIECES);
		ssize_t sent;

		if (!n)
			break;
		msg.msg_iovlen = (size_t)n;
		sent = sendmsg(p->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent >= 0) {
			tutti_stream_sent(p->stream, (size_t)sent);
			p->unconfirmed = true;
			p->owes_ack = false;
			moved = true;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			p->blocked = true;
			watch_peer(x, p);
		} else if (errno != EINTR) {
			/* Reading finds out why, after what came before. */
			p->writing = false;
			watch_peer(x, p);
		}
	}
	return moved;
}

/* Read what came.  True if anything did, or the end was found. */
static bool fill(struct tutti_xport *x, struct peer *p)
{
	bool moved = false;

	for (int i = 0; i < READS && p->reading; i++) {
		struct iovec iov[2];
		int pieces = tutti_stream_space(p->stream, iov);
		size_t room = 0;
		char why[128];
		ssize_t n = readv(p->fd, iov, pieces);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		moved = true;
		if (n < 0) {
			end_reading(x, p, strerror_r(errno, why, sizeof(why)));
			break;
		}
		if (n == 0) {
			end_reading(x, p, tutti_stream_midway(p->stream) ?
				    "was closed by it in the middle of a "
				    "message" : "was closed by it");
			break;
		}
		p->owes_ack = x->owing = true;
		if (!tutti_stream_arrived(p->stream, (size_t)n)) {
			snprintf(why, sizeof(why), "carries damaged data: %s",
				 tutti_stream_damage(p->stream));
			p->writing = false;
			end_reading(x, p, why);
			break;
		}
		for (int k = 0; k < pieces; k++)
			room += iov[k].iov_len;
		if ((size_t)n < room)
			break;
	}
	if (moved)
		put_due(x, p);
	return moved;
}

/* Let the kernel acknowledge what was read, where no data of ours has done so:
 * a peer that asks whether all it sent has come would else wait for the delayed
 * acknowledgement. */
static void acknowledge(struct tutti_xport *x)
{
	const int on = 1;

	if (!x->owing)
		return;
	x->owing = false;
	for (struct peer *p = x->peers; p; p = p->next) {
		if (p->owes_ack && p->reading)
			setsockopt(p->fd, IPPROTO_TCP, TCP_QUICKACK, &on,
				   sizeof(on));
		p->owes_ack = false;
	}
}

/* ---- The table's calls for messages ------------------------------------- */

static void *tcp_tx(struct tutti_chan *c, size_t len)
{
	struct peer *p = c->priv;

	return tutti_stream_tx(p->stream, c->lane, len);
}

static void tcp_post(struct tutti_chan *c, size_t len, uint32_t tag)
{
	struct peer *p = c->priv;

	tutti_stream_post(p->stream, c->lane, len, tag);
	flush(c->x, p);
}

static const void *tcp_rx(struct tutti_chan *c, size_t len, uint32_t *tag)
{
	struct peer *p = c->priv;

	return tutti_stream_rx(p->stream, c->lane, len, tag);
}

static void tcp_release(struct tutti_chan *c, size_t len)
{
	struct peer *p = c->priv;

	/* Else the credit goes with the next post, or with kick or progress
	 * once half of them are due. */
	if (tutti_stream_release(p->stream, c->lane))
		flush(c->x, p);
	else
		put_due(c->x, p);
}

static uint64_t tcp_acked(struct tutti_chan *c)
{
	struct peer *p = c->priv;

	return tutti_stream_acked(p->stream, c->lane);
}

static void tcp_kick(struct tutti_chan *c)
{
	flush(c->x, c->priv);
}

static const char *tcp_fault(struct tutti_chan *c)
{
	struct peer *p = c->priv;

	return p->reading ? NULL : p->fault;
}

/* ---- Moving, sleeping, leaving ------------------------------------------ */

static bool flush_due(struct tutti_xport *x)
{
	bool moved = false;

	while (x->due) {
		struct peer *p = x->due;

		x->due = p->next_due;
		p->due = false;
		moved |= flush(x, p);
	}
	return moved;
}

/* No ring is needed while the rank is awake and looks for itself. */
static void disarm(struct tutti_xport *x)
{
	if (!atomic_load_explicit(&x->armed, memory_order_relaxed))
		return;
	atomic_store_explicit(&x->armed, false, memory_order_relaxed);
	tutti_watch_events(x->watch, EPOLLONESHOT);
}

static bool tcp_progress(struct tutti_xport *x)
{
	struct epoll_event ev[EVENTS];
	bool moved;
	int n;

	if (!x->peers)
		return false;
	moved = flush_due(x);
	n = epoll_wait(x->epoll_fd, ev, EVENTS, 0);
	if (n <= 0) {
		acknowledge(x);
		return moved;
	}
	disarm(x);
	for (int i = 0; i < n; i++) {
		struct peer *p = ev[i].data.ptr;

		/* Errors and hang-ups are found by reading, or by writing if
		 * reading has ended. */
		if (ev[i].events & EPOLLOUT || !p->reading) {
			p->blocked = false;
			moved |= flush(x, p);
			watch_peer(x, p);
		}
		if (ev[i].events & ~(uint32_t)EPOLLOUT)
			moved |= fill(x, p);
	}
	return flush_due(x) || moved;
}

static bool tcp_arm(struct tutti_xport *x)
{
	struct epoll_event ev;

	if (!x->peers)
		return false;
	flush_due(x);
	acknowledge(x);
	/* Partner: on_ready.  Either it sees that this rank sleeps, which it
	 * said before it called, or `armed` is seen to be gone here. */
	atomic_thread_fence(memory_order_seq_cst);
	if (epoll_wait(x->epoll_fd, &ev, 1, 0) > 0)
		return true;
	if (!atomic_load_explicit(&x->armed, memory_order_relaxed)) {
		atomic_store_explicit(&x->armed, true, memory_order_relaxed);
		tutti_watch_events(x->watch, EPOLLIN | EPOLLONESHOT);
	}
	return false;
}

static bool tcp_flushed(struct tutti_xport *x)
{
	bool all = true;

	flush_due(x);
	acknowledge(x);
	for (struct peer *p = x->peers; p; p = p->next) {
		int left = 0;

		/* Nobody reads any more what would still go. */
		if (!p->writing || !p->reading)
			continue;
		flush(x, p);
		if (p->unconfirmed && !ioctl(p->fd, SIOCOUTQ, &left))
			p->unconfirmed = (uint64_t)left >
					 tutti_stream_tail(p->stream);
		if (p->unconfirmed || tutti_stream_pending(p->stream))
			all = false;
	}
	return all;
}

/* End a connection so that the peer still gets what was sent.  The kernel
 * would answer unread bytes by a reset, which destroys what it has not yet
 * delivered, so they are read first.  It does the same with bytes that come
 * later, and against that only tcp_flushed helps. */
static void part(struct tutti_xport *x, struct peer *p)
{
	char waste[16384];
	size_t wasted = 0;

	p->blocked = false;
	if (p->stream)
		flush(x, p);
	shutdown(p->fd, SHUT_WR);
	while (wasted < DRAIN_BYTES) {
		ssize_t n = recv(p->fd, waste, sizeof(waste), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		wasted += (size_t)n;
	}
	tutti_close(&p->fd);
}

static void tcp_close(struct tutti_xport *x)
{
	if (!x)
		return;
	tutti_watch_remove(x->watch);
	while (x->peers) {
		struct peer *p = x->peers;

		x->peers = p->next;
		part(x, p);
		tutti_stream_destroy(p->stream);
		free(p);
	}
	tutti_close(&x->epoll_fd);
	tutti_close(&x->listen_fd);
	free(x->by_rank);
	free(x);
}

const struct tutti_xport_ops tutti_xport_tcp = {
	.name = "tcp",
	.addr_bytes = TUTTI_TCP_ADDR,
	.open = tcp_open,
	.local_addr = tcp_local_addr,
	.connect = tcp_connect,
	.bell = tutti_xport_bell_given,
	.chan_init = tcp_chan_init,
	.close = tcp_close,
	.tx = tcp_tx,
	.post = tcp_post,
	.rx = tcp_rx,
	.release = tcp_release,
	.acked = tcp_acked,
	.kick = tcp_kick,
	.fault = tcp_fault,
	.expose = tutti_xport_expose_none,
	.map = tutti_xport_map_none,
	.progress = tcp_progress,
	.arm = tcp_arm,
	.flushed = tcp_flushed,
};
