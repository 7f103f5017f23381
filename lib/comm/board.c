/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boards: each rank writes down the calls it begins, collectives on a page that
 * its node can read, also after it died.  So an error can say what the other
 * rank called, and a time-out who has not come.  A rank that shares no memory
 * keeps the page to itself and tells when asked; see ask.c.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "comm/comm.h"
#include "net/shm/node.h"
#include "net/shm/shm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small messages of a pair may run ahead of their receiver by half as many; a
 * receiver never runs ahead. */
#define SENT 128
#define RECEIVED 8

struct entry {
	_Atomic uint64_t seq;		/* 0 while being written */
	_Atomic uint64_t count;
	_Atomic uint64_t what;		/* the rest of the call, packed */
};

struct board {
	_Atomic uint64_t begun;		/* last collective begun */
	_Atomic bool left;		/* will not call anything any more */
	struct entry entry[TUTTI_BOARD_ENTRIES];
};

_Static_assert(sizeof(struct board) <= TUTTI_BOARD_BYTES, "fits a page");

/* Messages to and from one peer. */
struct pair {
	struct entry sent[SENT], received[RECEIVED];
};

/* What only this process reads: the thread inside writes it, the helper thread
 * reads. */
struct tutti_book {
	struct board own;		/* if there is no page */
	/* By peer; made by the first message.  Without memory for it, nothing
	 * is known. */
	_Atomic(struct pair *) pair[];
};

static uint64_t pack(const struct tutti_call *c)
{
	return (uint64_t)(uint32_t)c->root << 32 | (uint64_t)c->coll << 24 |
	       (uint64_t)c->type << 16 | (uint64_t)tutti_call_redop(c) << 8 |
	       (uint64_t)c->uneven << 1 | c->sending;
}

static void unpack(struct tutti_call *c, uint64_t what)
{
	memset(c, 0, sizeof(*c));
	c->root = (int32_t)(what >> 32);
	c->coll = (enum tutti_coll)(what >> 24 & 0xff);
	c->type = (tuttiDataType_t)(what >> 16 & 0xff);
	c->redop = (tuttiRedOp_t)(what >> 8 & 0xff);
	c->uneven = what >> 1 & 1;
	c->sending = what & 1;
}

static void entry_write(struct entry *e, const struct tutti_call *call,
			uint64_t seq)
{
	/* Partner: the loads in entry_read. */
	atomic_store_explicit(&e->seq, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&e->count, call->uneven ? 0 : call->count,
			      memory_order_relaxed);
	atomic_store_explicit(&e->what, pack(call), memory_order_relaxed);
	atomic_store_explicit(&e->seq, seq, memory_order_release);
}

/* False if the entry is not, or not any more, of number seq. */
static bool entry_load(struct entry *e, uint64_t *what, uint64_t *count,
		       uint64_t seq)
{
	if (atomic_load_explicit(&e->seq, memory_order_acquire) != seq)
		return false;
	*what = atomic_load_explicit(&e->what, memory_order_relaxed);
	*count = atomic_load_explicit(&e->count, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&e->seq, memory_order_relaxed) == seq;
}

static bool entry_read(struct entry *e, struct tutti_call *call, uint64_t seq)
{
	uint64_t what, count;

	if (!entry_load(e, &what, &count, seq))
		return false;
	unpack(call, what);
	call->count = count;
	return true;
}

tuttiResult_t tutti_board_open(struct tuttiComm *comm)
{
	comm->book = calloc(1, sizeof(*comm->book) +
			       (size_t)comm->ranks *
				       sizeof(*comm->book->pair));
	return comm->book ? tuttiSuccess :
			    tutti_fail(tuttiSystemError, "out of memory");
}

void tutti_board_close(struct tuttiComm *comm)
{
	struct board *b = tutti_shm_board(comm->shm, comm->rank);

	if (b)
		atomic_store_explicit(&b->left, true, memory_order_release);
	for (int r = 0; comm->book && r < comm->ranks; r++)
		free(comm->book->pair[r]);
	free(comm->book);
	comm->book = NULL;
}

/* NULL: a rank whose page cannot be read from here. */
static struct board *board_of(struct tuttiComm *comm, int rank)
{
	struct board *b = tutti_shm_board(comm->shm, rank);

	return !b && rank == comm->rank ? &comm->book->own : b;
}

static struct entry *message_entry(struct pair *p, bool sending, uint64_t seq)
{
	return sending ? &p->sent[seq % SENT] : &p->received[seq % RECEIVED];
}

static void begin_message(struct tuttiComm *comm,
			  const struct tutti_call *call, uint64_t seq)
{
	struct pair *p = atomic_load_explicit(&comm->book->pair[call->root],
					      memory_order_relaxed);

	if (!p) {
		p = calloc(1, sizeof(*p));
		/* Partner: the load in tutti_board_message. */
		atomic_store_explicit(&comm->book->pair[call->root], p,
				      memory_order_release);
	}
	if (p)
		entry_write(message_entry(p, call->sending, seq), call, seq);
}

void tutti_board_begin(struct tuttiComm *comm, const struct tutti_call *call,
		       uint64_t seq)
{
	struct board *b;

	if (call->coll == TUTTI_SENDRECV) {
		begin_message(comm, call, seq);
		return;
	}
	b = board_of(comm, comm->rank);
	entry_write(&b->entry[seq % TUTTI_BOARD_ENTRIES], call, seq);
	atomic_store_explicit(&b->begun, seq, memory_order_release);
}

void tutti_call_describe(const struct tutti_call *call, char *out, size_t cap)
{
	const char *coll = tutti_coll_name(call->coll);
	int n;

	if (call->coll == TUTTI_BARRIER) {
		snprintf(out, cap, "barrier");
		return;
	}
	if (call->coll == TUTTI_SENDRECV)
		coll = call->sending ? "send" : "recv";
	if (call->uneven)
		n = snprintf(out, cap, "%sv of %s", coll,
			     tutti_type_name((int)call->type));
	else
		n = snprintf(out, cap, "%s of %zu %s", coll, call->count,
			     tutti_type_name((int)call->type));
	if (n > 0 && (size_t)n < cap && tutti_coll_reduces(call->coll))
		n += snprintf(out + n, cap - (size_t)n, ", %s",
			      tutti_redop_name(tutti_call_redop(call)));
	if (n > 0 && (size_t)n < cap && tutti_coll_rooted(call->coll))
		snprintf(out + n, cap - (size_t)n, ", root %d", call->root);
}

bool tutti_board_collective(struct tuttiComm *comm, int rank, uint64_t seq,
			    char *out, size_t cap)
{
	struct board *b = board_of(comm, rank);
	struct tutti_call call;

	if (!b || !entry_read(&b->entry[seq % TUTTI_BOARD_ENTRIES], &call, seq))
		return false;
	tutti_call_describe(&call, out, cap);
	return true;
}

bool tutti_board_message(struct tuttiComm *comm, int peer, bool sending,
			 uint64_t seq, char *out, size_t cap)
{
	struct pair *p = atomic_load_explicit(&comm->book->pair[peer],
					      memory_order_acquire);
	struct tutti_call call;

	if (!p || !entry_read(message_entry(p, sending, seq), &call, seq))
		return false;
	tutti_call_describe(&call, out, cap);
	return true;
}

/* Is `begun`, 0 if nothing was, number seq or later? */
static bool reaches(uint64_t begun, uint64_t seq)
{
	return begun && (int64_t)(begun - seq) >= 0;
}

bool tutti_board_begun(struct tuttiComm *comm, uint64_t seq)
{
	struct board *b = board_of(comm, comm->rank);

	/* Partner: the store in tutti_board_begin, after the entry's. */
	return reaches(atomic_load_explicit(&b->begun, memory_order_acquire),
		       seq);
}

bool tutti_board_message_begun(struct tuttiComm *comm, int peer, bool sending,
			       uint64_t seq)
{
	struct pair *p = atomic_load_explicit(&comm->book->pair[peer],
					      memory_order_acquire);

	/* While it is written, it is 0: not yet. */
	return p && reaches(atomic_load_explicit(
		&message_entry(p, sending, seq)->seq, memory_order_acquire),
			    seq);
}

int tutti_board_odd(struct tuttiComm *comm, uint64_t seq, bool *all)
{
	struct board *own = board_of(comm, comm->rank);
	uint32_t at = seq % TUTTI_BOARD_ENTRIES;
	uint64_t what, count, other_what, other_count;
	bool mine = entry_load(&own->entry[at], &what, &count, seq);

	*all = true;
	for (int r = 0; r < comm->ranks; r++) {
		struct board *b = board_of(comm, r);

		if (!b)
			*all = false;
		else if (mine && entry_load(&b->entry[at], &other_what,
					    &other_count, seq) &&
			 (what != other_what || count != other_count))
			return r;
	}
	return -1;
}

bool tutti_board_left(struct tuttiComm *comm, int rank)
{
	struct board *b = tutti_shm_board(comm->shm, rank);

	return b && atomic_load_explicit(&b->left, memory_order_acquire);
}

/* Add "a" or "a-b" to a list. */
static size_t add_range(char *out, size_t cap, size_t used, int a, int b)
{
	int n;

	if (used >= cap)
		return used;
	if (a == b)
		n = snprintf(out + used, cap - used, "%s%d", used ? ", " : "",
			     a);
	else
		n = snprintf(out + used, cap - used, "%s%d-%d",
			     used ? ", " : "", a, b);
	return used + (size_t)n;
}

bool tutti_board_missing(struct tuttiComm *comm, uint64_t seq, char *out,
			 size_t cap)
{
	size_t used = 0;
	int first = -1;

	if (cap)
		out[0] = 0;
	for (int r = 0; r <= comm->ranks; r++) {
		struct board *b = r < comm->ranks ?
			board_of(comm, r) : NULL;
		bool missing = b && (int64_t)(atomic_load_explicit(
			&b->begun, memory_order_acquire) - seq) < 0;

		if (missing && first < 0)
			first = r;
		if (!missing && first >= 0) {
			used = add_range(out, cap, used, first, r - 1);
			first = -1;
		}
	}
	return used > 0;
}
