/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs for other libraries share: options, sizes, contents,
 * checks and output.  The measuring itself is measure.h, as in tutti-perf.
 * float32 and sum only.  Each program includes this once, fills in a struct
 * peer with its library's calls, and runs peer_main.  C and C++.
 */
#ifndef PERF_COMPARE_PEER_H
#define PERF_COMPARE_PEER_H

#include <getopt.h>
#include <stdio.h>

#include "../measure.h"

#define PEER_PERIOD 251		/* elements repeat after so many: a prime */

enum peer_op {
	PEER_ALL_REDUCE, PEER_REDUCE_SCATTER, PEER_ALL_GATHER, PEER_BROADCAST,
	PEER_REDUCE, PEER_SENDRECV, PEER_BARRIER, PEER_OPS
};

static const char *const peer_ops[PEER_OPS] = {
	"all_reduce", "reduce_scatter", "all_gather", "broadcast",
	"reduce", "sendrecv", "barrier"
};

struct peer {
	/* The library's. */
	const char *name;
	int rank, ranks;
	int (*prepare)(struct peer *p);	/* a new size; or NULL */
	int (*call)(void *peer);	/* of struct measure */
	int (*barrier)(void *peer);
	int (*reduce_max)(void *peer, double *values, int count);
	/* The command line's. */
	enum peer_op op;
	size_t min, max, factor;
	int iterations, warmup, inplace, huge;
	/* This size's. */
	size_t count;			/* elements of a block */
	size_t send_count, recv_count;
	float *send, *recv;
	/* Memory. */
	float *base_send, *base_recv;
	double *samples;
};

/* What a rank sends: integers so small that sums of them are exact. */
static inline float peer_value(int rank, size_t i)
{
	return (float)((i * 5 + (size_t)rank * 17) % PEER_PERIOD);
}

static inline float peer_sum(const struct peer *p, size_t i)
{
	float sum = 0;
	int rank;

	for (rank = 0; rank < p->ranks; rank++)
		sum += peer_value(rank, i);
	return sum;
}

/* Element i of the right result of this rank; -1: nobody says. */
static inline float peer_expected(const struct peer *p, size_t i)
{
	switch (p->op) {
	case PEER_ALL_REDUCE:
		return peer_sum(p, i);
	case PEER_REDUCE_SCATTER:
		return peer_sum(p, i + (size_t)p->rank * p->count);
	case PEER_ALL_GATHER:
		return peer_value((int)(i / p->count), i % p->count);
	case PEER_BROADCAST:
		return peer_value(0, i);
	case PEER_REDUCE:
		return p->rank ? -1 : peer_sum(p, i);
	case PEER_SENDRECV:
		return peer_value((p->rank + p->ranks - 1) % p->ranks, i);
	default:
		return -1;
	}
}

static inline void peer_place(struct peer *p, size_t bytes)
{
	int send_total = p->op == PEER_REDUCE_SCATTER;
	int recv_total = p->op == PEER_ALL_GATHER;
	size_t ranks = (size_t)p->ranks;

	p->count = bytes / sizeof(float);
	if (send_total || recv_total)
		p->count /= ranks;
	p->send_count = p->count * (send_total ? ranks : 1);
	p->recv_count = p->count * (recv_total ? ranks : 1);
	p->send = p->base_send;
	p->recv = p->base_recv;
	if (p->inplace && send_total)
		p->recv = p->send + (size_t)p->rank * p->count;
	else if (p->inplace)
		p->send = p->recv +
			  (recv_total ? (size_t)p->rank * p->count : 0);
}

static inline size_t peer_bytes(const struct peer *p)
{
	return (p->send_count > p->recv_count ? p->send_count :
		p->recv_count) * sizeof(float);
}

/* One call on fresh input, every element compared. */
static inline int peer_check(struct peer *p, double *wrong)
{
	float want[PEER_PERIOD];
	size_t i;
	int rc, periodic = p->op != PEER_ALL_GATHER;

	memset(p->recv, 0xa5, p->recv_count * sizeof(float));
	for (i = 0; i < p->send_count; i++)
		p->send[i] = peer_value(p->rank, i);
	rc = p->call(p);
	if (rc)
		return rc;
	for (i = 0; periodic && i < PEER_PERIOD; i++)
		want[i] = peer_expected(p, i);
	for (i = 0; i < p->recv_count; i++) {
		float w = periodic ? want[i % PEER_PERIOD] :
				     peer_expected(p, i);

		*wrong += w >= 0 && !(p->recv[i] == w);
	}
	return 0;
}

static inline void peer_print(const struct peer *p, double wrong,
			      const struct measure_stats *t)
{
	double us = t->median;

	printf("{\"peer\":\"%s\",\"op\":\"%s\",\"bytes\":%zu,\"count\":%zu,"
	       "\"ranks\":%d,\"inplace\":%s,\"time_us\":%.4f,"
	       "\"time_us_min\":%.4f,\"time_us_p99\":%.4f,"
	       "\"algbw_GBps\":%.6f,\"wrong\":%.0f}\n", p->name,
	       peer_ops[p->op], peer_bytes(p), p->count, p->ranks,
	       p->inplace ? "true" : "false", us, t->min, t->p99,
	       us > 0 ? (double)peer_bytes(p) / us / 1e3 : 0, wrong);
	fflush(stdout);
}

/* One size.  The number of wrong elements printed is the worst rank's. */
static inline int peer_row(struct peer *p, size_t bytes)
{
	float pattern[MEASURE_PATTERN / sizeof(float)];
	struct measure m;
	struct measure_stats t;
	double wrong = 0;
	size_t i;
	int rc;

	peer_place(p, bytes);
	for (i = 0; i < MEASURE_PATTERN / sizeof(float); i++)
		pattern[i] = peer_value(p->rank, i);
	memset(&m, 0, sizeof(m));
	m.call = p->call;
	m.barrier = p->barrier;
	m.reduce_max = p->reduce_max;
	m.context = p;
	m.warmup = p->warmup;
	m.iterations = p->iterations;
	m.calls_min = 1;
	m.dirty = p->op == PEER_BARRIER ? NULL : p->send;
	m.dirty_bytes = p->send_count * sizeof(float);
	m.pattern = pattern;
	m.samples = p->samples;

	rc = p->prepare ? p->prepare(p) : 0;
	if (!rc)
		rc = peer_check(p, &wrong);
	if (!rc)
		rc = measure_run(&m);
	if (!rc)
		rc = measure_collect(&m, &t);
	if (!rc)
		rc = peer_check(p, &wrong);
	if (!rc)
		rc = p->reduce_max(p, &wrong, 1);
	if (!rc && p->rank == 0)
		peer_print(p, wrong, &t);
	return rc;
}

static inline int peer_options(struct peer *p, int argc, char **argv)
{
	static const struct option options[] = {
		{ "inplace", no_argument, NULL, 'I' },
		{ "huge", no_argument, NULL, 'H' },
		{ NULL, 0, NULL, 0 }
	};
	int c, i;

	p->min = 8;
	p->max = 64 << 20;
	p->factor = 4;
	p->iterations = 20;
	p->warmup = 5;
	while ((c = getopt_long(argc, argv, "b:e:f:n:w:N:", options,
				NULL)) != -1) {
		size_t n = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (c) {
		case 'b': p->min = n; break;
		case 'e': p->max = n; break;
		case 'f': p->factor = n; break;
		case 'n': p->iterations = (int)n; break;
		case 'w': p->warmup = (int)n; break;
		case 'N': break;	/* ranks: for those that fork */
		case 'I': p->inplace = 1; break;
		case 'H': p->huge = 1; break;
		default: return -1;
		}
	}
	for (i = 0; optind < argc && i < PEER_OPS; i++) {
		if (strcmp(argv[optind], peer_ops[i]))
			continue;
		p->op = (enum peer_op)i;
		return p->factor > 1 && p->iterations > 0 ? 0 : -1;
	}
	return -1;
}

static inline int peer_sizes(struct peer *p)
{
	size_t bytes;
	int rc;

	if (p->op == PEER_BARRIER)
		return peer_row(p, 0);
	for (bytes = p->min; bytes <= p->max; bytes *= p->factor) {
		rc = peer_row(p, bytes);
		if (rc || !bytes)
			return rc;
	}
	return 0;
}

/* The whole program once the library is up; 0, or its exit status. */
static inline int peer_main(struct peer *p, int argc, char **argv)
{
	int rc;

	if (peer_options(p, argc, argv)) {
		if (p->rank == 0)
			fprintf(stderr, "usage: peer-%s OP [-b MIN] [-e MAX] "
				"[-f FACTOR] [-n ITERS] [-w WARMUP] "
				"[--inplace] [--huge]\n", p->name);
		return 2;
	}
	p->base_send = (float *)measure_alloc(p->max, p->huge);
	p->base_recv = (float *)measure_alloc(p->max, p->huge);
	p->samples = (double *)calloc((size_t)p->iterations, sizeof(double));
	rc = 1;
	if (p->base_send && p->base_recv && p->samples)
		rc = peer_sizes(p);
	else
		fprintf(stderr, "peer-%s: no memory for %zu bytes\n", p->name,
			p->max);
	free(p->base_send);
	free(p->base_recv);
	free(p->samples);
	return rc ? 1 : 0;
}

#endif
