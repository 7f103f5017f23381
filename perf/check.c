/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact checks.  Before the call the receive buffer is poisoned, so that an
 * element that nobody wrote is wrong, and canaries stand behind both buffers.
 * After it, all elements are compared, the send buffer must be as it was, and
 * the canaries too.  Damage to either counts as wrong elements.
 */
#include "perf.h"

#define POISON 0xa5
#define CANARY 0x5c

static size_t bytes_differ(const char *at, int value, size_t bytes)
{
	size_t wrong = 0, i;

	for (i = 0; i < bytes; i++)
		wrong += (unsigned char)at[i] != value;
	return wrong;
}

static char *behind_send(const struct perf_run *run)
{
	return run->send + run->send_count * run->type->bytes;
}

static char *behind_recv(const struct perf_run *run)
{
	return run->recv + run->recv_count * run->type->bytes;
}

/* Where the larger of two overlapping buffers ends; both may end there. */
static char *behind_both(const struct perf_run *run)
{
	return run->send_count > run->recv_count ? behind_send(run) :
						   behind_recv(run);
}

void perf_check_prepare(const struct perf_run *run)
{
	memset(run->recv, POISON, run->recv_count * run->type->bytes);
	perf_table_rank(run, run->info.rank);
	perf_fill(run, run->send, run->send_count);
	if (run->inplace) {
		memset(behind_both(run), CANARY, PERF_CANARY);
		return;
	}
	memset(behind_send(run), CANARY, PERF_CANARY);
	memset(behind_recv(run), CANARY, PERF_CANARY);
}

size_t perf_expect_reduced(const struct perf_run *run, size_t at,
			   size_t first, size_t count)
{
	perf_table_reduced(run);
	return perf_differ(run, run->recv + at * run->type->bytes, first,
			   count);
}

size_t perf_expect_block(const struct perf_run *run, size_t at, int rank,
			 size_t first, size_t count)
{
	perf_table_rank(run, rank);
	return perf_differ(run, run->recv + at * run->type->bytes, first,
			   count);
}

size_t perf_expect_rank(const struct perf_run *run, size_t at, int rank,
			size_t count)
{
	return perf_expect_block(run, at, rank, 0, count);
}

size_t perf_expect_untouched(const struct perf_run *run, size_t at,
			     size_t count)
{
	if (run->inplace)
		return perf_expect_rank(run, at, run->info.rank, count);
	return perf_expect_poison(run, at, count);
}

size_t perf_expect_poison(const struct perf_run *run, size_t at, size_t count)
{
	size_t size = run->type->bytes;

	return (bytes_differ(run->recv + at * size, POISON, count * size) +
		size - 1) / size;
}

/* Elements of the send buffer that were changed.  In place, those that are
 * the receive buffer's as well may be. */
static size_t send_changed(const struct perf_run *run)
{
	size_t size = run->type->bytes, before, after;

	perf_table_rank(run, run->info.rank);
	if (!run->inplace)
		return perf_differ(run, run->send, 0, run->send_count);
	if (!run->op->send_total || run->op->recv_total)
		return 0;
	before = (size_t)run->info.rank * run->count;
	after = before + run->count;
	return perf_differ(run, run->send, 0, before) +
	       perf_differ(run, run->send + after * size, after,
			   run->send_count - after);
}

/* Tell on the spot: a count alone does not say where to look. */
static size_t told(const struct perf_run *run, size_t wrong, const char *what)
{
	if (wrong)
		fprintf(stderr, "tutti-perf: rank %d: %s, %zu bytes%s: %zu "
			"%s\n", run->info.rank, run->op->name,
			perf_row_bytes(run), run->inplace ? " in place" : "",
			wrong, what);
	return wrong;
}

size_t perf_check_count(const struct perf_run *run)
{
	size_t wrong, bytes;

	wrong = run->op->check(run);
	wrong += told(run, send_changed(run),
		      "elements of the send buffer were changed");
	if (run->inplace) {
		bytes = bytes_differ(behind_both(run), CANARY, PERF_CANARY);
	} else {
		bytes = bytes_differ(behind_send(run), CANARY, PERF_CANARY);
		bytes += bytes_differ(behind_recv(run), CANARY, PERF_CANARY);
	}
	return wrong + told(run, bytes,
			    "bytes behind the buffers were changed");
}
