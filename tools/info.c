/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti info`: what this build is, what the machine gives, and the tables of
 * settings and algorithms.  Asks, starts nothing, changes nothing.
 */
#include "config.h"

#include "commands.h"
#include "info.h"
#include "json.h"
#include "machine.h"
#include "options.h"

#include "base/fail.h"
#include "base/log.h"
#include "net/xport.h"
#include "reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef HAVE_VERBS
#define WITH_VERBS true
#else
#define WITH_VERBS false
#endif

enum {
	OPT_SETTINGS, OPT_ALGORITHMS, OPT_RANKS, OPT_WHY, OPT_NODES, OPT_XML,
	OPT_SYNTHETIC, OPT_TYPE, OPT_REDOP, OPT_TABLE, OPT_JSON, OPT_MAN,
	OPT_HELP, OPTS
};

#define RANKS_MAX 1000000

static const struct tool_option options[] = {
	[OPT_SETTINGS] = { "settings", 0, NULL, "the TUTTI_ variables" },
	[OPT_ALGORITHMS] = { "algorithms", 0, NULL,
		"the algorithms of each operation" },
	[OPT_RANKS] = { "ranks", 'n', "N",
		"with --algorithms: the cost for N ranks; with --why: ranks" },
	[OPT_WHY] = { "why", 0, "OP SIZE",
		"which algorithm serves it, and why" },
	[OPT_NODES] = { "nodes", 0, "MAP",
		"with --why: their nodes, as with tutti run" },
	[OPT_XML] = { "xml", 0, "FILE",
		"with --why: what each node is, a file of hwloc's" },
	[OPT_SYNTHETIC] = { "synthetic", 0, "TEXT",
		"with --why: the same, as hwloc's description" },
	[OPT_TYPE] = { "type", 0, "TYPE",
		"with --why: data type (default: float)" },
	[OPT_REDOP] = { "op", 0, "REDOP",
		"with --why: reduction (default: sum)" },
	[OPT_TABLE] = { "table", 0, NULL,
		"with --why: by size, for each FILE that follows" },
	[OPT_JSON] = { "json", 0, NULL, "as JSON" },
	[OPT_MAN] = { "man", 0, NULL, "with --settings: as roff" },
	[OPT_HELP] = { "help", 'h', NULL, "this text" },
	{ 0 },
};

static int help(void)
{
	printf("usage: tutti info [--settings | --algorithms [-n N]] "
	       "[--json]\n"
	       "       tutti info --why OP SIZE -n N [--nodes MAP]\n"
	       "                  [--xml FILE | --synthetic TEXT] "
	       "[--type TYPE] [--op REDOP]\n"
	       "       tutti info --why OP --table [-n N] [--nodes MAP] [FILE...]\n\n"
	       "Without an option: version, build and machine.\n\n");
	tool_print_options(stdout, options);
	return 0;
}

/* ---- For people -------------------------------------------------------- */

static void text_build(void)
{
	printf("tutti %s\n\nBuild\n", PACKAGE_VERSION);
	printf("  compiler    %s\n", COMPILER);
	printf("  verbs       %s\n", WITH_VERBS ? "yes" : "no");
	printf("  transports ");
	for (int i = 0; tutti_xports[i]; i++)
		printf(" %s", tutti_xports[i]->name);
	printf("\n  kernels    ");
	for (int i = 0; tutti_kernels_all[i]; i++)
		printf(" %s", tutti_kernels_all[i]->name);
	printf("\n");
}

static void text_kernels(void)
{
	const struct tutti_kernels *used;

	printf("  kernels    ");
	for (int i = 0; tutti_kernels_all[i]; i++)
		if (tutti_kernels_all[i]->supported())
			printf(" %s", tutti_kernels_all[i]->name);
	if (tutti_kernels_get(&used))
		printf("; none in use: %s\n", tutti_fail_text());
	else
		printf("; %s in use\n", used->name);
}

static void text_machine(const struct tool_machine *m)
{
	char a[32], b[32], c[32];

	printf("\nMachine %s\n", tutti_host_name());
	text_kernels();
	printf("  CPUs        %d usable: %d online, %d allowed, ",
	       m->cpus_usable, m->cpus_online, m->cpus_allowed);
	if (m->cpu_quota)
		printf("quota of %.3g\n", m->cpu_quota);
	else
		printf("no quota\n");
	printf("  memory      %s, %s available, %s%s\n",
	       tool_amount(a, sizeof(a), m->memory_bytes),
	       tool_amount(b, sizeof(b), m->memory_available_bytes),
	       m->memory_limit_bytes < 0 ? "no limit" : "limit ",
	       m->memory_limit_bytes < 0 ? "" :
	       tool_amount(c, sizeof(c), m->memory_limit_bytes));
	printf("  huge pages  ");
	if (m->huge_page_bytes < 0)
		printf("none");
	else
		printf("of %s: %lld, %lld free",
		       tool_amount(a, sizeof(a), m->huge_page_bytes),
		       (long long)m->huge_pages,
		       (long long)m->huge_pages_free);
	printf("; transparent: %s, in shared memory: %s\n",
	       *m->thp ? m->thp : "unknown",
	       *m->thp_shmem ? m->thp_shmem : "unknown");
}

/* ---- As JSON ----------------------------------------------------------- */

static void json_build(struct tool_json *j)
{
	tool_json_open(j, "build", '{');
	tool_json_text(j, "compiler", COMPILER);
	tool_json_bool(j, "verbs", WITH_VERBS);
	tool_json_open(j, "transports", '[');
	for (int i = 0; tutti_xports[i]; i++)
		tool_json_text(j, NULL, tutti_xports[i]->name);
	tool_json_close(j, ']');
	tool_json_open(j, "kernels", '[');
	for (int i = 0; tutti_kernels_all[i]; i++)
		tool_json_text(j, NULL, tutti_kernels_all[i]->name);
	tool_json_close(j, ']');
	tool_json_close(j, '}');
}

static void json_kernels(struct tool_json *j)
{
	const struct tutti_kernels *used;

	tool_json_open(j, "kernels", '[');
	for (int i = 0; tutti_kernels_all[i]; i++)
		if (tutti_kernels_all[i]->supported())
			tool_json_text(j, NULL, tutti_kernels_all[i]->name);
	tool_json_close(j, ']');
	if (tutti_kernels_get(&used))
		tool_json_null(j, "kernels_used");
	else
		tool_json_text(j, "kernels_used", used->name);
}

/* -1 stands for what the kernel does not tell. */
static void json_told(struct tool_json *j, const char *key, int64_t n)
{
	if (n < 0)
		tool_json_null(j, key);
	else
		tool_json_int(j, key, n);
}

static void json_machine(struct tool_json *j, const struct tool_machine *m)
{
	tool_json_open(j, "machine", '{');
	tool_json_text(j, "host", tutti_host_name());
	json_kernels(j);
	tool_json_int(j, "cpus_usable", m->cpus_usable);
	tool_json_int(j, "cpus_online", m->cpus_online);
	tool_json_int(j, "cpus_allowed", m->cpus_allowed);
	if (m->cpu_quota)
		tool_json_real(j, "cpu_quota", m->cpu_quota);
	else
		tool_json_null(j, "cpu_quota");
	json_told(j, "memory_bytes", m->memory_bytes);
	json_told(j, "memory_available_bytes", m->memory_available_bytes);
	json_told(j, "memory_limit_bytes", m->memory_limit_bytes);
	json_told(j, "huge_page_bytes", m->huge_page_bytes);
	json_told(j, "huge_pages", m->huge_pages);
	json_told(j, "huge_pages_free", m->huge_pages_free);
	tool_json_text(j, "thp", m->thp);
	tool_json_text(j, "thp_shmem", m->thp_shmem);
	tool_json_close(j, '}');
}

static void print_general(bool json)
{
	struct tool_json j = { .file = stdout };
	struct tool_machine m;

	tool_machine_read(&m);
	if (!json) {
		text_build();
		text_machine(&m);
		return;
	}
	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "version", PACKAGE_VERSION);
	json_build(&j);
	json_machine(&j, &m);
	tool_json_close(&j, '}');
}

static void print_settings(const bool *given)
{
	if (given[OPT_MAN])
		info_settings_man();
	else if (given[OPT_JSON])
		info_settings_json();
	else
		info_settings_text();
}

/* ---- The command line ---------------------------------------------------- */

/* What an option says for --why; false if its value is wrong. */
static bool take(const struct tool_args *a, int opt, struct info_why *w)
{
	bool mine, ok = tool_asked_take(a, opt, &w->asked, &mine);

	if (mine)
		return ok;
	switch (opt) {
	case OPT_WHY:
		w->coll = a->value;
		return true;
	case OPT_TYPE:
		w->type = a->value;
		return true;
	case OPT_REDOP:
		w->redop = a->value;
		return true;
	default:
		return true;
	}
}

/* Operands: SIZE, or files.  Moved to the front of argv. */
static bool parse(struct tool_args *a, bool *given, struct info_why *w)
{
	int opt, n = 0;

	for (;;) {
		opt = tool_next(a);
		if (opt == TOOL_BAD)
			return false;
		if (opt != TOOL_END) {
			given[opt] = true;
			if (!take(a, opt, w))
				return false;
			continue;
		}
		if (a->next >= a->argc)
			break;
		a->argv[n++] = a->argv[a->next++];
	}
	w->files = a->argv;
	w->nfiles = n;
	w->table = given[OPT_TABLE];
	w->json = given[OPT_JSON];
	return true;
}

static int why(struct tool_args *a, const bool *given, struct info_why *w)
{
	if (given[OPT_SETTINGS] || given[OPT_ALGORITHMS] || given[OPT_MAN])
		return tool_usage(a, "--why is a question of its own; ask one "
				  "at a time");
	if (w->asked.ranks > TOOL_RANKS_MAX)
		return tool_usage(a, "--why knows up to %d ranks",
				  TOOL_RANKS_MAX);
	if (!tool_asked_check(a, &w->asked))
		return TOOL_EXIT_USAGE;
	if (w->table && w->nfiles &&
	    (w->asked.from.xml || w->asked.from.synthetic))
		return tool_usage(a, "--table takes its machines either from "
				  "files or from --xml or --synthetic");
	if (w->table)
		return info_why(a, w);
	if (w->nfiles != 1)
		return tool_usage(a, "--why needs an operation and a size, as "
				  "in --why all_reduce 1M");
	if (!w->asked.ranks)
		return tool_usage(a, "--why needs the number of ranks: -n N");
	a->value = w->files[0];
	snprintf(a->shown, sizeof(a->shown), "the size");
	if (!tool_bytes(a, &w->bytes))
		return TOOL_EXIT_USAGE;
	return info_why(a, w);
}

int tutti_cmd_info(int argc, char **argv)
{
	struct tool_args a = {
		.tool = "tutti info", .options = options,
		.argc = argc, .argv = argv, .next = 1,
	};
	struct info_why w = { .asked.ranks_max = RANKS_MAX };
	bool given[OPTS] = { false };

	if (!parse(&a, given, &w))
		return TOOL_EXIT_USAGE;
	if (given[OPT_HELP])
		return help();
	if (given[OPT_WHY])
		return why(&a, given, &w);
	for (int opt = OPT_NODES; opt <= OPT_TABLE; opt++)
		if (given[opt])
			return tool_usage(&a, "--%s goes with --why",
					  options[opt].name);
	if (w.nfiles)
		return tool_usage(&a, "\"%s\" is not an option", argv[0]);
	if (given[OPT_SETTINGS] && given[OPT_ALGORITHMS])
		return tool_usage(&a, "--settings and --algorithms are two "
				  "questions; ask one at a time");
	if (given[OPT_MAN] && (!given[OPT_SETTINGS] || given[OPT_JSON]))
		return tool_usage(&a, "--man goes with --settings alone");
	if (w.asked.ranks && !given[OPT_ALGORITHMS])
		return tool_usage(&a, "--ranks goes with --algorithms or "
				  "--why");
	if (given[OPT_SETTINGS])
		print_settings(given);
	else if (given[OPT_ALGORITHMS] && given[OPT_JSON])
		info_algorithms_json(w.asked.ranks);
	else if (given[OPT_ALGORITHMS])
		info_algorithms_text(w.asked.ranks);
	else
		print_general(given[OPT_JSON]);
	return 0;
}
