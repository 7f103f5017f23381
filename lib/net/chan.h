/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: what is common to all transports, above their table.  Counts
 * messages, keeps credits, compares tags.  Inline because a small operation is
 * a handful of these.
 */
#ifndef TUTTI_NET_CHAN_H
#define TUTTI_NET_CHAN_H

#include "net/xport.h"

/* Begin counting at `start`; before chan_init. */
static inline void tutti_chan_start(struct tutti_chan *c, uint64_t start)
{
	c->note_max = TUTTI_NOTE_BYTES;
	c->tx_msg = c->tx_acked = c->rx_msg = start;
	c->tx_slot = c->rx_slot = start;
	for (int i = 0; i < TUTTI_SLOTS_MAX; i++)
		c->slot_msg[i] = start;
}

static inline bool tutti_chan_in_slot(const struct tutti_chan *c, size_t len)
{
	return len > c->note_max;
}

/* Lines of a message. */
static inline uint32_t tutti_chan_lines(const struct tutti_chan *c, size_t len)
{
	if (len <= TUTTI_NOTE_BYTES || tutti_chan_in_slot(c, len))
		return 1;
	return (uint32_t)((len + TUTTI_NOTE_BYTES - 1) / TUTTI_NOTE_BYTES);
}

/* True if a message of `len` bytes may be written now. */
static inline bool tutti_chan_can_send(struct tutti_chan *c, size_t len)
{
	/* What the peer must have released: old lines, and the slot's last
	 * message. */
	uint64_t need = c->tx_msg + tutti_chan_lines(c, len) - c->lines;

	if (tutti_chan_in_slot(c, len)) {
		uint64_t after = c->slot_msg[c->tx_slot % c->slots];

		if ((int64_t)(after - need) > 0)
			need = after;
	}
	if ((int64_t)(c->tx_acked - need) >= 0)
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
	c->tx_msg += tutti_chan_lines(c, len);
	if (tutti_chan_in_slot(c, len)) {
		c->slot_msg[c->tx_slot % c->slots] = c->tx_msg;
		c->tx_slot++;
	}
}

/* The next message, or NULL if it has not come.  *tag is the one expected and
 * becomes the one it carries: the caller compares before it believes a
 * byte. */
static inline const void *tutti_chan_rx(struct tutti_chan *c, size_t len,
					uint32_t *tag)
{
	return c->ops->rx(c, len, tag);
}

static inline void tutti_chan_release(struct tutti_chan *c, size_t len)
{
	c->ops->release(c, len);
	c->rx_msg += tutti_chan_lines(c, len);
	c->rx_slot += tutti_chan_in_slot(c, len);
}

#endif
