/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf: measure a collective operation, and check it.  The engine walks
 * over types, operators, roots and sizes; an operation is a struct perf_op.
 * Only rank 0 prints, and all ranks take every decision alike, so none is
 * left waiting in a call that another does not make.
 */
#include <errno.h>

#include "perf.h"

/* What the whole run adds up to. */
struct totals {
	uint64_t wrong;
	double busbw;
	int rows;
	bool differ;		/* digests of ranks did */
	FILE *json;		/* rank 0 */
	bool json_failed;
};

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

/* `*speaker` is the lowest rank that is not `ok`, or -1 if all are. */
static tuttiResult_t agree(struct perf_run *run, bool ok, int *speaker)
{
	int n = run->info.count;
	double value = ok ? 0 : n - run->info.rank;
	int rc = on_max(run, &value, 1);

	*speaker = value > 0 ? n - (int)value : -1;
	return (tuttiResult_t)rc;
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
		run->recv = run->send + mine;
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
		       struct totals *sum)
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
			      struct perf_row *row, struct totals *sum)
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
			     struct totals *sum)
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

static tuttiResult_t run_sizes(struct perf_run *run, struct totals *sum)
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

static tuttiResult_t run_roots(struct perf_run *run, struct totals *sum)
{
	bool all = run->op->rooted && run->opt->root < 0;
	int last = all ? run->info.count - 1 : run->opt->root;
	tuttiResult_t rc = tuttiSuccess;

	for (run->root = all ? 0 : last; !rc && run->root <= last; run->root++)
		rc = run_sizes(run, sum);
	return rc;
}

static tuttiResult_t run_all(struct perf_run *run, struct totals *sum)
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

/* Bytes of the two buffers at the largest size; 0: not used. */
static void largest(const struct perf_run *run, size_t *send, size_t *recv)
{
	const struct perf_op *op = run->op;
	size_t all = run->opt->max + PERF_CANARY;
	size_t block = run->opt->max / (size_t)run->info.count + PERF_CANARY;

	*send = op->recv_total ? block : all;
	*recv = op->send_total ? block : all;
	if (!run->opt->inplace)
		return;
	if (op->send_total)
		*recv = 0;
	else
		*send = 0;
}

/* What is wrong with this run on this communicator, alike on all ranks. */
static bool fits_ranks(const struct perf_run *run)
{
	int n = run->info.count;

	if (n < run->op->ranks_min) {
		if (run->info.rank == 0)
			fprintf(stderr, "tutti-perf: %s needs %d ranks, and "
				"there is %d: start it as \"tutti run -n %d "
				"tutti-perf %s\".\n", run->op->name,
				run->op->ranks_min, n, run->op->ranks_min,
				run->op->name);
		return false;
	}
	if (run->op->rooted && run->opt->root >= n) {
		if (run->info.rank == 0)
			fprintf(stderr, "tutti-perf: -r %d is not a rank: "
				"there are %d, from 0 to %d.\n",
				run->opt->root, n, n - 1);
		return false;
	}
	return true;
}

static tuttiResult_t get_memory(struct perf_run *run, bool *ok)
{
	double gib = (double)(1 << 30);
	size_t send, recv, free_bytes = perf_memory_available();
	int speaker, n = run->info.localCount;
	tuttiResult_t rc;

	largest(run, &send, &recv);
	*ok = (send + recv) <= free_bytes / (size_t)n;
	rc = agree(run, *ok, &speaker);
	if (rc || speaker >= 0) {
		if (!rc && speaker == run->info.rank)
			fprintf(stderr, "tutti-perf: -e needs %.1f GiB for the "
				"%d ranks of node %d, and %.1f GiB are free: "
				"choose a smaller -e.\n",
				(double)(send + recv) * n / gib, n,
				run->info.node, (double)free_bytes / gib);
		*ok = false;
		return rc;
	}
	run->table = malloc((size_t)PERF_PERIOD * 8);
	run->samples = calloc((size_t)run->opt->iterations, sizeof(double));
	run->digests = calloc((size_t)run->info.count, 32);
	*ok = perf_memory_get(run, send, recv) && run->table &&
	      run->samples && run->digests;
	rc = agree(run, *ok, &speaker);
	if (!rc && speaker == run->info.rank)
		fprintf(stderr, "tutti-perf: rank %d got no buffers of %.1f "
			"GiB: choose a smaller -e.\n", run->info.rank,
			(double)(send + recv) / gib);
	*ok = speaker < 0;
	return rc;
}

static void put_memory(struct perf_run *run)
{
	perf_memory_free(run);
	free(run->table);
	free(run->samples);
	free(run->digests);
}

static tuttiResult_t open_json(struct perf_run *run, struct totals *sum,
			       bool *ok)
{
	tuttiResult_t rc;
	int speaker;

	*ok = true;
	if (!run->opt->json)
		return tuttiSuccess;
	if (run->info.rank == 0) {
		sum->json = fopen(run->opt->json, "we");
		*ok = sum->json != NULL;
		if (!*ok)
			fprintf(stderr, "tutti-perf: %s cannot be written: "
				"%s.\n", run->opt->json, strerror(errno));
	}
	rc = agree(run, *ok, &speaker);
	*ok = speaker < 0;
	return rc;
}

/* The exit status, with what the last lines say if all rows were run. */
static int conclude(struct perf_run *run, struct totals *sum, bool whole)
{
	if (sum->json && fclose(sum->json) && !sum->json_failed) {
		sum->json_failed = true;
		fprintf(stderr, "tutti-perf: %s is not complete: %s.\n",
			run->opt->json, strerror(errno));
	}
	if (whole && run->info.rank == 0)
		perf_print_footer(run, sum->wrong,
				  sum->rows ? sum->busbw / sum->rows : 0);
	return sum->wrong || sum->differ || sum->json_failed ?
		PERF_STATUS_WRONG : 0;
}

/* Everything between the start and the end of the communicator.  `*status`
 * is the exit status if all calls succeed. */
static tuttiResult_t perform(struct perf_run *run, int *status)
{
	struct totals sum = { .wrong = 0 };
	tuttiResult_t rc;
	bool ok;

	*status = PERF_STATUS_USAGE;
	if (!fits_ranks(run))
		return tuttiSuccess;
	rc = get_memory(run, &ok);
	if (!rc && ok)
		rc = open_json(run, &sum, &ok);
	if (!rc && ok) {
		if (run->info.rank == 0) {
			perf_print_header(run);
			perf_print_titles(run);
		}
		rc = run_all(run, &sum);
		*status = conclude(run, &sum, !rc);
	}
	put_memory(run);
	return rc;
}

static int report(const struct perf_run *run, tuttiResult_t rc,
		  const char *what)
{
	const char *said = tuttiGetLastError(run->comm);

	if (!said[0])
		said = tuttiGetErrorString(rc);
	fprintf(stderr, "tutti-perf: rank %d: %s: %s\n", run->info.rank, what,
		said);
	return PERF_STATUS_WRONG;
}

static tuttiResult_t start(struct perf_run *run)
{
	tuttiResult_t rc = tuttiCommInitEnv(&run->comm, NULL);

	if (rc)
		return rc;
	run->info = (tuttiCommInfo_t)TUTTI_COMM_INFO_INITIALIZER;
	return tuttiCommQuery(run->comm, &run->info);
}

/* All ranks have the same bad command line; one of them says so. */
static int refuse(struct perf_run *run, const char *why)
{
	tuttiResult_t rc = start(run);

	if (rc || run->info.rank == 0)
		fprintf(stderr, "tutti-perf: %s\n", why);
	if (run->comm)
		tuttiCommDestroy(run->comm);
	return PERF_STATUS_USAGE;
}

static int greet(const struct perf_options *opt)
{
	int version = 0;

	tuttiGetVersion(&version);
	if (opt->help)
		perf_usage(stdout);
	else
		printf("tutti-perf %d.%d.%d\n", version / 10000,
		       version / 100 % 100, version % 100);
	return 0;
}

int main(int argc, char **argv)
{
	static struct perf_run run;
	struct perf_options opt;
	char why[512];
	tuttiResult_t rc;
	int status;

	if (!perf_options_parse(&opt, argc, argv, why, sizeof(why)))
		return refuse(&run, why);
	if (opt.help || opt.version)
		return greet(&opt);
	run.opt = &opt;
	run.op = opt.op;
	rc = start(&run);
	if (rc)
		return report(&run, rc, "the start failed");
	rc = perform(&run, &status);
	if (rc) {
		status = report(&run, rc, opt.op->name);
		tuttiCommAbort(run.comm);
		return status;
	}
	rc = tuttiCommFinalize(run.comm);
	if (rc)
		status = report(&run, rc, "the end failed");
	tuttiCommDestroy(run.comm);
	return status;
}
