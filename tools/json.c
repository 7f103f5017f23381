/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON: see json.h.  Two blanks of indent a level, one value a line; a list of
 * plain values would be as easy to read on one line, but no tool cares.
 */
#include "config.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>

static void put_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void begin(struct tool_json *j, const char *key)
{
	if (j->more)
		putc(',', j->file);
	if (j->depth)
		fprintf(j->file, "\n%*s", 2 * j->depth, "");
	j->more = true;
	if (!key)
		return;
	put_string(j->file, key);
	fputs(": ", j->file);
}

void tool_json_open(struct tool_json *j, const char *key, char bracket)
{
	begin(j, key);
	putc(bracket, j->file);
	j->depth++;
	j->more = false;
}

void tool_json_close(struct tool_json *j, char bracket)
{
	bool empty = !j->more;

	j->depth--;
	if (!empty)
		fprintf(j->file, "\n%*s", 2 * j->depth, "");
	putc(bracket, j->file);
	if (!j->depth)
		putc('\n', j->file);
	j->more = true;
}

void tool_json_text(struct tool_json *j, const char *key, const char *text)
{
	begin(j, key);
	put_string(j->file, text);
}

void tool_json_int(struct tool_json *j, const char *key, int64_t n)
{
	begin(j, key);
	fprintf(j->file, "%" PRId64, n);
}

void tool_json_real(struct tool_json *j, const char *key, double x)
{
	if (!isfinite(x)) {
		tool_json_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->file, "%.9g", x);
}

void tool_json_bool(struct tool_json *j, const char *key, bool b)
{
	begin(j, key);
	fputs(b ? "true" : "false", j->file);
}

void tool_json_null(struct tool_json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->file);
}
