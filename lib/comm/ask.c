/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that differ between ranks: whose, and what each called.
 *
 * A message carries only a hash of its call, and a rank may wait for one that
 * never comes.  So who found a wrong hash, or has waited long, tells its call:
 * to all ranks, or where a pair of ranks has to agree to the other one.  Who
 * hears of it compares, in the helper thread, so it may be blocked, busy or
 * idle meanwhile; a rank that has not called yet compares when it has.  Nobody
 * answers but by failing the communicator for all.  Ranks of a node read each
 * other's boards instead.
 */
#include "config.h"

#include "base/clock.h"
#include "base/loop.h"
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long who found a wrong hash waits for the other rank to say why. */
#define ANSWER_NS 800000000
#define LOOK_NS 500000
/* What could not be compared yet is looked at again after that long. */
#define POLL_NS 100000000
#define CALL_TEXT 128

/* What `rank` called as that number. */
struct question {
	int rank;
	uint64_t seq;
	enum tutti_ask what;
	/* Of a collective: a digest of counts that all know, or 0.  Of a pair:
	 * elements that go to the other rank and come from it.  Of a range: see
	 * narrow. */
	uint64_t a, b;
	int from, to;
	char call[CALL_TEXT];
};

struct tutti_open {
	struct tutti_open *next;
	struct question q;
};

static void send(struct tuttiComm *comm, int to, const struct question *q)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ASK,
				   .rank = comm->rank, .code = to,
				   .seq = q->seq };

	snprintf(news.text, sizeof(news.text), "%d %llu %llu %d %d %s",
		 (int)q->what, (unsigned long long)q->a,
		 (unsigned long long)q->b, q->from, q->to, q->call);
	tutti_boot_tell(comm->boot, &news);
}

static bool read_question(const struct tutti_news *news, struct question *q)
{
	unsigned long long a, b;
	int what, at = 0;

	memset(q, 0, sizeof(*q));
	if (sscanf(news->text, "%d %llu %llu %d %d %n", &what, &a, &b,
		   &q->from, &q->to, &at) != 5 || !at)
		return false;
	q->rank = news->rank;
	q->seq = news->seq;
	q->what = (enum tutti_ask)what;
	q->a = a;
	q->b = b;
	snprintf(q->call, sizeof(q->call), "%.*s", CALL_TEXT - 1,
		 news->text + at);
	return true;
}

/* ---- Comparing ----------------------------------------------------------- */

/* `message`: seq is the number of a message between the two. */
static tuttiResult_t fail_differ(struct tuttiComm *comm, bool message,
				 uint64_t seq, int rank, const char *call,
				 int other, const char *other_call)
{
	return tutti_comm_fail(comm, tuttiInvalidUsage, true,
			       "calls differ: as %s %llu%s, rank %d called %s, "
			       "but rank %d called %s",
			       message ? "message" : "operation",
			       (unsigned long long)seq,
			       message ? " of this pair" : "", rank, call,
			       other, other_call);
}

/* "send of 5 float" goes with "recv of 5 float". */
static bool halves_agree(const char *a, const char *b)
{
	a = strchr(a, ' ');
	b = strchr(b, ' ');
	return a && b && !strcmp(a, b);
}

static void add(char *text, const char *fmt, uint64_t count, int rank)
{
	size_t used = strlen(text);

	snprintf(text + used, CALL_TEXT - used, fmt, (unsigned long long)count,
		 rank);
}

static int middle(int from, int to)
{
	return from + (to - from + 1) / 2;
}

/* Both know that counts from q->from to q->to - 1 differ.  Tell the other
 * rank a digest of the first half. */
static void ask_range(struct tuttiComm *comm, int to, struct question *q)
{
	q->what = TUTTI_ASK_RANGE;
	if (tutti_counts_tell(comm, to, q->seq, q->from,
			      middle(q->from, q->to), &q->a, &q->b))
		send(comm, to, q);
}

/* q->a is their digest of the first half, or the one count that is left.  The
 * range becomes half as long each time one of the two gets it. */
static void narrow(struct tuttiComm *comm, struct question *q, char *mine)
{
	int half = middle(q->from, q->to);
	uint64_t own, none;

	if (q->from < 0 || q->from >= q->to ||
	    !tutti_counts_tell(comm, q->rank, q->seq, q->from, half, &own,
			       &none))
		return;
	if (q->to - q->from == 1) {
		add(q->call, ", %llu of rank %d", q->a, q->from);
		add(mine, ", %llu of rank %d", own, q->from);
		fail_differ(comm, false, q->seq, q->rank, q->call, comm->rank,
			    mine);
		return;
	}
	if (own != q->a)
		q->to = half;
	else
		q->from = half;
	snprintf(q->call, sizeof(q->call), "%s", mine);
	ask_range(comm, q->rank, q);
}

/* Each knows what it gives to the other and what it expects from it. */
static void compare_pair(struct tuttiComm *comm, struct question *q,
			 char *mine)
{
	uint64_t to, from;

	if (!tutti_counts_tell(comm, q->rank, q->seq, 0, 0, &to, &from))
		return;
	if (q->a != from) {
		add(q->call, ", %llu to rank %d", q->a, comm->rank);
		add(mine, ", %llu from rank %d", from, q->rank);
	} else if (q->b != to) {
		add(q->call, ", %llu from rank %d", q->b, comm->rank);
		add(mine, ", %llu to rank %d", to, q->rank);
	} else {
		return;
	}
	fail_differ(comm, false, q->seq, q->rank, q->call, comm->rank, mine);
}

static void compare_collective(struct tuttiComm *comm, struct question *q)
{
	char mine[CALL_TEXT];
	uint64_t own, none;

	/* Too long ago: nothing can be said. */
	if (!tutti_board_collective(comm, comm->rank, q->seq, mine,
				    sizeof(mine)))
		return;
	if (strcmp(mine, q->call)) {
		fail_differ(comm, false, q->seq, q->rank, q->call, comm->rank,
			    mine);
	} else if (q->what == TUTTI_ASK_PAIR) {
		compare_pair(comm, q, mine);
	} else if (q->what == TUTTI_ASK_RANGE) {
		narrow(comm, q, mine);
	} else if (tutti_counts_are_common(comm, q->seq) &&
		   tutti_counts_tell(comm, q->rank, q->seq, 0, comm->ranks,
				     &own, &none) && own != q->a) {
		q->from = 0;
		q->to = comm->ranks;
		ask_range(comm, q->rank, q);
	}
}

static void compare_message(struct tuttiComm *comm, const struct question *q)
{
	char mine[CALL_TEXT];

	if (tutti_board_message(comm, q->rank, q->what == TUTTI_ASK_SENT,
				q->seq, mine, sizeof(mine)) &&
	    !halves_agree(mine, q->call))
		fail_differ(comm, true, q->seq, q->rank, q->call, comm->rank,
			    mine);
}

/* False if this rank has not called that yet. */
static bool compare(struct tuttiComm *comm, struct question *q)
{
	bool sent = q->what == TUTTI_ASK_SENT;

	if (sent || q->what == TUTTI_ASK_RECEIVED) {
		if (!tutti_board_message_begun(comm, q->rank, sent, q->seq))
			return false;
		compare_message(comm, q);
		return true;
	}
	if (!tutti_board_begun(comm, q->seq))
		return false;
	compare_collective(comm, q);
	return true;
}

/* ---- Questions that wait for a call -------------------------------------- */

static void on_poll(void *arg, uint32_t events);

/* Look again soon; not any more once the communicator ends. */
static void poll_soon(struct tuttiComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	if (!comm->poll && !comm->poll_ended)
		tutti_watch_add(&comm->poll, -1, 0, on_poll, comm);
	if (comm->poll)
		tutti_watch_at(comm->poll, tutti_now_ns() + POLL_NS);
	pthread_mutex_unlock(&comm->lock);
}

static void on_poll(void *arg, uint32_t events)
{
	struct tuttiComm *comm = arg;
	struct tutti_open **link = &comm->open, *o;

	(void)events;
	while ((o = *link)) {
		if (!atomic_load(&comm->error) && !compare(comm, &o->q)) {
			link = &o->next;
			continue;
		}
		*link = o->next;
		free(o);
	}
	if (comm->open)
		poll_soon(comm);
}

void tutti_ask_news(struct tuttiComm *comm, const struct tutti_news *news)
{
	struct tutti_open *o;
	struct question q;

	if (atomic_load(&comm->error) || !read_question(news, &q) ||
	    compare(comm, &q))
		return;
	o = calloc(1, sizeof(*o));
	if (!o)
		return;
	o->q = q;
	o->next = comm->open;
	comm->open = o;
	poll_soon(comm);
}

void tutti_ask_end(struct tuttiComm *comm)
{
	struct tutti_watch *poll;

	pthread_mutex_lock(&comm->lock);
	comm->poll_ended = true;
	poll = comm->poll;
	comm->poll = NULL;
	pthread_mutex_unlock(&comm->lock);
	tutti_watch_remove(poll);
}

void tutti_ask_free(struct tuttiComm *comm)
{
	while (comm->open) {
		struct tutti_open *o = comm->open;

		comm->open = o->next;
		free(o);
	}
}

/* ---- Asking -------------------------------------------------------------- */

/* Tell all (-1), or one rank, what this one called as collective number seq. */
static void ask_collective(struct tuttiComm *comm, int to, uint64_t seq)
{
	struct question q = { .seq = seq, .what = TUTTI_ASK_COLLECTIVE };

	if (!tutti_board_collective(comm, comm->rank, seq, q.call,
				    sizeof(q.call)))
		return;
	if (tutti_counts_are_common(comm, seq))
		tutti_counts_tell(comm, comm->rank, seq, 0, comm->ranks, &q.a,
				  &q.b);
	else if (to >= 0 &&
		 tutti_counts_tell(comm, to, seq, 0, 0, &q.a, &q.b))
		q.what = TUTTI_ASK_PAIR;
	send(comm, to, &q);
}

static void ask_message(struct tuttiComm *comm, const struct tutti_call *call,
			uint64_t seq)
{
	struct question q = { .seq = seq, .what = call->sending ?
			      TUTTI_ASK_RECEIVED : TUTTI_ASK_SENT };

	tutti_call_describe(call, q.call, sizeof(q.call));
	send(comm, call->root, &q);
}

/* If a rank of this node called something else as number seq: why.  *all is
 * false if there are ranks whose boards cannot be read. */
static tuttiResult_t look_at_boards(struct tuttiComm *comm, uint64_t seq,
				    bool *all)
{
	int odd = tutti_board_odd(comm, seq, all);
	char mine[CALL_TEXT], other[CALL_TEXT];

	if (odd < 0 ||
	    !tutti_board_collective(comm, comm->rank, seq, mine,
				    sizeof(mine)) ||
	    !tutti_board_collective(comm, odd, seq, other, sizeof(other)))
		return tuttiSuccess;
	return fail_differ(comm, false, seq, comm->rank, mine, odd, other);
}

tuttiResult_t tutti_comm_suspect(struct tuttiComm *comm,
				 const struct tutti_call *call, uint64_t seq,
				 int peer, int *asked)
{
	int before = *asked;
	tuttiResult_t rc;
	bool all;

	if (peer >= 0)
		*asked = peer + 1;
	if (call->coll == TUTTI_SENDRECV) {
		if (!before && *asked)
			ask_message(comm, call, seq);
		return tuttiSuccess;
	}
	rc = look_at_boards(comm, seq, &all);
	if (rc || !*asked)
		return rc;
	if (!before && (!all || (call->uneven &&
				 tutti_counts_common(call->coll))))
		ask_collective(comm, TUTTI_NEWS_ALL, seq);
	if (*asked != before && call->uneven &&
	    !tutti_counts_common(call->coll))
		ask_collective(comm, peer, seq);
	return tuttiSuccess;
}

/* Look for the first difference to `peer` of all that is remembered. */
static tuttiResult_t look_back(struct tuttiComm *comm, uint64_t seq, int peer)
{
	char mine[CALL_TEXT], other[CALL_TEXT];
	uint64_t none;

	for (uint64_t back = TUTTI_BOARD_ENTRIES; back-- > 0;) {
		uint64_t at = seq - back;
		bool read;

		if (!at || !tutti_board_collective(comm, comm->rank, at, mine,
						   sizeof(mine)))
			continue;
		read = tutti_board_collective(comm, peer, at, other,
					      sizeof(other));
		if (read && strcmp(mine, other))
			return fail_differ(comm, false, at, comm->rank, mine,
					   peer, other);
		if (!read || tutti_counts_tell(comm, peer, at, 0, 0, &none,
					       &none))
			ask_collective(comm, peer, at);
	}
	return tuttiSuccess;
}

/* The other rank, or any that found it, fails the communicator for all. */
static void wait_answer(const struct tuttiComm *comm)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	int64_t until = tutti_now_ns() + ANSWER_NS;

	while (!atomic_load(&comm->error) && tutti_now_ns() < until)
		nanosleep(&pause, NULL);
}

tuttiResult_t tutti_comm_mismatch(struct tuttiComm *comm,
				  const struct tutti_call *call, uint64_t seq,
				  int peer)
{
	char mine[CALL_TEXT];
	tuttiResult_t rc = tuttiSuccess;

	if (call->coll == TUTTI_SENDRECV)
		ask_message(comm, call, seq);
	else
		rc = look_back(comm, seq, peer);
	if (rc)
		return rc;
	wait_answer(comm);
	if (atomic_load(&comm->error))
		return tutti_comm_error(comm);
	tutti_call_describe(call, mine, sizeof(mine));
	if (call->coll == TUTTI_SENDRECV)
		return fail_differ(comm, true, seq, comm->rank, mine, peer,
				   "something else");
	return fail_differ(comm, false, seq, comm->rank, mine, peer,
			   "something else");
}
