/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the public calls share.  A case is a function that every
 * rank runs, a process of the launcher or a thread; it may join as many
 * communicators as it likes, all ranks in the same order.
 */
#ifndef TESTS_PROC_CASES_H
#define TESTS_PROC_CASES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

/* One rank. */
struct seat {
	int rank, ranks;
	pthread_barrier_t *meet;	/* of threads; NULL: processes */
	tuttiUniqueId *id;		/* shared by threads */
};

/* Tell a fault; the program ends with 1. */
#define FAULT(...) case_fault(__func__, __LINE__, __VA_ARGS__)
void case_fault(const char *where, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define CHECK(ok, ...) \
	do { \
		if (!(ok)) \
			FAULT(__VA_ARGS__); \
	} while (0)

/* The next communicator of these ranks, or the end of the process. */
tuttiComm_t case_join(struct seat *s);

int64_t case_ms(void);
void case_sleep_ms(int ms);

/* The result is the one wanted, and the last error is a sentence that holds
 * all the texts, the last of which is NULL. */
#define EXPECT(rc, want, ...) \
	case_expect(__func__, __LINE__, rc, want, \
		    (const char *const[]){ __VA_ARGS__, NULL })
void case_expect(const char *where, int line, tuttiResult_t rc,
		 tuttiResult_t want, const char *const *texts);

/* The collectives by number, so that a test can go through them. */
enum case_coll {
	ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, ALLTOALL,
	GATHER, SCATTER, ALL_GATHERV, REDUCE_SCATTERV, ALLTOALLV, GATHERV,
	SCATTERV, BARRIER, SEND, RECV, COLLS
};
struct case_call {
	enum case_coll coll;
	size_t count;
	tuttiDataType_t type;
	tuttiRedOp_t op;
	int root;
};
/* Of a v-form every count is c->count, and blocks stand one after another. */
tuttiResult_t case_call(const struct case_call *c, const void *in, void *out,
			tuttiComm_t comm);
/* Does this rank need a send buffer, and a receive buffer? */
bool case_gives(const struct case_call *c, int rank);
bool case_gets(const struct case_call *c, int rank);
bool case_reduces(enum case_coll coll);
bool case_rooted(enum case_coll coll);	/* root or peer */
const char *case_coll_name(enum case_coll coll);

/* Cases, called by name. */
void differ_small(struct seat *s);
void differ_large(struct seat *s);
void differ_message(struct seat *s);
void differ_any(struct seat *s);
void differ_quiet(struct seat *s);
void differ_late(struct seat *s);
void group_head(struct seat *s);
void group_without(struct seat *s);
void group_pairs(struct seat *s);
void group_many(struct seat *s);
void group_self(struct seat *s);
void group_mixed(struct seat *s);
void group_uneven(struct seat *s);
void group_two(struct seat *s);
void group_rules(struct seat *s);
void group_differ(struct seat *s);
void group_late(struct seat *s);
void group_abort(struct seat *s);
void differ_counts(struct seat *s);
void input_life(struct seat *s);
void input_calls(struct seat *s);
void input_overlap(struct seat *s);
void input_blocks(struct seat *s);
void input_fork(struct seat *s);
void input_memory(struct seat *s);
void meaning_zero(struct seat *s);
void meaning_place(struct seat *s);
void meaning_large(struct seat *s);
void meaning_head(struct seat *s);
void meaning_kept(struct seat *s);
void meaning_absent(struct seat *s);
void meaning_absent_each(struct seat *s);
void number_nan(struct seat *s);
void number_nan_each(struct seat *s);
void number_small(struct seat *s);
void number_integer(struct seat *s);
void number_bits(struct seat *s);
void redop_premul(struct seat *s);
void redop_user(struct seat *s);
void redop_wrong(struct seat *s);
void redop_differ(struct seat *s);
void fault_kill(struct seat *s);
void fault_abort(struct seat *s);
void fault_stopped(struct seat *s);
void fault_leave(struct seat *s);
void fault_exit(struct seat *s);
void life_churn(struct seat *s);
void life_leave(struct seat *s);
void life_growth(struct seat *s);
void life_signals(struct seat *s);
void life_timer(struct seat *s);
void life_many(struct seat *s);
void life_first(struct seat *s);
void life_crowd(struct seat *s);
void life_footprint(struct seat *s);
void life_scarce(struct seat *s);
void life_user(struct seat *s);
void life_mixed(struct seat *s);
void split_shapes(struct seat *s);
void split_wrong(struct seat *s);
void split_config(struct seat *s);
void split_orders(struct seat *s);
void split_abort(struct seat *s);
void split_waits(struct seat *s);
void split_files(struct seat *s);
void split_memory(struct seat *s);
void split_churn(struct seat *s);
void topo_bound(struct seat *s);
void topo_files(struct seat *s);
void memory_kinds(struct seat *s);
void memory_register(struct seat *s);
void memory_again(struct seat *s);

#endif
