/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf: measure an operation on the ranks of a launcher, and check it.
 * Here is the start and the end: the communicator, memory, the JSON file and
 * the exit status.  All ranks take every decision alike, so none is left
 * waiting in a call that another does not make, and one of them says why.
 */
#include <errno.h>

#include "perf.h"

/* `*speaker` is the lowest rank that is not `ok`, or -1 if all are. */
static tuttiResult_t agree(struct perf_run *run, bool ok, int *speaker)
{
	int n = run->info.count;
	double value = ok ? 0 : n - run->info.rank;
	tuttiResult_t rc = tuttiAllReduce(&value, &value, 1, tuttiFloat64,
					  tuttiMax, run->comm, NULL);

	*speaker = value > 0 ? n - (int)value : -1;
	return rc;
}

/* Bytes of the two buffers at the largest size; 0: not used. */
static void largest(const struct perf_run *run, size_t *send, size_t *recv)
{
	const struct perf_op *op = run->op;
	size_t all = run->opt->max + PERF_CANARY;
	size_t block = run->opt->max / (size_t)run->info.count + PERF_CANARY;

	*send = op->recv_total && !op->send_total ? block : all;
	*recv = op->send_total && !op->recv_total ? block : all;
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

/* There is no communicator yet, so the library's sentence says who. */
static int report_start(void)
{
	fprintf(stderr, "tutti-perf: %s\n", tuttiGetLastError(NULL));
	return 1;
}

static tuttiResult_t open_json(struct perf_run *run, struct perf_totals *sum,
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
static int conclude(struct perf_run *run, struct perf_totals *sum, bool whole)
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
	struct perf_totals sum = { .wrong = 0 };
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
		rc = perf_run_all(run, &sum);
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
		return report_start();
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
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "tutti-perf: standard output cannot be "
			"written: %s.\n", strerror(errno));
		status = PERF_STATUS_WRONG;
	}
	return status;
}
