/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line: one table from which it is parsed and explained.  Every
 * mistake becomes one sentence; a misspelt flag is told the nearest one.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

enum kind { TEXT, COUNT, BYTES, REAL, SWITCH };

struct flag {
	const char *name;
	const char *value;		/* what its value is called in --help */
	enum kind kind;
	size_t offset;			/* in struct options */
	double min, max;
	const char *preset;		/* NULL: none */
	const char *help;
};

#define AT(field) offsetof(struct options, field)
#define MANY 1e9

static const struct flag flags[] = {
	{ "data", "DIR", TEXT, AT(data), 0, 0, NULL,
	  "the data set's four files (default: where the Debian package\n"
	  "dataset-fashion-mnist puts them, and a few other usual places)" },
	{ "model", "SHAPE", TEXT, AT(model), 0, 0, "mlp:256,128",
	  "mlp:A,B,... is a multilayer perceptron with hidden layers of\n"
	  "A, B, ... units; `mlp' is mlp:256,128" },
	{ "epochs", "N", COUNT, AT(epochs), 1, MANY, NULL,
	  "times that all training samples are seen (default: 12, or as\n"
	  "many as --steps needs)" },
	{ "steps", "N", COUNT, AT(steps), 1, 1e15, NULL,
	  "end after step N" },
	{ "batch", "N", COUNT, AT(batch), 1, MANY, "128",
	  "samples per step, over all ranks together" },
	{ "accumulate", "K", COUNT, AT(accumulate), 1, 65536, "1",
	  "each rank computes its share in K pieces, which needs less\n"
	  "memory; the gradients are summed" },
	{ "seed", "N", COUNT, AT(seed), 0, 2e19, "1",
	  "seed of the first parameters and of the order of the samples" },
	{ "lr", "X", REAL, AT(lr), 0, 1000, "0.05",
	  "learning rate of the first epoch" },
	{ "lr-decay", "X", REAL, AT(lr_decay), 0, 1, "0.75",
	  "each epoch has X times the learning rate of the one before" },
	{ "momentum", "X", REAL, AT(momentum), 0, 1, "0.9",
	  "momentum of SGD" },
	{ "mode", "ddp", TEXT, AT(mode), 0, 0, "ddp",
	  "ddp: every rank holds the whole model" },
	{ "bucket", "SIZE", BYTES, AT(bucket_bytes), 4, 1e18, "256K",
	  "gradients are all-reduced in pieces of SIZE bytes (4K, 1M)" },
	{ "emulate-compute", "MS", REAL, AT(emulate_ms), 0, 1e6, NULL,
	  "sleep MS milliseconds per step instead of computing: stands in\n"
	  "for an accelerator; nothing is learnt" },
	{ "checkpoint", "FILE", TEXT, AT(checkpoint), 0, 0, NULL,
	  "save the run there after every epoch, at the end and when\n"
	  "interrupted" },
	{ "checkpoint-every", "N", COUNT, AT(checkpoint_every), 1, 1e15, NULL,
	  "save it every N steps as well" },
	{ "resume", "FILE", TEXT, AT(resume), 0, 0, NULL,
	  "go on from a saved run" },
	{ "stop-after", "N", COUNT, AT(stop_after), 1, 1e15, NULL,
	  "stop after step N as if interrupted" },
	{ "json", "FILE", TEXT, AT(json), 0, 0, NULL,
	  "log: a line per step and epoch, one for the result; with\n"
	  "--resume, lines are appended" },
	{ "plot", "FILE.svg", TEXT, AT(plot), 0, 0, NULL,
	  "draw loss, accuracy and split of the step time (needs gnuplot)" },
	{ "quiet", NULL, SWITCH, AT(quiet), 0, 0, NULL,
	  "no progress inside an epoch" },
	{ "help", NULL, SWITCH, AT(help), 0, 0, NULL, "this text" },
	{ "version", NULL, SWITCH, AT(version), 0, 0, NULL,
	  "the library's version" },
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

int fail(char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, WHY_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

/* Letters to insert, remove or change to turn `a` into `b`. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], len = strlen(b), i, diagonal;

	if (len >= 64)
		return 64;
	for (i = 0; i <= len; i++)
		row[i] = i;
	for (; *a; a++) {
		diagonal = row[0]++;
		for (i = 1; i <= len; i++) {
			size_t best = diagonal + (*a != b[i - 1]);

			diagonal = row[i];
			if (row[i - 1] + 1 < best)
				best = row[i - 1] + 1;
			if (row[i] + 1 < best)
				best = row[i] + 1;
			row[i] = best;
		}
	}
	return row[len];
}

static const struct flag *find_flag(const char *name, size_t len, char *why)
{
	size_t i, best = 0, best_distance = SIZE_MAX;
	char given[64];

	snprintf(given, sizeof(given), "%.*s", (int)(len < 63 ? len : 63),
		 name);
	for (i = 0; i < FLAGS; i++) {
		size_t d = distance(given, flags[i].name);

		if (d == 0)
			return &flags[i];
		if (d < best_distance) {
			best_distance = d;
			best = i;
		}
	}
	fail(why, "there is no flag --%s; did you mean --%s? --help lists all",
	     given, flags[best].name);
	return NULL;
}

static bool parse_count(const char *text, bool bytes, uint64_t *out)
{
	unsigned long long n;
	int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (bytes && *end == 'K')
		shift = 10;
	else if (bytes && *end == 'M')
		shift = 20;
	else if (bytes && *end == 'G')
		shift = 30;
	if (shift)
		end++;
	if (errno || *end || n > UINT64_MAX >> shift)
		return false;
	*out = (uint64_t)n << shift;
	return true;
}

static bool parse_real(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

static int set_flag(struct options *opt, const struct flag *f,
		    const char *text, char *why)
{
	void *at = (char *)opt + f->offset;
	double value = 0;
	uint64_t count = 0;
	bool ok = true;

	switch (f->kind) {
	case SWITCH:
		*(bool *)at = true;
		return 0;
	case TEXT:
		if (!*text)
			return fail(why, "--%s needs a value", f->name);
		*(const char **)at = text;
		return 0;
	case COUNT:
	case BYTES:
		ok = parse_count(text, f->kind == BYTES, &count);
		value = ok ? (double)count : 0;
		break;
	case REAL:
		ok = parse_real(text, &value);
		break;
	}
	if (!ok || value < f->min || value > f->max)
		return fail(why, "--%s %s: this must be a %snumber%s from %g "
			    "to %g", f->name, text,
			    f->kind == REAL ? "" : "whole ",
			    f->kind == BYTES ? ", such as 4096, 4K or 1M," : "",
			    f->min, f->max);
	if (f->kind == REAL)
		*(double *)at = value;
	else
		*(uint64_t *)at = count;
	return 0;
}

/* What the flags must fulfil together. */
static int check(struct options *opt, char *why)
{
	if (!strcmp(opt->mode, "zero1"))
		return fail(why, "--mode zero1 (a sharded optimizer) is not in "
			    "this version; use --mode ddp");
	if (strcmp(opt->mode, "ddp"))
		return fail(why, "--mode %s: the mode must be ddp", opt->mode);
	if (opt->checkpoint_every && !opt->checkpoint)
		return fail(why, "--checkpoint-every needs --checkpoint FILE");
	if (opt->emulate_ms > 0 && (opt->checkpoint || opt->resume))
		return fail(why, "--emulate-compute learns nothing, so it does "
			    "not go with --checkpoint or --resume");
	if (!opt->epochs && !opt->steps)
		opt->epochs = 12;
	return model_parse(opt->model, &opt->hidden, opt->width, why);
}

int options_parse(struct options *opt, int argc, char **argv, char *why)
{
	size_t f;
	int i;

	memset(opt, 0, sizeof(*opt));
	for (f = 0; f < FLAGS; f++)
		if (flags[f].preset &&
		    set_flag(opt, &flags[f], flags[f].preset, why))
			return -1;

	for (i = 1; i < argc; i++) {
		const char *name = argv[i] + 2;
		const char *value = strchr(argv[i], '=');
		const struct flag *flag;

		if (strncmp(argv[i], "--", 2) || !*name)
			return fail(why, "`%.200s' is not a flag; --help lists "
				    "them", argv[i]);
		flag = find_flag(name, value ? (size_t)(value - name) :
				 strlen(name), why);
		if (!flag)
			return -1;
		if (flag->kind == SWITCH && value)
			return fail(why, "--%s takes no value", flag->name);
		if (value)
			value++;
		else if (flag->kind != SWITCH && i + 1 < argc)
			value = argv[++i];
		if (flag->kind != SWITCH && !value)
			return fail(why, "--%s needs a value (%s)", flag->name,
				    flag->value);
		if (set_flag(opt, flag, value, why))
			return -1;
	}
	return check(opt, why);
}

void options_help(FILE *out)
{
	size_t i;

	fprintf(out,
		"Usage: tutti-train [FLAGS]\n"
		"       tutti run -n RANKS tutti-train [FLAGS]\n"
		"Train a classifier of Fashion-MNIST on all ranks together.\n"
		"\n");
	for (i = 0; i < FLAGS; i++) {
		const char *line = flags[i].help;
		char head[40];

		snprintf(head, sizeof(head), "--%s%s%s", flags[i].name,
			 flags[i].value ? " " : "",
			 flags[i].value ? flags[i].value : "");
		fprintf(out, "  %-22s ", head);
		for (; *line; line++) {
			fputc(*line, out);
			if (*line == '\n')
				fprintf(out, "  %-22s ", "");
		}
		if (flags[i].preset)
			fprintf(out, " (default: %s)", flags[i].preset);
		fputc('\n', out);
	}
	fprintf(out, "\n"
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted "
		"(Ctrl-C).\n"
		"The manual page tutti-train(1) says more.\n");
}
