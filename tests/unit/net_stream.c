/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing and credits of stream transports, with the test as the network: it
 * cuts the bytes anywhere, damages them, or makes up frames.
 */
#include "config.h"

#include "base/bits.h"
#include "net/stream.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define LINES 8
#define SLOTS 4
#define SLOT_BYTES 5000

static uint64_t dice = 1;

static uint64_t roll(uint64_t sides)
{
	dice = tutti_mix(dice, 7);
	return dice % sides;
}

static struct tutti_stream *make(uint64_t seq_start)
{
	struct tutti_xport_env env = {
		.lines = LINES,
		.slots = SLOTS,
		.slot_bytes = SLOT_BYTES,
		.seq_start = seq_start,
	};
	struct tutti_stream *s = NULL;

	cr_assert(!tutti_stream_create(&s, &env));
	for (int lane = 0; lane < TUTTI_NET_LANES; lane++)
		cr_assert(!tutti_stream_open_lane(s, lane));
	return s;
}

/* Bring `bytes` bytes in. */
static bool feed(struct tutti_stream *s, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		struct iovec iov[2];
		int n = tutti_stream_space(s, iov);
		size_t put = 0;

		for (int i = 0; i < n; i++) {
			size_t k = tutti_min(iov[i].iov_len, len - put);

			cr_assert(iov[i].iov_len > 0);
			memcpy(iov[i].iov_base, p + put, k);
			put += k;
		}
		p += put;
		len -= put;
		if (!tutti_stream_arrived(s, put))
			return false;
	}
	return true;
}

/* Take up to `max` bytes out. */
static size_t take(struct tutti_stream *s, char *out, size_t max)
{
	struct iovec iov[16];
	int n = tutti_stream_gather(s, iov, (int)tutti_countof(iov));
	size_t got = 0;

	for (int i = 0; i < n; i++) {
		size_t k = tutti_min(iov[i].iov_len, max - got);

		memcpy(out + got, iov[i].iov_base, k);
		got += k;
	}
	tutti_stream_sent(s, got);
	return got;
}

/* Carry up to `max` bytes over; true if any went. */
static bool carry(struct tutti_stream *from, struct tutti_stream *to,
		  size_t max)
{
	static char buf[1 << 17];
	size_t n = take(from, buf, tutti_min(max, sizeof(buf)));

	cr_assert(feed(to, buf, n), "%s", tutti_stream_damage(to));
	return n > 0;
}

static void send(struct tutti_stream *s, int lane, uint32_t tag, size_t len)
{
	memset(tutti_stream_tx(s, lane, len), (int)(tag & 0xff), len);
	tutti_stream_post(s, lane, len, tag);
}

/* The next message must be this one. */
static bool receive(struct tutti_stream *s, int lane, uint32_t tag, size_t len)
{
	uint32_t seen;
	const char *p = tutti_stream_rx(s, lane, len, &seen);

	if (!p)
		return false;
	cr_assert(seen == tag, "tag %x instead of %x", seen, tag);
	for (size_t i = 0; i < len; i++)
		cr_assert((uint8_t)p[i] == (tag & 0xff));
	tutti_stream_release(s, lane);
	return true;
}

static size_t length_of(int lane, uint32_t number)
{
	static const size_t edges[] = { 0, 1, 55, 56, 57, SLOT_BYTES };
	uint64_t h = tutti_mix(number, (uint64_t)lane);

	return h % 2 ? h / 2 % (SLOT_BYTES + 1) : edges[h / 2 % 6];
}

/* Counters of one direction of one lane as chan.h would keep them. */
struct flow {
	uint32_t sent, got, slots;
	uint32_t after[SLOTS];
};

/* Send as much as the credits allow. */
static void pour(struct tutti_stream *s, int lane, struct flow *f,
		 uint64_t seq_start, uint32_t most)
{
	for (; f->sent < most; f->sent++) {
		size_t len = length_of(lane, f->sent);
		uint32_t back = (uint32_t)(tutti_stream_acked(s, lane) -
					   seq_start);

		if (f->sent - back >= LINES)
			return;
		if (len > TUTTI_NOTE_BYTES) {
			if (f->slots >= SLOTS && f->after[f->slots % SLOTS] >
			    back)
				return;
			f->after[f->slots++ % SLOTS] = f->sent + 1;
		}
		send(s, lane, f->sent * 3 + (uint32_t)lane, len);
	}
}

/* All lanes, both directions, cut into pieces of up to `chunk` bytes. */
static void exchange(uint64_t seq_start, size_t chunk, uint32_t most)
{
	struct tutti_stream *s[2] = { make(seq_start), make(seq_start) };
	struct flow flow[2][TUTTI_NET_LANES];
	uint32_t idle = 0, done = 0;

	memset(flow, 0, sizeof(flow));
	while (done < 2 * TUTTI_NET_LANES * most) {
		bool moved = false;

		for (int i = 0; i < 2; i++) {
			for (int l = 0; l < TUTTI_NET_LANES; l++) {
				struct flow *f = &flow[i][l];

				pour(s[i], l, f, seq_start, most);
				while (f->got < most && roll(4) &&
				       receive(s[1 - i], l, f->got * 3 +
					       (uint32_t)l,
					       length_of(l, f->got))) {
					f->got++;
					done++;
					moved = true;
				}
			}
			moved |= carry(s[i], s[1 - i], 1 + roll(chunk));
		}
		idle = moved ? 0 : idle + 1;
		cr_assert(idle < 1000, "nothing moves any more");
	}
	tutti_stream_destroy(s[0]);
	tutti_stream_destroy(s[1]);
}

Test(net_stream, bytes_cut_anywhere)
{
	exchange(0, 1, 10);
	exchange(0, 2, 20);
	exchange(0, 33, 60);
	exchange(0, 1000, 300);
	exchange(0, 20000, 1000);
	exchange(0, 1 << 17, 1000);
}

/* case 29 */
Test(net_stream, numbers_wrap)
{
	for (int power = 31; power <= 63; power++)
		exchange((UINT64_C(1) << power) - 30, 9000, 100);
}

/* A single release reaches a sender that has no credit left. */
Test(net_stream, credits_travel)
{
	struct tutti_stream *a = make(0), *b = make(0);

	for (uint32_t i = 0; i < LINES; i++)
		send(a, 1, i, 8);
	carry(a, b, 1 << 16);
	cr_assert(!tutti_stream_pending(a) && !tutti_stream_pending(b));
	for (uint32_t i = 0; i < LINES; i++) {
		cr_assert(receive(b, 1, i, 8));
		cr_assert(tutti_stream_pending(b));
		carry(b, a, 1 << 16);
		cr_assert(tutti_stream_acked(a, 1) == i + 1);
		send(a, 1, LINES + i, 8);
		carry(a, b, 1 << 16);
	}
	tutti_stream_destroy(a);
	tutti_stream_destroy(b);
}

/* With credits to spare, one frame tells of several releases. */
Test(net_stream, credits_are_not_chatty)
{
	struct tutti_stream *a = make(0), *b = make(0);
	char buf[256];
	size_t bytes = 0;

	for (uint32_t i = 0; i < 400; i++) {
		send(a, 0, i, 8);
		carry(a, b, 1 << 16);
		cr_assert(receive(b, 0, i, 8));
		if (tutti_stream_pending(b)) {
			size_t n = take(b, buf, sizeof(buf));

			cr_assert(feed(a, buf, n));
			bytes += n;
		}
	}
	cr_assert(bytes == 400 / (LINES / 2) * TUTTI_STREAM_HEADER,
		  "%zu bytes of credits", bytes);
	tutti_stream_destroy(a);
	tutti_stream_destroy(b);
}

/* Credits ride on messages that go the other way anyhow. */
Test(net_stream, credits_ride)
{
	struct tutti_stream *a = make(0), *b = make(0);
	char buf[4096];

	for (uint32_t i = 0; i < 100; i++) {
		send(a, 0, i, 8);
		carry(a, b, 1 << 16);
		cr_assert(receive(b, 0, i, 8));
		send(b, 0, i, 8);
		cr_assert(take(b, buf, sizeof(buf)) ==
			  TUTTI_STREAM_HEADER + 8);
		cr_assert(feed(a, buf, TUTTI_STREAM_HEADER + 8));
		cr_assert(tutti_stream_acked(a, 0) == i + 1);
		cr_assert(receive(a, 0, i, 8));
	}
	tutti_stream_destroy(a);
	tutti_stream_destroy(b);
}

Test(net_stream, other_length_other_tag)
{
	static const size_t lens[] = { 0, 1, 8, 56, 57, 4096, SLOT_BYTES };

	for (size_t i = 0; i < tutti_countof(lens); i++)
		for (size_t j = 0; j < tutti_countof(lens); j++) {
			struct tutti_stream *a = make(0), *b = make(0);
			uint32_t seen = 0;

			send(a, 2, 0xabcd, lens[i]);
			carry(a, b, 1 << 16);
			cr_assert(tutti_stream_rx(b, 2, lens[j], &seen));
			cr_assert((seen == 0xabcd) == (i == j));
			tutti_stream_destroy(a);
			tutti_stream_destroy(b);
		}
}

/* ---- Damage ------------------------------------------------------------- */

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

/* A header as stream.h describes it, with a check that holds. */
static void forge(uint8_t h[TUTTI_STREAM_HEADER], uint32_t kind, uint32_t lane,
		  uint32_t len, uint32_t number)
{
	uint64_t sum = 0x7454;

	memset(h, 0, TUTTI_STREAM_HEADER);
	put32(h, 0x7454 | kind << 16 | lane << 24);
	put32(h + 4, len);
	put32(h + 8, 0x1234);
	put32(h + 12, number);
	for (int i = 0; i < 28; i += 4) {
		uint32_t v;

		memcpy(&v, h + i, sizeof(v));
		sum = (sum ^ le32toh(v)) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	put32(h + 28, (uint32_t)(sum >> 32));
}

/* Whether a forged frame is taken by a new stream. */
static bool takes(uint32_t kind, uint32_t lane, uint32_t len, uint32_t number)
{
	struct tutti_stream *s = make(0);
	uint8_t h[TUTTI_STREAM_HEADER];
	bool ok;

	forge(h, kind, lane, len, number);
	ok = feed(s, h, sizeof(h));
	cr_assert(ok == !tutti_stream_damage(s)[0]);
	tutti_stream_destroy(s);
	return ok;
}

Test(net_stream, impossible_frames)
{
	cr_assert(takes(1, 0, 8, 0));
	cr_assert(takes(1, 2, SLOT_BYTES, 0));
	cr_assert(takes(2, 0, 0, 0));
	cr_assert(!takes(1, 3, 8, 0));
	cr_assert(!takes(1, 255, 8, 0));
	cr_assert(!takes(1, 0, SLOT_BYTES + 1, 0));
	cr_assert(!takes(1, 0, UINT32_MAX, 0));
	cr_assert(!takes(1, 0, 8, 1));
	cr_assert(!takes(1, 0, 8, UINT32_MAX));
	cr_assert(!takes(2, 0, 8, 0));
	cr_assert(!takes(0, 0, 8, 0));
	cr_assert(!takes(9, 0, 0, 0));
}

/* More than the credits allow. */
Test(net_stream, too_many)
{
	static char body[SLOT_BYTES];
	uint8_t h[TUTTI_STREAM_HEADER];

	for (int big = 0; big < 2; big++) {
		uint32_t most = big ? SLOTS : LINES, len = big ? 60 : 8;
		struct tutti_stream *s = make(0);

		for (uint32_t i = 0; i < most; i++) {
			forge(h, 1, 1, len, i);
			cr_assert(feed(s, h, sizeof(h)));
			cr_assert(feed(s, body, len));
		}
		forge(h, 1, 1, len, most);
		cr_assert(!feed(s, h, sizeof(h)));
		cr_assert(strstr(tutti_stream_damage(s), "allowed"));
		tutti_stream_destroy(s);
	}
}

/* A release of what was posted but never left is as impossible as one of what
 * was never posted. */
Test(net_stream, release_of_nothing)
{
	struct tutti_stream *a = make(0), *b = make(0);
	char frame[100], credit[100];
	size_t n;

	send(a, 0, 1, 8);
	n = take(a, frame, sizeof(frame));
	cr_assert(feed(b, frame, n));
	cr_assert(receive(b, 0, 1, 8));
	send(b, 0, 2, 8);
	n = take(b, credit, sizeof(credit));
	tutti_stream_destroy(a);

	a = make(0);
	send(a, 0, 1, 8);
	cr_assert(!feed(a, credit, n));
	cr_assert(strstr(tutti_stream_damage(a), "release"));
	tutti_stream_destroy(a);
	tutti_stream_destroy(b);
}

/* Every single bit of a header counts. */
Test(net_stream, flipped_bits)
{
	for (int bit = 0; bit < 8 * TUTTI_STREAM_HEADER; bit++) {
		struct tutti_stream *a = make(0), *b = make(0);
		char frame[200];
		size_t n;

		send(a, 1, 0x77, 100);
		n = take(a, frame, sizeof(frame));
		frame[bit / 8] ^= (char)(1 << bit % 8);
		cr_assert(!feed(b, frame, n), "bit %d", bit);
		tutti_stream_destroy(a);
		tutti_stream_destroy(b);
	}
}

/* Any bytes at all: refused, or taken as what they are; never a crash. */
Test(net_stream, noise)
{
	for (int round = 0; round < 300; round++) {
		struct tutti_stream *a = make(0), *b = make(0);
		static char bytes[40000];
		size_t n, at;

		for (uint32_t i = 0; i < SLOTS; i++)
			send(a, (int)roll(3), i, roll(SLOT_BYTES + 1));
		n = take(a, bytes, sizeof(bytes));
		for (uint64_t k = roll(4); k; k--) {
			at = roll(n);
			bytes[at] = (char)roll(256);
		}
		if (round % 3 == 0)
			for (at = roll(n); at < n; at++)
				bytes[at] = (char)roll(256);
		feed(b, bytes, n);
		tutti_stream_destroy(a);
		tutti_stream_destroy(b);
	}
}

Test(net_stream, impossible_sizes)
{
	static const struct {
		uint32_t lines, slots;
		size_t slot_bytes;
	} bad[] = {
		{ 1, 4, 4096 }, { 8, 1, 4096 }, { 0, 0, 0 },
		{ 8, TUTTI_SLOTS_MAX + 1, 4096 }, { UINT32_MAX, 4, 4096 },
		{ 8, 4, SIZE_MAX }, { 8, 64, SIZE_MAX / 64 },
	};

	for (size_t i = 0; i < tutti_countof(bad); i++) {
		struct tutti_xport_env env = {
			.lines = bad[i].lines,
			.slots = bad[i].slots,
			.slot_bytes = bad[i].slot_bytes,
		};
		struct tutti_stream *s = NULL;

		cr_assert(tutti_stream_create(&s, &env) ==
			  tuttiInvalidArgument);
		cr_assert(!s);
	}
	tutti_stream_destroy(NULL);
}
