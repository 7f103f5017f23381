/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How two ranks make sure of each other before a connection is used.
 *
 *	dialer   -> acceptor	HELLO: who I am, whom I want, my numbers, nonce
 *	acceptor -> dialer	REPLY: the same of its own, and a proof
 *	dialer   -> acceptor	PROOF
 *	acceptor -> dialer	READY: a proof and the trial bytes
 *	dialer   -> acceptor	GO: a proof and the trial bytes
 *
 * A proof is an HMAC-SHA256 under the ranks' secret over its own name, HELLO
 * and REPLY, so it is good for this connection and this direction alone.  The
 * trial bytes are longer than any packet, so that a path which loses large
 * packets is found out now.
 *
 * The dialer is sure when GO has gone, the acceptor when it has come.  Until
 * then either may drop the connection and the dialer begins anew.  If it breaks
 * between the two, the dialer is sure alone; the acceptor then waits for this
 * peer until its deadline and fails, so no two ranks go on with different
 * beliefs.
 *
 * Bytes in, bytes out; no socket is seen here.
 */
#ifndef TUTTI_NET_TCP_HELLO_H
#define TUTTI_NET_TCP_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/xport.h"

#define TUTTI_HELLO_BYTES 64
#define TUTTI_HELLO_PROOF 32
#define TUTTI_HELLO_TRIAL 16384
#define TUTTI_HELLO_PROTOCOL 1

enum tutti_hello_state {
	TUTTI_HELLO_GOING,
	TUTTI_HELLO_SURE,	/* nothing is to be read or written any more */
	TUTTI_HELLO_STRANGER,	/* not one of our ranks, or not this one */
	TUTTI_HELLO_MISMATCH	/* one of our ranks, with other numbers */
};

struct tutti_hello {
	const struct tutti_xport_env *env;
	bool dials;
	int peer;		/* acceptor: -1 until HELLO came */
	enum tutti_hello_state state;
	int step;		/* messages completed, in both directions */
	const char *why;	/* of STRANGER and MISMATCH */

	uint8_t hello[TUTTI_HELLO_BYTES], reply[TUTTI_HELLO_BYTES];
	/* The message in hand, whichever direction; its trial bytes are not
	 * stored. */
	uint8_t message[TUTTI_HELLO_BYTES + TUTTI_HELLO_PROOF];
	size_t fixed, total, at;
	uint8_t trial[2048];	/* received, to be compared */
};

/* Begin; `peer` is -1 for the acceptor.  `env` stays valid meanwhile.
 * Returns 0 or an errno value (no random bytes). */
int tutti_hello_begin(struct tutti_hello *h, const struct tutti_xport_env *env,
		      bool dials, int peer);

/* True if it is this end's turn to write. */
bool tutti_hello_writes(const struct tutti_hello *h);
/* What to write next, or where to read to; *bytes is not 0 while the state is
 * GOING, and not more than belongs to the greeting. */
void *tutti_hello_bytes(struct tutti_hello *h, size_t *bytes);
/* So many of them were written, or have come. */
enum tutti_hello_state tutti_hello_moved(struct tutti_hello *h, size_t bytes);

#endif
