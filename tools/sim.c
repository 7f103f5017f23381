/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti sim`: schedules without a byte moved: proven, printed, counted, drawn.
 * Here is the command line; each question has a file of its own.
 */
#include "config.h"

#include "commands.h"
#include "machine.h"
#include "options.h"
#include "sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1000000	/* of one query */
#define RANKS_PROVEN_MAX 100000
#define SEED 1

enum {
	OPT_VERIFY, OPT_PRINT, OPT_DRAW, OPT_CURVE, OPT_RANKS, OPT_OP,
	OPT_ALGO, OPT_NODES, OPT_ROOT, OPT_RANK, OPT_MAPPED, OPT_ALPHA,
	OPT_BETA, OPT_SHAPE, OPT_FILE, OPT_RANDOM, OPT_SEED, OPT_MAX,
	OPT_EXHAUSTIVE, OPT_THREADS, OPT_CSV, OPT_JSON, OPT_HELP, OPTS
};

static const struct tool_option options[] = {
	[OPT_VERIFY] = { "verify", 0, NULL, "prove schedules" },
	[OPT_PRINT] = { "print", 0, NULL, "print schedules as text" },
	[OPT_DRAW] = { "draw", 0, "FILE", "draw a schedule as SVG" },
	[OPT_CURVE] = { "curve", 0, "FILE",
		"draw cost over lower bound, by rank count, as SVG" },
	[OPT_RANKS] = { "ranks", 'n', "N",
		"number of ranks, or a range A..B" },
	[OPT_OP] = { "op", 0, "OP", "with --verify: this operation only" },
	[OPT_ALGO] = { "algo", 0, "NAME",
		"this algorithm; with --curve several, with commas" },
	[OPT_NODES] = { "nodes", 0, "MAP",
		"nodes, as in tutti run: 2, 3+1 or 0,1,0,1" },
	[OPT_ROOT] = { "root", 'r', "R", "root (default: 0)" },
	[OPT_RANK] = { "rank", 0, "R", "with --print: this rank only" },
	[OPT_MAPPED] = { "mapped", 0, NULL,
		"the form that reaches other ranks' buffers" },
	[OPT_ALPHA] = { "alpha", 0, "T",
		"with --draw: steps that a message takes (default: 1)" },
	[OPT_BETA] = { "beta", 0, "T",
		"with --draw: steps more for each chunk of it (default: 0)" },
	[OPT_SHAPE] = { "shape", 0, "NAME",
		"with --verify: one, blocks, interleaved, uneven,\n"
		"                         single or domains only" },
	[OPT_FILE] = { "file", 0, "FILE",
		"with --verify: the schedules in FILE, as --print writes" },
	[OPT_RANDOM] = { "random", 0, "N",
		"with --verify: N random rank counts" },
	[OPT_SEED] = { "seed", 0, "S", "of these (default: 1)" },
	[OPT_MAX] = { "max", 0, "M", "the largest of these (default: 10000)" },
	[OPT_EXHAUSTIVE] = { "exhaustive", 0, NULL,
		"with --verify: leave nothing out; takes hours" },
	[OPT_THREADS] = { "threads", 0, "N",
		"with --verify: as many as processors otherwise" },
	[OPT_CSV] = { "csv", 0, "FILE", "with --curve: the numbers as well" },
	[OPT_JSON] = { "json", 0, NULL, "as JSON" },
	[OPT_HELP] = { "help", 'h', NULL, "this text" },
	{ 0 },
};

static int help(void)
{
	printf("usage: tutti sim OP SIZE --ranks N [--print | --draw FILE]\n"
	       "       tutti sim --verify [--ranks A..B | --random N | "
	       "--file FILE]\n"
	       "       tutti sim --curve FILE [--ranks A..B]\n\n"
	       "Works with schedules, what each rank does for one operation, "
	       "without moving a\nbyte.  The first form counts, prints or draws "
	       "that of one operation, the second\nproves those of all, the "
	       "third compares their cost with the lower bound.\n\n");
	tool_print_options(stdout, options);
	return 0;
}

int sim_fault(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "tutti sim: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

/* N or A..B. */
static bool ranks_value(const struct tool_args *a, struct sim_args *s)
{
	char *end;
	long long from, to;

	errno = 0;
	from = strtoll(a->value, &end, 10);
	to = from;
	if (end != a->value && !strncmp(end, "..", 2)) {
		const char *second = end + 2;

		to = strtoll(second, &end, 10);
		if (end == second)
			end = (char *)a->value;
	}
	if (end == a->value || *end || errno || from < 1 || to < from ||
	    to > RANKS_MAX) {
		tool_usage(a, "%s is \"%s\", but must be a number of ranks, "
			   "or two with .. between, from 1 to %d", a->shown,
			   a->value, RANKS_MAX);
		return false;
	}
	s->ranks_min = (int)from;
	s->ranks_max = (int)to;
	return true;
}

/* The nearest of n names; as the end of a sentence. */
static bool unknown(const struct tool_args *a, const char *what,
		    const char *word, const char *(*name)(int), int n)
{
	int best = 0;

	for (int i = 1; i < n; i++)
		if (tool_distance(word, name(i)) <
		    tool_distance(word, name(best)))
			best = i;
	tool_usage(a, "\"%s\" is not %s; did you mean \"%s\"?", word, what,
		   name(best));
	return false;
}

static const char *coll_name(int i)
{
	return tutti_coll_name((enum tutti_coll)i);
}

static const char *shape_name(int i)
{
	return sim_shape_names[i];
}

static bool op_value(const struct tool_args *a, const char *word,
		     struct sim_args *s)
{
	s->coll = tutti_coll_find(word);
	return s->coll >= 0 ||
	       unknown(a, "an operation", word, coll_name, TUTTI_COLLS);
}

static bool shape_value(const struct tool_args *a, struct sim_args *s)
{
	for (int i = 0; i < SIM_SHAPES; i++)
		if (!strcmp(a->value, sim_shape_names[i]))
			s->shape = i;
	return s->shape >= 0 ||
	       unknown(a, "a shape", a->value, shape_name, SIM_SHAPES);
}

static bool steps_value(const struct tool_args *a, double *out)
{
	char *end;

	*out = strtod(a->value, &end);
	if (end != a->value && !*end && *out >= 0 && *out <= 1000)
		return true;
	tool_usage(a, "%s is \"%s\", but must be steps from 0 to 1000",
		   a->shown, a->value);
	return false;
}

static bool int_value(const struct tool_args *a, int64_t min, int64_t max,
		      int *out)
{
	int64_t n;

	if (!tool_int(a, min, max, &n))
		return false;
	*out = (int)n;
	return true;
}

/* The value of an option that has one. */
static bool take(const struct tool_args *a, int opt, struct sim_args *s)
{
	switch (opt) {
	case OPT_DRAW:
	case OPT_CURVE:
		s->svg = a->value;
		return true;
	case OPT_RANKS: return ranks_value(a, s);
	case OPT_OP: return op_value(a, a->value, s);
	case OPT_ALGO: s->algo = a->value; return true;
	case OPT_NODES: s->nodes = a->value; return true;
	case OPT_ROOT: return int_value(a, 0, RANKS_MAX - 1, &s->root);
	case OPT_RANK: return int_value(a, 0, RANKS_MAX - 1, &s->rank);
	case OPT_ALPHA: return steps_value(a, &s->alpha);
	case OPT_BETA: return steps_value(a, &s->beta);
	case OPT_SHAPE: return shape_value(a, s);
	case OPT_FILE: s->file = a->value; return true;
	case OPT_RANDOM: return tool_int(a, 1, 1000000, &s->random);
	case OPT_SEED: return tool_int(a, 0, INT64_MAX, &s->seed);
	case OPT_MAX: return tool_int(a, 1, RANKS_PROVEN_MAX, &s->max);
	case OPT_THREADS: return int_value(a, 1, 64, &s->threads);
	case OPT_CSV: s->csv = a->value; return true;
	default: return true;
	}
}

/* Options that belong to one of the forms only, by bits of their numbers. */
#define BIT(opt) (1u << (opt))
#define VERIFY_ONLY (BIT(OPT_OP) | BIT(OPT_SHAPE) | BIT(OPT_FILE) | \
		     BIT(OPT_RANDOM) | BIT(OPT_SEED) | BIT(OPT_MAX) | \
		     BIT(OPT_EXHAUSTIVE) | BIT(OPT_THREADS))
#define QUERY_ONLY (BIT(OPT_PRINT) | BIT(OPT_DRAW) | BIT(OPT_NODES) | \
		    BIT(OPT_ROOT) | BIT(OPT_MAPPED))
#define FILE_ONLY (BIT(OPT_VERIFY) | BIT(OPT_FILE) | BIT(OPT_JSON))

/* The first option given that is in `not`, with a word about the form. */
static bool excluded(const struct tool_args *a, unsigned int given,
		     unsigned int not, const char *form)
{
	for (int i = 0; i < OPTS; i++)
		if (given & not & BIT(i)) {
			tool_usage(a, "--%s does not go with %s",
				   options[i].name, form);
			return true;
		}
	return false;
}

static int verify(const struct tool_args *a, unsigned int given,
		  struct sim_args *s)
{
	struct tool_machine m;

	if (s->file)
		return excluded(a, given, ~FILE_ONLY, "--file") ?
		       TOOL_EXIT_USAGE : sim_verify_file(s);
	if (excluded(a, given, QUERY_ONLY | BIT(OPT_CURVE) | BIT(OPT_CSV) |
		     BIT(OPT_RANK) | BIT(OPT_ALPHA) | BIT(OPT_BETA),
		     "--verify") ||
	    (s->random && excluded(a, given, BIT(OPT_RANKS), "--random")) ||
	    (!s->random && excluded(a, given, BIT(OPT_SEED) | BIT(OPT_MAX),
				    "--verify without --random")))
		return TOOL_EXIT_USAGE;
	if (!s->ranks_min) {
		s->ranks_min = 1;
		s->ranks_max = 256;
	}
	if (s->ranks_max > RANKS_PROVEN_MAX)
		return tool_usage(a, "--verify takes at most %d ranks",
				  RANKS_PROVEN_MAX);
	if (!s->threads) {
		tool_machine_read(&m);
		s->threads = m.cpus_usable;
	}
	return sim_verify(s);
}

static int query(struct tool_args *a, unsigned int given, struct sim_args *s)
{
	if (excluded(a, given, VERIFY_ONLY, "OP and SIZE") ||
	    excluded(a, given, BIT(OPT_CURVE) | BIT(OPT_CSV), "OP and SIZE"))
		return TOOL_EXIT_USAGE;
	if (s->ranks_min == 0 || s->ranks_min != s->ranks_max)
		return tool_usage(a, "--ranks N is needed, the number of "
				  "ranks");
	if (given & BIT(OPT_PRINT) && given & BIT(OPT_DRAW))
		return tool_usage(a, "--print and --draw are two questions; "
				  "ask one at a time");
	if (s->root >= s->ranks_min || s->rank >= s->ranks_min)
		return tool_usage(a, "there is no rank %d among %d",
				  s->root >= s->ranks_min ? s->root : s->rank,
				  s->ranks_min);
	if (given & BIT(OPT_RANK) && !(given & BIT(OPT_PRINT)))
		return tool_usage(a, "--rank goes with --print");
	if (given & (BIT(OPT_ALPHA) | BIT(OPT_BETA)) &&
	    !(given & BIT(OPT_DRAW)))
		return tool_usage(a, "--alpha and --beta go with --draw");
	if (given & BIT(OPT_JSON) && given & (BIT(OPT_PRINT) | BIT(OPT_DRAW)))
		return tool_usage(a, "--json does not go with --%s",
				  given & BIT(OPT_PRINT) ? "print" : "draw");
	return given & BIT(OPT_PRINT) ? sim_print(s) :
	       given & BIT(OPT_DRAW) ? sim_draw(s) : sim_count(s);
}

static int curve(const struct tool_args *a, unsigned int given,
		 struct sim_args *s)
{
	if (excluded(a, given, (VERIFY_ONLY | QUERY_ONLY | BIT(OPT_VERIFY) |
				BIT(OPT_RANK) | BIT(OPT_ALPHA) |
				BIT(OPT_BETA)), "--curve"))
		return TOOL_EXIT_USAGE;
	if (!s->ranks_min) {
		s->ranks_min = 2;
		s->ranks_max = 10000;
	}
	if (s->ranks_min < 2)
		return tool_usage(a, "--curve begins with 2 ranks: with one "
				  "there is nothing to send");
	return sim_curve(s);
}

/* OP and SIZE, or what of them is there. */
static bool operands(struct tool_args *a, struct sim_args *s, int *n)
{
	while (a->next < a->argc && *n < 3) {
		const char *word = a->argv[a->next];

		a->value = word;
		snprintf(a->shown, sizeof(a->shown), "SIZE");
		if (*n == 0 && !op_value(a, word, s))
			return false;
		if (*n == 1 && !tool_bytes(a, &s->bytes))
			return false;
		if (*n == 2) {
			tool_usage(a, "\"%s\" is one word too many", word);
			return false;
		}
		++*n;
		a->next++;
		return true;
	}
	return false;
}

int tutti_cmd_sim(int argc, char **argv)
{
	struct tool_args a = {
		.tool = "tutti sim", .options = options,
		.argc = argc, .argv = argv, .next = 1,
	};
	struct sim_args s = {
		.coll = -1, .shape = -1, .rank = -1, .seed = SEED,
		.max = 10000, .alpha = 1,
	};
	unsigned int given = 0;
	int opt, words = 0;

	while ((opt = tool_next(&a)) != TOOL_END || a.next < argc) {
		if (opt == TOOL_BAD ||
		    (opt >= 0 && !take(&a, opt, &s)) ||
		    (opt == TOOL_END && !operands(&a, &s, &words)))
			return TOOL_EXIT_USAGE;
		if (opt >= 0)
			given |= BIT(opt);
	}
	if (given & BIT(OPT_HELP))
		return help();
	s.mapped = given & BIT(OPT_MAPPED);
	s.exhaustive = given & BIT(OPT_EXHAUSTIVE);
	s.json = given & BIT(OPT_JSON);
	if (words && given & (BIT(OPT_VERIFY) | BIT(OPT_CURVE)))
		return tool_usage(&a, "OP and SIZE do not go with --%s",
				  given & BIT(OPT_VERIFY) ? "verify" :
				  "curve");
	if (given & BIT(OPT_CURVE))
		return curve(&a, given, &s);
	if (given & BIT(OPT_VERIFY))
		return verify(&a, given, &s);
	if (words < 2)
		return tool_usage(&a, "OP and SIZE are needed, such as "
				  "all_reduce 1M, or --verify, or --curve");
	return query(&a, given, &s);
}
