/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of the meeting point: ranks that joined, are joining, or could
 * not.  A session gathers its ranks, checks what they claim, starts them all
 * at once, and then passes on what they tell one another.
 *
 * A session that failed is remembered, so that a rank that comes later hears
 * the same sentence at once.  Of ids of one communicator the youngest few are
 * kept; an id without a session that is not unused was used before.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "boot/auth.h"
#include "boot/root_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NRANKS_MAX (1 << 20)
#define FAILED_MAX 64		/* failed sessions that are remembered */
#define QUEUE_MAX (1 << 20)	/* bytes behind which news is not queued */
#define ASKED_MAX 64		/* questions for all that are remembered */

enum member_state {
	MEMBER_ABSENT,
	MEMBER_HERE,
	MEMBER_LEFT,
	MEMBER_DEAD
};

struct member {
	struct root_conn *conn;	/* NULL unless connected */
	enum member_state state;
	bool gave;		/* to the gather in progress */
	bool in_process;	/* of the root */
	int64_t pid;
	char host[ROOT_HOST_TEXT];
};

/* One all-gather in progress. */
struct gather {
	struct tutti_packet *all;
	uint64_t seq;
	size_t bytes;
	int first, count;	/* who came first; how many have come */
	struct tutti_told broken; /* code 0: sound */
};

enum session_state { SESSION_WAITING, SESSION_RUNNING, SESSION_FAILED };

struct root_session {
	struct root_session *next;
	struct root_entry *entry;
	enum session_state state;
	uint32_t generation;
	uint64_t serial;
	int nranks, first;	/* first: whose size it is */
	int joined;		/* ever */
	int connected;		/* with a conn */
	int gone;		/* left or dead */
	int in_process, root_rank;
	struct member *member;
	struct tutti_watch *timer;
	int64_t deadline_ns;	/* of the start, then of the gather */
	struct gather gather;
	struct tutti_told failed;
	/* Numbers of the last questions for all; and were all told that calls
	 * differ?  Many ranks find out at once. */
	uint64_t asked[ASKED_MAX];
	unsigned int nasked;
	bool differ;
};

static const char *who(const struct root_session *s, int rank,
		       char out[ROOT_HOST_TEXT + 64])
{
	snprintf(out, ROOT_HOST_TEXT + 64, "rank %d (pid %" PRId64
		 " on host %s)", rank, s->member[rank].pid,
		 s->member[rank].host);
	return out;
}

/* ---- Entries and the memory of them ------------------------------------ */

static struct root_entry *find_entry(struct root *r, struct root_conn *c)
{
	struct root_entry *e;

	for (e = r->entries; e; e = e->next)
		if (e->number == c->number &&
		    (e->number || tutti_auth_equal(e->secret, c->secret,
						   sizeof(c->secret))))
			break;
	return e;
}

/* An id's first rank has come. */
static struct root_entry *new_entry(struct root *r, struct root_conn *c)
{
	struct root_entry *e;
	size_t i;

	for (i = 0; i < r->unused_n && r->unused[i] != c->number; i++)
		;
	if (i == r->unused_n)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	r->unused[i] = r->unused[--r->unused_n];
	e->number = c->number;
	memcpy(e->secret, c->secret, sizeof(e->secret));
	e->next = r->entries;
	r->entries = e;
	return e;
}

static void free_session(struct root *r, struct root_session *s)
{
	struct root_entry *e = s->entry, **pe;
	struct root_session **p;

	for (p = &e->sessions; *p != s; p = &(*p)->next)
		;
	*p = s->next;
	tutti_watch_remove(s->timer);
	tutti_packet_drop(s->gather.all);
	free(s->member);
	free(s);
	if (e->generations || e->sessions)
		return;
	for (pe = &r->entries; *pe != e; pe = &(*pe)->next)
		;
	*pe = e->next;
	tutti_auth_forget(e->secret, sizeof(e->secret));
	free(e);
}

/* Forget the oldest failed sessions. */
static void forget_failed(struct root *r)
{
	for (;;) {
		struct root_session *oldest = NULL;
		int count = 0;

		for (struct root_entry *e = r->entries; e; e = e->next)
			for (struct root_session *s = e->sessions; s;
			     s = s->next) {
				if (s->state != SESSION_FAILED)
					continue;
				count++;
				if (!oldest || s->serial < oldest->serial)
					oldest = s;
			}
		if (count <= FAILED_MAX)
			return;
		free_session(r, oldest);
	}
}

/* Send to all who are connected; to those in this process last, because once
 * they know they may end it. */
static void send_all(struct root_session *s, struct tutti_packet *p)
{
	for (int here = 0; here < 2; here++)
		for (int i = 0; i < s->nranks; i++)
			if (s->member[i].conn && s->member[i].in_process == here)
				root_send(s->member[i].conn, p);
}

/* ---- Failure before the start ------------------------------------------ */

static void refuse(struct root_conn *c, tuttiResult_t code, const char *text)
{
	struct tutti_packet *p;

	p = tutti_packet_failed(FRAME_REFUSED, 0, code, text);
	root_send(c, p);
	tutti_packet_drop(p);
	root_finish(c);
}

/* Tell all who are here, and remember it for those who come. */
static void fail_start(struct root *r, struct root_session *s,
		       tuttiResult_t code, const char *text)
{
	s->state = SESSION_FAILED;
	s->failed.code = code;
	snprintf(s->failed.text, sizeof(s->failed.text), "%s", text);
	for (int i = 0; i < s->nranks; i++) {
		struct root_conn *c = s->member[i].conn;

		if (!c)
			continue;
		refuse(c, code, text);
		c->session = NULL;
		s->member[i].conn = NULL;
	}
	s->connected = 0;
	tutti_watch_at(s->timer, 0);
	forget_failed(r);
}

static bool absent(const void *arg, int i)
{
	const struct root_session *s = arg;

	return s->member[i].state == MEMBER_ABSENT;
}

static void start_timeout(struct root *r, struct root_session *s)
{
	char list[256], text[TUTTI_TEXT_BYTES];

	tutti_ranks_fold(list, sizeof(list), s->nranks, absent, s);
	snprintf(text, sizeof(text), "%d of %d ranks did not join in time "
		 "(TUTTI_INIT_TIMEOUT); missing: %s; were they started, and "
		 "can they reach the meeting point on host %s?",
		 s->nranks - s->joined, s->nranks, list, tutti_host_name());
	fail_start(r, s, tuttiTimeout, text);
}

void session_fail_waiting(struct root *r, tuttiResult_t code, const char *why)
{
	char text[TUTTI_TEXT_BYTES];

	for (struct root_entry *e = r->entries; e; e = e->next)
		for (struct root_session *s = e->sessions; s; s = s->next) {
			if (s->state != SESSION_WAITING)
				continue;
			snprintf(text, sizeof(text), "%s; %d of %d ranks had "
				 "joined", why, s->joined, s->nranks);
			/* Frees failed sessions, so begin again. */
			fail_start(r, s, code, text);
			session_fail_waiting(r, code, why);
			return;
		}
}

/* ---- All-gather -------------------------------------------------------- */

static void gather_reset(struct root_session *s)
{
	tutti_packet_drop(s->gather.all);
	s->gather.all = NULL;
	s->gather.count = 0;
	for (int i = 0; i < s->nranks; i++)
		s->member[i].gave = false;
	s->deadline_ns = 0;
	tutti_watch_at(s->timer, 0);
}

/* No gather of this session can succeed any more. */
static void gather_break(struct root_session *s, tuttiResult_t code,
			 const char *text)
{
	struct tutti_packet *p;

	s->gather.broken.code = code;
	snprintf(s->gather.broken.text, sizeof(s->gather.broken.text), "%s",
		 text);
	p = tutti_packet_failed(FRAME_GATHER_FAILED, s->gather.seq, code,
				text);
	for (int i = 0; i < s->nranks; i++)
		if (s->member[i].gave && s->member[i].conn)
			root_send(s->member[i].conn, p);
	tutti_packet_drop(p);
	gather_reset(s);
}

static bool not_given(const void *arg, int i)
{
	const struct root_session *s = arg;

	return !s->member[i].gave;
}

static void gather_timeout(struct root_session *s)
{
	char list[256], text[TUTTI_TEXT_BYTES];

	tutti_ranks_fold(list, sizeof(list), s->nranks, not_given, s);
	snprintf(text, sizeof(text), "the exchange of addresses timed out: "
		 "%d of %d ranks did not take part: %s",
		 s->nranks - s->gather.count, s->nranks, list);
	gather_break(s, tuttiTimeout, text);
}

/* A member that went and has not given will not. */
static void gather_lost(struct root_session *s, int rank)
{
	char name[ROOT_HOST_TEXT + 64], text[TUTTI_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s %s before the exchange of addresses",
		 who(s, rank, name), s->member[rank].state == MEMBER_LEFT ?
		 "left" : "died");
	gather_break(s, tuttiRemoteError, text);
}

/* Begin with the first rank's bytes.  False if it is broken at once. */
static bool gather_begin(struct root_session *s, int rank, uint64_t seq,
			 size_t bytes)
{
	size_t all = bytes * (size_t)s->nranks;

	s->gather.seq = seq;
	s->gather.bytes = bytes;
	s->gather.first = rank;
	for (int i = 0; s->gone && i < s->nranks; i++) {
		if (s->member[i].state != MEMBER_HERE) {
			gather_lost(s, i);
			return false;
		}
	}
	s->gather.all = all > UINT32_MAX ? NULL :
		tutti_packet_frame(FRAME_GATHERED, seq, all);
	if (s->gather.all)
		return true;
	gather_break(s, tuttiSystemError, "the meeting point has no memory "
		     "for an exchange this large");
	return false;
}

static bool gather_fits(struct root_session *s, int rank, uint64_t seq,
			size_t bytes)
{
	char a[ROOT_HOST_TEXT + 64], b[ROOT_HOST_TEXT + 64];
	char text[TUTTI_TEXT_BYTES];

	if (seq == s->gather.seq && bytes == s->gather.bytes)
		return true;
	snprintf(text, sizeof(text), "ranks do not agree about an exchange: "
		 "%s gives %zu bytes to number %" PRIu64 ", %s %zu to number "
		 "%" PRIu64, who(s, s->gather.first, a), s->gather.bytes,
		 s->gather.seq, who(s, rank, b), bytes, seq);
	gather_break(s, tuttiInvalidUsage, text);
	return false;
}

static void gather_done(struct root_session *s)
{
	send_all(s, s->gather.all);
	gather_reset(s);
}

static void gather_tell_broken(struct root_session *s, struct root_conn *c,
			       uint64_t seq)
{
	struct tutti_packet *p;

	p = tutti_packet_failed(FRAME_GATHER_FAILED, seq,
				s->gather.broken.code, s->gather.broken.text);
	root_send(c, p);
	tutti_packet_drop(p);
}

static int64_t sooner(int64_t deadline_ns, uint32_t left_ms)
{
	int64_t mine = tutti_now_ns() + left_ms * TUTTI_MS;

	return !deadline_ns || mine < deadline_ns ? mine : deadline_ns;
}

static bool on_gather(struct root_session *s, struct root_conn *c,
		      uint64_t seq, const uint8_t *data, size_t len)
{
	struct member *m = &s->member[c->rank];
	size_t bytes = len - GATHER_HEAD;

	if (len < GATHER_HEAD || m->gave)
		return false;
	if (!s->gather.broken.code && !s->gather.count)
		gather_begin(s, c->rank, seq, bytes);
	else if (!s->gather.broken.code)
		gather_fits(s, c->rank, seq, bytes);
	if (s->gather.broken.code) {
		gather_tell_broken(s, c, seq);
		return true;
	}
	memcpy(s->gather.all->data + FRAME_BYTES + bytes * (size_t)c->rank,
	       data + GATHER_HEAD, bytes);
	m->gave = true;
	if (++s->gather.count == s->nranks) {
		gather_done(s);
		return true;
	}
	s->deadline_ns = sooner(s->deadline_ns,
				tutti_get32(data + GATHER_LEFT_MS));
	tutti_watch_at(s->timer, s->deadline_ns);
	return true;
}

/* ---- News -------------------------------------------------------------- */

static void send_to(struct root_session *s, int rank, struct tutti_packet *p)
{
	struct root_conn *c = s->member[rank].conn;

	/* Who does not read for that long is not told everything. */
	if (c && s->member[rank].state == MEMBER_HERE &&
	    c->link.queued < QUEUE_MAX)
		root_send(c, p);
}

static void spread(struct root_session *s, int but, struct tutti_packet *p)
{
	for (int i = 0; p && i < s->nranks; i++)
		if (i != but)
			send_to(s, i, p);
}

static bool asked_before(struct root_session *s, uint64_t seq)
{
	unsigned int n = s->nasked < ASKED_MAX ? s->nasked : ASKED_MAX;

	for (unsigned int i = 0; i < n; i++)
		if (s->asked[i] == seq)
			return true;
	s->asked[s->nasked++ % ASKED_MAX] = seq;
	return false;
}

/* All know already: a rank keeps its first error. */
static bool told_before(struct root_session *s, int32_t code)
{
	bool before = s->differ;

	if (code != tuttiInvalidUsage)
		return false;
	s->differ = true;
	return before;
}

/* A rank's news go to all others, or to the one they are for. */
static void pass_on(struct root_session *s, int from, struct tutti_packet *p)
{
	const uint8_t *data = p->data + FRAME_BYTES;
	uint32_t kind = tutti_get32(data + NEWS_KIND);
	int32_t code = (int32_t)tutti_get32(data + NEWS_CODE);

	if (kind == TUTTI_NEWS_ASK && code != TUTTI_NEWS_ALL) {
		if (code >= 0 && code < s->nranks)
			send_to(s, code, p);
		return;
	}
	if (kind == TUTTI_NEWS_ASK &&
	    asked_before(s, tutti_get64(p->data + FRAME_SEQ)))
		return;
	if (kind != TUTTI_NEWS_ERROR || !told_before(s, code))
		spread(s, from, p);
}

static void spread_death(struct root_session *s, int rank, int err)
{
	char name[ROOT_HOST_TEXT + 64], text[256], reason[64];
	struct tutti_packet *p;
	size_t len;

	len = (size_t)snprintf(
		text, sizeof(text),
		"%s ended without leaving the communicator (%s)",
		who(s, rank, name), err == ENODATA ? "connection closed" :
		strerror_r(err, reason, sizeof(reason)));
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	p = tutti_packet_frame(FRAME_NEWS, 0, NEWS_BYTES + len);
	if (!p)
		return;
	tutti_put32(p->data + FRAME_BYTES + NEWS_KIND, TUTTI_NEWS_DEATH);
	tutti_put32(p->data + FRAME_BYTES + NEWS_RANK, (uint32_t)rank);
	tutti_put32(p->data + FRAME_BYTES + NEWS_CODE, tuttiRemoteError);
	memcpy(p->data + FRAME_BYTES + NEWS_BYTES, text, len);
	spread(s, rank, p);
	tutti_packet_drop(p);
}

static bool on_news(struct root_session *s, struct root_conn *c, uint64_t seq,
		    const uint8_t *data, size_t len)
{
	struct tutti_packet *p;
	uint32_t about;

	if (len < NEWS_BYTES || len > NEWS_BYTES + TUTTI_TEXT_BYTES ||
	    tutti_get32(data + NEWS_KIND) >= TUTTI_NEWS_ROOT_LOST)
		return false;
	about = tutti_get32(data + NEWS_RANK);
	p = tutti_packet_frame(FRAME_NEWS, seq, len);
	if (!p)
		return true;
	memcpy(p->data + FRAME_BYTES, data, len);
	if (about >= (uint32_t)s->nranks)
		tutti_put32(p->data + FRAME_BYTES + NEWS_RANK,
			    (uint32_t)c->rank);
	pass_on(s, c->rank, p);
	tutti_packet_drop(p);
	return true;
}

/* ---- Members go -------------------------------------------------------- */

static void member_gone(struct root_session *s, int rank,
			enum member_state how)
{
	struct member *m = &s->member[rank];
	struct tutti_packet *p;

	if (m->state != MEMBER_HERE)
		return;
	m->state = how;
	s->gone++;
	if (m->in_process && --s->in_process == 0 && how == MEMBER_LEFT) {
		p = tutti_packet_frame(FRAME_LEFT, 0, 0);
		spread(s, rank, p);
		tutti_packet_drop(p);
	}
	if (s->gather.count && !m->gave)
		gather_lost(s, rank);
}

static struct root_session *find_running(struct root *r, uint64_t serial)
{
	for (struct root_entry *e = r->entries; e; e = e->next)
		for (struct root_session *s = e->sessions; s; s = s->next)
			if (s->serial == serial &&
			    s->state == SESSION_RUNNING)
				return s;
	return NULL;
}

void session_news(struct root *r, uint64_t serial, int rank,
		  struct tutti_packet *news)
{
	struct root_session *s = find_running(r, serial);

	if (s)
		pass_on(s, rank, news);
}

void session_rank_left(struct root *r, uint64_t serial, int rank)
{
	struct root_session *s = find_running(r, serial);

	if (s)
		member_gone(s, rank, MEMBER_LEFT);
}

void session_ended(struct root *r, struct root_conn *c, int err)
{
	char name[ROOT_HOST_TEXT + 64], text[TUTTI_TEXT_BYTES];
	struct root_session *s = c->session;
	struct member *m = &s->member[c->rank];

	c->session = NULL;
	m->conn = NULL;
	s->connected--;
	if (s->state == SESSION_WAITING) {
		snprintf(text, sizeof(text), "%s ended before all %d ranks "
			 "had joined", who(s, c->rank, name), s->nranks);
		fail_start(r, s, tuttiRemoteError, text);
		return;
	}
	if (m->state == MEMBER_HERE) {
		member_gone(s, c->rank, MEMBER_DEAD);
		spread_death(s, c->rank, err);
	}
	if (!s->connected)
		free_session(r, s);
}

bool session_frame(struct root *r, struct root_conn *c,
		   enum tutti_frame type, uint64_t seq, const uint8_t *data,
		   size_t len)
{
	struct root_session *s = c->session;

	if (!s || s->state != SESSION_RUNNING)
		return false;
	switch (type) {
	case FRAME_GATHER:
		return on_gather(s, c, seq, data, len);
	case FRAME_NEWS:
		return on_news(s, c, seq, data, len);
	case FRAME_GOODBYE:
		member_gone(s, c->rank, MEMBER_LEFT);
		return false;
	default:
		return false;
	}
}

/* ---- Members come ------------------------------------------------------ */

static void start_all(struct root *r, struct root_session *s)
{
	struct tutti_packet *packet;
	uint8_t *p;

	packet = tutti_packet_frame(FRAME_START, 0, START_BYTES);
	if (!packet || tutti_random(packet->data + FRAME_BYTES + START_NONCE,
				    TUTTI_NONCE_BYTES)) {
		tutti_packet_drop(packet);
		fail_start(r, s, tuttiSystemError, "the meeting point is out "
			   "of memory or random bytes");
		return;
	}
	p = packet->data + FRAME_BYTES;
	tutti_put64(p + START_SERIAL, s->serial);
	tutti_put32(p + START_ROOT_RANK, (uint32_t)s->root_rank);
	s->state = SESSION_RUNNING;
	s->deadline_ns = 0;
	tutti_watch_at(s->timer, 0);
	send_all(s, packet);
	tutti_packet_drop(packet);
}

static void on_timer(void *arg, uint32_t events)
{
	struct root *r = root_lock();
	struct root_session *s = arg;

	(void)events;
	/* It may have been put off while this call waited for the lock. */
	if (s->deadline_ns && tutti_now_ns() >= s->deadline_ns) {
		if (s->state == SESSION_WAITING)
			start_timeout(r, s);
		else if (s->state == SESSION_RUNNING && s->gather.count)
			gather_timeout(s);
	}
	root_unlock();
}

static struct root_session *new_session(struct root *r, struct root_entry *e,
					const struct root_claim *claim)
{
	struct root_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->nranks = claim->nranks < 1 || claim->nranks > NRANKS_MAX ?
		1 : (int)claim->nranks;
	s->member = calloc((size_t)s->nranks, sizeof(*s->member));
	if (!s->member || tutti_watch_add(&s->timer, -1, 0, on_timer, s)) {
		free(s->member);
		free(s);
		return NULL;
	}
	s->entry = e;
	s->first = -1;
	s->root_rank = -1;
	s->generation = claim->generation;
	s->serial = ++r->serial;
	s->next = e->sessions;
	e->sessions = s;
	return s;
}

/* The claimant, for a sentence about a breach. */
static const char *claimant(const struct root_claim *claim,
			    char out[ROOT_HOST_TEXT + 96])
{
	snprintf(out, ROOT_HOST_TEXT + 96, "rank %" PRId64 " (pid %" PRId64
		 " on host %s)", claim->rank, claim->pid, claim->host);
	return out;
}

/* What is wrong with a claim; false if nothing is. */
static bool breach(const struct root_session *s,
		   const struct root_claim *claim, char *text, size_t cap)
{
	char a[ROOT_HOST_TEXT + 96], b[ROOT_HOST_TEXT + 64];
	char mine[64], theirs[64];
	struct tutti_build own = tutti_build_own();

	claimant(claim, a);
	if (memcmp(&claim->build, &own, sizeof(own))) {
		snprintf(text, cap, "%s has %s, the meeting point (pid %d on "
			 "host %s) has %s: use one build of the library on "
			 "all ranks", a, tutti_build_text(claim->build, theirs),
			 (int)getpid(), tutti_host_name(),
			 tutti_build_text(own, mine));
	} else if (claim->nranks < 1 || claim->nranks > NRANKS_MAX ||
		   claim->rank < 0 || claim->rank >= claim->nranks) {
		snprintf(text, cap, "%s says that there are %" PRId64
			 " ranks: ranks are 0 to size - 1, and at most %d", a,
			 claim->nranks, NRANKS_MAX);
	} else if (s->first >= 0 && claim->nranks != s->nranks) {
		snprintf(text, cap, "ranks do not agree about the size: %s "
			 "says %d, %s says %" PRId64, who(s, s->first, b),
			 s->nranks, a, claim->nranks);
	} else if (s->member[claim->rank].state != MEMBER_ABSENT) {
		snprintf(text, cap, "two processes claim rank %" PRId64
			 " of %d: pid %" PRId64 " on host %s and pid %" PRId64
			 " on host %s", claim->rank, s->nranks,
			 s->member[claim->rank].pid,
			 s->member[claim->rank].host, claim->pid, claim->host);
	} else {
		return false;
	}
	return true;
}

static void enrol(struct root *r, struct root_session *s, struct root_conn *c,
		  const struct root_claim *claim)
{
	struct member *m = &s->member[claim->rank];
	struct tutti_packet *p;

	c->session = s;
	c->rank = (int)claim->rank;
	m->conn = c;
	m->state = MEMBER_HERE;
	m->pid = claim->pid;
	memcpy(m->host, claim->host, sizeof(m->host));
	m->in_process = !memcmp(claim->process, r->process,
				sizeof(r->process));
	s->in_process += m->in_process;
	if (m->in_process && (s->root_rank < 0 || c->rank < s->root_rank))
		s->root_rank = c->rank;
	if (s->first < 0)
		s->first = c->rank;
	s->joined++;
	s->connected++;
	p = tutti_packet_frame(FRAME_ACCEPTED, 0, ACCEPTED_BYTES);
	if (p)
		tutti_put32(p->data + FRAME_BYTES + ACCEPTED_HERE,
			    m->in_process);
	root_send(c, p);
	tutti_packet_drop(p);
	s->deadline_ns = sooner(s->deadline_ns, claim->left_ms);
	tutti_watch_at(s->timer, s->deadline_ns);
	if (s->joined == s->nranks)
		start_all(r, s);
}

/* The session that a claim is for; NULL: refused. */
static struct root_session *find_session(struct root *r, struct root_conn *c,
					 const struct root_claim *claim)
{
	struct root_entry *e = find_entry(r, c);
	bool fresh = !e;
	struct root_session *s = NULL;

	if (!e)
		e = new_entry(r, c);
	if (fresh && e)
		e->generations = claim->generation > 0;
	if (!e || e->generations != (claim->generation > 0)) {
		refuse(c, tuttiInvalidUsage, "this unique id was used before: "
		       "an id serves one communicator, once; call "
		       "tuttiGetUniqueId for each");
		return NULL;
	}
	for (s = e->sessions; s; s = s->next)
		if (s->generation == claim->generation)
			break;
	if (!s && e->generations && claim->generation <= e->generation_max) {
		refuse(c, tuttiInvalidUsage, "this rank comes to a "
		       "communicator of the job that is over: all ranks must "
		       "call tuttiCommInitEnv equally often");
		return NULL;
	}
	if (!s) {
		s = new_session(r, e, claim);
		if (!s)
			refuse(c, tuttiSystemError, "the meeting point is out "
			       "of memory");
		else
			e->generation_max = claim->generation;
	}
	return s;
}

void session_admit(struct root *r, struct root_conn *c,
		   const struct root_claim *claim)
{
	struct root_session *s = find_session(r, c, claim);
	char text[TUTTI_TEXT_BYTES];

	if (!s)
		return;
	if (s->state == SESSION_RUNNING) {
		refuse(c, tuttiInvalidUsage, "this unique id is in use: its "
		       "communicator has all its ranks; call tuttiGetUniqueId "
		       "for another");
	} else if (s->state == SESSION_FAILED) {
		refuse(c, s->failed.code, s->failed.text);
	} else if (breach(s, claim, text, sizeof(text))) {
		fail_start(r, s, tuttiInvalidUsage, text);
		refuse(c, tuttiInvalidUsage, text);
	} else {
		enrol(r, s, c, claim);
	}
}
