/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of tutti-perf.  Nothing is printed here: what is wrong is
 * put in one sentence, for the one rank that prints.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>

#include "perf.h"

#define MAX_DEFAULT ((size_t)32 << 20)
#define SIZE_LIMIT ((size_t)1 << 62)

static const struct perf_op *const ops[] = {
	&perf_all_reduce, &perf_reduce_scatter, &perf_all_gather,
	&perf_broadcast, &perf_reduce, &perf_alltoall, &perf_gather,
	&perf_scatter, &perf_sendrecv, &perf_barrier, &perf_latency,
	&perf_bandwidth,
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum { OPT_INPLACE = 256, OPT_ALLOC, OPT_HASH, OPT_JSON, OPT_DIRTY,
       OPT_VERSION };

static const struct option long_options[] = {
	{ "inplace", no_argument, NULL, OPT_INPLACE },
	{ "alloc", required_argument, NULL, OPT_ALLOC },
	{ "hash", no_argument, NULL, OPT_HASH },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "dirty", required_argument, NULL, OPT_DIRTY },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

/* What was given, before defaults depend on the operation. */
struct given {
	bool min, max, type, iterations;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static bool wrong(const struct given *g, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(g->why, g->size, format, list);
	va_end(list);
	return false;
}

void perf_usage(FILE *to)
{
	size_t i;

	fputs("usage: tutti-perf OP [-b MIN] [-e MAX] [-f FACTOR] [-n ITERS] "
	      "[-w WARMUP]\n"
	      "                  [-c 0|1] [-d TYPE] [-o REDOP] [-r ROOT] "
	      "[--inplace]\n"
	      "                  [--alloc malloc|tutti] [--hash] "
	      "[--json FILE] [--dirty 0|1]\n"
	      "Measure an operation on the ranks of a launcher, such as\n"
	      "  tutti run -n 2 tutti-perf all_reduce -b 8 -e 64M -f 4\n\n"
	      "OP:", to);
	for (i = 0; i < LENGTH(ops); i++)
		fprintf(to, " %s", ops[i]->name);
	fputs("\n  -b MIN     smallest size in bytes, also 4K, 1M, 1G (8)\n"
	      "  -e MAX     largest size (32M; latency 64K, bandwidth 8M)\n"
	      "  -f FACTOR  from one size to the next (2)\n"
	      "  -n ITERS   iterations (20; latency 1000)\n"
	      "  -w WARMUP  calls before them (5)\n"
	      "  -c 0|1     check every element of the results (1)\n"
	      "  -d TYPE    or all (float; latency and bandwidth uint8):",
	      to);
	for (i = 0; i < LENGTH(perf_types); i++)
		fprintf(to, "%s%s", i % 6 ? " " : "\n             ",
			perf_types[i].name);
	fputs("\n  -o REDOP   or all (sum):", to);
	for (i = 0; i < LENGTH(perf_redops); i++)
		fprintf(to, " %s", perf_redops[i].name);
	fputs("\n  -r ROOT    of broadcast, reduce, gather and scatter (0); -1: each in "
	      "turn\n"
	      "  --inplace  measure only in place; otherwise both\n"
	      "  --alloc malloc|tutti\n"
	      "             where buffers come from (malloc)\n"
	      "  --hash     sha256 of the results; ranks must agree\n"
	      "  --json FILE\n"
	      "             write a JSON line per measurement\n"
	      "  --dirty 0|1\n"
	      "             rewrite send buffers before each call, unmeasured "
	      "(1)\n"
	      "Exit status: 0; 1 for a wrong result or a failed call; 2 for "
	      "bad usage.\n", to);
}

/* Digits, then perhaps one of K, M, G, T. */
static bool parse_size(const char *text, size_t *size)
{
	static const char units[] = "KMGT";
	unsigned long long n;
	const char *unit;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (!unit || end[1])
			return false;
		for (; unit >= units; unit--) {
			if (n > SIZE_LIMIT / 1024)
				return false;
			n *= 1024;
		}
	}
	if (n > SIZE_LIMIT)
		return false;
	*size = (size_t)n;
	return true;
}

static bool parse_int(const char *text, int least, int *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < least || n > INT_MAX)
		return false;
	*value = (int)n;
	return true;
}

static bool parse_switch(const char *text, bool *value)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return false;
	*value = text[0] == '1';
	return true;
}

static bool parse_type(const char *text, struct perf_options *opt)
{
	int i;

	if (!strcmp(text, "all")) {
		opt->type_first = 0;
		opt->type_last = LENGTH(perf_types) - 1;
		return true;
	}
	for (i = 0; i < (int)LENGTH(perf_types); i++) {
		const char *alias = perf_types[i].alias;

		if (strcmp(text, perf_types[i].name) &&
		    (!alias || strcmp(text, alias)))
			continue;
		opt->type_first = opt->type_last = i;
		return true;
	}
	return false;
}

static bool parse_redop(const char *text, struct perf_options *opt)
{
	int i;

	if (!strcmp(text, "all")) {
		opt->redop_first = 0;
		opt->redop_last = LENGTH(perf_redops) - 1;
		return true;
	}
	for (i = 0; i < (int)LENGTH(perf_redops); i++) {
		if (strcmp(text, perf_redops[i].name))
			continue;
		opt->redop_first = opt->redop_last = i;
		return true;
	}
	return false;
}

static bool parse_alloc(const char *text, bool *tutti)
{
	*tutti = !strcmp(text, "tutti");
	return *tutti || !strcmp(text, "malloc");
}

/* A list of names for a sentence. */
static void list_types(char *to, size_t size)
{
	size_t i, at = 0;

	for (i = 0; i < LENGTH(perf_types) && at < size; i++)
		at += (size_t)snprintf(to + at, size - at, "%s, ",
				       perf_types[i].name);
}

static void list_ops(char *to, size_t size)
{
	size_t i, at = 0;

	to[0] = 0;
	for (i = 0; i < LENGTH(ops) && at < size; i++)
		at += (size_t)snprintf(to + at, size - at, "%s%s",
				       i ? ", " : "", ops[i]->name);
}

static bool parse_op(const char *text, struct perf_options *opt,
		     const struct given *g)
{
	char list[256];
	size_t i;

	for (i = 0; i < LENGTH(ops); i++) {
		if (strcmp(text, ops[i]->name))
			continue;
		opt->op = ops[i];
		return true;
	}
	list_ops(list, sizeof(list));
	return wrong(g, "There is no operation \"%s\"; there are %s.", text,
		     list);
}

/* The options with a number. */
static bool take_number(int c, const char *arg, struct perf_options *opt,
			struct given *g)
{
	static const char size_help[] =
		"a whole number of bytes, or one with K, M, G or T";

	switch (c) {
	case 'b':
		g->min = true;
		if (parse_size(arg, &opt->min))
			return true;
		return wrong(g, "-b %s is not a size: give %s.", arg,
			     size_help);
	case 'e':
		g->max = true;
		if (parse_size(arg, &opt->max))
			return true;
		return wrong(g, "-e %s is not a size: give %s.", arg,
			     size_help);
	case 'f':
		if (parse_size(arg, &opt->factor) && opt->factor > 0)
			return true;
		return wrong(g, "-f %s is not a factor: give a whole number "
			     "from 2 on.", arg);
	case 'n':
		g->iterations = true;
		if (parse_int(arg, 1, &opt->iterations))
			return true;
		return wrong(g, "-n %s is not a number of iterations: give a "
			     "whole number from 1 on.", arg);
	case 'w':
		if (parse_int(arg, 0, &opt->warmup))
			return true;
		return wrong(g, "-w %s is not a number of warm-up calls: give "
			     "a whole number from 0 on.", arg);
	default:
		if (parse_int(arg, -1, &opt->root))
			return true;
		return wrong(g, "-r %s is not a root: give a rank, or -1 for "
			     "each in turn.", arg);
	}
}

/* The options with a word. */
static bool take_word(int c, const char *arg, struct perf_options *opt,
		      struct given *g)
{
	char list[256];

	switch (c) {
	case 'd':
		g->type = true;
		if (parse_type(arg, opt))
			return true;
		list_types(list, sizeof(list));
		return wrong(g, "-d %s is not a type: give one of %sor all.",
			     arg, list);
	case 'o':
		if (parse_redop(arg, opt))
			return true;
		return wrong(g, "-o %s is not a reduction: give sum, prod, "
			     "max, min, avg or all.", arg);
	case 'c':
		return parse_switch(arg, &opt->check) ||
		       wrong(g, "-c takes 0 or 1, not \"%s\".", arg);
	case OPT_DIRTY:
		return parse_switch(arg, &opt->dirty) ||
		       wrong(g, "--dirty takes 0 or 1, not \"%s\".", arg);
	case OPT_ALLOC:
		return parse_alloc(arg, &opt->alloc_tutti) ||
		       wrong(g, "--alloc takes malloc or tutti, not \"%s\".",
			     arg);
	default:
		opt->json = arg;
		return arg[0] || wrong(g, "--json needs the name of a file.");
	}
}

static bool take(int c, char **argv, struct perf_options *opt,
		 struct given *g)
{
	switch (c) {
	case 'h':
		opt->help = true;
		return true;
	case OPT_VERSION:
		opt->version = true;
		return true;
	case OPT_INPLACE:
		opt->inplace = true;
		return true;
	case OPT_HASH:
		opt->hash = true;
		return true;
	case ':':
		return wrong(g, "%s needs a value.", argv[optind - 1]);
	case '?':
		if (optopt && optopt < 256)
			return wrong(g, "There is no option -%c; tutti-perf "
				     "--help lists them.", optopt);
		return wrong(g, "%s is not an option as it stands; tutti-perf "
			     "--help lists them.", argv[optind - 1]);
	case 'd':
	case 'o':
	case 'c':
	case OPT_DIRTY:
	case OPT_ALLOC:
	case OPT_JSON:
		return take_word(c, optarg, opt, g);
	default:
		return take_number(c, optarg, opt, g);
	}
}

/* Defaults that depend on the operation, and what must fit together. */
static bool settle(struct perf_options *opt, const struct given *g)
{
	const struct perf_op *op = opt->op;

	if (!g->iterations && op->iterations_default)
		opt->iterations = op->iterations_default;
	if (!g->type && op->bytes_default)
		opt->type_first = opt->type_last = tuttiUint8;
	if (!g->max) {
		opt->max = op->max_default ? op->max_default : MAX_DEFAULT;
		if (opt->max < opt->min)
			opt->max = opt->min;
	}
	if (!g->min && opt->min > opt->max)
		opt->min = opt->max;
	if (op->no_data) {
		opt->min = opt->max = 0;
		opt->type_first = opt->type_last = tuttiUint8;
	}
	if (opt->min > opt->max)
		return wrong(g, "The smallest size (-b, %zu bytes) is over "
			     "the largest (-e, %zu bytes).", opt->min,
			     opt->max);
	if (opt->factor < 2 && opt->min < opt->max)
		return wrong(g, "-f 1 never gets from -b to -e: give a whole "
			     "number from 2 on.");
	if (opt->inplace && !op->in_place)
		return wrong(g, "%s has no form in place.", op->name);
	if (opt->hash && op->result == PERF_RESULT_NONE)
		return wrong(g, "%s has no result to make a digest of.",
			     op->name);
	return true;
}

bool perf_options_parse(struct perf_options *opt, int argc, char **argv,
			char *why, size_t size)
{
	struct given g = { .why = why, .size = size };
	char list[256];
	int c;

	*opt = (struct perf_options){
		.min = 8, .factor = 2, .iterations = 20, .warmup = 5,
		.check = true, .dirty = true,
		.type_first = tuttiFloat32, .type_last = tuttiFloat32,
	};
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":b:e:f:n:w:c:d:o:r:h",
				long_options, NULL)) != -1)
		if (!take(c, argv, opt, &g))
			return false;
	if (opt->help || opt->version)
		return true;
	if (optind == argc) {
		list_ops(list, sizeof(list));
		return wrong(&g, "Name an operation: %s.", list);
	}
	if (!parse_op(argv[optind], opt, &g))
		return false;
	if (optind + 1 < argc)
		return wrong(&g, "\"%s\" is one word too many: give one "
			     "operation.", argv[optind + 1]);
	return settle(opt, &g);
}
