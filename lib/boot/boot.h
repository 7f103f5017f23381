/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ranks find each other: a meeting point over TCP named by the unique id,
 * whose control connections stay open for the communicator's life; or the
 * caller's own all-gather.  Nothing here knows a transport.
 *
 * The meeting point ("root") runs in the process that made the id, in the
 * helper thread of base/loop.h, as one state machine per connection: strangers,
 * scanners and slow greetings cost nothing and delay nobody.  It listens from
 * the first id until the process ends, at one port for all ids, so that an id
 * used twice gets an answer: the library must not be unloaded after that.
 *
 * In a child after fork all sockets of this room are closed, tell and leave do
 * nothing, and the child may make ids and join by itself.
 */
#ifndef TUTTI_BOOT_BOOT_H
#define TUTTI_BOOT_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti.h"

struct tutti_boot;

/* Make an id and start its root in this process.  The advertised address is
 * an address of an interface (TUTTI_IFNAME), never a name looked up. */
tuttiResult_t tutti_boot_unique_id(tuttiUniqueId *id);

/* Join as `rank` of `nranks`; returns when all have joined, or by
 * deadline_ns (monotonic), with up to 2 s more to learn which ranks are
 * missing.  Errors as tuttiCommInitRank in tutti.h.  A rank out of range is
 * told the root, so that the other ranks hear of it at once; so leave that
 * check to this call. */
tuttiResult_t tutti_boot_join(struct tutti_boot **out, const tuttiUniqueId *id,
			      int nranks, int rank, int64_t deadline_ns);

/* The same, given up soon after stopped(arg) is true, as long as not all ranks
 * have joined: tuttiRemoteError, and the other ranks' joining fails too. */
tuttiResult_t tutti_boot_join_unless(struct tutti_boot **out,
				     const tuttiUniqueId *id, int nranks,
				     int rank, int64_t deadline_ns,
				     bool (*stopped)(void *arg), void *arg);

/* The same over the caller's all-gather; it is used to pass around an id that
 * rank 0 makes, so the control connections exist here too. */
tuttiResult_t tutti_boot_join_user(struct tutti_boot **out, int nranks,
				   int rank, tuttiAllGatherFn fn,
				   void *context, int64_t deadline_ns);

/* What the environment says. */
struct tutti_boot_env {
	const char *launcher;	/* "tutti run", "Slurm", "PMIx", "Open MPI",
				 * "MPICH", "torchrun", "none" */
	int rank;
	int size;		/* -1: PMIx tells it when it is asked */
	int local_rank;		/* -1: not told */
};

/* Read it; tuttiInvalidUsage if its signs contradict each other.  No I/O. */
tuttiResult_t tutti_boot_env_read(struct tutti_boot_env *env);

/* Join by the environment.  The n-th call of every process of the job joins
 * the n-th communicator. */
tuttiResult_t tutti_boot_join_env(struct tutti_boot **out, int *nranks,
				  int *rank, int64_t deadline_ns);

/* Every rank gives `bytes` bytes (the same number, up to 64 KiB) and gets
 * those of all in rank order.  Collective; used only while a communicator is
 * made or split. */
tuttiResult_t tutti_boot_allgather(struct tutti_boot *b, const void *send,
				   void *recv, size_t bytes,
				   int64_t deadline_ns);

/* ---- News -------------------------------------------------------------- */

enum tutti_news_kind {
	TUTTI_NEWS_DEATH,	/* `rank`'s connection ended without goodbye */
	TUTTI_NEWS_ERROR,	/* `rank` reports an error; text says which */
	TUTTI_NEWS_ABORT,	/* `rank` called abort */
	/* A question of `rank` for rank `code` alone, or for TUTTI_NEWS_ALL; the
	 * other fields are theirs.  Of questions for all with one number, only
	 * the first of any rank is passed on. */
	TUTTI_NEWS_ASK,
	/* `rank` could not do its part of split number `seq` of this
	 * communicator, for colour `code`. */
	TUTTI_NEWS_SPLIT,
	/* The root's process is gone.  `rank` is the lowest that lived in it,
	 * or -1; `code` is tuttiSuccess if all that did had left in order:
	 * then it is no failure, but deaths are not seen any more. */
	TUTTI_NEWS_ROOT_LOST
};

#define TUTTI_NEWS_ALL (-1)

struct tutti_news {
	enum tutti_news_kind kind;
	int rank;
	int32_t code;		/* a tuttiResult_t, or to whom */
	uint64_t seq;		/* the operation it speaks of, or 0 */
	char text[512];		/* printable, always ended */
};

/* Called in the helper thread, from the moment of this call on (news that
 * came before is delivered at once).  Must not block. */
typedef void (*tutti_news_fn)(void *arg, const struct tutti_news *news);
tuttiResult_t tutti_boot_listen(struct tutti_boot *b, tutti_news_fn fn,
				void *arg);

/* Tell all other ranks, or the one it is for; never blocks, any thread.  Also
 * when the root is gone: then it does nothing. */
void tutti_boot_tell(struct tutti_boot *b, const struct tutti_news *news);

/* The own address by which other hosts reach this rank: that of the control
 * connection (sockaddr_in or sockaddr_in6 in 28 bytes). */
tuttiResult_t tutti_boot_address(const struct tutti_boot *b, void *sockaddr28);

/* 16 secret bytes that all ranks of this communicator and nobody else has. */
const uint8_t *tutti_boot_secret(const struct tutti_boot *b);

/* Say goodbye, stop, free.  No handler runs afterwards: one that runs is
 * waited for, so hold no lock that it takes, unless this is called from it.
 * NULL is allowed.  Waits for nobody else; the goodbye is seen through by the
 * helper thread. */
void tutti_boot_leave(struct tutti_boot *b);

#endif
