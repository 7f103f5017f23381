/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: what is common to all transports, above their table.  Counts
 * messages, keeps credits, compares tags.  Inline because a small operation is
 * a handful of these.
 */
#ifndef TUTTI_NET_CHAN_H
#define TUTTI_NET_CHAN_H

#include "net/xport.h"

/* True if a message of `len` bytes may be written now. */
static inline bool tutti_chan_can_send(struct tutti_chan *c, size_t len)
{
	bool slot = len > TUTTI_NOTE_BYTES;
	uint64_t need = 0;

	/* The line, and the slot, must have been released by the peer. */
	if (c->tx_msg - c->tx_acked >= c->lines)
		need = c->tx_acked + 1;
	if (slot && c->tx_slot >= c->slots) {
		uint64_t after = c->slot_msg[c->tx_slot % c->slots];

		if ((int64_t)(after - c->tx_acked) > 0)
			need = after;
	}
	if (!need)
		return true;
	c->tx_acked = c->ops->acked(c);
	return (int64_t)(c->tx_acked - need) >= 0;
}

/* Where to write the next message; only after can_send. */
static inline void *tutti_chan_tx(struct tutti_chan *c, size_t len)
{
	return c->ops->tx(c, len);
}

static inline void tutti_chan_post(struct tutti_chan *c, size_t len,
				   uint32_t tag)
{
	c->ops->post(c, len, tag);
	c->tx_msg++;
	if (len > TUTTI_NOTE_BYTES) {
		c->slot_msg[c->tx_slot % c->slots] = c->tx_msg;
		c->tx_slot++;
	}
}

/* The next message, or NULL if it has not come.  *tag is the one it carries:
 * the caller compares before it believes a byte. */
static inline const void *tutti_chan_rx(struct tutti_chan *c, size_t len,
					uint32_t *tag)
{
	return c->ops->rx(c, len, tag);
}

static inline void tutti_chan_release(struct tutti_chan *c, size_t len)
{
	c->ops->release(c, len);
	c->rx_msg++;
	if (len > TUTTI_NOTE_BYTES)
		c->rx_slot++;
}

#endif
