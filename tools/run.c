/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti run`: the command line.  Everything that can be wrong is found here,
 * before a process is started; launch_front.c does the rest.
 */
#include "config.h"

#include "commands.h"
#include "launch.h"
#include "options.h"
#include "placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_RANKS, OPT_NODES, OPT_TIMEOUT, OPT_HELP };

static const struct tool_option options[] = {
	[OPT_RANKS] = { "ranks", 'n', "N", "number of ranks to start" },
	[OPT_NODES] = { "nodes", 0, "MAP",
		"let ranks believe that they sit on several nodes:\n"
		"                         3 blocks, or sizes 3+1, or the node "
		"of each rank 0,1,0,1" },
	[OPT_TIMEOUT] = { "timeout", 0, "S",
		"end all ranks after S seconds, with status 124" },
	[OPT_HELP] = { "help", 'h', NULL, "this text" },
	{ 0 },
};

static int help(void)
{
	printf("usage: tutti run -n N [--nodes MAP] [--timeout S] [--] "
	       "PROGRAM [ARGUMENTS]\n\n"
	       "Starts PROGRAM as N ranks on this machine and waits for "
	       "them.  Rank 0 reads\nstandard input.  Signals go to all "
	       "ranks; the first rank that fails ends the\nothers, and its "
	       "status (128 and the signal, if one killed it) is returned."
	       "\n\n");
	tool_print_options(stdout, options);
	return 0;
}

/* 0 if `path` can be executed, otherwise an errno value. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

/* `name` looked for in PATH; to be freed.  NULL and *err if there is none. */
static char *search(const char *name, int *err)
{
	const char *path = getenv("PATH");
	char *full = NULL;

	*err = ENOENT;
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(path, ":");
		int why;

		/* An empty entry is the working directory. */
		if (asprintf(&full, "%.*s%s%s", (int)len, path,
			     len ? "/" : "./", name) < 0) {
			*err = ENOMEM;
			return NULL;
		}
		why = executable(full);
		if (!why)
			return full;
		free(full);
		if (why == EACCES)
			*err = EACCES;
		if (!path[len])
			return NULL;
		path += len + 1;
	}
}

/* The program's file in job->path, to be freed.  0, or the exit status;
 * told. */
static int find_program(struct launch *job, const char *name)
{
	bool slash = strchr(name, '/');
	int err = 0;

	if (slash) {
		err = executable(name);
		job->path = err ? NULL : strdup(name);
	} else {
		job->path = search(name, &err);
	}
	if (job->path)
		return 0;
	if (err == ENOENT && !slash)
		launch_say("there is no program \"%s\" in PATH", name);
	else
		launch_say("cannot execute %s: %s", name,
			   strerror(err ? err : ENOMEM));
	return err == ENOENT || err == ENOTDIR ? LAUNCH_EXIT_NO_FILE
					       : LAUNCH_EXIT_NO_EXEC;
}

/* The text of --nodes in job->node, to be freed.  0, or the exit status;
 * told. */
static int place(const struct tool_args *a, struct launch *job,
		 const char *map)
{
	char why[160];

	job->node = calloc((size_t)job->nranks, sizeof(*job->node));
	if (!job->node) {
		launch_say("%s", strerror(ENOMEM));
		return LAUNCH_EXIT_TROUBLE;
	}
	if (!tool_placement_parse(map, job->nranks, job->node, why,
				  sizeof(why)))
		return tool_usage(a, "--nodes is \"%s\", %s", map, why);
	return 0;
}

/* The options; false if one is wrong or --help ended it. */
static bool parse(struct tool_args *a, struct launch *job, const char **map,
		  int *status)
{
	int64_t n;
	int opt;

	*status = TOOL_EXIT_USAGE;
	while ((opt = tool_next(a)) != TOOL_END) {
		switch (opt) {
		case OPT_RANKS:
			if (!tool_int(a, 1, LAUNCH_MAX_RANKS, &n))
				return false;
			job->nranks = (int)n;
			break;
		case OPT_NODES:
			*map = a->value;
			break;
		case OPT_TIMEOUT:
			if (!tool_seconds(a, &job->timeout_ms))
				return false;
			break;
		case OPT_HELP:
			*status = help();
			return false;
		default:
			return false;
		}
	}
	if (!job->nranks) {
		tool_usage(a, "the number of ranks is missing: -n N");
		return false;
	}
	if (a->next == a->argc) {
		tool_usage(a, "the program to run is missing");
		return false;
	}
	return true;
}

int tutti_cmd_run(int argc, char **argv)
{
	struct tool_args a = {
		.tool = "tutti run", .options = options,
		.argc = argc, .argv = argv, .next = 1,
	};
	struct launch job = { 0 };
	const char *map = NULL;
	int status;

	if (!parse(&a, &job, &map, &status))
		return status;
	job.argv = argv + a.next;
	status = map ? place(&a, &job, map) : 0;
	if (!status)
		status = find_program(&job, job.argv[0]);
	if (!status)
		status = launch_run(&job);
	free(job.path);
	free(job.node);
	return status;
}
