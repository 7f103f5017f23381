/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the registry of algorithms. */
#include "config.h"

#include "info.h"
#include "json.h"
#include "options.h"

#include "base/bits.h"
#include "sched/algo.h"

static const struct {
	unsigned int flag;
	const char *name;	/* in JSON */
	const char *text;
} flags[] = {
	{ TUTTI_NEEDS_ONE_NODE, "needs_one_node", "ranks of one node only" },
	{ TUTTI_HAS_MAPPED, "has_mapped", "reaches shared buffers in place" },
	{ TUTTI_ONE_COMBINE, "one_combine",
	  "serves the exact average of integers" },
};

static void text_one(const struct tutti_algo_entry *e)
{
	printf("  %s\n", e->name);
	tool_print_words(stdout, e->algo->help, 6);
	for (size_t i = 0; i < tutti_countof(flags); i++)
		if (e->algo->flags & flags[i].flag)
			printf("      %s\n", flags[i].text);
}

void info_algorithms_text(void)
{
	for (int c = 0; c < TUTTI_COLLS; c++) {
		printf("%s%s\n", c ? "\n" : "",
		       tutti_coll_name((enum tutti_coll)c));
		for (const struct tutti_algo_entry *e = tutti_algos; e->name;
		     e++)
			if ((int)e->algo->coll == c)
				text_one(e);
	}
}

void info_algorithms_json(void)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_open(&j, "algorithms", '[');
	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++) {
		tool_json_open(&j, NULL, '{');
		tool_json_text(&j, "op", tutti_coll_name(e->algo->coll));
		tool_json_text(&j, "name", e->name);
		tool_json_text(&j, "help", e->algo->help);
		for (size_t i = 0; i < tutti_countof(flags); i++)
			tool_json_bool(&j, flags[i].name,
				       e->algo->flags & flags[i].flag);
		tool_json_close(&j, '}');
	}
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}
