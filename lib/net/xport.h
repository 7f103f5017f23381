/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How one rank reaches another: the transport table.
 *
 * A *channel* joins two ranks on one lane; each direction carries messages in
 * order.  Both ends know the length of every message beforehand (the schedule
 * says it), so a message is its bytes and a 32-bit tag that names the
 * operation.  What is common to all transports stands above the table, in
 * chan.h: counting, credits, matching of tags.  A transport only gives
 * memory to write the next message to, makes it visible to the peer, and
 * shows the next arrived message in place.
 *
 * Two kinds of message.  Up to c->note_max bytes, a message travels in lines
 * of TUTTI_NOTE_BYTES, of which there are c->lines; a longer one, up to
 * c->slot_bytes, takes a line and one of c->slots slots.  A line or slot is
 * free again when the peer has released the message.  Messages are counted in
 * lines.
 *
 * No function here blocks except open, connect and close.  All functions of
 * one transport object are called by one thread at a time.
 */
#ifndef TUTTI_NET_XPORT_H
#define TUTTI_NET_XPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "tutti.h"

#define TUTTI_NOTE_BYTES 56	/* a cache line less its word */
#define TUTTI_NET_LANES 3	/* two for collectives, one for send and receive */
#define TUTTI_NET_P2P 2		/* the lane of send and receive */
#define TUTTI_ADDR_MAX 128
#define TUTTI_SLOTS_MAX 64

/* What a rank sleeps on; may lie in memory shared with its peers. */
struct tutti_bell {
	_Atomic uint32_t rung;	/* changed by whoever rings */
	_Atomic uint32_t sleeping; /* written by the owner only */
} __attribute__((aligned(TUTTI_LINE)));

/* Wake the owner if it sleeps.  Everything stored before is visible to it
 * when it looks again.  Costs a fence when it is awake. */
void tutti_bell_ring(struct tutti_bell *bell);

/* A buffer as its owner tells its peers. */
struct tutti_region {
	uint64_t seg;		/* 0: cannot be reached */
	uint64_t offset : 63;
	uint64_t direct : 1;	/* every peer has confirmed that it reaches it */
};

struct tutti_xport;

/* One lane to and from one peer.  Counters are used by chan.h alone, the
 * last part by the transport alone. */
struct tutti_chan {
	const struct tutti_xport_ops *ops;
	struct tutti_xport *x;
	int peer, lane;
	uint32_t lines, slots;
	size_t slot_bytes;
	/* TUTTI_NOTE_BYTES, unless the transport's chan_init raises it. */
	size_t note_max;

	uint64_t tx_msg, tx_slot;	/* lines and slots posted so far */
	uint64_t tx_acked;		/* lines known to be released */
	uint64_t rx_msg, rx_slot;	/* released so far */
	uint64_t slot_msg[TUTTI_SLOTS_MAX]; /* tx_msg after slot i was last
					     * filled */

	void *tx_mem, *rx_mem;
	_Atomic uint64_t *tx_ack, *rx_ack;
	void *priv;
};

struct tutti_xport_env {
	int rank, ranks;
	const uint8_t *secret;		/* 16 bytes that all ranks share */
	struct tutti_bell *bell;	/* this rank's */
	uint32_t lines, slots;		/* the same on all ranks */
	size_t slot_bytes;		/* likewise */
	uint64_t seq_start;		/* first value of message counters */
	uint8_t address[28];		/* sockaddr by which others reach us */
	/* Connecting may be given up soon after this is true; NULL: never. */
	bool (*stopped)(void *arg);
	void *stop_arg;
};

struct tutti_xport_ops {
	const char *name;
	size_t addr_bytes;		/* of what local_addr fills */

	/* Make the local end.  On failure nothing is left. */
	tuttiResult_t (*open)(struct tutti_xport **out,
			      const struct tutti_xport_env *env);
	/* What other ranks need to reach this one. */
	void (*local_addr)(struct tutti_xport *x, void *addr);
	/*
	 * Reach every peer with want[peer], by a real trial; called by all
	 * ranks at the same time, with want symmetric.  addrs holds
	 * addr_bytes for each rank.  Sets reached[peer] as this side sees it:
	 * a channel may be used if both sides say so.  A peer that was not
	 * reached is not an error but is told in the log with the reason.
	 * Fails only if this rank cannot go on at all, or at the deadline.
	 */
	tuttiResult_t (*connect)(struct tutti_xport *x, const bool *want,
				 const void *addrs, bool *reached,
				 int64_t deadline_ns);
	/* After connect: the bell that peers of this transport ring, if it
	 * must be another than env->bell; else NULL. */
	struct tutti_bell *(*bell)(struct tutti_xport *x);
	/* Fill the transport's part of a channel to a reached peer.  lines,
	 * slots, slot_bytes, note_max and counters are set by the caller. */
	tuttiResult_t (*chan_init)(struct tutti_xport *x,
				   struct tutti_chan *c);
	/* Free everything.  Never waits for a peer; what flushed has confirmed
	 * is still delivered.  NULL is allowed. */
	void (*close)(struct tutti_xport *x);

	/* Where to write message c->tx_msg of `len` bytes; the caller has a
	 * credit.  Stays valid until post. */
	void *(*tx)(struct tutti_chan *c, size_t len);
	/* Message c->tx_msg is written: make it visible, with its tag. */
	void (*post)(struct tutti_chan *c, size_t len, uint32_t tag);
	/* Bytes and tag of message c->rx_msg, or NULL if it has not come.
	 * *tag is the expected one before the call: a message with another may
	 * be shown before all of it came.  For length 0 any non-NULL pointer.
	 * A message that came with another length than `len` is shown as one
	 * with a different tag. */
	const void *(*rx)(struct tutti_chan *c, size_t len, uint32_t *tag);
	/* Message c->rx_msg is no longer needed; its memory may be reused. */
	void (*release)(struct tutti_chan *c, size_t len);
	/* How many lines the peer has released. */
	uint64_t (*acked)(struct tutti_chan *c);
	/* Messages were posted or released: wake the peer if it sleeps. */
	void (*kick)(struct tutti_chan *c);
	/* NULL while the channel works; else why nothing will come or go any
	 * more (peer closed, connection reset), as part of a sentence.
	 * Messages that came before are still shown by rx. */
	const char *(*fault)(struct tutti_chan *c);

	/* The map face.  What to tell the peers about this rank's buffer... */
	struct tutti_region (*expose)(struct tutti_xport *x, const void *ptr,
				      size_t bytes);
	/* ...and where a peer's buffer is here, or NULL.  Non-NULL exactly if
	 * the peer's region says direct, so all ranks decide alike. */
	void *(*map)(struct tutti_xport *x, int peer,
		     const struct tutti_region *region, size_t bytes);

	/* Move bytes that need moving by hand.  True if any moved. */
	bool (*progress)(struct tutti_xport *x);
	/* From now on, until the next progress, an arrival rings the bell;
	 * true if something is there already. */
	bool (*arm)(struct tutti_xport *x);
	/* True when everything posted has left this process for good, so
	 * that it may exit, or can never arrive.  No bell rings for it: ask
	 * again, with progress in between. */
	bool (*flushed)(struct tutti_xport *x);
};

/* For slots a transport has no use for, so that none is empty and no caller
 * tests for NULL. */
void tutti_xport_kick_nothing(struct tutti_chan *c);
const char *tutti_xport_fault_none(struct tutti_chan *c);
bool tutti_xport_progress_nothing(struct tutti_xport *x);
bool tutti_xport_flushed_always(struct tutti_xport *x);
struct tutti_bell *tutti_xport_bell_given(struct tutti_xport *x);
struct tutti_region tutti_xport_expose_none(struct tutti_xport *x,
					    const void *ptr, size_t bytes);
void *tutti_xport_map_none(struct tutti_xport *x, int peer,
			   const struct tutti_region *region, size_t bytes);

/* The transports, best first; ended by NULL.  In net.c. */
extern const struct tutti_xport_ops *const tutti_xports[];

const struct tutti_xport_ops *tutti_xport_find(const char *name);

#endif
