/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that rank 0 tells: lines, the progress bar on a terminal, the JSON log
 * and the summary.  Other ranks call the same functions, which do nothing
 * there, so that the training loop reads the same for all.
 */
#define _GNU_SOURCE	/* sched_getaffinity() */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "train.h"

#define BAR_WIDTH 20
#define BAR_SECONDS 0.1		/* between two drawings of the bar */
#define LINE_SECONDS 30		/* the longest silence without a terminal */

typedef unsigned long long ull;

/* ---- Lines ------------------------------------------------------------- */

static void clear_bar(struct report *r)
{
	if (r->bar_shown)
		printf("\r\033[K");
	r->bar_shown = false;
}

void report_say(const struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->on)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static void clock_text(char *text, size_t cap, double seconds)
{
	ull s = seconds > 0 ? (ull)(seconds + 0.5) : 0;

	if (s >= 3600)
		snprintf(text, cap, "%llu:%02llu:%02llu", s / 3600,
			 s / 60 % 60, s % 60);
	else
		snprintf(text, cap, "%llu:%02llu", s / 60, s % 60);
}

/* JSON has no NaN and no infinity. */
static void json_number(FILE *f, const char *key, double value)
{
	if (isfinite(value))
		fprintf(f, ",\"%s\":%.17g", key, value);
	else
		fprintf(f, ",\"%s\":null", key);
}

static void json_text(FILE *f, const char *key, const char *text)
{
	fprintf(f, ",\"%s\":\"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		if ((unsigned char)*text < ' ')
			fprintf(f, "\\u%04x", *text);
		else
			fputc(*text, f);
	}
	fputc('"', f);
}

static void json_split(FILE *f, const struct split *s, uint64_t steps)
{
	double n = steps ? (double)steps : 1;

	fprintf(f, "{\"compute_ms\":%.6f,\"communicate_ms\":%.6f,"
		"\"wait_ms\":%.6f,\"other_ms\":%.6f}", s->compute / n * 1e3,
		s->communicate / n * 1e3, s->wait / n * 1e3,
		s->other / n * 1e3);
}

/* ---- Begin ------------------------------------------------------------- */

/* CPUs that this process may use, which may be fewer than there are. */
static int usable_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return (int)sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&set);
}

int report_open(struct report *r, const struct options *opt,
		const struct ranks *ranks, char *why)
{
	memset(r, 0, sizeof(*r));
	r->opt = opt;
	if (ranks->info.rank != 0)
		return 0;
	r->on = true;
	r->terminal = isatty(STDOUT_FILENO) && !opt->quiet;
	r->ranks = ranks->info.count;
	r->rank_split = calloc((size_t)r->ranks, sizeof(*r->rank_split));
	if (!r->rank_split)
		return fail(why, "no memory");

	if (opt->plot && plot_probe(opt->plot, why))
		return -1;
	if (opt->checkpoint && checkpoint_probe(opt->checkpoint, why))
		return -1;
	if (opt->json) {
		r->json = fopen(opt->json, opt->resume ? "ae" : "we");
		if (!r->json)
			return fail(why, "cannot write the log %s: %s",
				    opt->json, strerror(errno));
		setvbuf(r->json, NULL, _IOLBF, 0);
	}
	if (opt->checkpoint && !access(opt->checkpoint, F_OK) &&
	    (!opt->resume || strcmp(opt->resume, opt->checkpoint)))
		report_say(r, "note: %s exists and will be replaced; --resume "
			   "%s would go on from it", opt->checkpoint,
			   opt->checkpoint);
	report_say(r, "%d rank%s on %d node%s%s%s", r->ranks,
		   r->ranks == 1 ? "" : "s", ranks->info.nodeCount,
		   ranks->info.nodeCount == 1 ? "" : "s",
		   r->ranks == 1 ? "" : ", joined by ",
		   r->ranks == 1 ? "" : ranks->info.transports);
	if (ranks->info.localCount > usable_cpus())
		report_say(r, "note: %d ranks share the %d CPUs of this node, "
			   "so they also wait for each other's CPU",
			   ranks->info.localCount, usable_cpus());
	return 0;
}

static void shape(char *text, size_t cap, const struct model *m)
{
	size_t len = 0;
	int l;

	text[0] = '\0';
	for (l = 0; l <= m->layers && len < cap; l++)
		len += (size_t)snprintf(text + len, cap - len, "%s%d",
					l ? "-" : "", m->width[l]);
}

int report_begin(struct report *r, const struct ranks *ranks,
		 const struct model *m, size_t buckets,
		 const struct progress *progress, uint64_t total,
		 uint64_t per_epoch, char *why)
{
	uint64_t left = total > progress->step ? total - progress->step : 0;
	char layers[256];

	if (!r->on)
		return 0;
	r->total = total;
	r->per_epoch = per_epoch;
	r->first = progress->step;
	if (r->opt->plot) {
		r->loss = calloc(left + 1, sizeof(*r->loss));
		r->epoch = calloc(left / per_epoch + 2, sizeof(*r->epoch));
		if (!r->loss || !r->epoch)
			return fail(why, "no memory to remember %llu steps "
				    "for --plot", (ull)left);
	}

	shape(layers, sizeof(layers), m);
	report_say(r, "model %s: %zu parameters; gradients of %.1f KiB in %zu "
		   "bucket%s", layers, m->params, m->params * 4 / 1024.0,
		   buckets, buckets == 1 ? "" : "s");
	report_say(r, "batch %llu (%llu per rank%s), %llu steps per epoch, "
		   "seed %llu", (ull)r->opt->batch,
		   (ull)(r->opt->batch + (uint64_t)r->ranks - 1) /
		   (uint64_t)r->ranks, r->opt->batch % (uint64_t)r->ranks ?
		   " at most" : "", (ull)per_epoch, (ull)r->opt->seed);
	if (left == 0)
		report_say(r, "nothing is left to train: step %llu of %llu is "
			   "done", (ull)progress->step, (ull)total);
	else
		report_say(r, "training %llu steps%s", (ull)left,
			   r->terminal ? "; Ctrl-C stops after the step at "
			   "hand" : "");

	if (r->json) {
		fprintf(r->json, "{\"ranks\":%d,\"nodes\":%d", r->ranks,
			ranks->info.nodeCount);
		json_text(r->json, "transports", ranks->info.transports);
		json_text(r->json, "model", r->opt->model);
		fprintf(r->json, ",\"params\":%zu,\"buckets\":%zu,"
			"\"batch\":%llu,\"seed\":%llu,\"steps_done\":%llu,"
			"\"steps_total\":%llu,\"steps_per_epoch\":%llu}\n",
			m->params, buckets, (ull)r->opt->batch,
			(ull)r->opt->seed, (ull)progress->step, (ull)total,
			(ull)per_epoch);
	}
	r->began = r->last_line = now();
	r->last_quarter = UINT64_MAX;
	return 0;
}

/* ---- Steps ------------------------------------------------------------- */

/* "epoch 2/8  step 300/1880  loss 0.41  43000 samples/s  0:12 left" */
static void progress_text(const struct report *r, const struct step_report *s,
			  char *text, size_t cap)
{
	uint64_t epochs = (r->total + r->per_epoch - 1) / r->per_epoch;
	double seconds = now() - r->began;
	double steps = (double)(s->step - r->first);
	char left[32], loss[32] = "-";

	clock_text(left, sizeof(left),
		   seconds / steps * (double)(r->total - s->step));
	if (isfinite(s->loss))
		snprintf(loss, sizeof(loss), "%.4f", s->loss);
	snprintf(text, cap, "epoch %llu/%llu  step %llu/%llu  loss %s  "
		 "%.0f samples/s  %s left", (ull)s->epoch, (ull)epochs,
		 (ull)s->step, (ull)r->total, loss,
		 (double)r->samples / seconds, left);
}

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

/* One line, or the next one could not be drawn over it: the bar takes what
 * the numbers leave. */
static void show_bar(struct report *r, const struct step_report *s)
{
	char bar[BAR_WIDTH + 1], text[160];
	int room, width, i;

	progress_text(r, s, text, sizeof(text));
	room = terminal_width() - 1;
	width = room - (int)strlen(text) - 3;
	width = width > BAR_WIDTH ? BAR_WIDTH : width;
	for (i = 0; i < width; i++)
		bar[i] = s->step * (uint64_t)width / r->total > (uint64_t)i ?
			 '#' : '.';
	if (width > 2)
		printf("\r[%.*s] %s\033[K", width, bar, text);
	else
		printf("\r%.*s\033[K", room, text);
	fflush(stdout);
	r->bar_shown = true;
}

static void show_progress(struct report *r, const struct step_report *s)
{
	uint64_t span = r->total < r->per_epoch ? r->total : r->per_epoch;
	uint64_t quarter = s->step * 4 / span;
	double quiet = now() - r->last_line;
	char text[160];

	if (r->opt->quiet)
		return;
	if (r->terminal) {
		if (quiet < BAR_SECONDS && r->bar_shown)
			return;
		show_bar(r, s);
	} else {
		if (quarter == r->last_quarter && quiet < LINE_SECONDS)
			return;
		progress_text(r, s, text, sizeof(text));
		report_say(r, "%s", text);
	}
	r->last_line = now();
	r->last_quarter = quarter;
}

void report_step(struct report *r, const struct step_report *s)
{
	if (!r->on)
		return;
	r->samples += s->samples;
	if (r->loss)
		r->loss[r->losses++] = s->loss;
	if (r->json) {
		fprintf(r->json, "{\"step\":%llu,\"epoch\":%llu",
			(ull)s->step, (ull)s->epoch);
		json_number(r->json, "loss", s->loss);
		fprintf(r->json, ",\"samples\":%llu,\"compute_ms\":%.6f,"
			"\"communicate_ms\":%.6f,\"wait_ms\":%.6f}\n",
			(ull)s->samples, s->split.compute * 1e3,
			s->split.communicate * 1e3, s->split.wait * 1e3);
	}
	show_progress(r, s);
}

/* ---- Epochs ------------------------------------------------------------ */

static struct split mean_split(const struct split *all, int ranks,
			       uint64_t steps)
{
	double n = (double)ranks * (steps ? (double)steps : 1);
	struct split mean = { 0, 0, 0, 0 };
	int i;

	for (i = 0; i < ranks; i++) {
		mean.compute += all[i].compute / n;
		mean.communicate += all[i].communicate / n;
		mean.wait += all[i].wait / n;
		mean.other += all[i].other / n;
	}
	return mean;
}

static double split_sum(const struct split *s)
{
	return s->compute + s->communicate + s->wait + s->other;
}

static void tell_epoch(struct report *r, const struct epoch_report *e)
{
	const struct split *m = &e->mean;
	double percent = 100 / split_sum(m);
	char result[96] = "";

	if (e->accuracy >= 0)
		snprintf(result, sizeof(result), "mean loss %.4f, test "
			 "accuracy %.2f %%, ", e->loss, e->accuracy * 100);
	else if (isfinite(e->loss))
		snprintf(result, sizeof(result), "mean loss %.4f, ", e->loss);
	clear_bar(r);
	report_say(r, "epoch %llu, %llu steps: %s%.1f s (computing %.0f %%, "
		   "communicating %.0f %%, waiting %.0f %%, other %.0f %%)",
		   (ull)e->epoch, (ull)e->steps, result, e->seconds,
		   m->compute * percent, m->communicate * percent,
		   m->wait * percent, m->other * percent);
}

void report_epoch(struct report *r, const struct epoch_report *e,
		  const struct split *all)
{
	struct epoch_report full = *e;
	int i;

	if (!r->on)
		return;
	full.mean = mean_split(all, r->ranks, e->steps);
	for (i = 0; i < r->ranks; i++) {
		r->rank_split[i].compute += all[i].compute;
		r->rank_split[i].communicate += all[i].communicate;
		r->rank_split[i].wait += all[i].wait;
		r->rank_split[i].other += all[i].other;
	}
	r->steps += e->steps;
	if (r->epoch)
		r->epoch[r->epochs++] = full;
	if (r->json) {
		fprintf(r->json, "{\"epoch\":%llu,\"epoch_steps\":%llu",
			(ull)e->epoch, (ull)e->steps);
		json_number(r->json, "mean_loss", e->loss);
		json_number(r->json, "test_accuracy",
			    e->accuracy < 0 ? NAN : e->accuracy);
		fprintf(r->json, ",\"seconds\":%.6f,\"split\":", e->seconds);
		json_split(r->json, &full.mean, 1);
		fprintf(r->json, "}\n");
	}
	tell_epoch(r, &full);
	r->last_line = now();
}

/* ---- End --------------------------------------------------------------- */

/* One row of the table: `at` is the offset of the number in struct split. */
static void split_row(const struct report *r, const char *name, size_t at,
		      const struct split *mean)
{
	double each = *(const double *)((const char *)mean + at);
	double most = -1;
	int i, worst = 0;

	for (i = 0; i < r->ranks; i++) {
		const char *s = (const char *)&r->rank_split[i];
		double value = *(const double *)(s + at);

		if (value > most) {
			most = value;
			worst = i;
		}
	}
	report_say(r, "  %-14s %10.3f ms %6.1f %%   %10.3f ms (rank %d)", name,
		   each * 1e3, each / split_sum(mean) * 100,
		   most / (double)r->steps * 1e3, worst);
}

static void tell_split(const struct report *r)
{
	struct split mean = mean_split(r->rank_split, r->ranks, r->steps);

	report_say(r, "time of a step, mean of %d rank%s    and of the rank "
		   "with most", r->ranks, r->ranks == 1 ? " " : "s");
	split_row(r, "computing", offsetof(struct split, compute), &mean);
	split_row(r, "communicating", offsetof(struct split, communicate),
		  &mean);
	split_row(r, "waiting", offsetof(struct split, wait), &mean);
	split_row(r, "other", offsetof(struct split, other), &mean);
	report_say(r, "  %-14s %10.3f ms  (%llu steps)", "together",
		   split_sum(&mean) * 1e3, (ull)r->steps);
	report_say(r, "waiting is the time from a rank's arrival at the "
		   "small all-reduce of the loss to its end,");
	report_say(r, "which is when the last rank has arrived; other is what "
		   "none of the three measured");
}

static void json_result(struct report *r, const char *params_sha256,
			double accuracy, uint64_t step, bool interrupted,
			const struct overhead *o)
{
	struct split mean = mean_split(r->rank_split, r->ranks, r->steps);
	int i;

	fprintf(r->json, "{\"params_sha256\":\"%s\",\"steps_done\":%llu,"
		"\"interrupted\":%s,\"ranks\":%d", params_sha256, (ull)step,
		interrupted ? "true" : "false", r->ranks);
	json_number(r->json, "test_accuracy", accuracy < 0 ? NAN : accuracy);
	fprintf(r->json, ",\"start_s\":%.6f,\"steps_s\":%.6f,"
		"\"evaluate_s\":%.6f,\"checkpoint_s\":%.6f,\"split\":",
		o->start, split_sum(&mean) * (double)r->steps, o->evaluate,
		o->checkpoint);
	json_split(r->json, &mean, 1);
	fprintf(r->json, ",\"rank_split\":[");
	for (i = 0; i < r->ranks; i++) {
		fputs(i ? "," : "", r->json);
		json_split(r->json, &r->rank_split[i], r->steps);
	}
	fprintf(r->json, "]}\n");
}

/* A full disk is met here at the latest. */
static int close_log(struct report *r, char *why)
{
	FILE *log = r->json;
	bool failed;

	r->json = NULL;
	if (!log)
		return 0;
	failed = ferror(log);
	failed = fclose(log) || failed;
	if (failed)
		return fail(why, "could not write all of the log %s: %s",
			    r->opt->json, strerror(errno));
	return 0;
}

static void tell_interrupted(struct report *r, uint64_t step)
{
	const char *file = r->opt->checkpoint;

	if (file)
		report_say(r, "interrupted after step %llu of %llu; to go on: "
			   "the same command with --resume %s", (ull)step,
			   (ull)r->total, file);
	else
		report_say(r, "interrupted after step %llu of %llu; nothing "
			   "was saved, because there was no --checkpoint FILE",
			   (ull)step, (ull)r->total);
}

int report_end(struct report *r, const char *params_sha256, double accuracy,
	       uint64_t step, bool interrupted, const struct overhead *o,
	       char *why)
{
	int outcome = 0;

	if (!r->on)
		return 0;
	clear_bar(r);
	if (r->steps > 0)
		tell_split(r);
	report_say(r, "the run: starting %.1f s, steps %.1f s, testing %.1f s, "
		   "checkpoints %.1f s", o->start,
		   split_sum(&r->rank_split[0]), o->evaluate, o->checkpoint);
	if (accuracy >= 0)
		report_say(r, "test accuracy %.2f %%", accuracy * 100);
	report_say(r, "params_sha256 %s, the same on %s", params_sha256,
		   r->ranks == 1 ? "the only rank" : "all ranks");
	if (r->json)
		json_result(r, params_sha256, accuracy, step, interrupted, o);
	outcome = close_log(r, why);
	if (!outcome && r->opt->plot) {
		outcome = plot_draw(r->opt->plot, r, why);
		if (!outcome)
			report_say(r, "drew %s", r->opt->plot);
	}
	if (interrupted)
		tell_interrupted(r, step);
	return outcome;
}

void report_close(struct report *r)
{
	if (!r->on)
		return;
	clear_bar(r);
	fflush(stdout);
	if (r->json)
		fclose(r->json);
	free(r->loss);
	free(r->epoch);
	free(r->rank_split);
}
