/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing JSON to a stream, one value at a time.  Commas are kept here, so a
 * caller only says what comes next.  Includes nothing of the library. */
#ifndef TUTTI_TOOLS_JSON_H
#define TUTTI_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tool_json {
	FILE *file;
	int depth;
	bool more;		/* a value of this object or list came before */
};

/* `key` names the value in an object; NULL in a list and at the top. */
void tool_json_open(struct tool_json *j, const char *key, char bracket);
void tool_json_close(struct tool_json *j, char bracket);
void tool_json_text(struct tool_json *j, const char *key, const char *text);
void tool_json_int(struct tool_json *j, const char *key, int64_t n);
void tool_json_real(struct tool_json *j, const char *key, double x);
void tool_json_bool(struct tool_json *j, const char *key, bool b);
void tool_json_null(struct tool_json *j, const char *key);

#endif
