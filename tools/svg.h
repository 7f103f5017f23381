/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing SVG into a file: under a temporary name beside it, which takes the
 * file's name when all was written, so a reader never sees half a picture.
 * Coordinates are user units, one of which is a pixel by default.  Includes
 * nothing of the library.
 */
#ifndef TUTTI_TOOLS_SVG_H
#define TUTTI_TOOLS_SVG_H

#include <stdbool.h>
#include <stdio.h>

struct tool_svg {
	FILE *file;
	const char *path;
	char *temporary;
};

/* A file that is written whole or not at all; `why` gets the reason. */
bool tool_file_open(struct tool_svg *s, const char *path, char *why,
		    size_t cap);
/* Name the file, or remove it if not all could be written. */
bool tool_file_close(struct tool_svg *s, char *why, size_t cap);

/* The same with the head of a picture and its end.  `title` is what a reader
 * without eyes gets. */
bool tool_svg_open(struct tool_svg *s, const char *path, double width,
		   double height, const char *title, char *why, size_t cap);
bool tool_svg_close(struct tool_svg *s, char *why, size_t cap);

/* Any text, escaped. */
void tool_svg_escape(FILE *f, const char *text);

/* `attributes` are written as they are: class="x". */
void tool_svg_text(struct tool_svg *s, double x, double y,
		   const char *attributes, const char *text);
void tool_svg_rect(struct tool_svg *s, double x, double y, double width,
		   double height, const char *attributes, const char *tip);
void tool_svg_line(struct tool_svg *s, double x1, double y1, double x2,
		   double y2, const char *attributes);

#endif
