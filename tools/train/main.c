/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-train: start and end of the program.
 *
 * A wrong command line is found by every rank, but told only once: the ranks
 * join first, and rank 0 speaks.
 */
#include <string.h>
#include <signal.h>

#include "train.h"

/* The first Ctrl-C ends the run after the step at hand, a second one ends it
 * at once.  A launcher may pass on what the terminal sent already, so signals
 * within a second count as one. */
static void on_signal(int number)
{
	static double first;

	if (!stop_requested) {
		stop_requested = 1;
		first = now();
	} else if (now() - first > 1) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static void catch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void print_version(void)
{
	int version = 0;

	if (!tuttiGetVersion(&version))
		printf("tutti-train with tutti %d.%d.%d\n", version / 10000,
		       version / 100 % 100, version % 100);
}

static int run(const struct options *opt, int parsed, char *why,
	       struct ranks *ranks, double started)
{
	struct report report;
	int outcome, status;

	if (ranks_agree(ranks, parsed, why))
		return ranks->lost ? STATUS_FAILED : STATUS_USAGE;
	outcome = report_open(&report, opt, ranks, why);
	if (ranks_agree(ranks, outcome, why))
		status = STATUS_FAILED;
	else
		status = train(opt, ranks, &report, started);
	report_close(&report);
	return status;
}

int main(int argc, char **argv)
{
	double started = now();
	struct options opt;
	struct ranks ranks;
	char why[WHY_MAX];
	int parsed, status;

	/* Whole lines at once, also into a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	parsed = options_parse(&opt, argc, argv, why);
	if (!parsed && (opt.help || opt.version)) {
		if (opt.help)
			options_help(stdout);
		else
			print_version();
		return STATUS_DONE;
	}

	if (parsed == 0)
		catch_signals();
	if (ranks_join(&ranks, why)) {
		fprintf(stderr, "tutti-train: %s\n", why);
		return parsed ? STATUS_USAGE : STATUS_FAILED;
	}
	status = run(&opt, parsed, why, &ranks, started);
	/* Abort tells the others; destroy waits for nobody. */
	if (ranks.lost)
		tuttiCommAbort(ranks.comm);
	else if (tuttiCommDestroy(ranks.comm) && status == STATUS_DONE)
		status = STATUS_FAILED;
	return status;
}
