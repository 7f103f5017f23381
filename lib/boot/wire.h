/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is sent between a rank and the meeting point.
 *
 *	rank				meeting point
 *	HELLO      48 bytes	->
 *			<-	CHALLENGE  64 bytes, with a proof
 *	CLAIM     256 bytes	->	with a proof
 *			<-	frames: ACCEPTED, then START or REFUSED
 *	frames			<->	frames, until GOODBYE or end of file
 *
 * The proof is HMAC-SHA256 under the id's secret over everything said before
 * in this connection.  The three fixed messages and the frame REFUSED never
 * change: ranks of different versions must be able to tell each other so,
 * and be believed.  Numbers are big-endian; byte order and word size of the
 * two ends are compared because the data of collectives is sent raw.
 */
#ifndef TUTTI_BOOT_WIRE_H
#define TUTTI_BOOT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TUTTI_PROTOCOL 1
#define TUTTI_SECRET_BYTES 16
#define TUTTI_NONCE_BYTES 16
#define TUTTI_TAG_BYTES 8
#define TUTTI_MAC_BYTES 32
#define TUTTI_MAGIC_BYTES 8
#define TUTTI_TEXT_BYTES 1024	/* longest sentence sent, with its end */

/* Not text in any encoding, and damaged by anything that changes line ends. */
#define TUTTI_MAGIC "\x89TUT\r\n\x1a\n"

/* HELLO: offsets */
enum {
	HELLO_MAGIC = 0,
	HELLO_BUILD = 8,	/* the same four bytes in CHALLENGE */
	HELLO_ZERO = 12,
	HELLO_NUMBER = 16,	/* which id of the process, 0: by its tag */
	HELLO_TAG = 24,		/* names the secret without telling it */
	HELLO_NONCE = 32,
	HELLO_BYTES = 48
};

/* CHALLENGE */
enum {
	CHALLENGE_MAGIC = 0,
	CHALLENGE_BUILD = 8,
	CHALLENGE_VERDICT = 12,	/* u16: 0 go on, 1 wrong job */
	CHALLENGE_ZERO = 14,
	CHALLENGE_NONCE = 16,
	CHALLENGE_MAC = 32,
	CHALLENGE_BYTES = 64
};
#define VERDICT_GO_ON 0
#define VERDICT_WRONG_JOB 1

/* CLAIM */
enum {
	CLAIM_RANK = 0,		/* i64 */
	CLAIM_NRANKS = 8,	/* i64 */
	CLAIM_LEFT_MS = 16,	/* u32: until this rank gives up */
	CLAIM_GENERATION = 20,	/* u32: 0 for an id of one communicator */
	CLAIM_PID = 24,		/* i64 */
	CLAIM_PROCESS = 32,	/* 16 random bytes of this process */
	CLAIM_HOST = 48,	/* name, padded with zeros */
	CLAIM_HOST_BYTES = 128,
	CLAIM_ZERO = 176,
	CLAIM_MAC = 224,
	CLAIM_BYTES = 256
};

/* Frames: type u16, zero u16, length of the rest u32, sequence u64. */
enum {
	FRAME_TYPE = 0,
	FRAME_LENGTH = 4,
	FRAME_SEQ = 8,
	FRAME_BYTES = 16
};

enum tutti_frame {
	FRAME_ACCEPTED = 1,	/* wait for the others */
	FRAME_REFUSED = 2,	/* i32 code, sentence; the end follows */
	FRAME_START = 3,	/* all are here: see START_ below */
	FRAME_GATHER = 4,	/* u32 milliseconds left, u32 zero, bytes */
	FRAME_GATHERED = 5,	/* bytes of all ranks */
	FRAME_GATHER_FAILED = 6, /* i32 code, sentence */
	FRAME_NEWS = 7,		/* see NEWS_ below; seq is the operation's */
	FRAME_GOODBYE = 8,	/* this rank leaves in order */
	FRAME_LEFT = 9		/* the rank in the meeting point's process
				 * has left: its end is no failure */
};

/* START */
enum {
	START_NONCE = 0,
	START_SERIAL = 16,	/* u64: the session, for the root's process */
	START_ROOT_RANK = 24,	/* i32: in the root's process, or -1 */
	START_BYTES = 28
};

/* ACCEPTED */
enum {
	ACCEPTED_HERE = 0,	/* u32: 1 if you are in the root's process */
	ACCEPTED_BYTES = 4
};

/* NEWS, followed by the sentence */
enum {
	NEWS_KIND = 0,		/* u32 */
	NEWS_RANK = 4,		/* i32 */
	NEWS_CODE = 8,		/* i32 */
	NEWS_BYTES = 12
};

/* REFUSED and GATHER_FAILED, followed by the sentence */
#define FAILED_CODE 0
#define FAILED_BYTES 4

#define GATHER_LEFT_MS 0
#define GATHER_HEAD 8
#define GATHER_MAX 65536	/* bytes of one rank */

static inline void tutti_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void tutti_put32(uint8_t *p, uint32_t v)
{
	tutti_put16(p, (uint16_t)(v >> 16));
	tutti_put16(p + 2, (uint16_t)v);
}

static inline void tutti_put64(uint8_t *p, uint64_t v)
{
	tutti_put32(p, (uint32_t)(v >> 32));
	tutti_put32(p + 4, (uint32_t)v);
}

static inline uint16_t tutti_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t tutti_get32(const uint8_t *p)
{
	return (uint32_t)tutti_get16(p) << 16 | tutti_get16(p + 2);
}

static inline uint64_t tutti_get64(const uint8_t *p)
{
	return (uint64_t)tutti_get32(p) << 32 | tutti_get32(p + 4);
}

/* What has to agree between two ends: protocol, byte order, word size. */
struct tutti_build {
	uint16_t protocol;
	uint8_t order;		/* 1 little-endian, 2 big-endian */
	uint8_t word;		/* bytes of a pointer */
};

static inline void tutti_put_build(uint8_t *p, const struct tutti_build *b)
{
	tutti_put16(p, b->protocol);
	p[2] = b->order;
	p[3] = b->word;
}

static inline struct tutti_build tutti_get_build(const uint8_t *p)
{
	return (struct tutti_build){ tutti_get16(p), p[2], p[3] };
}

#endif
