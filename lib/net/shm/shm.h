/* SPDX-License-Identifier: BSD-3-Clause */
/* What the shared-memory transport gives beyond the table. */
#ifndef TUTTI_NET_SHM_SHM_H
#define TUTTI_NET_SHM_SHM_H

#include "net/xport.h"

/* A page that the rank `peer` (or oneself) owns and every local rank can
 * read, also after its owner died; NULL if `peer` is not on this node. */
void *tutti_shm_board(struct tutti_xport *x, int peer);

#endif
