/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tutti-perf prints: the columns of nccl-tests for collectives, those of
 * perftest for latency and bandwidth, and JSON lines.  The header says what
 * the numbers mean.
 */
#include "perf.h"

static void print_rule(const struct perf_run *run)
{
	const struct perf_options *opt = run->opt;

	printf("# time   = the slowest rank's, median over %d iterations "
	       "after %d warm-up calls;\n"
	       "#          below %g us an iteration is a batch of calls, its "
	       "time divided by their number;\n"
	       "#          iterations start after a barrier; a reading of the "
	       "clock, %.0f ns here, is included\n",
	       opt->iterations, opt->warmup, MEASURE_SHORT_US,
	       measure_clock_ns());
	if (opt->dirty)
		printf("# dirty  = each rank rewrites its send buffer before "
		       "each call, while the clock is stopped\n");
	else
		printf("# dirty  = send buffers are not rewritten between "
		       "calls (--dirty 0), and hold zeros\n");
	if (opt->check)
		printf("# #wrong = elements, over all ranks, that are not "
		       "exactly what they should be\n");
}

static void print_formulas(const struct perf_run *run)
{
	const struct perf_op *op = run->op;
	int n = run->info.count;

	printf("# size   = %s; K, M, G are 1024, 1024^2, 1024^3 bytes\n",
	       op->size_text);
	if (op->table == PERF_LATENCY)
		return;
	printf("# algbw  = size / time; GB = 10^9 bytes\n");
	if (op->bus_share)
		printf("# busbw  = algbw x %s(n-1)/n = algbw x %.4f for n = %d "
		       "ranks: to compare with the\n"
		       "#          speed of a link; it is a scale, and may "
		       "exceed what one link carries\n",
		       op->bus == 2 ? "2" : "", op->bus * (n - 1) / n, n);
	else
		printf("# busbw  = algbw x %g\n", op->bus);
}

void perf_print_header(const struct perf_run *run)
{
	const tuttiCommInfo_t *info = &run->info;
	int version = 0;

	tuttiGetVersion(&version);
	printf("# tutti-perf %d.%d.%d: %s, %d rank%s, %d node%s, transport "
	       "%s, memory from %s\n", version / 10000, version / 100 % 100,
	       version % 100, run->op->name, info->count,
	       info->count == 1 ? "" : "s", info->nodeCount,
	       info->nodeCount == 1 ? "" : "s",
	       info->transports[0] ? info->transports : "none",
	       run->opt->alloc_tutti ? "tuttiMemAlloc" : "malloc");
	if (run->op->note)
		printf("# %s\n", run->op->note);
	print_rule(run);
	if (!run->op->no_data)
		print_formulas(run);
}

void perf_print_titles(const struct perf_run *run)
{
	switch (run->op->table) {
	case PERF_LATENCY:
		printf("#\n# #bytes #iterations    t_min[usec]    t_max[usec]"
		       "  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
		       "   99%%[usec]   99.9%%[usec] #wrong\n");
		break;
	case PERF_BANDWIDTH:
		printf("#\n# #bytes #iterations    BW peak[MiB/sec]    "
		       "BW average[MiB/sec]   MsgRate[Mpps]   "
		       "typical[Gb/sec] #wrong\n");
		break;
	default:
		printf("#\n#%73s%30s\n", "out-of-place", "in-place");
		printf("# %10s  %12s  %8s  %6s  %6s", "size", "count", "type",
		       "redop", "root");
		printf("  %7s  %6s  %6s %6s  %7s  %6s  %6s %6s\n", "time",
		       "algbw", "busbw", "#wrong", "time", "algbw", "busbw",
		       "#wrong");
		printf("# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "",
		       "", "");
		printf("  %7s  %6s  %6s %6s  %7s  %6s  %6s\n", "(us)",
		       "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)");
	}
}

static void print_wrong(const struct perf_run *run, const struct perf_row *row,
			int width)
{
	if (run->opt->check)
		printf("%*llu", width, (unsigned long long)row->wrong);
	else
		printf("%*s", width, "N/A");
}

/* The four columns of one of the two forms. */
static void print_form(const struct perf_run *run, const struct perf_row *row)
{
	double us;

	if (!row) {
		printf("  %7s  %6s  %6s %6s", "N/A", "N/A", "N/A", "N/A");
		return;
	}
	us = row->time.median;
	printf("  %7.*f  %6.2f  %6.2f ", us < 100 ? 2 : us < 10000 ? 1 : 0, us,
	       row->algbw, row->busbw);
	print_wrong(run, row, 6);
}

void perf_print_row(const struct perf_run *run, const struct perf_row *out,
		    const struct perf_row *in)
{
	double mib = (double)perf_row_bytes(run) / (1 << 20);
	const struct measure_stats *t = out ? &out->time : NULL;

	switch (run->op->table) {
	case PERF_LATENCY:
		printf("%8zu %11d %14.2f %14.2f %16.2f %14.2f %16.2f %11.2f "
		       "%13.2f", perf_row_bytes(run), run->opt->iterations,
		       t->min, t->max, t->median, t->mean, t->stdev, t->p99,
		       t->p999);
		print_wrong(run, out, 7);
		break;
	case PERF_BANDWIDTH:
		printf("%8zu %11d %19.2f %22.2f %15.6f %17.4f",
		       perf_row_bytes(run), run->opt->iterations,
		       mib / t->min * 1e6, mib / t->mean * 1e6, 1 / t->mean,
		       out->algbw * 8);
		print_wrong(run, out, 7);
		break;
	default:
		printf("%12zu  %12zu  %8s  %6s  %6d", perf_row_bytes(run),
		       run->count, run->op->no_data ? "none" : run->type->name,
		       run->redop ? run->redop->name : "none",
		       run->op->rooted ? run->root : -1);
		print_form(run, out);
		print_form(run, in);
	}
	putchar('\n');
	fflush(stdout);
}

bool perf_print_json(FILE *to, const struct perf_run *run,
		     const struct perf_row *row)
{
	const struct perf_op *op = run->op;

	fprintf(to, "{\"op\":\"%s\",\"bytes\":%zu,\"count\":%zu,"
		"\"dtype\":\"%s\",\"redop\":\"%s\",\"ranks\":%d,"
		"\"nodes\":%d,\"transport\":\"%s\",\"algo\":\"%s\","
		"\"inplace\":%s,\"alloc\":\"%s\",", op->name,
		perf_row_bytes(run), run->count,
		op->no_data ? "none" : run->type->name,
		run->redop ? run->redop->name : "none", run->info.count,
		run->info.nodeCount, run->info.transports, row->algo,
		run->inplace ? "true" : "false",
		run->opt->alloc_tutti ? "tutti" : "malloc");
	fprintf(to, "\"time_us\":%.4f,\"time_us_min\":%.4f,"
		"\"time_us_p99\":%.4f,\"algbw_GBps\":%.6f,"
		"\"busbw_GBps\":%.6f,", row->time.median, row->time.min,
		row->time.p99, row->algbw, row->busbw);
	if (run->opt->check)
		fprintf(to, "\"wrong\":%llu,", (unsigned long long)row->wrong);
	else
		fprintf(to, "\"wrong\":null,");
	/* Null until the library can tell a time before it runs. */
	fprintf(to, "\"predicted_us\":null");
	if (row->sha256[0])
		fprintf(to, ",\"sha256\":\"%s\"", row->sha256);
	fprintf(to, "}\n");
	return !fflush(to) && !ferror(to);
}

void perf_print_footer(const struct perf_run *run, uint64_t wrong,
		       double busbw)
{
	if (run->opt->check)
		printf("# Out of bounds values : %llu %s\n",
		       (unsigned long long)wrong, wrong ? "FAILED" : "OK");
	if (run->op->bus > 0 && run->op->table == PERF_TABLE)
		printf("# Avg bus bandwidth    : %g\n", busbw);
	fflush(stdout);
}
