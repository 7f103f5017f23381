/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's way into a communicator: dial the meeting point at each of its
 * addresses in turn, prove to each other that both know the secret, claim a
 * rank, wait for the others.  Runs in the caller's thread; every step ends by
 * the deadline.
 *
 * Whatever breaks before the rank is accepted is tried again until the
 * deadline, because the meeting point drops who is slow without counting him.
 * The first addresses are those of the id in its order; loopback comes last,
 * and only if the id was made on this very host, because the address of this
 * connection is the one that other hosts are told.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIAL_NS (1000 * TUTTI_MS)	/* doubled each round, up to 3 times */
#define GREETING_NS (5000 * TUTTI_MS)	/* likewise */
#define REFUSED_NS (3000 * TUTTI_MS)	/* of refusals until it is gone */
#define GRACE_NS (2000 * TUTTI_MS)	/* for the root to say who is late */
#define REPORT_NS (2000 * TUTTI_MS)	/* to tell it about a bad claim */
#define PAUSE_NS (20 * TUTTI_MS)
#define PAUSE_MAX_NS (500 * TUTTI_MS)
#define STOP_LOOK_NS (20 * TUTTI_MS)
#define USED_MAX 64

/* Why a target did not do; errno values are above these. */
enum { WHY_NOTHING = 0, WHY_WRONG_JOB = -1, WHY_STRANGE = -2 };

struct attempt {
	const struct tutti_target *to;
	struct tutti_boot **out;
	int nranks, rank;
	int64_t begin_ns, deadline_ns;
	bool (*stopped)(void *arg);	/* NULL: never */
	void *stop_arg;
	struct tutti_addr own[TUTTI_ID_ADDRS];	/* if TUTTI_IFNAME is set */
	size_t own_count;
	int why[TUTTI_TARGETS];
	/* of the connection at hand */
	int fd;
	size_t at;
	bool strange_build;
	bool accepted, here;	/* here: the root is in this process */
	uint8_t hello[HELLO_BYTES], challenge[CHALLENGE_BYTES];
	tuttiResult_t rc;	/* once it is final */
};

/* ---- Ids that were used by this process -------------------------------- */

/* Their meeting point may be gone; this answers without it. */
static struct {
	pthread_mutex_t lock;
	uint8_t tag[USED_MAX][TUTTI_TAG_BYTES];
	unsigned int count;
} used = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void remember_used(const uint8_t *secret)
{
	uint8_t tag[TUTTI_TAG_BYTES];

	if (!tutti_auth_tag(tag, secret))
		return;
	pthread_mutex_lock(&used.lock);
	memcpy(used.tag[used.count++ % USED_MAX], tag, sizeof(tag));
	pthread_mutex_unlock(&used.lock);
}

static bool was_used(const uint8_t *secret)
{
	uint8_t tag[TUTTI_TAG_BYTES];
	bool found = false;

	if (!tutti_auth_tag(tag, secret))
		return false;
	pthread_mutex_lock(&used.lock);
	for (unsigned int i = 0; i < tutti_min(used.count, USED_MAX); i++)
		found |= !memcmp(used.tag[i], tag, sizeof(tag));
	pthread_mutex_unlock(&used.lock);
	return found;
}

void tutti_join_after_fork(void)
{
	pthread_mutex_init(&used.lock, NULL);
}

/* ---- Targets ----------------------------------------------------------- */

static void add(struct tutti_target *to, const union tutti_sockaddr *a)
{
	for (size_t i = 0; i < to->count; i++)
		if (!memcmp(&to->at[i], a, sizeof(*a)))
			return;
	if (to->count < TUTTI_TARGETS)
		to->at[to->count++] = *a;
}

/* A link-local address says nothing about the link: try each of ours, also
 * one whose own address is still being made. */
static void add_on_links(struct tutti_target *to, union tutti_sockaddr a)
{
	struct tutti_ifaddr *all;
	size_t n;

	if (tutti_address_list(&all, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!(all[i].flags & IFF_UP) || all[i].flags & IFF_LOOPBACK)
			continue;
		a.in6.sin6_scope_id = all[i].index;
		add(to, &a);
	}
	free(all);
}

void tutti_target_add(struct tutti_target *to, const struct tutti_addr *a,
		      const uint16_t *ports, size_t n)
{
	union tutti_sockaddr sa;

	for (size_t i = 0; i < n; i++) {
		tutti_address_fill(&sa, a, ports[i]);
		if (a->family == 6 && tutti_address_link_local(a))
			add_on_links(to, sa);
		else
			add(to, &sa);
	}
}

tuttiResult_t tutti_target_from_id(struct tutti_target *to,
				   const struct tutti_id *id)
{
	static const struct tutti_addr loopback[] = {
		{ 4, { 127, 0, 0, 1 } },
		{ 6, { [15] = 1 } },
	};
	bool same_host = tutti_address_same_host(id->host);

	memset(to, 0, sizeof(*to));
	memcpy(to->secret, id->secret, sizeof(to->secret));
	to->number = id->number;
	for (size_t i = 0; i < id->count; i++)
		if (same_host || !tutti_address_loopback(&id->addr[i]))
			tutti_target_add(to, &id->addr[i], &id->port, 1);
	for (size_t i = 0; same_host && i < tutti_countof(loopback); i++)
		tutti_target_add(to, &loopback[i], &id->port, 1);
	if (!to->count && !tutti_address_loopback(&id->addr[0]))
		return tutti_fail(tuttiRemoteError,
				  "the meeting point has only link-local "
				  "addresses, and no network interface of "
				  "host %s is up", tutti_host_name());
	if (!to->count)
		return tutti_fail(tuttiRemoteError,
				  "the meeting point can be reached on its "
				  "own host only, and this is %s: the process "
				  "that made the unique id found no network "
				  "interface but the loopback one (see "
				  "TUTTI_IFNAME)", tutti_host_name());
	return tuttiSuccess;
}

/* ---- One connection ---------------------------------------------------- */

static int64_t limit(const struct attempt *a, int64_t ns)
{
	return tutti_min(a->deadline_ns, tutti_now_ns() + ns);
}

static int dial(struct attempt *a, int round)
{
	const union tutti_sockaddr *to = &a->to->at[a->at];
	int err;

	a->fd = tutti_sock_open(to->sa.sa_family);
	if (a->fd < 0)
		return errno;
	tutti_sock_tune(a->fd);
	err = tutti_sock_dial(a->fd, to);
	if (!err)
		err = tutti_poll_fd(a->fd, POLLOUT,
				    limit(a, DIAL_NS << tutti_min(round, 3)));
	return err ? err : tutti_sock_dialled(a->fd);
}

static bool make_hello(struct attempt *a)
{
	struct tutti_build own = tutti_build_own();
	uint8_t *p = a->hello;

	memset(p, 0, HELLO_BYTES);
	memcpy(p + HELLO_MAGIC, TUTTI_MAGIC, TUTTI_MAGIC_BYTES);
	tutti_put_build(p + HELLO_BUILD, &own);
	tutti_put64(p + HELLO_NUMBER, a->to->number);
	return tutti_auth_tag(p + HELLO_TAG, a->to->secret) &&
	       !tutti_random(p + HELLO_NONCE, TUTTI_NONCE_BYTES);
}

static bool make_claim(const struct attempt *a, uint8_t *p)
{
	int64_t left = (a->deadline_ns - tutti_now_ns()) / TUTTI_MS;
	const char *host = tutti_host_name();

	memset(p, 0, CLAIM_BYTES);
	tutti_put64(p + CLAIM_RANK, (uint64_t)(int64_t)a->rank);
	tutti_put64(p + CLAIM_NRANKS, (uint64_t)(int64_t)a->nranks);
	tutti_put32(p + CLAIM_LEFT_MS,
		    (uint32_t)tutti_max(1, tutti_min(left, INT32_MAX)));
	tutti_put32(p + CLAIM_GENERATION, a->to->generation);
	tutti_put64(p + CLAIM_PID, (uint64_t)getpid());
	memcpy(p + CLAIM_HOST, host, strnlen(host, CLAIM_HOST_BYTES));
	return !tutti_process_mark(p + CLAIM_PROCESS) &&
	       tutti_auth_rank(p + CLAIM_MAC, a->to->secret, a->hello,
			       a->challenge, p);
}

/* Is it the meeting point that we look for?  Its answer to the hello. */
static int check_challenge(struct attempt *a)
{
	const uint8_t *p = a->challenge;
	struct tutti_build own = tutti_build_own(), theirs;
	uint8_t mac[TUTTI_MAC_BYTES];

	if (memcmp(p + CHALLENGE_MAGIC, TUTTI_MAGIC, TUTTI_MAGIC_BYTES))
		return WHY_STRANGE;
	if (tutti_get16(p + CHALLENGE_VERDICT) != VERDICT_GO_ON ||
	    !tutti_auth_root(mac, a->to->secret, a->hello, p) ||
	    !tutti_auth_equal(mac, p + CHALLENGE_MAC, sizeof(mac)))
		return WHY_WRONG_JOB;
	theirs = tutti_get_build(p + CHALLENGE_BUILD);
	a->strange_build = memcmp(&own, &theirs, sizeof(own)) != 0;
	return WHY_NOTHING;
}

/* Up to and with the claim. */
static int greet(struct attempt *a, int round)
{
	int64_t until = limit(a, GREETING_NS << tutti_min(round, 3));
	uint8_t claim[CLAIM_BYTES];
	int err;

	if (!make_hello(a))
		return ENOMEM;
	err = tutti_write_full(a->fd, a->hello, HELLO_BYTES, until);
	if (!err)
		err = tutti_read_full(a->fd, a->challenge, CHALLENGE_BYTES,
				      until);
	if (!err)
		err = check_challenge(a);
	if (!err && !make_claim(a, claim))
		err = ENOMEM;
	if (!err)
		err = tutti_write_full(a->fd, claim, CLAIM_BYTES, until);
	return err;
}

/* ---- The start --------------------------------------------------------- */

static bool in_list(const struct tutti_addr *list, size_t n,
		    const union tutti_sockaddr *a)
{
	for (size_t i = 0; i < n; i++)
		if (a->sa.sa_family == AF_INET ?
		    list[i].family == 4 &&
		    !memcmp(list[i].bytes, &a->in.sin_addr, 4) :
		    list[i].family == 6 &&
		    !memcmp(list[i].bytes, &a->in6.sin6_addr, 16))
			return true;
	return false;
}

static bool is_loopback(const union tutti_sockaddr *a)
{
	struct tutti_addr plain = { .family = 6 };

	if (a->sa.sa_family == AF_INET) {
		plain.family = 4;
		memcpy(plain.bytes, &a->in.sin_addr, 4);
	} else {
		memcpy(plain.bytes, &a->in6.sin6_addr, 16);
	}
	return tutti_address_loopback(&plain);
}

/* The address that other ranks are told: that of the connection, unless the
 * user named another interface or it is good for this host only. */
static int own_address(struct attempt *a, union tutti_sockaddr *out)
{
	socklen_t len = sizeof(*out);
	size_t i;

	memset(out, 0, sizeof(*out));
	if (getsockname(a->fd, &out->sa, &len))
		return errno;
	tutti_sock_unmap(out);
	out->in.sin_port = 0;	/* at the same place in both families */
	if (!a->own_count && !is_loopback(out))
		return 0;
	if (!a->own_count &&
	    tutti_address_own(a->own, TUTTI_ID_ADDRS, &a->own_count))
		return 0;
	if (!a->own_count || in_list(a->own, a->own_count, out))
		return 0;
	for (i = 0; i < a->own_count; i++)
		if ((a->own[i].family == 4) == (out->sa.sa_family == AF_INET))
			break;
	tutti_address_fill(out, &a->own[i < a->own_count ? i : 0], 0);
	return 0;
}

static tuttiResult_t start(struct attempt *a, const uint8_t *p)
{
	struct tutti_member_start s = {
		.fd = a->fd,
		.nranks = a->nranks,
		.rank = a->rank,
		.serial = tutti_get64(p + START_SERIAL),
		.root_rank = (int32_t)tutti_get32(p + START_ROOT_RANK),
		.here = a->here,
	};
	tuttiResult_t rc;
	int err;

	if (!tutti_auth_session(s.secret, a->to->secret, p + START_NONCE))
		return tutti_fail(tuttiSystemError, "libcrypto cannot make "
				  "the communicator's secret");
	err = own_address(a, &s.address);
	if (err)
		return tutti_fail_errno(err, "rank %d: cannot tell its own "
					"address", a->rank);
	tutti_sock_text(&a->to->at[a->at], s.root_at);
	rc = tutti_member_create(a->out, &s);
	tutti_auth_forget(s.secret, sizeof(s.secret));
	if (!rc)
		a->fd = -1;
	return rc;
}

static tuttiResult_t refused(const struct attempt *a, const uint8_t *p,
			     size_t len)
{
	int32_t code = (int32_t)tutti_get32(p + FAILED_CODE);

	if (code <= tuttiSuccess || code >= tuttiNumResults)
		code = tuttiInternalError;
	return tutti_fail((tuttiResult_t)code, "rank %d could not join: %.*s",
			  a->rank, (int)(len - FAILED_BYTES),
			  (const char *)p + FAILED_BYTES);
}

static bool is_stopped(const struct attempt *a)
{
	return a->stopped && a->stopped(a->stop_arg);
}

/* Until something can be read. */
static int await_bytes(const struct attempt *a, int64_t until)
{
	int err = ETIMEDOUT;

	while (err == ETIMEDOUT && tutti_now_ns() < until) {
		if (is_stopped(a))
			return ECANCELED;
		err = tutti_poll_fd(a->fd, POLLIN,
				    tutti_min(until, tutti_now_ns() +
						     STOP_LOOK_NS));
	}
	return err;
}

/* Read frames until the start.  0: a->rc is final; else why this connection
 * is of no use.  The root has proven itself, so it is waited for: a second
 * claim beside a first one that it has yet to read would be one too many. */
static int await_start(struct attempt *a)
{
	int64_t until = a->deadline_ns + GRACE_NS;
	uint8_t head[FRAME_BYTES], body[FAILED_BYTES + TUTTI_TEXT_BYTES];

	for (;;) {
		size_t len;
		int type, err = 0;

		if (a->stopped)
			err = await_bytes(a, until);
		if (!err)
			err = tutti_read_full(a->fd, head, sizeof(head),
					      until);
		if (err)
			return err;
		type = tutti_get16(head + FRAME_TYPE);
		len = tutti_get32(head + FRAME_LENGTH);
		if (len > sizeof(body))
			return WHY_STRANGE;
		err = tutti_read_full(a->fd, body, len, until);
		if (err)
			return err;
		if (type == FRAME_ACCEPTED && len == ACCEPTED_BYTES) {
			a->accepted = true;
			a->here = tutti_get32(body + ACCEPTED_HERE) == 1;
		} else if (type == FRAME_START && len == START_BYTES) {
			a->rc = start(a, body);
			return 0;
		} else if (type == FRAME_REFUSED && len >= FAILED_BYTES) {
			a->rc = refused(a, body, len);
			return 0;
		} else {
			return WHY_STRANGE;
		}
	}
}

static const char *why_text(int why, char *out, size_t cap)
{
	if (why == WHY_WRONG_JOB)
		return "serves another job";
	if (why == WHY_STRANGE)
		return "is no meeting point";
	if (why == ETIMEDOUT)
		return "no answer";
	return strerror_r(why, out, cap);
}

/* Connection lost after this rank was accepted, or builds that differ. */
static tuttiResult_t lost(const struct attempt *a, int why)
{
	char at[TUTTI_SOCKADDR_TEXT], reason[64], mine[64], theirs[64];

	tutti_sock_text(&a->to->at[a->at], at);
	if (a->strange_build && !a->accepted)
		return tutti_fail(
			tuttiInvalidUsage, "rank %d has %s, the meeting point "
			"at %s has %s: use one build of the library on all "
			"ranks", a->rank,
			tutti_build_text(tutti_build_own(), mine), at,
			tutti_build_text(tutti_get_build(a->challenge +
							 CHALLENGE_BUILD),
					 theirs));
	if (why == ETIMEDOUT)
		return tutti_fail(tuttiTimeout, "rank %d of %d: not all ranks "
				  "joined in time (TUTTI_INIT_TIMEOUT), and "
				  "the meeting point at %s does not say which "
				  "are missing", a->rank, a->nranks, at);
	return tutti_fail(tuttiRemoteError, "rank %d of %d: the meeting point "
			  "at %s was lost before all ranks had joined: %s",
			  a->rank, a->nranks, at,
			  why_text(why, reason, sizeof(reason)));
}

static tuttiResult_t stopped_join(const struct attempt *a)
{
	return tutti_fail(tuttiRemoteError, "rank %d of %d gave up joining, "
			  "since another rank cannot join", a->rank,
			  a->nranks);
}

/* True: a->rc is final.  False: try the next one. */
static bool try_one(struct attempt *a, int round)
{
	int why;

	a->accepted = a->here = false;
	a->strange_build = false;
	why = dial(a, round);
	if (!why)
		why = greet(a, round);
	if (!why)
		why = await_start(a);
	a->why[a->at] = why;
	if (why == ECANCELED)
		a->rc = stopped_join(a);
	else if (why && (a->accepted || a->strange_build))
		a->rc = lost(a, why);
	else if (why == EMFILE || why == ENFILE)
		a->rc = tutti_fail_errno(why, "rank %d cannot open a socket "
					 "(limit of open files: ulimit -n)",
					 a->rank);
	else if (why == ENOMEM)
		a->rc = tutti_fail_errno(why, "rank %d cannot greet the "
					 "meeting point", a->rank);
	else if (why)
		a->rc = tuttiInProgress;
	tutti_sock_close(&a->fd);
	return a->rc != tuttiInProgress;
}

/* ---- All rounds -------------------------------------------------------- */

static size_t count_why(const struct attempt *a, int why)
{
	size_t n = 0;

	for (size_t i = 0; i < a->to->count; i++)
		n += a->why[i] == why;
	return n;
}

static tuttiResult_t give_up(const struct attempt *a, tuttiResult_t rc,
			     const char *what)
{
	double s = (double)(tutti_now_ns() - a->begin_ns) / 1e9;
	char list[512] = "";
	size_t used_bytes = 0;

	for (size_t i = 0; i < a->to->count && used_bytes < sizeof(list);
	     i++) {
		char at[TUTTI_SOCKADDR_TEXT], reason[64];

		if (!a->why[i])
			continue;
		used_bytes += (size_t)snprintf(
			list + used_bytes, sizeof(list) - used_bytes,
			"%s%s (%s)", used_bytes ? ", " : "",
			tutti_sock_text(&a->to->at[i], at),
			why_text(a->why[i], reason, sizeof(reason)));
	}
	return tutti_fail(rc, "rank %d of %d could not reach the meeting "
			  "point after %.1f s; tried: %s; %s%s%s", a->rank,
			  a->nranks, s, list, what, a->to->note ? "; " : "",
			  a->to->note ? a->to->note : "");
}

static void rest(int64_t until_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		continue;
}

/* After a round in which no target did: is there hope? */
static bool hopeless(struct attempt *a, int64_t *refused_ns)
{
	int64_t now = tutti_now_ns();

	if (count_why(a, WHY_WRONG_JOB) + count_why(a, WHY_STRANGE) ==
	    a->to->count) {
		a->rc = give_up(a, tuttiInvalidUsage, "this rank belongs to "
				"another job");
		return true;
	}
	if (now >= a->deadline_ns) {
		a->rc = give_up(a, tuttiTimeout, a->to->patient ?
				"has rank 0 started, and may this host "
				"connect to it?" :
				"does the process that made the unique id "
				"live, and may this host connect to it?");
		return true;
	}
	if (a->to->patient ||
	    count_why(a, ECONNREFUSED) + count_why(a, WHY_WRONG_JOB) +
	    count_why(a, WHY_STRANGE) < a->to->count)
		*refused_ns = now;
	if (now - *refused_ns < REFUSED_NS)
		return false;
	a->rc = give_up(a, tuttiRemoteError, "the process that made the "
			"unique id has ended");
	return true;
}

static tuttiResult_t join_unless(struct tutti_boot **out,
				 const struct tutti_target *to, int nranks,
				 int rank, int64_t deadline_ns,
				 bool (*stopped)(void *arg), void *arg)
{
	struct attempt a = {
		.to = to,
		.out = out,
		.nranks = nranks,
		.rank = rank,
		.begin_ns = tutti_now_ns(),
		.deadline_ns = deadline_ns,
		.stopped = stopped,
		.stop_arg = arg,
		.fd = -1,
		.rc = tuttiInProgress,
	};
	int64_t pause = PAUSE_NS, refused_ns = a.begin_ns;

	/* Wrong names of interfaces are told before anything is tried. */
	if (tutti_setting_given(TUTTI_SET_IFNAME)) {
		tuttiResult_t rc = tutti_address_own(a.own, TUTTI_ID_ADDRS,
						     &a.own_count);

		if (rc)
			return rc;
	}
	for (int round = 0;; round++) {
		for (a.at = 0; a.at < to->count; a.at++)
			if (try_one(&a, round))
				return a.rc;
		if (is_stopped(&a))
			return stopped_join(&a);
		if (hopeless(&a, &refused_ns))
			return a.rc;
		rest(tutti_min(deadline_ns, tutti_now_ns() + pause));
		pause = tutti_min(2 * pause, PAUSE_MAX_NS);
	}
}

tuttiResult_t tutti_join(struct tutti_boot **out,
			 const struct tutti_target *to, int nranks, int rank,
			 int64_t deadline_ns)
{
	return join_unless(out, to, nranks, rank, deadline_ns, NULL, NULL);
}

/* ---- The door ---------------------------------------------------------- */

/* Let the meeting point know of a claim that cannot be right, so that it can
 * tell the other ranks at once. */
static tuttiResult_t bad_claim(struct tutti_boot **out,
			       const struct tutti_target *to, int nranks,
			       int rank, int64_t deadline_ns)
{
	int64_t soon = tutti_now_ns() + REPORT_NS;

	if (!tutti_join(out, to, nranks, rank, tutti_min(deadline_ns, soon)))
		tutti_boot_leave(*out);
	if (nranks < 1)
		return tutti_fail(tuttiInvalidArgument, "a communicator of %d "
				  "ranks: the size must be at least 1",
				  nranks);
	return tutti_fail(tuttiInvalidArgument, "rank %d of %d: ranks are 0 "
			  "to %d", rank, nranks, nranks - 1);
}

tuttiResult_t tutti_boot_join(struct tutti_boot **out, const tuttiUniqueId *id,
			      int nranks, int rank, int64_t deadline_ns)
{
	return tutti_boot_join_unless(out, id, nranks, rank, deadline_ns, NULL,
				      NULL);
}

tuttiResult_t tutti_boot_join_unless(struct tutti_boot **out,
				     const tuttiUniqueId *id, int nranks,
				     int rank, int64_t deadline_ns,
				     bool (*stopped)(void *arg), void *arg)
{
	struct tutti_target to;
	struct tutti_id plain;
	struct tutti_boot *b = NULL;
	tuttiResult_t rc;

	if (!out || !id)
		return tutti_fail(tuttiInvalidArgument, "a pointer is NULL");
	rc = tutti_id_unpack(&plain, id);
	if (!rc && was_used(plain.secret))
		rc = tutti_fail(tuttiInvalidUsage, "rank %d: this unique id "
				"was used before: an id serves one "
				"communicator, once; call tuttiGetUniqueId "
				"for each", rank);
	if (!rc)
		rc = tutti_target_from_id(&to, &plain);
	if (!rc && (nranks < 1 || rank < 0 || rank >= nranks))
		rc = bad_claim(&b, &to, nranks, rank, deadline_ns);
	else if (!rc)
		rc = join_unless(&b, &to, nranks, rank, deadline_ns, stopped,
				 arg);
	if (!rc) {
		remember_used(plain.secret);
		*out = b;
	}
	tutti_auth_forget(&plain, sizeof(plain));
	tutti_auth_forget(to.secret, sizeof(to.secret));
	return rc;
}

/* ---- The caller's all-gather ------------------------------------------- */

struct offer {
	tuttiUniqueId id;
	int32_t code;		/* of rank 0: could it make the id? */
};

tuttiResult_t tutti_boot_join_user(struct tutti_boot **out, int nranks,
				   int rank, tuttiAllGatherFn fn,
				   void *context, int64_t deadline_ns)
{
	struct offer mine, *all;
	tuttiResult_t rc;
	int failed;

	if (!out || !fn)
		return tutti_fail(tuttiInvalidArgument, "a pointer is NULL");
	if (nranks < 1 || rank < 0 || rank >= nranks)
		return tutti_fail(tuttiInvalidArgument, "rank %d of %d: ranks "
				  "are 0 to size - 1", rank, nranks);
	memset(&mine, 0, sizeof(mine));
	if (rank == 0)
		mine.code = (int32_t)tutti_boot_unique_id(&mine.id);
	all = calloc((size_t)nranks, sizeof(*all));
	if (!all)
		return tutti_fail(tuttiSystemError, "out of memory");
	failed = fn(&mine, all, sizeof(mine), context);
	if (failed)
		rc = tutti_fail(tuttiRemoteError, "rank %d: the caller's "
				"all-gather failed with %d", rank, failed);
	else if (all[0].code)
		rc = rank == 0 ? (tuttiResult_t)mine.code :
			tutti_fail(tuttiRemoteError, "rank %d: rank 0 could "
				   "not open a meeting point (result %d); see "
				   "its own error", rank, (int)all[0].code);
	else
		rc = tutti_boot_join(out, &all[0].id, nranks, rank,
				     deadline_ns);
	tutti_auth_forget(all, (size_t)nranks * sizeof(*all));
	tutti_auth_forget(&mine, sizeof(mine));
	free(all);
	return rc;
}
