/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the registry of algorithms. */
#include "config.h"

#include "info.h"
#include "json.h"

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

static void text_flags(unsigned int set)
{
	const char *before = "                          (";

	for (size_t i = 0; i < tutti_countof(flags); i++) {
		if (!(set & flags[i].flag))
			continue;
		printf("%s%s", before, flags[i].text);
		before = "; ";
	}
	if (*before == ';')
		printf(")\n");
}

void info_algorithms_text(void)
{
	for (int c = 0; c < TUTTI_COLLS; c++) {
		const char *coll = tutti_coll_name((enum tutti_coll)c);

		for (const struct tutti_algo_entry *e = tutti_algos; e->name;
		     e++) {
			if ((int)e->algo->coll != c)
				continue;
			printf("%-16s %-12s %s\n", coll, e->name,
			       e->algo->help);
			text_flags(e->algo->flags);
		}
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
