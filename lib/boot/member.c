/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that has joined: its control connection, read in the helper thread,
 * until it leaves.
 *
 * One lock per rank guards everything; it is never held while a handler of
 * the caller runs.  Whoever sends does so at once and without waiting; what
 * the socket does not take goes on in the helper thread.  After leaving, the
 * object is the helper thread's, which sees the goodbye through and frees it,
 * after 2 s at most.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"
#include "boot/link.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define KEPT_MAX 256		/* news until somebody listens */
#define QUEUE_MAX (256 << 10)	/* bytes behind which nothing is told */
#define GRACE_NS (2000 * TUTTI_MS)
#define GOODBYE_NS (2000 * TUTTI_MS)
#define TURNS 64

struct kept_news {
	struct kept_news *next;
	struct tutti_news news;
};

struct tutti_boot {
	/* Constant after creation. */
	int nranks, rank;
	pid_t pid;		/* a forked child must not touch the rest */
	bool here;		/* the root is in this process */
	uint64_t serial;
	int root_rank;
	uint8_t secret[TUTTI_SECRET_BYTES];
	union tutti_sockaddr address;
	char root_at[TUTTI_SOCKADDR_TEXT];
	struct tutti_watch *watch; /* NULL: alone */

	pthread_mutex_t lock;
	pthread_cond_t changed;	/* the gather or a handler ended */
	/* Under the lock. */
	int users;		/* the owner and handlers that run */
	struct tutti_link link;
	bool want_out;
	bool lost;
	bool root_left;		/* in order */
	int64_t left_ns;	/* when the goodbye is given up; 0: not left */
	bool delivering;	/* a handler runs, in `helper` */
	pthread_t helper;
	struct kept_news *kept, **kept_tail;
	int kept_count;
	tutti_news_fn fn;
	void *arg;
	uint64_t seq;		/* of the next gather */
	bool gathering, gathered;
	void *recv;
	size_t recv_bytes;
	struct tutti_told failed; /* of the gather; code 0: it succeeded */
};

/* ---- Life -------------------------------------------------------------- */

static struct tutti_boot *alloc(int nranks, int rank)
{
	struct tutti_boot *b = calloc(1, sizeof(*b));
	pthread_condattr_t attr;

	if (!b)
		return NULL;
	b->nranks = nranks;
	b->rank = rank;
	b->pid = getpid();
	b->users = 1;
	b->root_rank = -1;
	b->kept_tail = &b->kept;
	b->seq = (uint64_t)tutti_setting(TUTTI_SET_DEBUG_SEQ_START);
	tutti_link_init(&b->link, -1);
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &attr);
	pthread_condattr_destroy(&attr);
	return b;
}

/* One user less.  Called with the lock, which it gives up. */
static void drop(struct tutti_boot *b)
{
	bool last = --b->users == 0;

	pthread_mutex_unlock(&b->lock);
	if (!last)
		return;
	while (b->kept) {
		struct kept_news *k = b->kept;

		b->kept = k->next;
		free(k);
	}
	tutti_link_fini(&b->link);
	tutti_sock_close(&b->link.fd);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	tutti_auth_forget(b->secret, sizeof(b->secret));
	free(b);
}

/* ---- Sending ----------------------------------------------------------- */

/* Called with the lock.  An error is seen by whoever reads. */
static void send_packet(struct tutti_boot *b, struct tutti_packet *p)
{
	if (!p || b->lost || b->link.fd < 0)
		return;
	if (tutti_link_send(&b->link, p) == EAGAIN && !b->want_out) {
		b->want_out = true;
		tutti_watch_events(b->watch, EPOLLIN | EPOLLOUT);
	}
}

/* ---- News -------------------------------------------------------------- */

/* Called with the lock. */
static void keep(struct tutti_boot *b, const struct tutti_news *news)
{
	struct kept_news *k;

	/* The first is the cause; what follows a flood of it may go. */
	if (b->kept_count >= KEPT_MAX)
		return;
	k = malloc(sizeof(*k));
	if (!k)
		return;
	k->next = NULL;
	k->news = *news;
	*b->kept_tail = k;
	b->kept_tail = &k->next;
	b->kept_count++;
}

/* Hand over what is kept.  In the helper thread, with the lock, which is
 * given up while the handler runs. */
static void deliver(struct tutti_boot *b)
{
	while (b->fn && b->kept) {
		struct kept_news *k = b->kept;
		tutti_news_fn fn = b->fn;
		void *arg = b->arg;

		b->kept = k->next;
		if (!b->kept)
			b->kept_tail = &b->kept;
		b->kept_count--;
		b->delivering = true;
		b->helper = pthread_self();
		pthread_mutex_unlock(&b->lock);
		fn(arg, &k->news);
		free(k);
		pthread_mutex_lock(&b->lock);
		b->delivering = false;
		pthread_cond_broadcast(&b->changed);
	}
}

static void on_news(struct tutti_boot *b, uint64_t seq, const uint8_t *p,
		    size_t len)
{
	struct tutti_news news = { .seq = seq };

	if (len < NEWS_BYTES)
		return;
	news.kind = (enum tutti_news_kind)tutti_get32(p + NEWS_KIND);
	news.rank = (int32_t)tutti_get32(p + NEWS_RANK);
	news.code = (int32_t)tutti_get32(p + NEWS_CODE);
	tutti_escape(news.text, sizeof(news.text),
		     (const char *)p + NEWS_BYTES, len - NEWS_BYTES);
	if (news.kind < TUTTI_NEWS_ROOT_LOST && news.rank >= 0 &&
	    news.rank < b->nranks)
		keep(b, &news);
}

/* ---- Reading ----------------------------------------------------------- */

/* The gather ended, well or not; the first end holds, since the caller may
 * not have looked at it yet. */
static void gather_ends(struct tutti_boot *b, int32_t code, const char *text,
			size_t len)
{
	if (!b->gathering || b->gathered)
		return;
	if (code < tuttiSuccess || code >= tuttiNumResults)
		code = tuttiInternalError;
	b->failed.code = (tuttiResult_t)code;
	snprintf(b->failed.text, sizeof(b->failed.text), "%.*s", (int)len,
		 text);
	b->gathered = true;
	pthread_cond_broadcast(&b->changed);
}

static void on_gathered(struct tutti_boot *b, uint64_t seq, const uint8_t *p,
			size_t len)
{
	static const char text[] = "the meeting point sent a wrong number of "
				   "bytes";

	/* An answer that came after its deadline belongs to nobody. */
	if (!b->gathering || b->gathered || seq != b->seq)
		return;
	if (len != b->recv_bytes) {
		gather_ends(b, tuttiInternalError, text, sizeof(text) - 1);
		return;
	}
	if (len)
		memcpy(b->recv, p, len);
	gather_ends(b, tuttiSuccess, "", 0);
}

static void on_frame(struct tutti_boot *b, const uint8_t *p, size_t len)
{
	const uint8_t *body = p + FRAME_BYTES;
	uint64_t seq = tutti_get64(p + FRAME_SEQ);

	switch (tutti_get16(p + FRAME_TYPE)) {
	case FRAME_GATHERED:
		on_gathered(b, seq, body, len);
		break;
	case FRAME_GATHER_FAILED:
		if (len >= FAILED_BYTES && seq == b->seq)
			gather_ends(b, (int32_t)tutti_get32(body + FAILED_CODE),
				    (const char *)body + FAILED_BYTES,
				    len - FAILED_BYTES);
		break;
	case FRAME_NEWS:
		on_news(b, seq, body, len);
		break;
	case FRAME_LEFT:
		b->root_left = true;
		break;
	default:
		break;	/* of a younger build; it would say if it mattered */
	}
}

/* The connection ended.  ONESHOT: an end of file stays ready for ever. */
static void on_lost(struct tutti_boot *b, int err)
{
	struct tutti_news news = {
		.kind = TUTTI_NEWS_ROOT_LOST,
		.rank = b->root_rank,
		.code = b->root_left ? tuttiSuccess : tuttiRemoteError,
	};
	char reason[64], rank[32] = "";

	b->lost = true;
	if (b->root_rank >= 0)
		snprintf(rank, sizeof(rank), " in rank %d's process",
			 b->root_rank);
	snprintf(news.text, sizeof(news.text), "the meeting point%s (%s) %s "
		 "(%s)", rank, b->root_at,
		 b->root_left ? "ended after its ranks had left" : "is gone",
		 err == ENODATA ? "connection closed" :
		 strerror_r(err, reason, sizeof(reason)));
	keep(b, &news);
	gather_ends(b, tuttiRemoteError, news.text, strlen(news.text));
	tutti_watch_events(b->watch, EPOLLONESHOT);
}

/* With the lock. */
static void read_all(struct tutti_boot *b)
{
	struct tutti_link *l = &b->link;
	/* The longest answer is that of a gather: all ranks' bytes. */
	uint64_t most = (uint64_t)b->nranks * GATHER_MAX + TUTTI_TEXT_BYTES;

	for (int i = 0; i < TURNS; i++) {
		int err = tutti_link_read(l);
		size_t len;

		if (!err) {
			len = tutti_get32(l->rx + FRAME_LENGTH);
			if (len > most) {
				err = EPROTO;
			} else if (len && l->rx_need == FRAME_BYTES) {
				tutti_link_extend(l, FRAME_BYTES + len);
			} else {
				on_frame(b, l->rx, len);
				tutti_link_expect(l, FRAME_BYTES);
			}
		}
		if (err == EAGAIN)
			return;
		if (err) {
			on_lost(b, err);
			return;
		}
	}
}

/* After leaving: send what is left, then read until the root hangs up, since
 * a socket closed with unread bytes would destroy the goodbye on its way.
 * True: that is over. */
static bool see_off(struct tutti_boot *b, uint32_t events)
{
	char waste[512];
	ssize_t n;
	int err = 0;

	if (events & EPOLLOUT) {
		err = tutti_link_flush(&b->link);
		if (!err) {
			shutdown(b->link.fd, SHUT_WR);
			tutti_watch_events(b->watch, EPOLLIN);
		}
	}
	if (b->lost || (err && err != EAGAIN) ||
	    tutti_now_ns() >= b->left_ns)
		return true;
	do {
		n = recv(b->link.fd, waste, sizeof(waste), MSG_DONTWAIT);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

static void on_event(void *arg, uint32_t events)
{
	struct tutti_boot *b = arg;

	pthread_mutex_lock(&b->lock);
	if (b->left_ns) {
		if (see_off(b, events)) {
			tutti_watch_remove(b->watch);
			drop(b);
		} else {
			pthread_mutex_unlock(&b->lock);
		}
		return;
	}
	b->users++;
	if (events & EPOLLOUT && !b->lost && !tutti_link_flush(&b->link)) {
		b->want_out = false;
		tutti_watch_events(b->watch, EPOLLIN);
	}
	if (events & ~(uint32_t)EPOLLOUT && !b->lost)
		read_all(b);
	deliver(b);
	drop(b);
}

/* ---- Creation ---------------------------------------------------------- */

tuttiResult_t tutti_member_create(struct tutti_boot **out,
				  const struct tutti_member_start *s)
{
	struct tutti_boot *b = alloc(s->nranks, s->rank);
	tuttiResult_t rc;

	if (!b)
		return tutti_fail(tuttiSystemError, "out of memory");
	b->here = s->here;
	b->serial = s->serial;
	b->root_rank = s->root_rank;
	b->address = s->address;
	memcpy(b->secret, s->secret, sizeof(b->secret));
	memcpy(b->root_at, s->root_at, sizeof(b->root_at));
	b->link.fd = s->fd;
	tutti_link_expect(&b->link, FRAME_BYTES);
	/* Under the lock, so that the handler finds b->watch. */
	pthread_mutex_lock(&b->lock);
	rc = tutti_watch_add(&b->watch, s->fd, EPOLLIN, on_event, b);
	if (rc) {
		b->link.fd = -1;	/* stays the caller's */
		drop(b);
		return rc;
	}
	pthread_mutex_unlock(&b->lock);
	*out = b;
	return tuttiSuccess;
}

tuttiResult_t tutti_boot_solo(struct tutti_boot **out)
{
	struct tutti_boot *b = alloc(1, 0);
	struct tutti_addr own[TUTTI_ID_ADDRS];
	tuttiResult_t rc;
	size_t n;
	int err;

	if (!b)
		return tutti_fail(tuttiSystemError, "out of memory");
	err = tutti_random(b->secret, sizeof(b->secret));
	if (err) {
		pthread_mutex_lock(&b->lock);
		drop(b);
		return tutti_fail_errno(err, "cannot get random bytes");
	}
	/* Nobody needs the address, but wrong settings are wrong here too. */
	b->address.in.sin_family = AF_INET;
	b->address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	rc = tutti_address_own(own, TUTTI_ID_ADDRS, &n);
	if (!rc)
		tutti_address_fill(&b->address, &own[0], 0);
	if (rc == tuttiInvalidUsage) {
		pthread_mutex_lock(&b->lock);
		drop(b);
		return rc;
	}
	*out = b;
	return tuttiSuccess;
}

/* ---- The door ---------------------------------------------------------- */

static void send_gather(struct tutti_boot *b, const void *send, size_t bytes,
			int64_t deadline_ns)
{
	int64_t left = (deadline_ns - tutti_now_ns()) / TUTTI_MS;
	struct tutti_packet *p;

	p = tutti_packet_frame(FRAME_GATHER, b->seq, GATHER_HEAD + bytes);
	if (!p) {
		static const char text[] = "out of memory";

		gather_ends(b, tuttiSystemError, text, sizeof(text) - 1);
		return;
	}
	tutti_put32(p->data + FRAME_BYTES + GATHER_LEFT_MS,
		    left < 1 ? 1 : left > INT32_MAX ? INT32_MAX :
		    (uint32_t)left);
	if (bytes)
		memcpy(p->data + FRAME_BYTES + GATHER_HEAD, send, bytes);
	send_packet(b, p);
	tutti_packet_drop(p);
}

/* Wait, with the lock, for the answer. */
static tuttiResult_t await_gather(struct tutti_boot *b, int64_t deadline_ns)
{
	int64_t until_ns = deadline_ns + GRACE_NS;
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};
	int err = 0;

	while (!b->gathered && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&b->changed, &b->lock, &until);
	if (!b->gathered)
		return tutti_fail(tuttiTimeout, "rank %d: the exchange of "
				  "addresses timed out, and the meeting point "
				  "at %s does not say who is late", b->rank,
				  b->root_at);
	if (b->failed.code)
		return tutti_fail(b->failed.code, "rank %d: %s", b->rank,
				  b->failed.text);
	return tuttiSuccess;
}

tuttiResult_t tutti_boot_allgather(struct tutti_boot *b, const void *send,
				   void *recv, size_t bytes,
				   int64_t deadline_ns)
{
	tuttiResult_t rc;

	if (bytes > GATHER_MAX)
		return tutti_fail(tuttiInternalError, "an exchange of %zu "
				  "bytes per rank; at most %d", bytes,
				  GATHER_MAX);
	if (b->nranks == 1) {
		if (bytes)
			memmove(recv, send, bytes);
		return tuttiSuccess;
	}
	pthread_mutex_lock(&b->lock);
	assert(!b->gathering);
	b->gathering = true;
	b->gathered = false;
	b->recv = recv;
	b->recv_bytes = bytes * (size_t)b->nranks;
	if (b->lost) {
		static const char text[] = "the meeting point is gone";

		gather_ends(b, tuttiRemoteError, text, sizeof(text) - 1);
	} else {
		send_gather(b, send, bytes, deadline_ns);
	}
	rc = await_gather(b, deadline_ns);
	b->gathering = false;
	b->seq++;
	pthread_mutex_unlock(&b->lock);
	return rc;
}

tuttiResult_t tutti_boot_listen(struct tutti_boot *b, tutti_news_fn fn,
				void *arg)
{
	pthread_mutex_lock(&b->lock);
	b->fn = fn;
	b->arg = arg;
	if (b->kept && b->watch)
		tutti_watch_at(b->watch, tutti_now_ns());
	pthread_mutex_unlock(&b->lock);
	return tuttiSuccess;
}

void tutti_boot_tell(struct tutti_boot *b, const struct tutti_news *news)
{
	size_t len = strnlen(news->text, sizeof(news->text) - 1);
	struct tutti_packet *p;

	if (!b->watch || b->pid != getpid())
		return;
	p = tutti_packet_frame(FRAME_NEWS, news->seq, NEWS_BYTES + len);
	if (!p)
		return;
	tutti_put32(p->data + FRAME_BYTES + NEWS_KIND, news->kind);
	tutti_put32(p->data + FRAME_BYTES + NEWS_RANK, (uint32_t)news->rank);
	tutti_put32(p->data + FRAME_BYTES + NEWS_CODE, (uint32_t)news->code);
	memcpy(p->data + FRAME_BYTES + NEWS_BYTES, news->text, len);
	tutti_log(TUTTI_LOG_TRACE, "tells news of kind %d, number %llu: %s",
		  (int)news->kind, (unsigned long long)news->seq, news->text);
	if (b->here) {
		tutti_root_news(b->serial, b->rank, p);
		return;
	}
	pthread_mutex_lock(&b->lock);
	if (b->link.queued < QUEUE_MAX)
		send_packet(b, p);
	tutti_packet_drop(p);
	pthread_mutex_unlock(&b->lock);
}

tuttiResult_t tutti_boot_address(const struct tutti_boot *b, void *sockaddr28)
{
	_Static_assert(sizeof(b->address) == 28, "as the door says");
	memcpy(sockaddr28, &b->address, 28);
	return tuttiSuccess;
}

const uint8_t *tutti_boot_secret(const struct tutti_boot *b)
{
	return b->secret;
}

/* ---- Leaving ----------------------------------------------------------- */

void tutti_boot_leave(struct tutti_boot *b)
{
	struct tutti_packet *p;
	bool over;

	/* In a forked child everything belongs to the parent. */
	if (!b || b->pid != getpid())
		return;
	pthread_mutex_lock(&b->lock);
	b->fn = NULL;
	p = b->watch ? tutti_packet_frame(FRAME_GOODBYE, 0, 0) : NULL;
	send_packet(b, p);
	tutti_packet_drop(p);
	pthread_mutex_unlock(&b->lock);
	if (b->here)
		tutti_root_rank_left(b->serial, b->rank);
	pthread_mutex_lock(&b->lock);
	while (b->delivering && !pthread_equal(b->helper, pthread_self()))
		pthread_cond_wait(&b->changed, &b->lock);
	over = b->lost || !b->watch;
	if (!over) {
		if (!b->link.head)
			shutdown(b->link.fd, SHUT_WR);
		b->left_ns = tutti_now_ns() + GOODBYE_NS;
		tutti_watch_at(b->watch, b->left_ns);
	}
	pthread_mutex_unlock(&b->lock);
	if (!over)
		return;
	tutti_watch_remove(b->watch);
	pthread_mutex_lock(&b->lock);
	drop(b);
}
