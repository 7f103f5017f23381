/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors between processes of one host.  Each process has at most one
 * server, in the helper thread, on an abstract Unix socket: no file exists and
 * the name ends with the process.  Who shows the server's secret gets the
 * descriptor it asks for.
 */
#ifndef TUTTI_NET_SHM_FDPASS_H
#define TUTTI_NET_SHM_FDPASS_H

#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

#define TUTTI_FDPASS_KEY 16

/* Where a server is and what it wants to hear; handed to other ranks over
 * the authenticated bootstrap. */
struct tutti_fdpass_addr {
	char name[32];		/* abstract, not ended by 0 */
	uint8_t secret[16];
};

/* Start the server or use the one that runs; every open needs a close. */
tuttiResult_t tutti_fdpass_open(struct tutti_fdpass_addr *addr);
void tutti_fdpass_close(void);

/* What is offered: bytes [offset, offset + size) of a descriptor. */
struct tutti_fdpass_item {
	int fd;			/* -1: known, but there will be none */
	size_t size;
	uint64_t offset;
};

/* Offer an item (the descriptor is borrowed until withdrawn) under a key. */
tuttiResult_t tutti_fdpass_offer(const uint8_t key[TUTTI_FDPASS_KEY],
				 const struct tutti_fdpass_item *item);
/* Withdraw it; unknown keys are ignored. */
void tutti_fdpass_withdraw(const uint8_t key[TUTTI_FDPASS_KEY]);

/* Ask the server at `addr` for a descriptor; blocks until the answer or the
 * deadline.  Returns 0, ENOENT if nothing is offered under the key (yet),
 * ECANCELED if there will be none, or another errno value.  With item NULL it
 * only asks whether the key is known. */
int tutti_fdpass_fetch(const struct tutti_fdpass_addr *addr,
		       const uint8_t key[TUTTI_FDPASS_KEY],
		       struct tutti_fdpass_item *item, int64_t deadline_ns);

#endif
