/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `tutti` command: the first word names a sub-command, which has a file
 * of its own.
 */
#include "config.h"

#include "commands.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "run", tutti_cmd_run, "start a program as several ranks" },
	{ "info", tutti_cmd_info,
	  "version, build, machine, settings, algorithms, choices" },
	{ "topo", tutti_cmd_topo, "a machine, and where ranks sit on it" },
	{ "sim", tutti_cmd_sim,
	  "schedules: count, print, draw, prove, compare" },
	{ NULL, NULL, NULL },
};

static int help(void)
{
	printf("usage: tutti COMMAND [OPTIONS]\n\n"
	       "Collective communication between ranks in host memory.\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-10s %s\n", c->name, c->help);
	printf("\n  --help     this text; also of each command: "
	       "tutti run --help\n"
	       "  --version  the version\n");
	return 0;
}

static int unknown(const char *word)
{
	const struct command *best = commands;

	for (const struct command *c = commands; c->name; c++)
		if (tool_distance(word, c->name) <
		    tool_distance(word, best->name))
			best = c;
	fprintf(stderr, "tutti: there is no command \"%s\"; did you mean "
		"\"%s\"?\n`tutti --help` lists all.\n", word, best->name);
	return TOOL_EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "tutti: no command given\n"
			"`tutti --help` lists all.\n");
		return TOOL_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("tutti %s\n", PACKAGE_VERSION);
		return 0;
	}
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return c->fn(argc - 1, argv + 1);
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	/* A full disk or a closed pipe shall not look like success. */
	if ((fflush(stdout) || ferror(stdout)) && !status) {
		fprintf(stderr, "tutti: cannot write the output: %s\n",
			strerror(errno));
		return 1;
	}
	return status;
}
