/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of tutti-perf: over types, operators, roots and sizes, each form is
 * checked, measured, checked again, and printed.  An operation is a struct
 * perf_op.  All ranks do the same; only rank 0 prints.
 */
#include <errno.h>

#include "perf.h"

static int on_call(void *context)
{
	struct perf_run *run = context;

	return (int)run->op->call(run);
}

static int on_close(void *context)
{
	struct perf_run *run = context;

	return (int)run->op->close(run);
}

static int on_barrier(void *context)
{
	struct perf_run *run = context;

	return (int)tuttiBarrier(run->comm, NULL);
}

static int on_max(void *context, double *values, int count)
{
	struct perf_run *run = context;

	return (int)tuttiAllReduce(values, values, (size_t)count, tuttiFloat64,
				   tuttiMax, run->comm, NULL);
}

/* Where the buffers of this row are, and how long. */
static void place(struct perf_run *run, size_t bytes, bool inplace)
{
	const struct perf_op *op = run->op;
	size_t ranks = (size_t)run->info.count;
	size_t count = bytes / run->type->bytes, mine;

	if (op->send_total || op->recv_total)
		count /= ranks;
	mine = (size_t)run->info.rank * count * run->type->bytes;
	run->count = count;
	run->send_count = op->send_total ? ranks * count : count;
	run->recv_count = op->recv_total ? ranks * count : count;
	run->inplace = inplace;
	run->send = run->base_send;
	run->recv = run->base_recv;
	if (inplace && op->send_total)
		run->recv = run->send + (op->recv_total ? 0 : mine);
	else if (inplace)
		run->send = run->recv + (op->recv_total ? mine : 0);
}

static tuttiResult_t check_once(struct perf_run *run, struct perf_row *row)
{
	tuttiResult_t rc;

	run->seed++;
	perf_check_prepare(run);
	rc = run->op->call(run);
	if (!rc && run->op->close)
		rc = run->op->close(run);
	if (!rc)
		row->wrong += perf_check_count(run);
	return rc;
}

/* What producers write while times are taken.  Without rewriting, zeros, as
 * results in place are the next input and would otherwise grow. */
static void fill_for_timing(struct perf_run *run)
{
	memset(run->pattern, 0, sizeof(run->pattern));
	if (run->opt->dirty) {
		perf_table_rank(run, run->info.rank);
		perf_fill(run, (char *)run->pattern,
			  sizeof(run->pattern) / run->type->bytes);
	}
}

static void scale(struct measure_stats *t, double by)
{
	t->median *= by;
	t->min *= by;
	t->max *= by;
	t->mean *= by;
	t->stdev *= by;
	t->p99 *= by;
	t->p999 *= by;
}

static tuttiResult_t time_row(struct perf_run *run, struct perf_row *row)
{
	const struct perf_op *op = run->op;
	struct measure m = {
		.call = on_call,
		.close = op->close ? on_close : NULL,
		.barrier = on_barrier,
		.reduce_max = on_max,
		.context = run,
		.warmup = run->opt->warmup,
		.iterations = run->opt->iterations,
		.calls_min = op->calls_min ? op->calls_min : 1,
		.dirty = run->send_count ? run->send : NULL,
		.dirty_bytes = run->send_count * run->type->bytes,
		.pattern = run->pattern,
		.samples = run->samples,
	};
	tuttiCommInfo_t info = TUTTI_COMM_INFO_INITIALIZER;
	int rc;

	fill_for_timing(run);
	measure_rewrite(&m);
	if (!run->opt->dirty)
		m.dirty = NULL;
	rc = measure_run(&m);
	/* Before anything else runs: it names the last algorithm. */
	if (!rc)
		rc = (int)tuttiCommQuery(run->comm, &info);
	if (!rc)
		rc = measure_collect(&m, &row->time);
	if (rc)
		return (tuttiResult_t)rc;
	memcpy(row->algo, info.algorithm, sizeof(row->algo));
	row->algo[sizeof(row->algo) - 1] = 0;
	scale(&row->time, op->messages ? 1.0 / op->messages : 1);
	return tuttiSuccess;
}

static void set_bandwidth(const struct perf_run *run, struct perf_row *row)
{
	double bus = run->op->bus, n = run->info.count;

	if (run->op->bus_share)
		bus *= (n - 1) / n;
	if (row->time.median > 0)
		row->algbw = (double)perf_row_bytes(run) / row->time.median /
			     1e3;
	row->busbw = row->algbw * bus;
}

/* Check, measure, check again, and make the digest. */
static tuttiResult_t measure_form(struct perf_run *run, struct perf_row *row,
				  bool *same)
{
	tuttiResult_t rc = tuttiSuccess;

	*same = true;
	if (run->opt->check)
		rc = check_once(run, row);
	if (!rc)
		rc = time_row(run, row);
	if (!rc && run->opt->check)
		rc = check_once(run, row);
	if (!rc && run->opt->check)
		rc = tuttiAllReduce(&row->wrong, &row->wrong, 1, tuttiUint64,
				    tuttiSum, run->comm, NULL);
	if (!rc && run->opt->hash)
		rc = perf_hash(run, row->sha256, same);
	if (!rc)
		set_bandwidth(run, row);
	return rc;
}

static void write_json(const struct perf_run *run, const struct perf_row *row,
		       struct perf_totals *sum)
{
	if (!sum->json || sum->json_failed ||
	    perf_print_json(sum->json, run, row))
		return;
	sum->json_failed = true;
	fprintf(stderr, "tutti-perf: %s cannot be written any further: %s.\n",
		run->opt->json, strerror(errno));
}

/* One form of one row, added to the totals. */
static tuttiResult_t run_form(struct perf_run *run, size_t bytes, bool inplace,
			      struct perf_row *row, struct perf_totals *sum)
{
	tuttiResult_t rc;
	bool same;

	*row = (struct perf_row){ .wrong = 0 };
	place(run, bytes, inplace);
	rc = measure_form(run, row, &same);
	if (rc)
		return rc;
	sum->wrong += row->wrong;
	sum->busbw += row->busbw;
	sum->rows++;
	sum->differ |= !same;
	write_json(run, row, sum);
	return tuttiSuccess;
}

static tuttiResult_t run_row(struct perf_run *run, size_t bytes,
			     struct perf_totals *sum)
{
	bool outside = !run->opt->inplace, inside = run->op->in_place;
	struct perf_row out, in;
	tuttiResult_t rc = tuttiSuccess;

	if (outside)
		rc = run_form(run, bytes, false, &out, sum);
	if (!rc && inside)
		rc = run_form(run, bytes, true, &in, sum);
	if (!rc && run->info.rank == 0)
		perf_print_row(run, outside ? &out : NULL,
			       inside ? &in : NULL);
	return rc;
}

static tuttiResult_t run_sizes(struct perf_run *run, struct perf_totals *sum)
{
	size_t max = run->opt->max, factor = run->opt->factor;
	size_t bytes = run->opt->min;
	tuttiResult_t rc;

	for (;;) {
		rc = run_row(run, bytes, sum);
		if (rc || bytes == max || bytes > max / factor)
			return rc;
		bytes = bytes ? bytes * factor : run->type->bytes;
		if (bytes > max)
			return rc;
	}
}

static tuttiResult_t run_roots(struct perf_run *run, struct perf_totals *sum)
{
	bool all = run->op->rooted && run->opt->root < 0;
	int last = all ? run->info.count - 1 : run->opt->root;
	tuttiResult_t rc = tuttiSuccess;

	for (run->root = all ? 0 : last; !rc && run->root <= last; run->root++)
		rc = run_sizes(run, sum);
	return rc;
}

tuttiResult_t perf_run_all(struct perf_run *run, struct perf_totals *sum)
{
	const struct perf_options *opt = run->opt;
	int redop_last = run->op->reduces ? opt->redop_last : opt->redop_first;
	tuttiResult_t rc = tuttiSuccess;
	int t, o;

	for (t = opt->type_first; !rc && t <= opt->type_last; t++) {
		run->type = &perf_types[t];
		for (o = opt->redop_first; !rc && o <= redop_last; o++) {
			run->redop = run->op->reduces ? &perf_redops[o] : NULL;
			rc = run_roots(run, sum);
		}
	}
	return rc;
}
