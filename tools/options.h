/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines.  A tool lists its options in a table, takes them one by one
 * with tool_next(), and gets every mistake told in one sentence with the
 * nearest name that would have been right.  Includes nothing of the library,
 * so that programs that use only tutti.h may use it.
 */
#ifndef TUTTI_TOOLS_OPTIONS_H
#define TUTTI_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TOOL_EXIT_USAGE	2	/* status after a wrong command line */

#define TOOL_END	(-1)	/* no option is next: an operand, or the end */
#define TOOL_BAD	(-2)	/* a mistake, already told on stderr */

struct tool_option {
	const char *name;	/* "timeout" of --timeout; NULL: only a letter */
	char letter;		/* 'n' of -n; 0: only a name */
	const char *value;	/* what to call its value in the help; NULL:
				 * it has none */
	const char *help;	/* one line; NULL ends the table */
};

struct tool_args {
	const char *tool;	/* "tutti run": head of every message */
	const struct tool_option *options;
	int argc;
	char **argv;
	int next;		/* index of the next argument; set it to the
				 * first one to look at */
	const char *value;	/* of the option that was returned */
	char shown[32];		/* that option as it was written */
};

/* The index in the table of the next option, TOOL_END or TOOL_BAD.  Options
 * are -n 4, -n4, --name 4 and --name=4.  "--" ends them and is skipped; at an
 * operand `next` stays, so that a caller may take it and go on. */
int tool_next(struct tool_args *a);

/* Tell a mistake: "TOOL: sentence", and a second line that names --help.
 * Returns TOOL_EXIT_USAGE. */
int tool_usage(const struct tool_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of the option just returned.  False if it is not one; told. */
bool tool_int(const struct tool_args *a, int64_t min, int64_t max,
	      int64_t *out);
/* Decimal seconds over 0, to milliseconds. */
bool tool_seconds(const struct tool_args *a, int64_t *out_ms);
/* 8, 4K, 1M, 2G: bytes in powers of 1024. */
bool tool_bytes(const struct tool_args *a, int64_t *out);

/* The table as lines of a help text. */
void tool_print_options(FILE *f, const struct tool_option *options);

/* Words in lines of a terminal's width, each after `indent` blanks. */
void tool_print_words(FILE *f, const char *text, int indent);

/* Letters to change, add or leave out to make `b` of `a`. */
int tool_distance(const char *a, const char *b);

#endif
