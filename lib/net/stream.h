/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of several lanes over one stream of bytes: framing, staging memory,
 * credits.  Bytes in, bytes out; no socket is seen here, so any stream
 * transport can stand on it and a test can play the network.
 *
 * A frame is a header of 32 bytes, little endian, and the message:
 *
 *	0  magic (16 bits)	12  message number, low 32 bits
 *	2  kind			16  released messages of lanes 0, 1, 2,
 *	3  lane			    low 32 bits each
 *	4  length		28  check of the 28 bytes before it
 *	8  tag
 *
 * Credits: every header tells how many messages of each lane this end has
 * released; when nothing else goes out, a frame without a message does.  A
 * sender never has more messages out than the receiver has lines and slots,
 * so received bytes always have a place and reading never stops.
 *
 * One thread at a time.
 */
#ifndef TUTTI_NET_STREAM_H
#define TUTTI_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "net/xport.h"
#include "tutti.h"

#define TUTTI_STREAM_HEADER 32

struct tutti_stream;

/* `lines`, `slots`, `slot_bytes` and `seq_start` as in struct
 * tutti_xport_env.  Errors: tuttiSystemError, tuttiInvalidArgument. */
tuttiResult_t tutti_stream_create(struct tutti_stream **out,
				  const struct tutti_xport_env *env);
void tutti_stream_destroy(struct tutti_stream *s);

/* Reserve the lane's memory, which costs nothing until it is used.  Happens
 * by itself when the peer uses the lane first. */
tuttiResult_t tutti_stream_open_lane(struct tutti_stream *s, int lane);

/* The calls of the transport table, for one lane. */
void *tutti_stream_tx(struct tutti_stream *s, int lane, size_t len);
void tutti_stream_post(struct tutti_stream *s, int lane, size_t len,
		       uint32_t tag);
const void *tutti_stream_rx(struct tutti_stream *s, int lane, size_t len,
			    uint32_t *tag);
/* True if the peer, as far as can be known here, had no credit left and does
 * not know of this one: it may wait for it and should be told at once. */
bool tutti_stream_release(struct tutti_stream *s, int lane);
uint64_t tutti_stream_acked(const struct tutti_stream *s, int lane);

/* Where the next bytes to send are: up to `max` pieces, 0 if there is nothing
 * to send.  Whatever part of them was sent is told with tutti_stream_sent
 * before the next call. */
int tutti_stream_gather(struct tutti_stream *s, struct iovec *iov, int max);
void tutti_stream_sent(struct tutti_stream *s, size_t bytes);
/* How many of the bytes sent so far came after the last message: credits, which
 * nobody needs to wait for. */
uint64_t tutti_stream_tail(const struct tutti_stream *s);
/* True if tutti_stream_gather would give something. */
bool tutti_stream_pending(const struct tutti_stream *s);

/* Where received bytes go: one or two pieces, never empty.  After
 * tutti_stream_arrived returned false no more may be received. */
int tutti_stream_space(struct tutti_stream *s, struct iovec iov[2]);
/* `bytes` bytes were put there.  False if they make no sense. */
bool tutti_stream_arrived(struct tutti_stream *s, size_t bytes);
/* What made no sense, as part of a sentence; "" if nothing. */
const char *tutti_stream_damage(const struct tutti_stream *s);
/* True if a frame has begun to arrive and has not ended. */
bool tutti_stream_midway(const struct tutti_stream *s);

#endif
