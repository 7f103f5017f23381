/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boards: each rank writes down the collectives it begins on a page that its
 * node can read, also after it died.  So an error can say what the other rank
 * called, and a time-out who has not come.
 */
#include "config.h"

#include "base/bits.h"
#include "comm/comm.h"
#include "net/shm/node.h"
#include "net/shm/shm.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES 16

struct entry {
	_Atomic uint64_t seq;		/* 0 while being written */
	uint64_t count;
	int16_t coll, type, redop, pad;
	int32_t root;
};

struct board {
	_Atomic uint64_t begun;		/* last collective begun */
	struct entry entry[ENTRIES];
};

_Static_assert(sizeof(struct board) <= TUTTI_BOARD_BYTES, "fits a page");

void tutti_board_begin(struct tuttiComm *comm, const struct tutti_call *call,
		       uint64_t seq)
{
	struct board *b = tutti_shm_board(comm->shm, comm->rank);
	struct entry *e;

	if (!b)
		return;
	e = &b->entry[seq % ENTRIES];
	/* Partner: the loads in tutti_board_describe. */
	atomic_store_explicit(&e->seq, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	e->count = call->count;
	e->coll = (int16_t)call->coll;
	e->type = (int16_t)call->type;
	e->redop = (int16_t)call->redop;
	e->root = call->root;
	atomic_store_explicit(&e->seq, seq, memory_order_release);
	atomic_store_explicit(&b->begun, seq, memory_order_release);
}

void tutti_call_describe(const struct tutti_call *call, char *out, size_t cap)
{
	const char *coll = tutti_coll_name(call->coll);
	bool reduces = call->coll == TUTTI_ALL_REDUCE ||
		       call->coll == TUTTI_REDUCE ||
		       call->coll == TUTTI_REDUCE_SCATTER;
	bool rooted = call->coll == TUTTI_REDUCE ||
		      call->coll == TUTTI_BROADCAST;
	int n;

	if (call->coll == TUTTI_BARRIER) {
		snprintf(out, cap, "barrier");
		return;
	}
	if (call->coll == TUTTI_SENDRECV)
		coll = call->sending ? "send" : "recv";
	n = snprintf(out, cap, "%s of %zu %s", coll, call->count,
		     tutti_type_name((int)call->type));
	if (n > 0 && (size_t)n < cap && reduces)
		n += snprintf(out + n, cap - (size_t)n, ", %s",
			      tutti_redop_name((int)call->redop));
	if (n > 0 && (size_t)n < cap && rooted)
		snprintf(out + n, cap - (size_t)n, ", root %d", call->root);
}

bool tutti_board_describe(struct tuttiComm *comm, int peer, uint64_t seq,
			  char *out, size_t cap)
{
	struct board *b = tutti_shm_board(comm->shm, peer);
	struct tutti_call call = { 0 };
	struct entry *e;

	if (!b)
		return false;
	e = &b->entry[seq % ENTRIES];
	if (atomic_load_explicit(&e->seq, memory_order_acquire) != seq)
		return false;
	call.count = e->count;
	call.coll = (enum tutti_coll)e->coll;
	call.type = (tuttiDataType_t)e->type;
	call.redop = (tuttiRedOp_t)e->redop;
	call.root = e->root;
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&e->seq, memory_order_relaxed) != seq)
		return false;
	tutti_call_describe(&call, out, cap);
	return true;
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
			tutti_shm_board(comm->shm, r) : NULL;
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
