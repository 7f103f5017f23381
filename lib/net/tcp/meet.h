/* SPDX-License-Identifier: BSD-3-Clause */
/* Making one connection to every wanted peer at once. */
#ifndef TUTTI_NET_TCP_MEET_H
#define TUTTI_NET_TCP_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "net/xport.h"
#include "tutti.h"

#define TUTTI_TCP_ADDR 28	/* sockaddr_in or sockaddr_in6 */

/* A listening socket at env->address, on a port that the kernel chooses; its
 * address as others dial it.  Errors: tuttiSystemError. */
tuttiResult_t tutti_tcp_listen(int *fd, uint8_t addr[TUTTI_TCP_ADDR],
			       const struct tutti_xport_env *env);

/*
 * The lower rank of each pair dials.  fds (one for each rank) gets a socket
 * that has passed the greeting for each peer with want, and -1 for the others.
 * A peer that cannot be dialled at all (no address, or one of another family),
 * which both ends know, leaves -1 and one line in the log.  Errors:
 * tuttiTimeout (the sentence names whom and why), tuttiInvalidUsage (a peer
 * runs with other numbers), tuttiSystemError.  On error all fds are -1.
 */
tuttiResult_t tutti_tcp_meet(const struct tutti_xport_env *env, int listen_fd,
			     const bool *want, const uint8_t *addrs, int *fds,
			     int64_t deadline_ns);

/* "10.0.0.3:4567" or "[::1]:4567"; always ended, whatever the bytes are. */
#define TUTTI_TCP_WHERE 64
void tutti_tcp_where(char out[TUTTI_TCP_WHERE], const uint8_t *addr);

#endif
