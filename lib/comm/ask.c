/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that differ between ranks: whose, and what each called.  A message
 * carries only a hash of its call, so the other rank's call is read from its
 * board, or asked for by news where no memory is shared.  The helper thread of
 * the asked rank answers, so it may be blocked or busy meanwhile.
 */
#include "config.h"

#include "base/clock.h"
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* An answer passes two helper threads. */
#define ANSWER_NS 2000000000
#define LOOK_NS 500000
/* How far back a difference may lie that shows only now: a broadcast whose
 * root waits for nobody, say. */
#define BACK 8
#define CALL_TEXT 128

/* ---- Questions ----------------------------------------------------------- */

/* A question's text is its kind and, about counts, a range of ranks; the answer
 * repeats it, and goes on after a bar. */
static void ask(struct tuttiComm *comm, int peer, enum tutti_ask what,
		uint64_t seq, int from, int to)
{
	struct tutti_question q = { .peer = peer, .seq = seq };
	struct tutti_news news = { .kind = TUTTI_NEWS_ASK,
				   .rank = comm->rank, .code = peer,
				   .seq = seq };

	snprintf(q.what, sizeof(q.what), "%d %d %d", (int)what, from, to);
	snprintf(news.text, sizeof(news.text), "%s", q.what);
	pthread_mutex_lock(&comm->lock);
	comm->question = q;
	pthread_mutex_unlock(&comm->lock);
	tutti_boot_tell(comm->boot, &news);
}

void tutti_ask(struct tuttiComm *comm, int peer, enum tutti_ask what,
	       uint64_t seq)
{
	ask(comm, peer, what, seq, 0, comm->ranks);
}

bool tutti_ask_answer(struct tuttiComm *comm, char *out, size_t cap)
{
	bool answered;

	pthread_mutex_lock(&comm->lock);
	answered = comm->question.answered;
	if (answered)
		snprintf(out, cap, "%s", comm->question.text);
	pthread_mutex_unlock(&comm->lock);
	return answered;
}

/* What this rank called, about counts with two numbers before it; false if it
 * has not called yet. */
static bool recall(struct tuttiComm *comm, const struct tutti_news *asked,
		   char *out, size_t cap)
{
	int what, from, to;
	uint64_t a, b;

	if (sscanf(asked->text, "%d %d %d", &what, &from, &to) != 3)
		return false;
	if (what == TUTTI_ASK_SENT || what == TUTTI_ASK_RECEIVED)
		return tutti_board_message(comm, asked->rank,
					   what == TUTTI_ASK_SENT, asked->seq,
					   out, cap);
	if (!tutti_board_collective(comm, comm->rank, asked->seq, out, cap))
		return false;
	if (what != TUTTI_ASK_COUNTS)
		return true;
	if (tutti_counts_tell(comm, asked->rank, asked->seq, from, to, &a,
			      &b)) {
		char call[CALL_TEXT];

		snprintf(call, sizeof(call), "%s", out);
		snprintf(out, cap, "%llu %llu %.80s", (unsigned long long)a,
			 (unsigned long long)b, call);
	}
	return true;
}

static void answer(struct tuttiComm *comm, const struct tutti_news *asked)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_CALL,
				   .rank = comm->rank, .code = asked->rank,
				   .seq = asked->seq };
	char call[CALL_TEXT];

	if (!recall(comm, asked, call, sizeof(call)))
		return;
	snprintf(news.text, sizeof(news.text), "%.*s|%s",
		 (int)sizeof(comm->question.what) - 1, asked->text, call);
	tutti_boot_tell(comm->boot, &news);
}

static void take_answer(struct tuttiComm *comm, const struct tutti_news *news)
{
	struct tutti_question *q = &comm->question;
	const char *text = strchr(news->text, '|');
	size_t n = text ? (size_t)(text - news->text) : 0;

	pthread_mutex_lock(&comm->lock);
	if (n && q->peer == news->rank && q->seq == news->seq &&
	    strlen(q->what) == n && !memcmp(q->what, news->text, n)) {
		snprintf(q->text, sizeof(q->text), "%.*s",
			 (int)sizeof(q->text) - 1, text + 1);
		q->answered = true;
	}
	pthread_mutex_unlock(&comm->lock);
	tutti_comm_ring(comm);
}

void tutti_ask_news(struct tuttiComm *comm, const struct tutti_news *news)
{
	if (news->code != comm->rank)
		return;
	if (news->kind == TUTTI_NEWS_ASK)
		answer(comm, news);
	else
		take_answer(comm, news);
}

/* ---- Differences --------------------------------------------------------- */

/* Wait for a moment for the answer to what was asked. */
static bool wait_answer(struct tuttiComm *comm, char *out, size_t cap,
			int64_t deadline_ns)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };

	while (!atomic_load(&comm->error) && tutti_now_ns() < deadline_ns) {
		if (tutti_ask_answer(comm, out, cap))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static bool ask_and_wait(struct tuttiComm *comm, int peer, enum tutti_ask what,
			 uint64_t seq, char *out, size_t cap,
			 int64_t deadline_ns)
{
	tutti_ask(comm, peer, what, seq);
	return wait_answer(comm, out, cap, deadline_ns);
}

static enum tutti_ask other_half(const struct tutti_call *call)
{
	if (call->coll != TUTTI_SENDRECV)
		return TUTTI_ASK_COLLECTIVE;
	return call->sending ? TUTTI_ASK_RECEIVED : TUTTI_ASK_SENT;
}

/* "send of 5 float" goes with "recv of 5 float". */
static bool agrees(const struct tutti_call *call, const char *mine,
		   const char *other)
{
	if (call->coll == TUTTI_SENDRECV) {
		mine = strchr(mine, ' ');
		other = strchr(other, ' ');
	}
	return mine && other && !strcmp(mine, other);
}

static tuttiResult_t mismatch_of_message(struct tuttiComm *comm,
					 const struct tutti_call *call,
					 uint64_t seq, int peer)
{
	char mine[CALL_TEXT], other[CALL_TEXT];

	tutti_call_describe(call, mine, sizeof(mine));
	if (!ask_and_wait(comm, peer, other_half(call), seq, other,
			  sizeof(other), tutti_now_ns() + ANSWER_NS))
		snprintf(other, sizeof(other), "something else");
	return tutti_comm_fail(comm, tuttiInvalidUsage, true,
			       "calls differ: as message %llu of this pair, "
			       "rank %d called %s, but rank %d called %s",
			       (unsigned long long)seq, comm->rank, mine, peer,
			       other);
}

/* ---- Counts of v-forms ---------------------------------------------------- */

static void add(char *text, const char *fmt, uint64_t count, int rank)
{
	size_t used = strlen(text);

	snprintf(text + used, CALL_TEXT - used, fmt, (unsigned long long)count,
		 rank);
}

static bool ask_counts(struct tuttiComm *comm, int peer, uint64_t seq,
		       int from, int to, uint64_t theirs[2],
		       int64_t deadline_ns)
{
	unsigned long long a, b;
	char text[CALL_TEXT];

	ask(comm, peer, TUTTI_ASK_COUNTS, seq, from, to);
	if (!wait_answer(comm, text, sizeof(text), deadline_ns) ||
	    sscanf(text, "%llu %llu", &a, &b) != 2)
		return false;
	theirs[0] = a;
	theirs[1] = b;
	return true;
}

/* Do the counts from `from` to `to` - 1 differ between this rank and `peer`?
 * False too if there is no answer. */
static bool range_differs(struct tuttiComm *comm, int peer, uint64_t seq,
			  int from, int to, uint64_t mine[2],
			  uint64_t theirs[2], int64_t deadline_ns)
{
	return tutti_counts_tell(comm, peer, seq, from, to, &mine[0],
				 &mine[1]) &&
	       ask_counts(comm, peer, seq, from, to, theirs, deadline_ns) &&
	       mine[0] != theirs[0];
}

/* All know all counts: search the first that differs by halves. */
static bool common_differs(struct tuttiComm *comm, uint64_t seq, int peer,
			   char *mine, char *other, int64_t deadline_ns)
{
	int from = 0, to = comm->ranks;
	uint64_t own[2], theirs[2];

	if (!range_differs(comm, peer, seq, from, to, own, theirs,
			   deadline_ns))
		return false;
	while (to - from > 1) {
		int middle = from + (to - from) / 2;

		if (range_differs(comm, peer, seq, from, middle, own, theirs,
				  deadline_ns))
			to = middle;
		else
			from = middle;
	}
	if (!range_differs(comm, peer, seq, from, to, own, theirs,
			   deadline_ns))
		return false;
	add(mine, ", %llu of rank %d", own[0], from);
	add(other, ", %llu of rank %d", theirs[0], from);
	return true;
}

/* Each knows what it gives to the other and what it expects from it. */
static bool pair_differs(struct tuttiComm *comm, uint64_t seq, int peer,
			 char *mine, char *other, int64_t deadline_ns)
{
	uint64_t own[2], theirs[2];

	if (!tutti_counts_tell(comm, peer, seq, 0, 0, &own[0], &own[1]) ||
	    !ask_counts(comm, peer, seq, 0, 0, theirs, deadline_ns))
		return false;
	if (own[0] != theirs[1]) {
		add(mine, ", %llu to rank %d", own[0], peer);
		add(other, ", %llu from rank %d", theirs[1], comm->rank);
		return true;
	}
	add(mine, ", %llu from rank %d", own[1], peer);
	add(other, ", %llu to rank %d", theirs[0], comm->rank);
	return own[1] != theirs[0];
}

/* Was number seq a v-form on both ranks, and do they disagree about a count?
 * Then adds it to both descriptions. */
static bool counts_differ(struct tuttiComm *comm, uint64_t seq, int peer,
			  char *mine, char *other, int64_t deadline_ns)
{
	if (tutti_counts_are_common(comm, seq))
		return common_differs(comm, seq, peer, mine, other,
				      deadline_ns);
	return pair_differs(comm, seq, peer, mine, other, deadline_ns);
}

/* Does the answer to a question about all counts differ from this rank's call,
 * which is `mine`? */
static bool answer_differs(struct tuttiComm *comm, uint64_t seq, int peer,
			   const char *mine, const char *text)
{
	unsigned long long a, b;
	uint64_t own[2];
	int at = 0;

	if (!tutti_counts_tell(comm, peer, seq, 0, comm->ranks, &own[0],
			       &own[1]))
		return false;
	if (sscanf(text, "%llu %llu %n", &a, &b, &at) != 2 ||
	    strcmp(mine, text + at))
		return true;
	if (tutti_counts_are_common(comm, seq))
		return own[0] != a;
	return own[0] != b || own[1] != a;
}

tuttiResult_t tutti_comm_mismatch(struct tuttiComm *comm,
				  const struct tutti_call *call, uint64_t seq,
				  int peer)
{
	int64_t soon = tutti_now_ns() + ANSWER_NS / 2;
	int64_t deadline = soon + ANSWER_NS / 2;
	char mine[CALL_TEXT], other[CALL_TEXT];

	if (call->coll == TUTTI_SENDRECV)
		return mismatch_of_message(comm, call, seq, peer);
	for (uint64_t at = seq; seq - at < BACK; at--) {
		if (!tutti_board_collective(comm, comm->rank, at, mine,
					    sizeof(mine)))
			break;
		/* A rank that has not called it yet sent its message for an
		 * earlier one. */
		if (!tutti_board_collective(comm, peer, at, other,
					    sizeof(other)) &&
		    !ask_and_wait(comm, peer, TUTTI_ASK_COLLECTIVE, at, other,
				  sizeof(other), at == seq ? soon : deadline))
			continue;
		if (!strcmp(mine, other) &&
		    !counts_differ(comm, at, peer, mine, other, deadline))
			continue;
		return tutti_comm_fail(comm, tuttiInvalidUsage, true,
				       "calls differ: as operation %llu, rank "
				       "%d called %s, but rank %d called %s",
				       (unsigned long long)at, comm->rank,
				       mine, peer, other);
	}
	tutti_call_describe(call, mine, sizeof(mine));
	return tutti_comm_fail(comm, tuttiInvalidUsage, true,
			       "calls differ: as operation %llu, rank %d "
			       "called %s, but rank %d called something else",
			       (unsigned long long)seq, comm->rank, mine,
			       peer);
}

bool tutti_comm_suspect(struct tuttiComm *comm, const struct tutti_call *call,
			uint64_t seq, int peer, bool ask_now)
{
	enum tutti_ask what = call->uneven ? TUTTI_ASK_COUNTS :
					     other_half(call);
	char mine[CALL_TEXT], other[CALL_TEXT];
	struct tutti_question *q = &comm->question;

	tutti_call_describe(call, mine, sizeof(mine));
	if (call->coll != TUTTI_SENDRECV &&
	    tutti_board_collective(comm, peer, seq, other, sizeof(other))) {
		if (strcmp(mine, other) || !call->uneven)
			return strcmp(mine, other) != 0;
	}
	if (ask_now)
		tutti_ask(comm, peer, what, seq);
	if (q->peer != peer || q->seq != seq ||
	    q->what[0] != '0' + (int)what ||
	    !tutti_ask_answer(comm, other, sizeof(other)))
		return false;
	return call->uneven ? answer_differs(comm, seq, peer, mine, other) :
			      !agrees(call, mine, other);
}
