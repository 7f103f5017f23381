/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti topo`: what a machine is like, and where ranks would sit on it.  Any
 * machine can be looked at on any other, from a file or a description.
 */
#include "config.h"

#include "commands.h"
#include "options.h"
#include "topo.h"

#include "base/fail.h"

#include <errno.h>
#include <string.h>

enum {
	OPT_XML, OPT_SYNTHETIC, OPT_RANKS, OPT_NODES, OPT_SAVE, OPT_SVG,
	OPT_JSON, OPT_HELP
};

static const struct tool_option options[] = {
	[OPT_XML] = { "xml", 0, "FILE", "the machine in a file of hwloc's" },
	[OPT_SYNTHETIC] = { "synthetic", 0, "TEXT",
		"the machine that hwloc makes of a description,\n"
		"                         as \"pack:2 [numa] l3:2 core:4 "
		"pu:2\"" },
	[OPT_RANKS] = { "ranks", 'n', "N", "where N ranks would sit" },
	[OPT_NODES] = { "nodes", 0, "MAP",
		"with -n: on several such machines, as with tutti run" },
	[OPT_SAVE] = { "save", 0, "FILE", "write it as XML of hwloc's" },
	[OPT_SVG] = { "svg", 0, "FILE", "draw it" },
	[OPT_JSON] = { "json", 0, NULL, "as JSON" },
	[OPT_HELP] = { "help", 'h', NULL, "this text" },
	{ 0 },
};

struct wish {
	struct tool_asked asked;
	const char *save, *svg;
	bool json, help;
};

static int help(void)
{
	printf("usage: tutti topo [--xml FILE | --synthetic TEXT] "
	       "[-n N [--nodes MAP]]\n"
	       "                  [--save FILE] [--svg FILE] [--json]\n\n"
	       "Shows packages, NUMA domains, caches, cores and network "
	       "devices: of this\nmachine, or of another.\n\n");
	tool_print_options(stdout, options);
	return 0;
}

static bool take(struct tool_args *a, int opt, struct wish *w)
{
	bool mine, ok = tool_asked_take(a, opt, &w->asked, &mine);

	if (mine)
		return ok;
	switch (opt) {
	case OPT_SAVE:
		w->save = a->value;
		return true;
	case OPT_SVG:
		w->svg = a->value;
		return true;
	case OPT_JSON:
		w->json = true;
		return true;
	default:
		w->help = true;
		return true;
	}
}

static int parse(struct tool_args *a, struct wish *w)
{
	int opt;

	while ((opt = tool_next(a)) != TOOL_END)
		if (opt == TOOL_BAD || !take(a, opt, w))
			return TOOL_EXIT_USAGE;
	if (w->help)
		return 0;
	if (a->next < a->argc)
		return tool_usage(a, "\"%s\" is not an option",
				  a->argv[a->next]);
	if (!tool_asked_check(a, &w->asked))
		return TOOL_EXIT_USAGE;
	if (w->asked.nodes && !w->asked.ranks)
		return tool_usage(a, "--nodes needs the number of ranks: "
				  "-n N");
	return 0;
}

static int trouble(const char *sentence)
{
	fprintf(stderr, "tutti topo: %s\n", sentence);
	return 1;
}

/* Print, draw and save. */
static int show(const struct wish *w, const struct topo_view *v)
{
	if (w->save && tutti_topo_save(&w->asked.from, w->save))
		return trouble(tutti_fail_text());
	if (w->svg && !topo_svg(v, w->svg)) {
		fprintf(stderr, "tutti topo: cannot write %s: %s\n", w->svg,
			strerror(errno));
		return 1;
	}
	if (w->json)
		topo_json(v);
	else
		topo_text(v);
	return 0;
}

/* With the machine loaded. */
static int seat_and_show(const struct tool_args *a, const struct wish *w,
			 const struct tutti_topo *t)
{
	struct tool_seats seats = { 0 };
	struct topo_view v = {
		.topo = t, .from = &w->asked.from, .seats = &seats,
	};
	int status = 0;

	if (t->flat && w->save)
		return trouble(t->reason);
	if (w->asked.ranks)
		status = tool_seats_make(&seats, a, &w->asked, t);
	if (!status)
		status = show(w, &v);
	tool_seats_free(&seats);
	return status;
}

int tutti_cmd_topo(int argc, char **argv)
{
	struct tool_args a = {
		.tool = "tutti topo", .options = options,
		.argc = argc, .argv = argv, .next = 1,
	};
	struct wish w = {
		.asked = { .from.devices = true, .ranks_max = TOOL_RANKS_MAX },
	};
	struct tutti_topo *t;
	int status;

	status = parse(&a, &w);
	if (status)
		return status;
	if (w.help)
		return help();
	t = tool_asked_load(&a, &w.asked);
	if (!t)
		return 1;
	status = seat_and_show(&a, &w, t);
	tutti_topo_free(t);
	return status;
}
