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

void tutti_ask(struct tuttiComm *comm, int peer, enum tutti_ask what,
	       uint64_t seq)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_ASK,
				   .rank = comm->rank, .code = peer,
				   .seq = seq };

	pthread_mutex_lock(&comm->lock);
	comm->question = (struct tutti_question){ .peer = peer, .what = what,
						  .seq = seq };
	pthread_mutex_unlock(&comm->lock);
	snprintf(news.text, sizeof(news.text), "%d", (int)what);
	tutti_boot_tell(comm->boot, &news);
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

static void answer(struct tuttiComm *comm, const struct tutti_news *asked)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_CALL,
				   .rank = comm->rank, .code = asked->rank,
				   .seq = asked->seq };
	char *text = news.text;
	size_t cap = sizeof(news.text) - 1;
	bool known;

	*text++ = asked->text[0];
	if (asked->text[0] == '0' + TUTTI_ASK_COLLECTIVE)
		known = tutti_board_collective(comm, comm->rank, asked->seq,
					       text, cap);
	else
		known = tutti_board_message(comm, asked->rank,
					    asked->text[0] ==
						    '0' + TUTTI_ASK_SENT,
					    asked->seq, text, cap);
	if (known)
		tutti_boot_tell(comm->boot, &news);
}

static void take_answer(struct tuttiComm *comm, const struct tutti_news *news)
{
	struct tutti_question *q = &comm->question;

	pthread_mutex_lock(&comm->lock);
	if (q->peer == news->rank && q->seq == news->seq &&
	    news->text[0] == '0' + q->what) {
		snprintf(q->text, sizeof(q->text), "%.*s",
			 (int)sizeof(q->text) - 1, news->text + 1);
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

/* Ask, and wait for a moment. */
static bool ask_and_wait(struct tuttiComm *comm, int peer, enum tutti_ask what,
			 uint64_t seq, char *out, size_t cap,
			 int64_t deadline_ns)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };

	tutti_ask(comm, peer, what, seq);
	while (!atomic_load(&comm->error) && tutti_now_ns() < deadline_ns) {
		if (tutti_ask_answer(comm, out, cap))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
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

tuttiResult_t tutti_comm_mismatch(struct tuttiComm *comm,
				  const struct tutti_call *call, uint64_t seq,
				  int peer)
{
	int64_t deadline = tutti_now_ns() + ANSWER_NS;
	char mine[CALL_TEXT], other[CALL_TEXT];

	if (call->coll == TUTTI_SENDRECV)
		return mismatch_of_message(comm, call, seq, peer);
	for (uint64_t at = seq; seq - at < BACK; at--) {
		if (!tutti_board_collective(comm, comm->rank, at, mine,
					    sizeof(mine)))
			break;
		if (!tutti_board_collective(comm, peer, at, other,
					    sizeof(other)) &&
		    !ask_and_wait(comm, peer, TUTTI_ASK_COLLECTIVE, at, other,
				  sizeof(other), deadline))
			break;
		if (!strcmp(mine, other))
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
			uint64_t seq, int peer, bool ask)
{
	char mine[CALL_TEXT], other[CALL_TEXT];
	struct tutti_question *q = &comm->question;

	tutti_call_describe(call, mine, sizeof(mine));
	if (call->coll != TUTTI_SENDRECV &&
	    tutti_board_collective(comm, peer, seq, other, sizeof(other)))
		return strcmp(mine, other) != 0;
	if (ask)
		tutti_ask(comm, peer, other_half(call), seq);
	return q->peer == peer && q->seq == seq &&
	       q->what == (int)other_half(call) &&
	       tutti_ask_answer(comm, other, sizeof(other)) &&
	       !agrees(call, mine, other);
}
