/* SPDX-License-Identifier: BSD-3-Clause */
/* See svg.h. */
#include "config.h"

#include "svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(struct tool_svg *s, char *why, size_t cap)
{
	snprintf(why, cap, "cannot write %s: %s", s->path, strerror(errno));
	if (s->file)
		fclose(s->file);
	if (s->temporary)
		unlink(s->temporary);
	free(s->temporary);
	*s = (struct tool_svg){ 0 };
	return false;
}

/* A device or a pipe is written to as it is. */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

bool tool_file_open(struct tool_svg *s, const char *path, char *why,
		    size_t cap)
{
	mode_t mask;
	int fd;

	*s = (struct tool_svg){ .path = path };
	if (is_special(path)) {
		s->file = fopen(path, "w");
		return s->file || fail(s, why, cap);
	}
	if (asprintf(&s->temporary, "%s.XXXXXX", path) < 0) {
		s->temporary = NULL;
		return fail(s, why, cap);
	}
	fd = mkstemp(s->temporary);
	if (fd < 0) {
		free(s->temporary);
		s->temporary = NULL;
		return fail(s, why, cap);
	}
	/* As any new file, not for its owner only. */
	mask = umask(0);
	umask(mask);
	if (!fchmod(fd, 0666 & ~mask))
		s->file = fdopen(fd, "w");
	if (s->file)
		return true;
	fail(s, why, cap);
	close(fd);
	return false;
}

bool tool_file_close(struct tool_svg *s, char *why, size_t cap)
{
	FILE *f = s->file;

	if (fflush(f) || ferror(f))
		return fail(s, why, cap);
	s->file = NULL;
	if (fclose(f))
		return fail(s, why, cap);
	if (s->temporary && rename(s->temporary, s->path))
		return fail(s, why, cap);
	free(s->temporary);
	*s = (struct tool_svg){ 0 };
	return true;
}

void tool_svg_escape(FILE *f, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		switch (c) {
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '&': fputs("&amp;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\'': fputs("&#39;", f); break;
		/* Control characters may not stand in XML at all, and bytes
		 * of another encoding would spoil the file. */
		default: putc(c < 32 || c > 126 ? '?' : c, f);
		}
	}
}

bool tool_svg_open(struct tool_svg *s, const char *path, double width,
		   double height, const char *title, char *why, size_t cap)
{
	if (!tool_file_open(s, path, why, cap))
		return false;
	fprintf(s->file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" "
		"height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\" "
		"font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
		"font-size=\"12\">\n<title>", width, height, width, height);
	tool_svg_escape(s->file, title);
	fprintf(s->file, "</title>\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n");
	return true;
}

bool tool_svg_close(struct tool_svg *s, char *why, size_t cap)
{
	fputs("</svg>\n", s->file);
	return tool_file_close(s, why, cap);
}

void tool_svg_text(struct tool_svg *s, double x, double y,
		   const char *attributes, const char *text)
{
	fprintf(s->file, "<text x=\"%.4g\" y=\"%.4g\" %s>", x, y, attributes);
	tool_svg_escape(s->file, text);
	fputs("</text>\n", s->file);
}

void tool_svg_rect(struct tool_svg *s, double x, double y, double width,
		   double height, const char *attributes, const char *tip)
{
	fprintf(s->file, "<rect x=\"%.5g\" y=\"%.5g\" width=\"%.4g\" "
		"height=\"%.4g\" %s", x, y, width, height, attributes);
	if (!tip) {
		fputs("/>\n", s->file);
		return;
	}
	fputs("><title>", s->file);
	tool_svg_escape(s->file, tip);
	fputs("</title></rect>\n", s->file);
}

void tool_svg_line(struct tool_svg *s, double x1, double y1, double x2,
		   double y2, const char *attributes)
{
	fprintf(s->file, "<line x1=\"%.5g\" y1=\"%.5g\" x2=\"%.5g\" "
		"y2=\"%.5g\" %s/>\n", x1, y1, x2, y2, attributes);
}
