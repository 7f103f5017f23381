/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meeting point's own types: root.c greets connections, session.c joins
 * the greeted ones into communicators.  Everything is guarded by the one lock
 * in root.c; nothing here ever waits.
 */
#ifndef TUTTI_BOOT_ROOT_IMPL_H
#define TUTTI_BOOT_ROOT_IMPL_H

#include "base/loop.h"
#include "boot/boot_impl.h"
#include "boot/link.h"

#define ROOT_HOST_TEXT 80

enum conn_state {
	CONN_HELLO,		/* a stranger so far */
	CONN_CLAIM,		/* challenged */
	CONN_MEMBER,		/* a rank of a session */
	CONN_CLOSING		/* has been told; its end is awaited */
};

struct root_conn {
	struct root_conn *next, **prev;
	struct tutti_link link;
	struct tutti_watch *watch;
	enum conn_state state;
	bool want_out;
	int64_t since_ns;	/* accepted */
	union tutti_sockaddr from;
	uint64_t number;
	uint8_t secret[TUTTI_SECRET_BYTES];
	uint8_t hello[HELLO_BYTES];
	uint8_t challenge[CHALLENGE_BYTES];
	struct root_session *session;
	int rank;
};

/* What a rank claims, already proven to come from one that has the secret. */
struct root_claim {
	struct tutti_build build;
	int64_t rank, nranks, pid;
	uint32_t generation, left_ms;
	uint8_t process[16];
	char host[ROOT_HOST_TEXT];
};

struct root_session;

/* One secret that ranks may come with. */
struct root_entry {
	struct root_entry *next;
	uint64_t number;	/* 0: known by its secret */
	uint8_t secret[TUTTI_SECRET_BYTES];
	uint16_t port;		/* of number 0 */
	bool generations;	/* serves one communicator after another */
	uint32_t generation_max; /* started so far */
	struct root_session *sessions;
};

struct root {
	struct root *inherited;	/* of the parent process: kept, not used */
	uint8_t key[TUTTI_MAC_BYTES]; /* secrets of numbered ids come of it */
	uint64_t next_number;
	uint64_t *unused;	/* numbers nobody has come with yet */
	size_t unused_n, unused_cap;
	struct root_entry *entries;
	struct root_listener *listeners;
	struct root_conn *conns;	/* youngest first */
	int strangers;			/* of them, in HELLO or CLAIM */
	uint64_t serial;		/* of the last session */
	uint64_t turned_away;		/* strangers since the last line */
	int64_t line_ns;		/* when that was written */
	uint8_t process[16];
};

/* ---- root.c ---- */

/* Send; one more user of `p`.  Errors show up when the connection is read. */
void root_send(struct root_conn *c, struct tutti_packet *p);
/* Send what is queued, then end the connection; the peer may take 2 s. */
void root_finish(struct root_conn *c);

/* ---- session.c ---- */

/* Take in a rank, or refuse it, or fail the session for all. */
void session_admit(struct root *r, struct root_conn *c,
		   const struct root_claim *claim);
/* Handle a frame of a member; false: close the connection. */
bool session_frame(struct root *r, struct root_conn *c,
		   enum tutti_frame type, uint64_t seq, const uint8_t *data,
		   size_t len);
/* The connection of a member is about to be freed; err as tutti_link_read. */
void session_ended(struct root *r, struct root_conn *c, int err);
/* Fail every session that still waits for ranks. */
void session_fail_waiting(struct root *r, tuttiResult_t code,
			  const char *why);
/* See tutti_root_news and tutti_root_rank_left. */
void session_news(struct root *r, uint64_t serial, int rank,
		  struct tutti_packet *news);
void session_rank_left(struct root *r, uint64_t serial, int rank);

/* The lock, for the timers of session.c.  root_lock gives the service. */
struct root *root_lock(void);
void root_unlock(void);

#endif
