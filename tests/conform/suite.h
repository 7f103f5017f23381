/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suite of transports: what every entry of the registry must
 * do.  A case is a function that every rank runs; ranks are threads or forked
 * processes.  Neither Criterion nor a transport is named here, so a plain
 * program can run the same cases.
 */
#ifndef TUTTI_TESTS_CONFORM_SUITE_H
#define TUTTI_TESTS_CONFORM_SUITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/chan.h"
#include "net/xport.h"

#define XS_RANKS 4
#define XS_FLAGS 8

struct xs_rank;

enum xs_mode { XS_THREADS, XS_PROCESSES, XS_MODES };

struct xs_case {
	const char *name;
	int ranks;
	uint32_t lines, slots;
	size_t slot_bytes;
	uint64_t seq_start;
	void (*body)(struct xs_rank *r);
	unsigned int modes;	/* bit by bit of enum xs_mode */
	bool bare;		/* the body opens and connects by itself */
};

#define XS_BOTH (1u << XS_THREADS | 1u << XS_PROCESSES)

/* What all ranks of a run see: shared between processes. */
struct xs_world {
	_Atomic uint32_t arrived, generation;
	_Atomic uint32_t failed;
	_Atomic uint32_t flags[XS_FLAGS];
	_Atomic uint32_t may_die;	/* bit of each rank that is meant to */
	int64_t deadline_ns;
	uint8_t addrs[XS_RANKS * TUTTI_ADDR_MAX];
	bool reached[XS_RANKS][XS_RANKS];
	char text[512];			/* the first failure */
};

struct xs_rank {
	struct xs_world *world;
	const struct tutti_xport_ops *ops;
	const struct xs_case *c;
	enum xs_mode mode;
	int rank;
	uint64_t random;
	struct tutti_xport *x;
	struct tutti_bell own_bell, *bell;
	struct tutti_chan chan[XS_RANKS][TUTTI_NET_LANES];
};

extern const struct xs_case xs_cases[];
extern const int xs_case_count;

/* Run a case.  Returns NULL, or what failed first (static memory). */
const char *xs_run(const struct tutti_xport_ops *ops, const struct xs_case *c,
		   enum xs_mode mode);

/* ---- For bodies --------------------------------------------------------- */

/* Record a failure and end this rank. */
void xs_fail(struct xs_rank *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Fail unless `ok`. */
#define xs_check(r, ok) \
	((ok) ? (void)0 : xs_fail(r, "%s:%d: %s", __func__, __LINE__, #ok))

/* Open, exchange addresses, connect to all ranks, make the channels; and the
 * end of it.  These are the only places that know how a transport is set
 * up. */
void xs_open(struct xs_rank *r);
void xs_connect(struct xs_rank *r, const bool *want);
void xs_close(struct xs_rank *r);

/* All ranks that have not ended meet here. */
void xs_barrier(struct xs_rank *r);
void xs_raise(struct xs_rank *r, int flag);
/* Until another rank has raised it `times` times, moving bytes meanwhile. */
void xs_await(struct xs_rank *r, int flag, uint32_t times);

/* Move bytes, give up the CPU, fail at the deadline or if another rank has
 * failed. */
void xs_turn(struct xs_rank *r);
/* Sleep on the bell until `ready`; fails if nobody rings for it. */
void xs_sleep(struct xs_rank *r, bool (*ready)(struct xs_rank *r, void *arg),
	      void *arg);

uint64_t xs_random(struct xs_rank *r);

/* Send the message with this number, whose bytes depend on sender, lane and
 * number; waits for a credit. */
void xs_send(struct xs_rank *r, int to, int lane, uint64_t number, size_t len);
/* The same if there is a credit. */
bool xs_try_send(struct xs_rank *r, int to, int lane, uint64_t number,
		 size_t len);
/* Receive and compare it. */
void xs_recv(struct xs_rank *r, int from, int lane, uint64_t number,
	     size_t len);
bool xs_try_recv(struct xs_rank *r, int from, int lane, uint64_t number,
		 size_t len);
/* Wait until a message is there; it stays. */
const void *xs_wait(struct xs_rank *r, int from, int lane, size_t len,
		    uint32_t *tag);

uint32_t xs_tag(int from, int lane, uint64_t number);

#endif
