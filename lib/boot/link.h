/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One non-blocking connection, read in pieces of known length and written
 * through a queue.  Used by both ends, each under its own lock.
 */
#ifndef TUTTI_BOOT_LINK_H
#define TUTTI_BOOT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/wire.h"

/* Bytes to send, shared by all queues they stand in.  Reference counts are
 * changed under the lock of the links. */
struct tutti_packet {
	int users;
	size_t len;
	uint8_t data[];
};

struct tutti_queued;

struct tutti_link {
	int fd;
	uint8_t *rx;		/* rx_have of the rx_need bytes awaited */
	size_t rx_have, rx_need, rx_cap;
	struct tutti_queued *head, **tail;
	size_t sent;		/* of the head */
	size_t queued;		/* bytes in the queue, less `sent` */
};

/* A frame with room for `len` bytes behind its head; one user.  NULL: no
 * memory. */
struct tutti_packet *tutti_packet_frame(enum tutti_frame type, uint64_t seq,
					size_t len);
/* Plain bytes. */
struct tutti_packet *tutti_packet_raw(const void *data, size_t len);
/* A frame of a code and a sentence. */
struct tutti_packet *tutti_packet_failed(enum tutti_frame type, uint64_t seq,
					 int32_t code, const char *text);
void tutti_packet_drop(struct tutti_packet *p);

void tutti_link_init(struct tutti_link *l, int fd);
/* Frees all but the descriptor. */
void tutti_link_fini(struct tutti_link *l);

/* Await a message of `len` bytes from now on. */
void tutti_link_expect(struct tutti_link *l, size_t len);
/* Await `len` bytes in all of the message that has begun. */
void tutti_link_extend(struct tutti_link *l, size_t len);
/* Read what there is.  0: rx holds rx_need bytes; EAGAIN: not yet; ENODATA:
 * end of file; else the socket's error. */
int tutti_link_read(struct tutti_link *l);

/* Queue a packet (one more user of it) and send what goes.  0: all is sent;
 * EAGAIN: the rest waits for POLLOUT; else the socket's error. */
int tutti_link_send(struct tutti_link *l, struct tutti_packet *p);
int tutti_link_flush(struct tutti_link *l);

#endif
