/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of tutti-perf.  main.c is the start and the end, engine.c runs
 * the rows, options.c reads the command line, data.c makes contents, check.c
 * compares them, hash.c digests results, memory.c gets buffers, output.c
 * prints.  Each operation is one small file with a struct perf_op, and a line
 * in the list in options.c.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure.h"
#include "tutti.h"

#define PERF_CANARY 256		/* bytes watched behind each buffer */
#define PERF_STATUS_WRONG 1	/* exit status: wrong result, failed call */
#define PERF_STATUS_USAGE 2	/* exit status: wrong command line */

struct perf_type {
	const char *name;	/* as nccl-tests */
	const char *alias;	/* another spelling, or NULL */
	tuttiDataType_t type;
	unsigned int bytes;
	enum { PERF_SIGNED, PERF_UNSIGNED, PERF_FLOAT } kind;
	/* Of floats: integers up to `exact` are exact. */
	double exact;
	int mantissa;		/* bits that are stored */
	int bias;
};

struct perf_redop {
	const char *name;
	tuttiRedOp_t op;
};

extern const struct perf_type perf_types[tuttiNumTypes];
extern const struct perf_redop perf_redops[tuttiNumOps];

struct perf_run;

/* What a rank holds afterwards, for --hash. */
enum perf_result {
	PERF_RESULT_NONE,	/* nothing worth a digest */
	PERF_RESULT_SAME,	/* the same on all ranks */
	PERF_RESULT_ROOT,	/* on the root alone */
	PERF_RESULT_BLOCKS,	/* one block of a whole, in rank order */
	PERF_RESULT_OWN		/* something else on each rank */
};

/* An operation.  The engine sees to buffers, contents and timing. */
struct perf_op {
	const char *name;
	const char *size_text;	/* what `size` counts */
	double bus;		/* busbw = algbw times this ... */
	bool bus_share;		/* ... times (n-1)/n */
	const char *note;	/* one more line of header, or NULL */
	bool reduces;		/* takes -o */
	bool rooted;		/* takes -r */
	bool in_place;		/* has such a form */
	bool no_data;		/* moves nothing: one row of size 0 */
	bool send_total;	/* the send buffer has a block per rank */
	bool recv_total;	/* so has the receive buffer */
	enum { PERF_TABLE, PERF_LATENCY, PERF_BANDWIDTH } table;
	enum perf_result result;
	/* Where it differs from the usual; 0 is the usual. */
	int ranks_min;		/* 1 */
	int calls_min;		/* shortest batch: 1 */
	int messages;		/* a call is so many, one by one: 1 */
	bool bytes_default;	/* without -d uint8, not float */
	int iterations_default;	/* without -n, not 20 */
	size_t max_default;	/* without -e, not 32M */
	/* One call, from run->send to run->recv. */
	tuttiResult_t (*call)(struct perf_run *run);
	tuttiResult_t (*close)(struct perf_run *run);	/* or NULL */
	/* How many elements of run->recv are wrong: perf_expect_*. */
	size_t (*check)(const struct perf_run *run);
};

extern const struct perf_op perf_all_reduce, perf_reduce_scatter,
	perf_all_gather, perf_broadcast, perf_reduce, perf_alltoall,
	perf_gather, perf_scatter, perf_sendrecv, perf_barrier, perf_latency,
	perf_bandwidth;

struct perf_options {
	const struct perf_op *op;
	size_t min, max;
	size_t factor;
	int iterations, warmup;
	bool check, dirty, inplace, hash, alloc_tutti;
	int type_first, type_last;	/* of perf_types */
	int redop_first, redop_last;	/* of perf_redops */
	int root;			/* -1: each in turn */
	const char *json;
	bool help, version;
};

/* Elements repeat after this many.  A prime, so that data moved by any block
 * or slice size does not look right. */
#define PERF_PERIOD 4093

/* What one rank is doing: the engine's, read by all parts. */
struct perf_run {
	const struct perf_options *opt;
	const struct perf_op *op;
	tuttiComm_t comm;
	tuttiCommInfo_t info;
	/* Memory: `base` is what was allocated. */
	char *base_send, *base_recv;
	/* The row. */
	const struct perf_type *type;
	const struct perf_redop *redop;	/* NULL: no reduction */
	int root;
	size_t count;		/* elements of a block */
	bool inplace;
	char *send, *recv;
	size_t send_count, recv_count;
	char ack;
	/* Contents: what `table` holds is up to its last user. */
	uint64_t seed;
	unsigned char *table;	/* PERF_PERIOD elements */
	unsigned char pattern[MEASURE_PATTERN];
	double *samples;
	unsigned char *digests;	/* 32 bytes per rank */
};

/* A finished row. */
struct perf_row {
	struct measure_stats time;	/* us */
	double algbw, busbw;		/* GB/s */
	uint64_t wrong;
	char algo[32];
	char sha256[65];		/* empty: none */
};

/* What the whole run adds up to. */
struct perf_totals {
	uint64_t wrong;
	double busbw;
	int rows;
	bool differ;		/* digests of ranks did */
	FILE *json;		/* rank 0, with --json */
	bool json_failed;
};

/* engine.c */
tuttiResult_t perf_run_all(struct perf_run *run, struct perf_totals *sum);

/* options.c.  false: `why` says what is wrong. */
bool perf_options_parse(struct perf_options *opt, int argc, char **argv,
			char *why, size_t size);
void perf_usage(FILE *to);

/* data.c.  Contents depend on type, operator, ranks, seed, rank and index. */
void perf_table_rank(const struct perf_run *run, int rank);
void perf_table_reduced(const struct perf_run *run);
void perf_fill(const struct perf_run *run, char *to, size_t count);
size_t perf_differ(const struct perf_run *run, const char *at, size_t first,
		   size_t count);
void perf_fill_random(const struct perf_run *run, char *to, size_t count);

/* check.c.  Prepare run's buffers, and count what is wrong in them after the
 * call.  perf_expect_*: wrong elements among `count` from element `at` of the
 * receive buffer on; they should be those of the reduction from element
 * `first` on, those of a rank's input, from its begin or from `first` on, what
 * was there before, or that where no input was. */
void perf_check_prepare(const struct perf_run *run);
size_t perf_check_count(const struct perf_run *run);
size_t perf_expect_reduced(const struct perf_run *run, size_t at,
			   size_t first, size_t count);
size_t perf_expect_rank(const struct perf_run *run, size_t at, int rank,
			size_t count);
size_t perf_expect_block(const struct perf_run *run, size_t at, int rank,
			 size_t first, size_t count);
size_t perf_expect_poison(const struct perf_run *run, size_t at, size_t count);
size_t perf_expect_untouched(const struct perf_run *run, size_t at,
			     size_t count);

/* hash.c.  One run on random-like data; `hex` on rank 0 is the digest.
 * `*same`: no rank holds another result than it should. */
tuttiResult_t perf_hash(struct perf_run *run, char hex[65], bool *same);

/* memory.c */
size_t perf_memory_available(void);
bool perf_memory_get(struct perf_run *run, size_t send, size_t recv);
void perf_memory_free(struct perf_run *run);

/* output.c; rank 0 only. */
void perf_print_header(const struct perf_run *run);
void perf_print_titles(const struct perf_run *run);
/* `out` and `in`: the rows out of place and in place, or NULL. */
void perf_print_row(const struct perf_run *run, const struct perf_row *out,
		    const struct perf_row *in);
bool perf_print_json(FILE *to, const struct perf_run *run,
		     const struct perf_row *row);
void perf_print_footer(const struct perf_run *run, uint64_t wrong,
		       double busbw);

static inline size_t perf_row_bytes(const struct perf_run *run)
{
	size_t most = run->send_count > run->recv_count ? run->send_count :
							  run->recv_count;

	return most * run->type->bytes;
}

#endif
