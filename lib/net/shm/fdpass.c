/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor server and its client.  A request is the secret and a key, an
 * answer a status and, with it, the descriptor.  One connection per request;
 * a client that does not send its request within a few seconds is dropped.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/loop.h"
#include "net/shm/fdpass.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_NS 5000000000
#define CLIENTS_MAX 256

struct request {
	uint8_t secret[16];
	uint8_t key[TUTTI_FDPASS_KEY];
	uint32_t want_fd;
	uint32_t pad;
};

struct answer {
	uint64_t size, offset;
	int32_t status;		/* 0 or an errno value */
	int32_t pad;
};

struct offer {
	uint8_t key[TUTTI_FDPASS_KEY];
	struct tutti_fdpass_item item;
	struct offer *next;
};

struct client {
	int fd;
	struct tutti_watch *watch;
	struct client *next;
};

static struct {
	pthread_mutex_t life;	/* around start and end; no handler takes it */
	pthread_mutex_t lock;	/* of what handlers and callers share */
	int users;
	int fd;
	struct tutti_watch *watch;
	struct tutti_fdpass_addr addr;
	struct offer *offers;
	/* Whoever takes a client off the list frees it. */
	struct client *clients;
	int nclients;
} server = {
	.life = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.fd = -1,
};

static bool same(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint8_t diff = 0;

	for (size_t i = 0; i < n; i++)
		diff |= a[i] ^ b[i];
	return diff == 0;
}

/* Take a client off the list, the first if `c` is NULL.  NULL if it was taken
 * by another thread, or there is none. */
static struct client *take_client(struct client *c)
{
	struct client **p = &server.clients;

	pthread_mutex_lock(&server.lock);
	while (c && *p && *p != c)
		p = &(*p)->next;
	c = *p;
	if (c) {
		*p = c->next;
		server.nclients--;
	}
	pthread_mutex_unlock(&server.lock);
	return c;
}

/* One that was taken. */
static void free_client(struct client *c)
{
	if (!c)
		return;
	tutti_watch_remove(c->watch);
	tutti_close(&c->fd);
	free(c);
}

/* Add one; false if there are too many. */
static bool add_client(struct client *c)
{
	bool room;

	pthread_mutex_lock(&server.lock);
	room = server.nclients < CLIENTS_MAX;
	if (room) {
		c->next = server.clients;
		server.clients = c;
		server.nclients++;
	}
	pthread_mutex_unlock(&server.lock);
	return room;
}

static struct offer *find_offer(const uint8_t *key)
{
	for (struct offer *o = server.offers; o; o = o->next)
		if (same(o->key, key, TUTTI_FDPASS_KEY))
			return o;
	return NULL;
}

/* Send an answer with or without a descriptor.  It fits any socket buffer;
 * a client that is gone is its own affair. */
static void send_answer(int sock, struct answer *a, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .buf = { 0 } };
	struct iovec iov = { .iov_base = a, .iov_len = sizeof(*a) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	       errno == EINTR)
		continue;
}

static void serve(struct client *c, const struct request *r)
{
	struct answer a = { .status = EACCES };

	pthread_mutex_lock(&server.lock);
	if (same(r->secret, server.addr.secret, sizeof(r->secret))) {
		struct offer *o = find_offer(r->key);

		a.status = !o ? ENOENT : o->item.fd < 0 ? ECANCELED : 0;
		a.size = o ? o->item.size : 0;
		a.offset = o ? o->item.offset : 0;
		send_answer(c->fd, &a, o && r->want_fd ? o->item.fd : -1);
	} else {
		send_answer(c->fd, &a, -1);
	}
	pthread_mutex_unlock(&server.lock);
}

/* A client's request came, or its time is over. */
static void on_client(void *arg, uint32_t events)
{
	struct client *c = arg;
	struct request r;
	ssize_t n;

	if (events) {
		do
			n = recv(c->fd, &r, sizeof(r), MSG_DONTWAIT);
		while (n < 0 && errno == EINTR);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n == sizeof(r))
			serve(c, &r);
	}
	free_client(take_client(c));
}

static void on_accept(void *arg, uint32_t events)
{
	struct client *c;
	int fd;

	do
		fd = accept4(server.fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return;
	c = calloc(1, sizeof(*c));
	if (c)
		c->fd = fd;
	if (!c || !add_client(c)) {
		close(fd);
		free(c);
		return;
	}
	/* Handlers run one after the other, so not before this one ends. */
	if (tutti_watch_add(&c->watch, fd, EPOLLIN, on_client, c))
		free_client(take_client(c));
	else
		tutti_watch_at(c->watch, tutti_now_ns() + REQUEST_NS);
}

static socklen_t make_name(struct sockaddr_un *sun, const char name[32])
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, name, 32);
	return offsetof(struct sockaddr_un, sun_path) + 1 + 32;
}

/* A packet socket, so that a request is never cut. */
static tuttiResult_t start(void)
{
	static const char hex[] = "0123456789abcdef";
	struct sockaddr_un sun;
	uint8_t random[28];
	socklen_t len;
	int err = tutti_random(random, sizeof(random));

	if (err)
		return tutti_fail_errno(err, "no random bytes");
	memcpy(server.addr.name, "tutti-", 6);
	for (int i = 6; i < 32; i++)
		server.addr.name[i] = hex[random[(i - 6) / 2] >>
					  (i % 2 * 4) & 15];
	err = tutti_random(server.addr.secret, sizeof(server.addr.secret));
	if (err)
		return tutti_fail_errno(err, "no random bytes");
	server.fd = socket(AF_UNIX,
			   SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	len = make_name(&sun, server.addr.name);
	if (server.fd < 0 || bind(server.fd, (struct sockaddr *)&sun, len) ||
	    listen(server.fd, 128)) {
		err = errno;
		tutti_close(&server.fd);
		return tutti_fail_errno(err, "cannot open a Unix socket to "
					     "share memory with local ranks");
	}
	return tuttiSuccess;
}

/* In the child of a fork, where the parent's server does not exist. */
static void forget_parent(void)
{
	pthread_mutex_init(&server.life, NULL);
	pthread_mutex_init(&server.lock, NULL);
	server.users = 0;
	server.offers = NULL;
	server.clients = NULL;
	server.nclients = 0;
	server.watch = NULL;
	tutti_close(&server.fd);
}

static void prepare_forks(void)
{
	/* Fails only without memory, and then start() will too. */
	pthread_atfork(NULL, NULL, forget_parent);
}

tuttiResult_t tutti_fdpass_open(struct tutti_fdpass_addr *addr)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	tuttiResult_t rc = tuttiSuccess;

	pthread_once(&once, prepare_forks);
	pthread_mutex_lock(&server.life);
	if (!server.users) {
		rc = start();
		if (!rc)
			rc = tutti_watch_add(&server.watch, server.fd, EPOLLIN,
					     on_accept, NULL);
		if (rc)
			tutti_close(&server.fd);
	}
	if (!rc) {
		server.users++;
		*addr = server.addr;
	}
	pthread_mutex_unlock(&server.life);
	return rc;
}

void tutti_fdpass_close(void)
{
	pthread_mutex_lock(&server.life);
	if (server.users && --server.users == 0) {
		struct client *c;

		/* No client comes after this. */
		tutti_watch_remove(server.watch);
		server.watch = NULL;
		while ((c = take_client(NULL)))
			free_client(c);
		tutti_close(&server.fd);
	}
	pthread_mutex_unlock(&server.life);
}

tuttiResult_t tutti_fdpass_offer(const uint8_t key[TUTTI_FDPASS_KEY],
				 const struct tutti_fdpass_item *item)
{
	struct offer *o = calloc(1, sizeof(*o));

	if (!o)
		return tutti_fail(tuttiSystemError, "out of memory");
	memcpy(o->key, key, TUTTI_FDPASS_KEY);
	o->item = *item;
	pthread_mutex_lock(&server.lock);
	o->next = server.offers;
	server.offers = o;
	pthread_mutex_unlock(&server.lock);
	return tuttiSuccess;
}

void tutti_fdpass_withdraw(const uint8_t key[TUTTI_FDPASS_KEY])
{
	struct offer **p, *o;

	pthread_mutex_lock(&server.lock);
	for (p = &server.offers; (o = *p); p = &o->next) {
		if (!same(o->key, key, TUTTI_FDPASS_KEY))
			continue;
		*p = o->next;
		free(o);
		break;
	}
	pthread_mutex_unlock(&server.lock);
}

/* Read the answer and the descriptor that may come with it. */
static int receive_answer(int sock, struct answer *a, int *fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = a, .iov_len = sizeof(*a) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	if (n != sizeof(*a))
		return ECONNRESET;
	/* No room for the descriptor in this process. */
	return msg.msg_flags & MSG_CTRUNC ? EMFILE : 0;
}

static int connect_to(int sock, const struct tutti_fdpass_addr *addr,
		      int64_t deadline_ns)
{
	struct sockaddr_un sun;
	socklen_t len = make_name(&sun, addr->name);
	struct timespec pause = { .tv_nsec = 1000000 };

	/* EAGAIN: the server's queue is full. */
	while (connect(sock, (struct sockaddr *)&sun, len)) {
		if (errno != EAGAIN && errno != EINTR)
			return errno;
		if (tutti_now_ns() > deadline_ns)
			return ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int tutti_fdpass_fetch(const struct tutti_fdpass_addr *addr,
		       const uint8_t key[TUTTI_FDPASS_KEY],
		       struct tutti_fdpass_item *item, int64_t deadline_ns)
{
	struct request r = { .want_fd = item != NULL };
	struct answer a = { 0 };
	int got = -1, err;
	int sock = socket(AF_UNIX,
			  SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return errno;
	memcpy(r.secret, addr->secret, sizeof(r.secret));
	memcpy(r.key, key, sizeof(r.key));
	err = connect_to(sock, addr, deadline_ns);
	if (!err)
		err = tutti_write_full(sock, &r, sizeof(r), deadline_ns);
	if (!err)
		err = tutti_poll_fd(sock, POLLIN, deadline_ns);
	if (!err)
		err = receive_answer(sock, &a, &got);
	if (!err)
		err = a.status;
	if (!err && item && got < 0)
		err = ECONNRESET;
	if (!err && item) {
		item->fd = got;
		item->size = a.size;
		item->offset = a.offset;
		got = -1;
	}
	tutti_close(&got);
	tutti_close(&sock);
	return err;
}
