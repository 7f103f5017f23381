/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring loop of perf/measure.h on calls whose time is known: batches,
 * rewriting of the send buffer, whose time counts, and the statistics.
 */
#include <criterion/criterion.h>

#include "measure.h"

#define BYTES 10000		/* not a multiple of the pattern */

struct fake {
	struct measure m;
	unsigned char buffer[BYTES];
	unsigned char pattern[MEASURE_PATTERN];
	double samples[16];
	double busy_us;		/* of a call */
	double others_us;	/* what the slowest other rank takes */
	int calls, barriers, since_barrier, longest, closes, stale;
	int fail_at;		/* this call fails; 0: none */
};

static void spin(double us)
{
	uint64_t end = measure_now_ns() + (uint64_t)(us * 1000);

	while (measure_now_ns() < end)
		;
}

/* An operation that sees whether its input is fresh, and spoils it. */
static int call(void *context)
{
	struct fake *f = context;
	size_t i, n;

	for (i = 0; i < BYTES && f->m.dirty; i += n) {
		n = BYTES - i < MEASURE_PATTERN ? BYTES - i : MEASURE_PATTERN;
		f->stale += !!memcmp(f->buffer + i, f->pattern, n);
	}
	memset(f->buffer, 0xee, BYTES);
	spin(f->busy_us);
	f->since_barrier++;
	if (f->since_barrier > f->longest)
		f->longest = f->since_barrier;
	return ++f->calls == f->fail_at ? 7 : 0;
}

static int close_batch(void *context)
{
	struct fake *f = context;

	f->closes++;
	return 0;
}

static int barrier(void *context)
{
	struct fake *f = context;

	f->barriers++;
	f->since_barrier = 0;
	return 0;
}

static int reduce_max(void *context, double *values, int count)
{
	struct fake *f = context;
	int i;

	for (i = 0; i < count; i++)
		if (values[i] < f->others_us)
			values[i] = f->others_us;
	return 0;
}

static void prepare(struct fake *f, double busy_us)
{
	size_t i;

	*f = (struct fake){
		.m = { .call = call, .barrier = barrier,
		       .reduce_max = reduce_max, .warmup = 2,
		       .iterations = 9, .calls_min = 1,
		       .dirty_bytes = BYTES },
		.busy_us = busy_us,
	};
	for (i = 0; i < MEASURE_PATTERN; i++)
		f->pattern[i] = (unsigned char)(i * 7 + 1);
	f->m.context = f;
	f->m.dirty = f->buffer;
	f->m.pattern = f->pattern;
	f->m.samples = f->samples;
}

Test(perf_measure, long_calls_are_iterations_of_one)
{
	static struct fake f;
	struct measure_stats s;

	prepare(&f, 60);
	cr_assert_eq(measure_run(&f.m), 0);
	cr_expect_eq(f.m.calls, 1);
	/* Two to warm up, three to find out, nine measured. */
	cr_expect_eq(f.calls, 2 + 3 + 9);
	cr_expect_eq(f.barriers, 3 + 9);
	cr_expect_eq(f.stale, 0, "input that was not rewritten");
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_geq(s.min, 60);
	cr_expect_leq(s.min, s.median);
	cr_expect_leq(s.median, s.p99);
}

Test(perf_measure, short_calls_make_batches)
{
	static struct fake f;
	struct measure_stats s;

	prepare(&f, 2);
	f.m.close = close_batch;
	cr_assert_eq(measure_run(&f.m), 0);
	cr_expect_gt(f.m.calls, 1);
	cr_expect_leq(f.m.calls, 60);
	cr_expect_eq(f.stale, 0, "input that was not rewritten");
	cr_expect_eq(f.closes, f.barriers + 2, "ends of batches and warm-up");
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_geq(s.min, 2);
}

/* The slowest rank's time decides how many calls make an iteration, so that
 * all ranks make as many. */
Test(perf_measure, the_slowest_rank_decides)
{
	static struct fake f;
	struct measure_stats s;

	prepare(&f, 2);
	f.others_us = 500;
	cr_assert_eq(measure_run(&f.m), 0);
	cr_expect_eq(f.m.calls, 1);
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_eq(s.min, 500);
	cr_expect_eq(s.median, 500);
}

Test(perf_measure, batches_have_bounds)
{
	static struct fake f;

	prepare(&f, 0);
	f.m.dirty = NULL;
	cr_assert_eq(measure_run(&f.m), 0);
	cr_expect_leq(f.longest, MEASURE_CALLS_MAX);
	prepare(&f, 30);
	f.m.calls_min = 16;
	cr_assert_eq(measure_run(&f.m), 0);
	cr_expect_eq(f.m.calls, 16);
}

Test(perf_measure, an_error_ends_the_run)
{
	static struct fake f;
	int at;

	for (at = 1; at < 14; at++) {
		prepare(&f, 25);
		f.fail_at = at;
		cr_expect_eq(measure_run(&f.m), 7);
		cr_expect_eq(f.calls, at, "calls after the error");
	}
}

Test(perf_measure, statistics)
{
	static const double times[9] = { 9, 1, 8, 2, 7, 3, 6, 4, 5 };
	static struct fake f;
	struct measure_stats s;

	prepare(&f, 0);
	memcpy(f.samples, times, sizeof(times));
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_eq(s.median, 5);
	cr_expect_eq(s.min, 1);
	cr_expect_eq(s.max, 9);
	cr_expect_eq(s.mean, 5);
	cr_expect_float_eq(s.stdev, 2.7386, 1e-4);
	cr_expect_eq(s.p99, 9);

	f.m.iterations = 4;
	memcpy(f.samples, times, sizeof(times));
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_eq(s.median, 5, "mean of the middle two of 1, 2, 8, 9");

	f.m.iterations = 1;
	memcpy(f.samples, times, sizeof(times));
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_eq(s.median, 9);
	cr_expect_eq(s.p99, 9);
	cr_expect_eq(s.stdev, 0);
}

/* Nearest rank: the 99th of a hundred. */
Test(perf_measure, percentile_of_a_hundred)
{
	static struct fake f;
	static double many[100];
	struct measure_stats s;
	int i;

	prepare(&f, 0);
	for (i = 0; i < 100; i++)
		many[i] = 100 - i;
	f.m.iterations = 100;
	f.m.samples = many;
	cr_assert_eq(measure_collect(&f.m, &s), 0);
	cr_expect_eq(s.p99, 99);
	cr_expect_eq(s.p999, 100);
	cr_expect_float_eq(s.median, 50.5, 1e-12);
}
