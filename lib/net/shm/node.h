/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The segment that the ranks of one node share for one communicator: made by
 * the lowest rank, handed to the others as a descriptor, so no name exists.
 * Every rank owns one block of it, where its peers write to.
 */
#ifndef TUTTI_NET_SHM_NODE_H
#define TUTTI_NET_SHM_NODE_H

#include "net/shm/fdpass.h"
#include "net/xport.h"

/* Segments of user memory that a peer can confirm at a time. */
#define TUTTI_SEG_SLOTS 64
#define TUTTI_BOARD_BYTES 4096

struct tutti_line {
	char note[TUTTI_NOTE_BYTES];
	/* Low half: message number + 1, stored last, so a line proves itself.
	 * High half: tag. */
	_Atomic uint64_t word;
} __attribute__((aligned(TUTTI_LINE)));

struct tutti_counter {
	_Atomic uint64_t n;
} __attribute__((aligned(TUTTI_LINE)));

struct tutti_node {
	char *base;
	size_t bytes;
	int maker;		/* the rank that makes it */
	int fd;			/* of the maker; -1 elsewhere */
	int nlocal, self;	/* places on the node, by rank order */
	uint32_t lines, slots;
	size_t slot_bytes;
	size_t block_bytes, lines_at, confirm_at, slots_at;
};

/* Lay out a node of `nlocal` ranks; fills everything but base, maker and
 * fd. */
void tutti_node_layout(struct tutti_node *n, int nlocal, int self,
		       const struct tutti_xport_env *env);

/* Make the segment and offer it under env->secret.  On failure offers that
 * there is none. */
tuttiResult_t tutti_node_make(struct tutti_node *n,
			      const struct tutti_xport_env *env);

/* Get it from the maker's server and check that it is the same memory.
 * Returns 0 or an errno value. */
int tutti_node_attach(struct tutti_node *n,
		      const struct tutti_fdpass_addr *maker,
		      const struct tutti_xport_env *env, int64_t deadline_ns);

void tutti_node_free(struct tutti_node *n, const struct tutti_xport_env *env);

/* The parts of the block of the rank at `place`. */
struct tutti_bell *tutti_node_bell(const struct tutti_node *n, int place);
void *tutti_node_board(const struct tutti_node *n, int place);
/* Messages from `from` that `place` has released. */
_Atomic uint64_t *tutti_node_ack(const struct tutti_node *n, int place,
				 int from, int lane);
struct tutti_line *tutti_node_lines(const struct tutti_node *n, int place,
				    int from, int lane);
char *tutti_node_slots(const struct tutti_node *n, int place, int from,
		       int lane);
/* Which segments of `owner` the rank at `place` has mapped. */
_Atomic uint64_t *tutti_node_confirmed(const struct tutti_node *n, int place,
				       int owner);

#endif
