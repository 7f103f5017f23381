/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every program in perf/ measures.  tutti-perf and the programs in
 * compare/ include this one file, so what differs between their numbers is
 * the library.  C and C++; nothing here knows any library.
 *
 * The rule.  An iteration starts after a barrier.  If a call takes 20 us or
 * more, an iteration is one call.  If it is shorter, an iteration is a batch
 * of calls, about 100 us of them, and its time is divided by their number.
 * Before each call, every rank rewrites its whole send buffer, as a producer
 * of new data does, whether this operation reads the buffer or not, so that
 * no rank waits for another's rewriting.  The clock is stopped meanwhile:
 * the rewriting is not measured, but what it did to the caches is.  Stopping
 * and going on costs one reading of the clock per call, which is not taken
 * off.  The time of an iteration is the slowest rank's.  Reported are the
 * median, the least and percentiles over iterations.  In a batch, an operation
 * that some ranks leave early may overlap the next one; what is reported then
 * is the time of a call in a row of calls.
 */
#ifndef PERF_MEASURE_H
#define PERF_MEASURE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MEASURE_SHORT_US 20.0	/* a shorter call is measured in batches */
#define MEASURE_BATCH_US 100.0	/* of about this length */
#define MEASURE_CALLS_MAX 1000
#define MEASURE_PATTERN ((size_t)4096)

struct measure {
	/* What to measure.  Each returns 0, or an error that ends the run. */
	int (*call)(void *context);
	int (*close)(void *context);	/* ends a batch, timed; or NULL */
	int (*barrier)(void *context);
	int (*reduce_max)(void *context, double *values, int count);
	void *context;
	/* How. */
	int warmup;		/* calls before anything is timed */
	int iterations;
	int calls_min;		/* the shortest batch: 1 for most */
	void *dirty;		/* rewritten before each call, or NULL */
	size_t dirty_bytes;
	const void *pattern;	/* MEASURE_PATTERN bytes to rewrite it with */
	/* What came out. */
	int calls;		/* in one iteration */
	double *samples;	/* the caller's, `iterations` of them: us */
};

struct measure_stats {
	double median, min, max, mean, stdev, p99, p999;
};

static inline uint64_t measure_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What one reading of the clock costs: the least of a few batches. */
static inline double measure_clock_ns(void)
{
	double best = 1e9;
	int i, k;

	for (i = 0; i < 20; i++) {
		uint64_t start = measure_now_ns(), end = start;

		for (k = 0; k < 100; k++)
			end = measure_now_ns();
		if ((double)(end - start) / 100 < best)
			best = (double)(end - start) / 100;
	}
	return best;
}

/* Page-aligned memory, all of it touched.  `huge` asks for huge pages.  NULL
 * if there is none.  Ends with free(). */
static inline void *measure_alloc(size_t bytes, int huge)
{
	size_t align = huge ? (size_t)2 << 20 : 4096;
	void *memory = NULL;

	if (posix_memalign(&memory, align, bytes ? bytes : 1))
		return NULL;
	if (huge)
		madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 0, bytes);
	return memory;
}

/* In steps of the pattern's size, so that memcpy never takes the stores that
 * go past the caches: a producer's data are in its cache. */
static inline void measure_rewrite(const struct measure *m)
{
	char *to = (char *)m->dirty;
	size_t left = to ? m->dirty_bytes : 0;

	while (left) {
		size_t n = left < MEASURE_PATTERN ? left : MEASURE_PATTERN;

		memcpy(to, m->pattern, n);
		to += n;
		left -= n;
	}
}

/* One iteration on this rank; `us` is the time of one call. */
static inline int measure_batch(const struct measure *m, int calls, double *us)
{
	uint64_t start, total = 0;
	int rc, i;

	measure_rewrite(m);
	rc = m->barrier(m->context);
	start = measure_now_ns();
	for (i = 0; !rc && i < calls; i++) {
		if (i && m->dirty) {
			total += measure_now_ns() - start;
			measure_rewrite(m);
			start = measure_now_ns();
		}
		rc = m->call(m->context);
	}
	if (!rc && m->close)
		rc = m->close(m->context);
	total += measure_now_ns() - start;
	*us = (double)total / 1000 / calls;
	return rc;
}

/* The least of three iterations, the slowest rank's: the same on all. */
static inline int measure_try(const struct measure *m, int calls, double *us)
{
	int rc = 0, i;

	*us = 1e30;
	for (i = 0; !rc && i < 3; i++) {
		double t = 0;

		rc = measure_batch(m, calls, &t);
		if (!rc)
			rc = m->reduce_max(m->context, &t, 1);
		if (t < *us)
			*us = t;
	}
	return rc;
}

/* Find how many calls make an iteration. */
static inline int measure_pilot(struct measure *m)
{
	int most = m->calls_min > MEASURE_CALLS_MAX ? m->calls_min :
						      MEASURE_CALLS_MAX;

	m->calls = m->calls_min;
	for (;;) {
		double us, want;
		int rc = measure_try(m, m->calls, &us);

		if (rc || us >= MEASURE_SHORT_US)
			return rc;
		want = ceil(MEASURE_BATCH_US / (us > 0.01 ? us : 0.01));
		if (want > most)
			want = most;
		if (want <= 2 * m->calls) {
			if (want > m->calls)
				m->calls = (int)want;
			return 0;
		}
		m->calls = (int)want;
	}
}

/* Warm up and measure.  Afterwards `samples` holds this rank's times, in the
 * order of the iterations, until measure_collect makes them all ranks'. */
static inline int measure_run(struct measure *m)
{
	int rc = 0, i;

	for (i = 0; !rc && i < m->warmup; i++) {
		measure_rewrite(m);
		rc = m->call(m->context);
		if (!rc && m->close)
			rc = m->close(m->context);
	}
	if (!rc)
		rc = measure_pilot(m);
	for (i = 0; !rc && i < m->iterations; i++)
		rc = measure_batch(m, m->calls, &m->samples[i]);
	return rc;
}

static inline int measure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of n sorted values the least one that `share` of them do not exceed. */
static inline double measure_rank(const double *v, int n, double share)
{
	int i = (int)ceil(share * n) - 1;

	return v[i < 0 ? 0 : i];
}

/* Take the slowest rank's time of each iteration and sum them up. */
static inline int measure_collect(struct measure *m, struct measure_stats *s)
{
	int n = m->iterations, rc, i;
	double *v = m->samples;
	double sum = 0, squares = 0;

	rc = m->reduce_max(m->context, v, n);
	if (rc)
		return rc;
	qsort(v, (size_t)n, sizeof(*v), measure_compare);
	for (i = 0; i < n; i++)
		sum += v[i];
	s->mean = sum / n;
	for (i = 0; i < n; i++)
		squares += (v[i] - s->mean) * (v[i] - s->mean);
	s->stdev = n > 1 ? sqrt(squares / (n - 1)) : 0;
	s->min = v[0];
	s->max = v[n - 1];
	s->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	s->p99 = measure_rank(v, n, 0.99);
	s->p999 = measure_rank(v, n, 0.999);
	return 0;
}

#endif
