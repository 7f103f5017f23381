/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meeting point: one per process, however many ids it makes.  It listens
 * from the first id until the process ends, so that an id that is used again
 * gets an answer, and costs a descriptor and a sleeping thread.
 *
 * Secrets of ids are derived from a random key of the process and the id's
 * number; so an id that was used up is still recognised, and no memory is
 * kept for it.  A connection counts for nothing until it has proven that it
 * knows a secret; until then it has 5 s and a few hundred bytes.
 *
 * All handlers run in the helper thread.  A connection is freed only by its
 * own handler, or, while it is a stranger, by the listener's.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/root_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG 4096
#define GREETING_NS (5000 * TUTTI_MS)
#define CLOSING_NS (2000 * TUTTI_MS)
#define PAUSE_NS (100 * TUTTI_MS)	/* when descriptors are used up */
#define PATIENCE_NS (1000 * TUTTI_MS)	/* before a stranger makes room */
#define LINE_EVERY_NS (10000 * TUTTI_MS)
#define STRANGERS_MAX 1024
#define TURNS 64	/* of one handler before others get theirs */

struct root_listener {
	struct root_listener *next;
	struct tutti_watch *watch;
	int fd;
	uint16_t port;
};

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	bool fork_ok;
	struct root *service;
	struct root *inherited;
	uint8_t process[16];
	bool process_known;
} root = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

struct root *root_lock(void)
{
	pthread_mutex_lock(&root.lock);
	return root.service;
}

void root_unlock(void)
{
	pthread_mutex_unlock(&root.lock);
}

/* In a child after fork: its sockets are closed already, the thread is not
 * there, and the lock may have been held. */
static void forget_parent(void)
{
	pthread_mutex_init(&root.lock, NULL);
	if (root.service) {
		root.service->inherited = root.inherited;
		root.inherited = root.service;
	}
	root.service = NULL;
	root.process_known = false;
	tutti_auth_after_fork();
	tutti_join_after_fork();
	tutti_env_after_fork();
}

static void watch_forks(void)
{
	root.fork_ok = tutti_sock_after_fork(forget_parent);
}

/* ---- Own identity ------------------------------------------------------ */

struct tutti_build tutti_build_own(void)
{
	int64_t forced = tutti_setting(TUTTI_SET_DEBUG_PROTOCOL);
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return (struct tutti_build){
		.protocol = forced ? (uint16_t)forced : TUTTI_PROTOCOL,
		.order = first ? 1 : 2,
		.word = sizeof(void *),
	};
}

const char *tutti_build_text(struct tutti_build b, char out[64])
{
	snprintf(out, 64, "protocol %d, %s-endian, %d-bit", b.protocol,
		 b.order == 1 ? "little" : "big", b.word * 8);
	return out;
}

static int process_mark(uint8_t mark[16])
{
	int err = 0;

	if (!root.process_known)
		err = tutti_random(root.process, sizeof(root.process));
	root.process_known = !err;
	memcpy(mark, root.process, 16);
	return err;
}

int tutti_process_mark(uint8_t mark[16])
{
	int err;

	pthread_once(&root.once, watch_forks);
	root_lock();
	err = process_mark(mark);
	root_unlock();
	return err;
}

/* ---- Connections ------------------------------------------------------- */

static void want_out(struct root_conn *c, bool want)
{
	if (c->want_out == want)
		return;
	c->want_out = want;
	tutti_watch_events(c->watch, EPOLLIN | (want ? EPOLLOUT : 0));
}

void root_send(struct root_conn *c, struct tutti_packet *p)
{
	if (p && tutti_link_send(&c->link, p) == EAGAIN)
		want_out(c, true);
}

static bool is_stranger(const struct root_conn *c)
{
	return c->state == CONN_HELLO || c->state == CONN_CLAIM;
}

static void become(struct root *r, struct root_conn *c, enum conn_state to)
{
	bool before = is_stranger(c);

	c->state = to;
	r->strangers += is_stranger(c) - before;
}

void root_finish(struct root_conn *c)
{
	become(root.service, c, CONN_CLOSING);
	tutti_watch_at(c->watch, tutti_now_ns() + CLOSING_NS);
	if (!c->link.head)
		shutdown(c->link.fd, SHUT_WR);
}

static void destroy(struct root *r, struct root_conn *c)
{
	if (is_stranger(c))
		r->strangers--;
	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	tutti_watch_remove(c->watch);
	tutti_link_fini(&c->link);
	tutti_sock_close(&c->link.fd);
	tutti_auth_forget(c->secret, sizeof(c->secret));
	free(c);
}

/* One line now and then, however many come. */
static void turn_away(struct root *r, struct root_conn *c, const char *why)
{
	char text[TUTTI_SOCKADDR_TEXT];
	int64_t now = tutti_now_ns();

	r->turned_away++;
	if (r->line_ns && now - r->line_ns < LINE_EVERY_NS)
		return;
	r->line_ns = now;
	tutti_info("meeting point: turned away %llu connection(s) that are "
		   "no ranks of a job here; the last, from %s, %s",
		   (unsigned long long)r->turned_away,
		   tutti_sock_text(&c->from, text), why);
	r->turned_away = 0;
}

/* ---- Greeting ---------------------------------------------------------- */

/* The secret of the number'th id, from the process's key. */
static bool derive(const struct root *r, uint64_t number,
		   uint8_t secret[TUTTI_SECRET_BYTES])
{
	uint8_t n[8], mac[TUTTI_MAC_BYTES];
	const struct tutti_part part = { n, sizeof(n) };

	tutti_put64(n, number);
	if (!tutti_auth_mac(mac, r->key, sizeof(r->key), "tutti id", &part, 1))
		return false;
	memcpy(secret, mac, TUTTI_SECRET_BYTES);
	tutti_auth_forget(mac, sizeof(mac));
	return true;
}

/* The secret that a hello speaks of; false if it is none of ours. */
static bool find_secret(const struct root *r, struct root_conn *c)
{
	const uint8_t *told = c->hello + HELLO_TAG;
	uint8_t tag[TUTTI_TAG_BYTES];

	c->number = tutti_get64(c->hello + HELLO_NUMBER);
	if (c->number)
		return c->number < r->next_number &&
		       derive(r, c->number, c->secret) &&
		       tutti_auth_tag(tag, c->secret) &&
		       !memcmp(tag, told, sizeof(tag));
	for (const struct root_entry *e = r->entries; e; e = e->next) {
		if (e->number || !tutti_auth_tag(tag, e->secret) ||
		    memcmp(tag, told, sizeof(tag)))
			continue;
		memcpy(c->secret, e->secret, sizeof(c->secret));
		return true;
	}
	return false;
}

static bool send_challenge(struct root_conn *c, bool known)
{
	struct tutti_build own = tutti_build_own();
	uint8_t *p = c->challenge;
	struct tutti_packet *packet;

	memcpy(p + CHALLENGE_MAGIC, TUTTI_MAGIC, TUTTI_MAGIC_BYTES);
	tutti_put_build(p + CHALLENGE_BUILD, &own);
	tutti_put16(p + CHALLENGE_VERDICT,
		    known ? VERDICT_GO_ON : VERDICT_WRONG_JOB);
	if (known && (tutti_random(p + CHALLENGE_NONCE, TUTTI_NONCE_BYTES) ||
		      !tutti_auth_root(p + CHALLENGE_MAC, c->secret, c->hello,
				       p)))
		return false;
	packet = tutti_packet_raw(p, CHALLENGE_BYTES);
	if (!packet)
		return false;
	root_send(c, packet);
	tutti_packet_drop(packet);
	return true;
}

/* False: close the connection. */
static bool on_hello(struct root *r, struct root_conn *c)
{
	bool known;

	memcpy(c->hello, c->link.rx, HELLO_BYTES);
	if (memcmp(c->hello, TUTTI_MAGIC, TUTTI_MAGIC_BYTES)) {
		turn_away(r, c, "did not greet as a rank does");
		return false;
	}
	known = find_secret(r, c);
	if (!known)
		turn_away(r, c, "belongs to another job");
	if (!send_challenge(c, known))
		return false;
	if (known) {
		become(r, c, CONN_CLAIM);
		tutti_link_expect(&c->link, CLAIM_BYTES);
	} else {
		root_finish(c);
	}
	return true;
}

static bool on_claim(struct root *r, struct root_conn *c)
{
	const uint8_t *p = c->link.rx;
	uint8_t mac[TUTTI_MAC_BYTES];
	struct root_claim claim;

	if (!tutti_auth_rank(mac, c->secret, c->hello, c->challenge, p) ||
	    !tutti_auth_equal(mac, p + CLAIM_MAC, sizeof(mac))) {
		turn_away(r, c, "could not prove that it has the secret");
		return false;
	}
	claim.build = tutti_get_build(c->hello + HELLO_BUILD);
	claim.rank = (int64_t)tutti_get64(p + CLAIM_RANK);
	claim.nranks = (int64_t)tutti_get64(p + CLAIM_NRANKS);
	claim.pid = (int64_t)tutti_get64(p + CLAIM_PID);
	claim.generation = tutti_get32(p + CLAIM_GENERATION);
	claim.left_ms = tutti_get32(p + CLAIM_LEFT_MS);
	memcpy(claim.process, p + CLAIM_PROCESS, sizeof(claim.process));
	tutti_escape(claim.host, sizeof(claim.host),
		     (const char *)p + CLAIM_HOST, CLAIM_HOST_BYTES);
	become(r, c, CONN_MEMBER);
	tutti_watch_at(c->watch, 0);
	tutti_link_expect(&c->link, FRAME_BYTES);
	session_admit(r, c, &claim);
	return true;
}

static bool on_frame(struct root *r, struct root_conn *c)
{
	const uint8_t *p = c->link.rx;
	size_t len = tutti_get32(p + FRAME_LENGTH);

	if (len > GATHER_HEAD + GATHER_MAX)
		return false;
	if (len && c->link.rx_need == FRAME_BYTES) {
		tutti_link_extend(&c->link, FRAME_BYTES + len);
		return true;
	}
	tutti_link_expect(&c->link, FRAME_BYTES);
	return session_frame(r, c, tutti_get16(p + FRAME_TYPE),
			     tutti_get64(p + FRAME_SEQ), p + FRAME_BYTES, len);
}

/* The awaited bytes are there.  False: close the connection. */
static bool on_message(struct root *r, struct root_conn *c)
{
	switch (c->state) {
	case CONN_HELLO:
		return on_hello(r, c);
	case CONN_CLAIM:
		return on_claim(r, c);
	case CONN_MEMBER:
		return on_frame(r, c);
	case CONN_CLOSING:
		/* Read and ignored, so that closing does not destroy what
		 * the peer has still to read. */
		tutti_link_expect(&c->link, FRAME_BYTES);
		return true;
	}
	return false;
}

static void end_conn(struct root *r, struct root_conn *c, int err)
{
	if (is_stranger(c) && err)
		turn_away(r, c, err == ETIMEDOUT ?
			  "did not finish its greeting in time" :
			  "hung up before it had greeted");
	if (c->session)
		session_ended(r, c, err);
	destroy(r, c);
}

/* 0: there may be more to read; else why not. */
static int read_turns(struct root *r, struct root_conn *c)
{
	int err = 0;

	for (int i = 0; i < TURNS && !err; i++) {
		err = tutti_link_read(&c->link);
		if (!err && !on_message(r, c))
			err = EPROTO;
	}
	return err;
}

static void on_conn(void *arg, uint32_t events)
{
	struct root *r = root_lock();
	struct root_conn *c = arg;
	enum conn_state before = c->state;
	int err = EAGAIN;

	if (events & EPOLLOUT && !tutti_link_flush(&c->link)) {
		want_out(c, false);
		if (c->state == CONN_CLOSING)
			shutdown(c->link.fd, SHUT_WR);
	}
	/* Also when time is up: this thread may be the one that is late. */
	if (events != EPOLLOUT)
		err = read_turns(r, c);
	if (!events && err == EAGAIN && c->state == before &&
	    before != CONN_MEMBER)
		err = ETIMEDOUT;
	if (err && err != EAGAIN)
		end_conn(r, c, err);
	root_unlock();
}

static void greet(struct root *r, int fd, const union tutti_sockaddr *from)
{
	struct root_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		tutti_sock_close(&fd);
		return;
	}
	tutti_sock_tune(fd);
	tutti_link_init(&c->link, fd);
	tutti_link_expect(&c->link, HELLO_BYTES);
	c->state = CONN_HELLO;
	c->from = *from;
	c->since_ns = tutti_now_ns();
	if (tutti_watch_add(&c->watch, fd, EPOLLIN, on_conn, c)) {
		tutti_sock_close(&c->link.fd);
		free(c);
		return;
	}
	tutti_watch_at(c->watch, c->since_ns + GREETING_NS);
	c->next = r->conns;
	c->prev = &r->conns;
	if (c->next)
		c->next->prev = &c->next;
	r->conns = c;
	r->strangers++;
}

/* Make room.  A rank that is dropped this way comes again by itself, but who
 * came just now is likely to be one and gets his time. */
static bool drop_oldest_stranger(struct root *r)
{
	struct root_conn *oldest = NULL;

	for (struct root_conn *c = r->conns; c; c = c->next)
		if (is_stranger(c))
			oldest = c;
	if (!oldest || tutti_now_ns() - oldest->since_ns < PATIENCE_NS)
		return false;
	destroy(r, oldest);
	return true;
}

/* ---- Listening --------------------------------------------------------- */

static void no_descriptors(struct root *r, struct root_listener *l, int err)
{
	struct rlimit limit = { 0 };
	char why[256], reason[64];

	if (drop_oldest_stranger(r))
		return;
	tutti_watch_events(l->watch, 0);
	tutti_watch_at(l->watch, tutti_now_ns() + PAUSE_NS);
	if (r->strangers)
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(why, sizeof(why), "the meeting point (pid %d on host %s) "
		 "cannot take another connection: %s; its limit is %llu open "
		 "files (ulimit -n)", (int)getpid(), tutti_host_name(),
		 strerror_r(err, reason, sizeof(reason)),
		 (unsigned long long)limit.rlim_cur);
	session_fail_waiting(r, tuttiSystemError, why);
}

static void on_listener(void *arg, uint32_t events)
{
	struct root *r = root_lock();
	struct root_listener *l = arg;
	union tutti_sockaddr from;

	if (!events)
		tutti_watch_events(l->watch, EPOLLIN);
	for (int i = 0; events && i < TURNS; i++) {
		int fd = tutti_sock_accept(l->fd, &from);

		if (fd >= 0) {
			greet(r, fd, &from);
			if (r->strangers > STRANGERS_MAX)
				drop_oldest_stranger(r);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			no_descriptors(r, l, errno);
		/* Errors of the one connection are reported by accept too:
		 * whatever is left shows up in the next turn. */
		break;
	}
	root_unlock();
}

/* A listening socket of both families, or of IPv4 where there is no other. */
static int listen_at(uint16_t port, int *err)
{
	const int families[] = { AF_INET6, AF_INET };
	int fd = -1;

	for (size_t i = 0; i < tutti_countof(families); i++) {
		union tutti_sockaddr any = { .sa.sa_family =
					     (sa_family_t)families[i] };
		const int zero = 0;

		if (families[i] == AF_INET6)
			any.in6.sin6_port = htons(port);
		else
			any.in.sin_port = htons(port);
		fd = tutti_sock_open(families[i]);
		if (fd < 0) {
			*err = errno;
			continue;
		}
		if (families[i] == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero,
				   sizeof(zero));
		if (!bind(fd, &any.sa, tutti_sock_len(&any)) &&
		    !listen(fd, BACKLOG))
			return fd;
		*err = errno;
		tutti_sock_close(&fd);
		if (*err == EADDRINUSE)
			break;
	}
	return -1;
}

static uint16_t port_of(int fd)
{
	union tutti_sockaddr a;
	socklen_t len = sizeof(a);

	memset(&a, 0, sizeof(a));
	getsockname(fd, &a.sa, &len);
	return ntohs(a.sa.sa_family == AF_INET6 ? a.in6.sin6_port :
						  a.in.sin_port);
}

/* Listen at `port`, 0: any.  *err is EADDRINUSE if another has it. */
static tuttiResult_t add_listener(struct root *r, uint16_t port,
				  struct root_listener **out, int *err)
{
	struct root_listener *l = calloc(1, sizeof(*l));
	tuttiResult_t rc;

	*err = ENOMEM;
	if (!l)
		return tutti_fail(tuttiSystemError, "out of memory");
	l->fd = listen_at(port, err);
	if (l->fd < 0) {
		free(l);
		return tutti_fail_errno(
			*err, "cannot listen at port %d for other ranks%s",
			port, port ? " (another job may use it: TUTTI_PORT)" :
				     "");
	}
	l->port = port_of(l->fd);
	rc = tutti_watch_add(&l->watch, l->fd, EPOLLIN, on_listener, l);
	if (rc) {
		tutti_sock_close(&l->fd);
		free(l);
		return rc;
	}
	l->next = r->listeners;
	r->listeners = l;
	*out = l;
	return tuttiSuccess;
}

/* ---- The service ------------------------------------------------------- */

/* Called with the lock. */
static tuttiResult_t service(struct root **out)
{
	struct root *r = root.service;
	int err;

	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return tutti_fail(tuttiSystemError, "out of memory");
		err = tutti_random(r->key, sizeof(r->key));
		if (!err)
			err = process_mark(r->process);
		if (err || !root.fork_ok) {
			free(r);
			return tutti_fail_errno(err ? err : ENOMEM,
						"cannot start a meeting point");
		}
		r->next_number = 1;
		root.service = r;
	}
	*out = r;
	return tuttiSuccess;
}

static bool note_unused(struct root *r, uint64_t number)
{
	if (r->unused_n == r->unused_cap) {
		size_t cap = r->unused_cap ? 2 * r->unused_cap : 16;
		uint64_t *p = realloc(r->unused, cap * sizeof(*p));

		if (!p)
			return false;
		r->unused = p;
		r->unused_cap = cap;
	}
	r->unused[r->unused_n++] = number;
	return true;
}

/* Number and secret of a new id.  Called with the lock. */
static tuttiResult_t new_id(struct tutti_id *id)
{
	struct root_listener *l;
	struct root *r;
	tuttiResult_t rc;
	int err;

	rc = service(&r);
	if (rc)
		return rc;
	/* One is enough for all ids: the hello says which is meant. */
	l = r->listeners;
	if (!l) {
		rc = add_listener(r, (uint16_t)tutti_setting(TUTTI_SET_PORT),
				  &l, &err);
		if (rc)
			return rc;
	}
	if (!derive(r, r->next_number, id->secret))
		return tutti_fail(tuttiSystemError,
				  "libcrypto cannot make a secret");
	if (!note_unused(r, r->next_number))
		return tutti_fail(tuttiSystemError, "out of memory");
	id->number = r->next_number++;
	id->port = l->port;
	return tuttiSuccess;
}

tuttiResult_t tutti_boot_unique_id(tuttiUniqueId *out)
{
	char text[TUTTI_SOCKADDR_TEXT];
	struct tutti_id id = { 0 };
	union tutti_sockaddr first;
	tuttiResult_t rc;

	if (!out)
		return tutti_fail(tuttiInvalidArgument,
				  "no place for the unique id: the pointer is "
				  "NULL");
	rc = tutti_address_own(id.addr, TUTTI_ID_ADDRS, &id.count);
	if (rc)
		return rc;
	id.protocol = tutti_build_own().protocol;
	tutti_address_host_mark(id.host);
	pthread_once(&root.once, watch_forks);
	root_lock();
	rc = new_id(&id);
	root_unlock();
	if (!rc)
		rc = tutti_id_pack(out, &id);
	if (!rc) {
		tutti_address_fill(&first, &id.addr[0], id.port);
		tutti_info("meeting point at %s, the best of %zu address(es) "
			   "of this host's interfaces%s",
			   tutti_sock_text(&first, text), id.count,
			   tutti_address_loopback(&id.addr[0]) ?
			   "; only ranks on this host can reach it" : "");
	}
	tutti_auth_forget(&id, sizeof(id));
	return rc;
}

/* Find or open a listener at one of `ports`. */
static tuttiResult_t listener_of(struct root *r, const uint16_t *ports,
				 size_t n, struct root_listener **out)
{
	tuttiResult_t rc = tuttiSystemError;
	int err;

	for (size_t i = 0; i < n; i++) {
		for (*out = r->listeners; *out; *out = (*out)->next)
			if ((*out)->port == ports[i])
				return tuttiSuccess;
		rc = add_listener(r, ports[i], out, &err);
		if (!rc || err != EADDRINUSE)
			return rc;
	}
	return rc;
}

static tuttiResult_t serve(const uint8_t *secret, const uint16_t *ports,
			   size_t n, uint16_t *port)
{
	struct root_listener *l;
	struct root_entry *e;
	struct root *r;
	tuttiResult_t rc;

	rc = service(&r);
	if (rc)
		return rc;
	for (e = r->entries; e; e = e->next)
		if (!e->number && tutti_auth_equal(e->secret, secret,
						   TUTTI_SECRET_BYTES))
			break;
	if (!e) {
		rc = listener_of(r, ports, n, &l);
		if (rc)
			return rc;
		e = calloc(1, sizeof(*e));
		if (!e)
			return tutti_fail(tuttiSystemError, "out of memory");
		memcpy(e->secret, secret, TUTTI_SECRET_BYTES);
		e->port = l->port;
		e->generations = true;
		e->next = r->entries;
		r->entries = e;
	}
	*port = e->port;
	return tuttiSuccess;
}

tuttiResult_t tutti_root_serve(const uint8_t secret[TUTTI_SECRET_BYTES],
			       const uint16_t *ports, size_t n,
			       uint16_t *port)
{
	tuttiResult_t rc;

	pthread_once(&root.once, watch_forks);
	root_lock();
	rc = serve(secret, ports, n, port);
	root_unlock();
	return rc;
}

void tutti_root_news(uint64_t serial, int rank,
		     struct tutti_packet *take_news)
{
	struct root *r = root_lock();

	if (r)
		session_news(r, serial, rank, take_news);
	tutti_packet_drop(take_news);
	root_unlock();
}

void tutti_root_rank_left(uint64_t serial, int rank)
{
	struct root *r = root_lock();

	if (r)
		session_rank_left(r, serial, rank);
	root_unlock();
}
