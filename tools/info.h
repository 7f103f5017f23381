/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `tutti info`. */
#ifndef TUTTI_TOOLS_INFO_H
#define TUTTI_TOOLS_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "seats.h"

/* The table of settings: for people, as JSON, as roff for the manual. */
void info_settings_text(void);
void info_settings_json(void);
void info_settings_man(void);

/* The registry of algorithms, with the cost for so many ranks unless that is
 * 0. */
void info_algorithms_text(int ranks);
void info_algorithms_json(int ranks);

/* The choice of an algorithm: the words of the command line, NULL or 0 where
 * none was given. */
struct info_why {
	const char *coll, *type, *redop;
	struct tool_asked asked;
	int64_t bytes;
	bool table, json;
	char **files;		/* of the table */
	int nfiles;
};

/* Returns the exit status; `a` is for messages. */
int info_why(const struct tool_args *a, const struct info_why *w);

#endif
