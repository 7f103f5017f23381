/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing and credits of stream transports; see stream.h.
 *
 * Outgoing: a message is written to a line or slot with room for its header
 * right before it, so a frame is one piece of memory and is sent from where
 * it was written.  Frames wait in one queue for all lanes.  A header is filled
 * when its frame is handed out, with the newest counters; only the first frame
 * can have been sent in part, and its header stays as it is.
 *
 * Incoming: bytes go to a small buffer; the rest of a message that has begun
 * goes straight to its slot.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "net/stream.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC 0x7454
#define IN_BYTES 8192	/* received at once beyond a message's rest */

enum kind { KIND_MESSAGE = 1, KIND_CREDIT };

_Static_assert(TUTTI_NET_LANES == 3, "the header has room for three lanes");

/* A message to send of up to TUTTI_NOTE_BYTES. */
struct out_line {
	uint8_t unused[TUTTI_LINE - TUTTI_STREAM_HEADER];
	uint8_t header[TUTTI_STREAM_HEADER];
	char note[TUTTI_LINE];
};

/* One that arrived; `data` is the note or a slot. */
struct in_line {
	char note[TUTTI_NOTE_BYTES];
	const char *data;
	size_t len;
	uint32_t tag;
} __attribute__((aligned(TUTTI_LINE)));

struct lane {
	char *mem;			/* one mapping for all below */
	struct out_line *out_lines;
	char *out_slots;
	struct in_line *in_lines;
	char *in_slots;

	uint64_t out_msg, out_slot;	/* posted */
	uint64_t sent_msg;		/* given to the network as a whole */
	uint64_t acked;			/* released by the peer */
	uint64_t in_msg, in_slot;	/* arrived */
	uint64_t released, released_slot;
	uint64_t told, told_slot;	/* released, as the peer knows */
};

struct frame {
	uint8_t *at;		/* header, then message */
	size_t bytes;
};

struct tutti_stream {
	uint32_t lines, slots;
	size_t slot_bytes, slot_room;	/* room: rounded up */
	size_t lane_bytes;
	struct lane lane[TUTTI_NET_LANES];

	struct frame *queue;
	uint32_t queue_mask;
	uint32_t queue_head, queue_tail;	/* not masked */
	size_t head_sent;	/* bytes of the first frame */
	uint64_t tail;		/* bytes sent since the last message */
	/* Two, because one may be half sent when the next is due. */
	uint8_t credit[2][TUTTI_STREAM_HEADER];
	unsigned int next_credit;

	struct lane *body_lane;	/* of the message that arrives now */
	char *body_to;
	size_t body_left;
	size_t have;		/* in `in` */
	char damage[96];
	uint8_t in[IN_BYTES];
};

/* ---- Header ------------------------------------------------------------- */

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint32_t header_check(const uint8_t *h)
{
	uint64_t sum = MAGIC;

	for (int i = 0; i < TUTTI_STREAM_HEADER - 4; i += 4) {
		sum = (sum ^ get32(h + i)) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	return (uint32_t)(sum >> 32);
}

/* The part that is known when the message is posted. */
static void header_begin(uint8_t *h, enum kind kind, int lane, size_t len,
			 uint32_t tag, uint64_t number)
{
	put32(h, MAGIC | (uint32_t)kind << 16 | (uint32_t)lane << 24);
	put32(h + 4, (uint32_t)len);
	put32(h + 8, tag);
	put32(h + 12, (uint32_t)number);
}

/* The part that is as new as can be. */
static void header_end(struct tutti_stream *s, uint8_t *h)
{
	for (int i = 0; i < TUTTI_NET_LANES; i++) {
		struct lane *l = &s->lane[i];

		put32(h + 16 + 4 * i, (uint32_t)l->released);
		l->told = l->released;
		l->told_slot = l->released_slot;
	}
	put32(h + 28, header_check(h));
}

/* ---- Memory ------------------------------------------------------------- */

static bool lay_out(struct tutti_stream *s)
{
	size_t lines, slots;

	s->slot_room = tutti_round_up(s->slot_bytes, TUTTI_LINE);
	return s->slot_room >= s->slot_bytes &&
	       s->slot_bytes <= UINT32_MAX &&
	       tutti_mul(s->lines, sizeof(struct out_line) +
			 sizeof(struct in_line), &lines) &&
	       tutti_mul(s->slots, 2 * s->slot_room + TUTTI_LINE, &slots) &&
	       !__builtin_add_overflow(lines, slots, &s->lane_bytes);
}

tuttiResult_t tutti_stream_create(struct tutti_stream **out,
				  const struct tutti_xport_env *env)
{
	struct tutti_stream *s = calloc(1, sizeof(*s));
	uint32_t cap = 1;

	if (!s)
		return tutti_fail(tuttiSystemError, "out of memory");
	s->lines = env->lines;
	s->slots = env->slots;
	s->slot_bytes = env->slot_bytes;
	if (env->lines < 2 || env->lines > 1 << 20 || env->slots < 2 ||
	    env->slots > TUTTI_SLOTS_MAX || !lay_out(s)) {
		free(s);
		return tutti_fail(tuttiInvalidArgument,
				  "a channel of %u lines and %u slots of %zu "
				  "bytes cannot be made", env->lines,
				  env->slots, env->slot_bytes);
	}
	/* All that credits allow, and two frames without a message. */
	while (cap < TUTTI_NET_LANES * s->lines + 2)
		cap *= 2;
	s->queue_mask = cap - 1;
	s->queue = calloc(cap, sizeof(*s->queue));
	if (!s->queue) {
		free(s);
		return tutti_fail(tuttiSystemError, "out of memory");
	}
	for (int i = 0; i < TUTTI_NET_LANES; i++) {
		struct lane *l = &s->lane[i];

		l->out_msg = l->sent_msg = l->acked = env->seq_start;
		l->in_msg = l->released = l->told = env->seq_start;
	}
	*out = s;
	return tuttiSuccess;
}

void tutti_stream_destroy(struct tutti_stream *s)
{
	if (!s)
		return;
	for (int i = 0; i < TUTTI_NET_LANES; i++)
		if (s->lane[i].mem)
			munmap(s->lane[i].mem, s->lane_bytes);
	free(s->queue);
	free(s);
}

tuttiResult_t tutti_stream_open_lane(struct tutti_stream *s, int lane)
{
	struct lane *l = &s->lane[lane];
	char *mem;

	if (l->mem)
		return tuttiSuccess;
	/* Pages come when they are touched. */
	mem = mmap(NULL, s->lane_bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return tutti_fail(tuttiSystemError,
				  "out of memory: %zu bytes for a channel",
				  s->lane_bytes);
	l->mem = mem;
	l->out_lines = (struct out_line *)mem;
	mem += s->lines * sizeof(struct out_line);
	l->in_lines = (struct in_line *)mem;
	mem += s->lines * sizeof(struct in_line);
	l->out_slots = mem;
	mem += s->slots * (s->slot_room + TUTTI_LINE);
	l->in_slots = mem;
	return tuttiSuccess;
}

/* ---- Sending ------------------------------------------------------------ */

void *tutti_stream_tx(struct tutti_stream *s, int lane, size_t len)
{
	struct lane *l = &s->lane[lane];

	assert(l->mem && len <= tutti_max(s->slot_bytes, TUTTI_NOTE_BYTES));
	if (len <= TUTTI_NOTE_BYTES)
		return l->out_lines[l->out_msg % s->lines].note;
	return l->out_slots + TUTTI_LINE +
	       l->out_slot % s->slots * (s->slot_room + TUTTI_LINE);
}

static void enqueue(struct tutti_stream *s, uint8_t *at, size_t bytes)
{
	struct frame *f = &s->queue[s->queue_tail++ & s->queue_mask];

	assert(s->queue_tail - s->queue_head <= s->queue_mask + 1);
	f->at = at;
	f->bytes = bytes;
}

void tutti_stream_post(struct tutti_stream *s, int lane, size_t len,
		       uint32_t tag)
{
	struct lane *l = &s->lane[lane];
	uint8_t *h = (uint8_t *)tutti_stream_tx(s, lane, len) -
		     TUTTI_STREAM_HEADER;

	assert(l->out_msg - l->acked < s->lines);
	header_begin(h, KIND_MESSAGE, lane, len, tag, l->out_msg);
	enqueue(s, h, TUTTI_STREAM_HEADER + len);
	l->out_msg++;
	l->out_slot += len > TUTTI_NOTE_BYTES;
}

uint64_t tutti_stream_acked(const struct tutti_stream *s, int lane)
{
	return s->lane[lane].acked;
}

/* The peer has used up all credits that it knows of. */
static bool starved(const struct tutti_stream *s, const struct lane *l)
{
	return l->released != l->told &&
	       (l->in_msg - l->told >= s->lines ||
		l->in_slot - l->told_slot >= s->slots);
}

/* Half of the credits are back and not told, or the peer may wait for a single
 * one. */
static bool credit_due(const struct tutti_stream *s)
{
	for (int i = 0; i < TUTTI_NET_LANES; i++) {
		const struct lane *l = &s->lane[i];

		if (l->released - l->told >= s->lines / 2 ||
		    l->released_slot - l->told_slot >= s->slots / 2 ||
		    starved(s, l))
			return true;
	}
	return false;
}

/* Frames that no byte has left of. */
static uint32_t untouched(const struct tutti_stream *s)
{
	return s->queue_tail - s->queue_head - (s->head_sent > 0);
}

bool tutti_stream_pending(const struct tutti_stream *s)
{
	return s->queue_tail != s->queue_head || credit_due(s);
}

int tutti_stream_gather(struct tutti_stream *s, struct iovec *iov, int max)
{
	int n = 0;

	if (!untouched(s) && credit_due(s)) {
		uint8_t *h = s->credit[s->next_credit++ % 2];

		header_begin(h, KIND_CREDIT, 0, 0, 0, 0);
		enqueue(s, h, TUTTI_STREAM_HEADER);
	}
	for (uint32_t i = s->queue_head; i != s->queue_tail && n < max; i++) {
		struct frame *f = &s->queue[i & s->queue_mask];
		size_t gone = i == s->queue_head ? s->head_sent : 0;

		if (!gone)
			header_end(s, f->at);
		iov[n].iov_base = f->at + gone;
		iov[n].iov_len = f->bytes - gone;
		n++;
	}
	return n;
}

void tutti_stream_sent(struct tutti_stream *s, size_t bytes)
{
	while (bytes) {
		struct frame *f = &s->queue[s->queue_head & s->queue_mask];
		size_t left = f->bytes - s->head_sent;
		bool message = f->at[2] == KIND_MESSAGE;

		assert(s->queue_head != s->queue_tail);
		s->tail = message ? 0 : s->tail + tutti_min(bytes, left);
		if (bytes < left) {
			s->head_sent += bytes;
			return;
		}
		bytes -= left;
		if (message)
			s->lane[f->at[3]].sent_msg++;
		s->head_sent = 0;
		s->queue_head++;
	}
}

uint64_t tutti_stream_tail(const struct tutti_stream *s)
{
	return s->tail;
}

/* ---- Receiving ---------------------------------------------------------- */

const void *tutti_stream_rx(struct tutti_stream *s, int lane, size_t len,
			    uint32_t *tag)
{
	struct lane *l = &s->lane[lane];
	struct in_line *line;

	if (l->released == l->in_msg)
		return NULL;
	line = &l->in_lines[l->released % s->lines];
	/* Lengths that differ by less than 2^32 give tags that differ. */
	*tag = line->tag + (uint32_t)(line->len - len) * 0x9e3779b1u;
	return line->data;
}

bool tutti_stream_release(struct tutti_stream *s, int lane)
{
	struct lane *l = &s->lane[lane];

	assert(l->released != l->in_msg);
	if (l->in_lines[l->released % s->lines].len > TUTTI_NOTE_BYTES)
		l->released_slot++;
	l->released++;
	return starved(s, l);
}

static bool damaged(struct tutti_stream *s, const char *what, uint64_t value)
{
	snprintf(s->damage, sizeof(s->damage), "%s (%llu)", what,
		 (unsigned long long)value);
	return false;
}

int tutti_stream_space(struct tutti_stream *s, struct iovec iov[2])
{
	int n = 0;

	if (s->body_left) {
		iov[n].iov_base = s->body_to;
		iov[n++].iov_len = s->body_left;
	}
	iov[n].iov_base = s->in + s->have;
	iov[n++].iov_len = sizeof(s->in) - s->have;
	return n;
}

/* Take over what the peer says it has released. */
static bool take_credits(struct tutti_stream *s, const uint8_t *h)
{
	for (int i = 0; i < TUTTI_NET_LANES; i++) {
		struct lane *l = &s->lane[i];
		uint32_t more = get32(h + 16 + 4 * i) - (uint32_t)l->acked;

		if (more > l->sent_msg - l->acked)
			return damaged(s, "a release of what was never sent",
				       more);
		l->acked += more;
	}
	return true;
}

/* A message begins: find its place. */
static bool begin_body(struct tutti_stream *s, const uint8_t *h)
{
	uint32_t lane = h[3], len = get32(h + 4);
	struct in_line *line;
	struct lane *l;

	if (lane >= TUTTI_NET_LANES)
		return damaged(s, "an impossible lane", lane);
	l = &s->lane[lane];
	if (len > tutti_max(s->slot_bytes, TUTTI_NOTE_BYTES))
		return damaged(s, "an impossible length", len);
	if (get32(h + 12) != (uint32_t)l->in_msg)
		return damaged(s, "a message out of order", get32(h + 12));
	if (l->in_msg - l->released >= s->lines)
		return damaged(s, "more messages than were allowed", lane);
	if (len > TUTTI_NOTE_BYTES && l->in_slot - l->released_slot >= s->slots)
		return damaged(s, "more bytes than were allowed", lane);
	if (tutti_stream_open_lane(s, (int)lane))
		return damaged(s, "no memory for a lane", lane);
	line = &l->in_lines[l->in_msg % s->lines];
	line->len = len;
	line->tag = get32(h + 8);
	s->body_to = line->note;
	if (len > TUTTI_NOTE_BYTES)
		s->body_to = l->in_slots + l->in_slot % s->slots * s->slot_room;
	line->data = s->body_to;
	s->body_lane = l;
	s->body_left = len;
	return true;
}

static void end_body(struct tutti_stream *s)
{
	struct lane *l = s->body_lane;

	if (l->in_lines[l->in_msg % s->lines].len > TUTTI_NOTE_BYTES)
		l->in_slot++;
	l->in_msg++;
	s->body_lane = NULL;
}

static bool begin_frame(struct tutti_stream *s, const uint8_t *h)
{
	if ((h[0] | h[1] << 8) != MAGIC || get32(h + 28) != header_check(h))
		return damaged(s, "bytes that are no frame", get32(h));
	if (!take_credits(s, h))
		return false;
	if (h[2] == KIND_CREDIT && get32(h + 4) == 0)
		return true;
	if (h[2] != KIND_MESSAGE)
		return damaged(s, "an unknown kind of frame", h[2]);
	return begin_body(s, h);
}

bool tutti_stream_arrived(struct tutti_stream *s, size_t bytes)
{
	size_t direct = tutti_min(bytes, s->body_left), at = 0;

	s->have += bytes - direct;
	assert(s->have <= sizeof(s->in));
	if (s->body_left) {
		s->body_to += direct;
		s->body_left -= direct;
	}
	for (;;) {
		if (s->body_left) {
			size_t n = tutti_min(s->have - at, s->body_left);

			memcpy(s->body_to, s->in + at, n);
			s->body_to += n;
			s->body_left -= n;
			at += n;
		}
		if (s->body_left)
			break;
		if (s->body_lane)
			end_body(s);
		if (s->have - at < TUTTI_STREAM_HEADER)
			break;
		if (!begin_frame(s, s->in + at))
			return false;
		at += TUTTI_STREAM_HEADER;
	}
	s->have -= at;
	memmove(s->in, s->in + at, s->have);
	return true;
}

const char *tutti_stream_damage(const struct tutti_stream *s)
{
	return s->damage;
}

bool tutti_stream_midway(const struct tutti_stream *s)
{
	return s->body_left || s->have;
}
