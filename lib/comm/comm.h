/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator: joins bootstrap, transports, schedules and executor.
 *
 * Threads.  `inside` is held by the one thread that runs an operation.  The
 * helper thread only sets the error and rings the bell.  Abort sets the error
 * and waits for the thread inside to come out.
 */
#ifndef TUTTI_COMM_COMM_H
#define TUTTI_COMM_COMM_H

#include "boot/boot.h"
#include "comm/wait.h"
#include "exec/exec.h"
#include "sched/algo.h"
#include "tutti.h"

#include <pthread.h>

#define TUTTI_XPORTS_MAX 4
#define TUTTI_ERROR_TEXT 1024

/* The blocks of one buffer of a v-form; borrowed for the call. */
struct tutti_layout {
	const size_t *counts;	/* of the blocks; NULL: no such buffer here */
	const size_t *displs;	/* NULL: one after another */
};

/* What one rank is asked to do: the arguments that must agree, and the
 * buffers. */
struct tutti_call {
	enum tutti_coll coll;
	/* Elements of a block.  Of a v-form, for the choice of an algorithm:
	 * the mean if all ranks know all counts, else 0. */
	size_t count;
	tuttiDataType_t type;
	tuttiRedOp_t redop;
	int root;		/* or peer */
	bool sending;		/* of TUTTI_SENDRECV */
	int made;		/* kind of an operator that a program made */
	bool uneven;		/* a v-form: */
	struct tutti_layout in_blocks, out_blocks;
	const void *in;
	void *out;
};

/* All ranks know all counts of this v-form. */
static inline bool tutti_counts_common(enum tutti_coll coll)
{
	return coll == TUTTI_ALL_GATHER || coll == TUTTI_REDUCE_SCATTER;
}

/* When joining may be given up: soon after fn(arg) is true. */
struct tutti_stop {
	bool (*fn)(void *arg);	/* NULL: never */
	void *arg;
};

struct tutti_plans;
struct tutti_book;
struct tutti_blocks;
struct tutti_registration;
struct tutti_queue;
struct tutti_split_want;
struct tutti_open;

struct tuttiComm {
	_Atomic uint64_t magic;
	unsigned int forks;	/* tutti_comm_forks() when it was made */
	int rank, ranks;
	char name[64];
	bool strict;		/* TUTTI_DETERMINISM */
	int64_t timeout_ns, warn_ns, init_ns;
	struct tutti_boot *boot;
	struct tutti_stop stop;	/* of its making */

	/* Who is where. */
	int *node;		/* of each rank */
	int *domain;		/* of each rank, or NULL; see domains.c */
	int nodes, local_rank, local_count;
	struct tutti_shape shape;

	/* Transports in use; via[peer] is an index, -1 for oneself. */
	const struct tutti_xport_ops *ops[TUTTI_XPORTS_MAX];
	struct tutti_xport *xport[TUTTI_XPORTS_MAX];
	int nxports;
	int *via;
	struct tutti_xport *shm;	/* one of them, or NULL */
	struct tutti_bell own_bell;
	struct tutti_waiter waiter;

	struct tutti_exec exec;
	struct tutti_job job;
	struct tutti_plans *plans;
	struct tutti_book *book;	/* see board.c */
	struct tutti_blocks *blocks;	/* see blocks.c; NULL until needed */
	struct tutti_registration *registrations; /* see memory.c */
	struct tutti_redops *redops;	/* see redops.c */
	uint64_t seq;			/* collectives begun */
	uint64_t *p2p_sent, *p2p_received; /* to and from each peer */
	const char *algo_name;		/* of the last operation */
	/* Calls of a group; see group.c. */
	_Atomic(struct tutti_queue *) queue;

	/* See split.c.  The key names split and colour at hand, 0: none;
	 * the helper thread sets split_lost for it. */
	struct tutti_split_want *split_wants;
	uint32_t splits;
	_Atomic uint64_t split_key;
	_Atomic bool split_lost;
	/* Under the lock of family.c; the first child, and its next. */
	struct tuttiComm *parent, *child, *sibling;

	_Atomic int inside;
	_Atomic bool aborted, finalized;
	_Atomic int error;		/* sticky tuttiResult_t; set last */
	_Atomic bool alarmed;		/* news worth a look at the next stop */
	pthread_mutex_t lock;		/* of the rest */
	char error_text[TUTTI_ERROR_TEXT];
	struct tutti_news death;	/* a rank that went without goodbye */
	int64_t death_ns;		/* when we heard; 0: none */
	struct tutti_watch *poll;	/* see ask.c; NULL until needed */
	bool poll_ended;
	struct tutti_open *open;	/* of the helper thread alone */
	struct tuttiComm *next;		/* among the destroyed */
};

/* How often this process was forked since the library was loaded. */
unsigned int tutti_comm_forks(void);

/* tuttiSuccess if `comm` can be used by this call; else the sentence, naming
 * `function`. */
tuttiResult_t tutti_comm_check(const struct tuttiComm *comm,
			       const char *function);

/* As tuttiGetUniqueId and tuttiCommInit*; arguments were checked. */
tuttiResult_t tutti_comm_unique_id(tuttiUniqueId *id);
tuttiResult_t tutti_comm_join(struct tuttiComm **comm, const tuttiUniqueId *id,
			      int nranks, int rank,
			      const tuttiConfig_t *config);
tuttiResult_t tutti_comm_join_env(struct tuttiComm **comm,
				  const tuttiConfig_t *config);
tuttiResult_t tutti_comm_join_user(struct tuttiComm **comm, int nranks,
				   int rank, tuttiAllGatherFn allgather,
				   void *context, const tuttiConfig_t *config);

/* As tuttiCommSplit. */
tuttiResult_t tutti_comm_split(struct tuttiComm *comm, int color, int key,
			       struct tuttiComm **newcomm,
			       const tuttiConfig_t *config);

/* As tuttiMemAlloc, tuttiMemFree, tuttiCommRegister, tuttiCommDeregister. */
tuttiResult_t tutti_comm_mem_alloc(void **ptr, size_t size);
tuttiResult_t tutti_comm_mem_free(void *ptr);
tuttiResult_t tutti_comm_register(struct tuttiComm *comm, void *buff,
				  size_t size, void **handle);
tuttiResult_t tutti_comm_deregister(struct tuttiComm *comm, void *handle);

/* As tuttiRedOpCreate* and tuttiRedOpDestroy; arguments were checked. */
tuttiResult_t tutti_comm_redop_create(struct tuttiComm *comm,
				      const struct tutti_redop *made,
				      tuttiRedOp_t *op);
tuttiResult_t tutti_comm_redop_destroy(struct tuttiComm *comm,
				       tuttiRedOp_t op);
/* Set call->made if its operator is one of the communicator's; the error of
 * `function` if it is none at all, or made for another type. */
tuttiResult_t tutti_comm_redop_find(struct tuttiComm *comm,
				    const char *function,
				    struct tutti_call *call);
/* An operator of which that said so. */
const struct tutti_redop *tutti_comm_redop(const struct tuttiComm *comm,
					   tuttiRedOp_t op);

/* How long a join with this configuration may take. */
int64_t tutti_comm_init_ns(const tuttiConfig_t *config);

/* Join transports after the bootstrap.  Takes `take_boot` on success. */
tuttiResult_t tutti_comm_create(struct tuttiComm **out,
				struct tutti_boot *take_boot, int ranks,
				int rank, const tuttiConfig_t *config,
				int64_t deadline_ns,
				const struct tutti_stop *stop);

/* Take the communicator out of use, for destroy or abort: of several threads
 * that try, one succeeds. */
bool tutti_comm_claim(struct tuttiComm *comm);

/* Leave and free what was claimed.  Waits for no peer. */
void tutti_comm_destroy(struct tuttiComm *comm);

/* Complete what was posted, so that this process may exit. */
tuttiResult_t tutti_comm_finalize(struct tuttiComm *comm);

/* As tuttiCommAbort, of what was claimed. */
void tutti_comm_abort(struct tuttiComm *comm);

/* Be the one thread inside; tuttiInvalidUsage if another one is. */
tuttiResult_t tutti_comm_enter(struct tuttiComm *comm);
void tutti_comm_leave(struct tuttiComm *comm);

/* Run one operation to its end. */
tuttiResult_t tutti_comm_run(struct tuttiComm *comm,
			     const struct tutti_call *call);

/*
 * Groups.  Between start and end of the outermost group of a thread, its calls
 * are kept with their communicators; the end runs them, and returns the first
 * error.
 */
extern _Atomic int tutti_groups;	/* threads with an open group */
void tutti_group_start(void);
tuttiResult_t tutti_group_end(void);
/* Is a group open in this thread? */
bool tutti_group_here(void);
static inline bool tutti_group_open(void)
{
	return atomic_load_explicit(&tutti_groups, memory_order_relaxed) &&
	       tutti_group_here();
}
/* Keep a checked call; the caller's arrays too stay until the end.  If `rc`,
 * the result of the check, is an error, that is kept. */
tuttiResult_t tutti_group_add(struct tuttiComm *comm,
			      const struct tutti_call *call, tuttiResult_t rc);
/* tuttiSuccess unless calls are kept for `comm`, by any thread. */
tuttiResult_t tutti_group_none(struct tuttiComm *comm, const char *function);

/* Make `rc` the communicator's error if it has none yet, wake whoever waits,
 * and, with `tell`, let the other ranks know. */
tuttiResult_t tutti_comm_fail(struct tuttiComm *comm, tuttiResult_t rc,
			      bool tell, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The error so far, its sentence set for this thread. */
tuttiResult_t tutti_comm_error(struct tuttiComm *comm);

/* ---- Between the files of this room -------------------------------------- */

tuttiResult_t tutti_peers_connect(struct tuttiComm *comm, int64_t deadline_ns);
void tutti_peers_close(struct tuttiComm *comm);

/* Group the ranks of nodes into the domains of comm->shape, by what all tell
 * each other; `cpus` are this rank's. */
tuttiResult_t tutti_domains_find(struct tuttiComm *comm,
				 const struct tutti_cpus *cpus,
				 int64_t deadline_ns);

/* The algorithm and programs for a call. */
struct tutti_plan {
	enum tutti_coll coll;
	size_t count;
	tuttiDataType_t type;
	tuttiRedOp_t redop;
	int root;
	bool sending, uneven;
	uint64_t hash;			/* of what must agree on all ranks */
	const char *algo;
	struct tutti_recipe recipe;
};

tuttiResult_t tutti_plan_get(struct tuttiComm *comm,
			     const struct tutti_call *call,
			     const struct tutti_plan **out);
void tutti_plans_free(struct tuttiComm *comm);

/* What a plan lacks for a v-form or an all-to-all in place: *recipe is the
 * plan's and becomes one with the blocks of this call, *in is from where to
 * read.  Both stay until the next call.  Errors: tuttiSystemError. */
bool tutti_blocks_wanted(const struct tutti_call *call);
tuttiResult_t tutti_blocks_prepare(struct tuttiComm *comm,
				   const struct tutti_call *call,
				   const struct tutti_recipe **recipe,
				   const void **in);
void tutti_blocks_free(struct tuttiComm *comm);

/* Remember the counts of v-form number seq, before the board has it. */
tuttiResult_t tutti_counts_begin(struct tuttiComm *comm,
				 const struct tutti_call *call, uint64_t seq);
/* Tell `peer` in two numbers about a remembered v-form: what this rank sends
 * to it and expects from it; or of one whose counts all know, a digest of
 * counts `from` to `to` - 1, which is the count itself if that is one.  False:
 * number seq was no v-form, or is too long ago.  Any thread. */
bool tutti_counts_tell(struct tuttiComm *comm, int peer, uint64_t seq,
		       int from, int to, uint64_t *first, uint64_t *second);
/* Are all counts of v-form number seq common knowledge? */
bool tutti_counts_are_common(struct tuttiComm *comm, uint64_t seq);
void tutti_registrations_free(struct tuttiComm *comm);
void tutti_redops_free(struct tuttiComm *comm);

/* The operator's number, or its kind if a program made it: what other ranks
 * can know of it. */
static inline int tutti_call_redop(const struct tutti_call *call)
{
	return call->made ? call->made : (int)call->redop;
}
/* Free, or leave to the thread whose group it belongs to. */
void tutti_queue_drop(struct tuttiComm *comm);

/* Join by an id, unless stopped. */
tuttiResult_t tutti_comm_join_unless(struct tuttiComm **comm,
				     const tuttiUniqueId *id, int nranks,
				     int rank, const tuttiConfig_t *config,
				     const struct tutti_stop *stop);

/* What the splits of a communicator need; free. */
tuttiResult_t tutti_split_init(struct tuttiComm *comm);
void tutti_split_fini(struct tuttiComm *comm);
/* In the helper thread: a rank cannot do its part. */
void tutti_split_news(struct tuttiComm *comm, const struct tutti_news *news);

/*
 * Families: who was split from whom, in this process.  When one between goes,
 * its children become its parent's.
 */
void tutti_family_join(struct tuttiComm *parent, struct tuttiComm *child);
void tutti_family_leave(struct tuttiComm *comm);
/* Fail all that were split from `comm`, over any depth, and tell their ranks;
 * `by` is the rank of `comm` that aborted it. */
void tutti_family_abort(struct tuttiComm *comm, int by);

/* Fail a communicator because of an abort, and tell. */
void tutti_comm_abort_from(struct tuttiComm *comm, const char *text);

/* How many collectives a rank remembers. */
#define TUTTI_BOARD_ENTRIES 64

/* Each rank's page of recent calls, readable by its node.  Closing, before the
 * transports close, leaves a note for those who wait for this rank. */
tuttiResult_t tutti_board_open(struct tuttiComm *comm);
void tutti_board_close(struct tuttiComm *comm);
void tutti_board_begin(struct tuttiComm *comm, const struct tutti_call *call,
		       uint64_t seq);
/* Describe what `rank` of this node called as collective number seq; false if
 * it has not yet, or that is long ago.  A v-form's counts are not in it. */
bool tutti_board_collective(struct tuttiComm *comm, int rank, uint64_t seq,
			    char *out, size_t cap);
/* Describe this rank's own message number seq to or from `peer`. */
bool tutti_board_message(struct tuttiComm *comm, int peer, bool sending,
			 uint64_t seq, char *out, size_t cap);
/* Has this rank begun that collective, or message?  Any thread. */
bool tutti_board_begun(struct tuttiComm *comm, uint64_t seq);
bool tutti_board_message_begun(struct tuttiComm *comm, int peer, bool sending,
			       uint64_t seq);
/* The lowest rank of this node whose collective number seq is known and differs
 * from this rank's, or -1; *all is false if the board of a rank cannot be
 * read. */
int tutti_board_odd(struct tuttiComm *comm, uint64_t seq, bool *all);
/* Did `rank`, of this node, leave? */
bool tutti_board_left(struct tuttiComm *comm, int rank);
/* "all_reduce of 100 float, sum". */
void tutti_call_describe(const struct tutti_call *call, char *out, size_t cap);
/* List the ranks of this node that have not begun collective `seq`, folded as
 * "3, 7-9"; false if none or not known. */
bool tutti_board_missing(struct tuttiComm *comm, uint64_t seq, char *out,
			 size_t cap);

/* What a rank tells others about its call, for them to compare: a collective;
 * its half of a message, by what the other half is; counts of a v-form that the
 * two must agree on; the same of one whose counts all know, for a search. */
enum tutti_ask {
	TUTTI_ASK_COLLECTIVE, TUTTI_ASK_SENT, TUTTI_ASK_RECEIVED,
	TUTTI_ASK_PAIR, TUTTI_ASK_RANGE
};
/* Such news came; in the helper thread. */
void tutti_ask_news(struct tuttiComm *comm, const struct tutti_news *news);
/* Compare nothing any more on time; before the bootstrap is left. */
void tutti_ask_end(struct tuttiComm *comm);
/* Free; after it. */
void tutti_ask_free(struct tuttiComm *comm);

/* A message of another call came from `peer`, while this rank was in number
 * `seq`: fail the communicator with the first difference of the two. */
tuttiResult_t tutti_comm_mismatch(struct tuttiComm *comm,
				  const struct tutti_call *call, uint64_t seq,
				  int peer);
/* This rank has waited long in number `seq`, now for `peer` (-1: nobody).
 * Fails if a rank of the node called something else, and tells others about
 * this call as far as `asked` says that they were not told: 0 at first.  Does
 * not wait. */
tuttiResult_t tutti_comm_suspect(struct tuttiComm *comm,
				 const struct tutti_call *call, uint64_t seq,
				 int peer, int *asked);

/* Wake the thread inside, wherever it waits. */
void tutti_comm_ring(struct tuttiComm *comm);

/* Start listening to news. */
tuttiResult_t tutti_comm_listen(struct tuttiComm *comm);
/* The waiting thread stopped moving: fail if news says that `waits_for` will
 * never answer.  `peer` -1: not known whom it waits for. */
tuttiResult_t tutti_comm_heed(struct tuttiComm *comm, int peer);

#endif
