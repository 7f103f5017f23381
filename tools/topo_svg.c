/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology as nested boxes, once for each node that has ranks.  Sizes are
 * worked out from the inside out, places from the outside in; cores are the
 * innermost boxes, with the caches that they have for themselves as lines of
 * text.
 */
#include "config.h"

#include "topo.h"

#include "base/bits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAD		8
#define LINE		15	/* height of a line of text */
#define LEAF_WIDTH	112
#define STRIP		18	/* height of a NUMA domain, of a device */
#define NODES_MAX	16	/* that are drawn */

struct box {
	int w, h;
	int cols;		/* of the grid of children */
};

struct drawing {
	FILE *f;
	const struct topo_view *v;
	const struct tutti_topo *t;
	struct box *box;	/* of each object */
	int node;
	bool some_ranks;
};

static const char *const domain_colour[] = {
	"#4878a8", "#c0763c", "#5a9a5a", "#a85a7a", "#7a68a8", "#8a8a3a",
	"#3a9090", "#a04848",
};

static const char *colour_of(const struct tutti_topo_object *o)
{
	switch (o->kind) {
	case TUTTI_TOPO_MACHINE:
		return "#f4f4f0";
	case TUTTI_TOPO_PACKAGE:
		return "#e4e8ee";
	case TUTTI_TOPO_CACHE:
		return "#ffffff";
	case TUTTI_TOPO_CORE:
		return "#f8f8f8";
	default:
		return "#eceae2";
	}
}

/* ---- Sizes --------------------------------------------------------------- */

static int only_child(const struct tutti_topo *t, int at)
{
	int first = topo_child(t, at, -1);

	if (first < 0 || topo_child(t, at, first) >= 0)
		return -1;
	return first;
}

/* Is it a core, or something private to one, drawn as text? */
static bool is_leaf(const struct tutti_topo *t, int at)
{
	while (t->objects[at].kind == TUTTI_TOPO_CACHE &&
	       only_child(t, at) >= 0)
		at = only_child(t, at);
	return t->objects[at].kind == TUTTI_TOPO_CORE ||
	       t->objects[at].kind == TUTTI_TOPO_PU ||
	       topo_child(t, at, -1) < 0;
}

/* Lines of text in a leaf: what it is, its CPUs, its ranks. */
static int leaf_lines(const struct drawing *d, int at)
{
	int lines = 2 + d->some_ranks;

	while (d->t->objects[at].kind == TUTTI_TOPO_CACHE &&
	       only_child(d->t, at) >= 0) {
		at = only_child(d->t, at);
		lines++;
	}
	return lines;
}

static int count_children(const struct tutti_topo *t, int at)
{
	int n = 0;

	for (int c = topo_child(t, at, -1); c >= 0; c = topo_child(t, at, c))
		n++;
	return n;
}

/* Strips over the children and below them. */
static int count_strips(const struct tutti_topo *t, int at)
{
	int n = 0;

	for (int i = at + 1; i < t->nobjects && t->objects[i].parent >= at;
	     i++)
		n += t->objects[i].kind == TUTTI_TOPO_NUMA &&
		     t->objects[i].parent == at;
	for (int i = 0; i < t->ndevices; i++)
		n += t->devices[i].parent == at;
	return n;
}

/* About as wide as high, but few side by side. */
static int choose_cols(int n)
{
	int cols = 1;

	if (n <= 4)
		return n;
	while (cols * cols < n)
		cols++;
	return cols;
}

static void measure(struct drawing *d, int at)
{
	struct box *b = &d->box[at];
	int cell_w = 0, cell_h = 0, n, rows;

	if (is_leaf(d->t, at)) {
		*b = (struct box){ .w = LEAF_WIDTH,
				   .h = leaf_lines(d, at) * LINE + PAD };
		return;
	}
	n = count_children(d->t, at);
	b->cols = choose_cols(n);
	rows = (n + b->cols - 1) / b->cols;
	for (int c = topo_child(d->t, at, -1); c >= 0;
	     c = topo_child(d->t, at, c)) {
		measure(d, c);
		cell_w = tutti_max(cell_w, d->box[c].w);
		cell_h = tutti_max(cell_h, d->box[c].h);
	}
	b->w = tutti_max(b->cols * (cell_w + PAD) + PAD, 200);
	b->h = LINE + PAD + rows * (cell_h + PAD) +
	       count_strips(d->t, at) * (STRIP + 4);
}

/* ---- Drawing ------------------------------------------------------------- */

static void put_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (*text >= ' ' && *text < 0x7f)
			putc(*text, f);
		else
			putc('?', f);
	}
}

static void draw_text(struct drawing *d, int x, int y, const char *class,
		      const char *text)
{
	fprintf(d->f, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
	put_text(d->f, text);
	fputs("</text>\n", d->f);
}

static void draw_rect(struct drawing *d, int x, int y, int w, int h,
		      const char *fill, bool dashed)
{
	fprintf(d->f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
		"rx=\"3\" fill=\"%s\" stroke=\"#888\"%s/>\n", x, y, w, h, fill,
		dashed ? " stroke-dasharray=\"3 3\"" : "");
}

/* The colour of the ranks in a leaf: their domain's. */
static const char *rank_colour(const struct drawing *d,
			       const struct tutti_topo_object *o)
{
	const struct tutti_shape *shape = &d->v->seats->shape;

	for (int r = 0; r < shape->ranks; r++) {
		const struct tool_seat *s = &d->v->seats->seat[r];

		if (d->v->seats->node[r] == d->node && shape->domain &&
		    s->pu_first < o->pu_first + o->pu_count &&
		    o->pu_first < s->pu_first + s->pu_count)
			return domain_colour[(size_t)shape->domain[r] %
					     tutti_countof(domain_colour)];
	}
	return "#666666";
}

static void draw_ranks(struct drawing *d, const struct tutti_topo_object *o,
		       int x, int y)
{
	char list[24], text[32];

	if (!d->some_ranks || !tutti_topo_allowed(d->t, o->pu_first,
						  o->pu_count) ||
	    !*topo_ranks_at(d->v, d->node, o, list, sizeof(list)))
		return;
	snprintf(text, sizeof(text), "rank %s", list);
	draw_rect(d, x + 4, y, LEAF_WIDTH - 8, LINE, rank_colour(d, o), false);
	draw_text(d, x + 9, y + 11, "r", text);
}

static void draw_leaf(struct drawing *d, int at, int x, int y)
{
	const struct tutti_topo_object *o = &d->t->objects[at];
	char text[128], cpus[96];
	int dy = LINE;

	draw_rect(d, x, y, d->box[at].w, d->box[at].h, colour_of(o),
		  !tutti_topo_allowed(d->t, o->pu_first, o->pu_count));
	for (;;) {
		draw_text(d, x + 5, y + dy, "t",
			  topo_object_text(&d->t->objects[at], text,
					   sizeof(text)));
		dy += LINE;
		if (d->t->objects[at].kind != TUTTI_TOPO_CACHE ||
		    only_child(d->t, at) < 0)
			break;
		at = only_child(d->t, at);
	}
	tool_topo_cpus(d->t, o->pu_first, o->pu_count, true, cpus,
		       sizeof(cpus));
	snprintf(text, sizeof(text), "CPU %s", cpus);
	draw_text(d, x + 5, y + dy, "s", text);
	draw_ranks(d, o, x, y + dy + 4);
}

/* NUMA domains of an object; returns where to go on. */
static int draw_numa(struct drawing *d, int at, int x, int y)
{
	char text[64];

	for (int i = at + 1;
	     i < d->t->nobjects && d->t->objects[i].parent >= at; i++) {
		if (d->t->objects[i].kind != TUTTI_TOPO_NUMA ||
		    d->t->objects[i].parent != at)
			continue;
		draw_rect(d, x + PAD, y, d->box[at].w - 2 * PAD, STRIP,
			  "#d8e8d0", false);
		draw_text(d, x + PAD + 5, y + 13, "t",
			  topo_object_text(&d->t->objects[i], text,
					   sizeof(text)));
		y += STRIP + 4;
	}
	return y;
}

static void draw_devices(struct drawing *d, int at, int x, int y)
{
	char text[96];

	for (int i = 0; i < d->t->ndevices; i++) {
		const struct tutti_topo_device *dev = &d->t->devices[i];

		if (dev->parent != at)
			continue;
		snprintf(text, sizeof(text), "%s, %s, %s", dev->name,
			 dev->rdma ? "RDMA" : "network", dev->bus);
		draw_rect(d, x + PAD, y, d->box[at].w - 2 * PAD, STRIP,
			  "#f0e0b8", false);
		draw_text(d, x + PAD + 5, y + 13, "t", text);
		y += STRIP + 4;
	}
}

static void draw(struct drawing *d, int at, int x, int y)
{
	const struct tutti_topo_object *o = &d->t->objects[at];
	const struct box *b = &d->box[at];
	int k = 0, cell_w = 0, cell_h = 0, top;
	char text[64];

	if (is_leaf(d->t, at)) {
		draw_leaf(d, at, x, y);
		return;
	}
	draw_rect(d, x, y, b->w, b->h, colour_of(o), false);
	topo_object_text(o, text, sizeof(text));
	if (!at && d->v->seats->shape.nodes > 1)
		snprintf(text, sizeof(text), "Machine, node %d", d->node);
	draw_text(d, x + PAD, y + LINE, "h", text);
	top = draw_numa(d, at, x, y + LINE + PAD);
	for (int c = topo_child(d->t, at, -1); c >= 0;
	     c = topo_child(d->t, at, c)) {
		cell_w = tutti_max(cell_w, d->box[c].w);
		cell_h = tutti_max(cell_h, d->box[c].h);
	}
	for (int c = topo_child(d->t, at, -1); c >= 0;
	     c = topo_child(d->t, at, c), k++)
		draw(d, c, x + PAD + k % b->cols * (cell_w + PAD),
		     top + k / b->cols * (cell_h + PAD));
	draw_devices(d, at, x, top + (k + b->cols - 1) / b->cols *
				     (cell_h + PAD));
}

static void draw_all(struct drawing *d)
{
	const struct tutti_shape *shape = &d->v->seats->shape;
	int nodes = tutti_max(tutti_min(shape->nodes, NODES_MAX), 1);
	int w = tutti_max(d->box[0].w + 2 * PAD, 500), y = 2 * LINE;
	char text[512];

	fprintf(d->f, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%d\" height=\"%d\" font-family=\"sans-serif\">\n"
		"<style>.h{font-size:12px;font-weight:bold}.t{font-size:11px}"
		".s{font-size:11px;fill:#555}.r{font-size:11px;fill:#fff}"
		"</style>\n<rect width=\"100%%\" height=\"100%%\" "
		"fill=\"#fff\"/>\n", w,
		nodes * (d->box[0].h + PAD) + 4 * LINE);
	draw_text(d, PAD, LINE + 3, "h",
		  tool_topo_title(d->v->from, text, sizeof(text)));
	for (d->node = 0; d->node < nodes; d->node++) {
		draw(d, 0, PAD, y);
		y += d->box[0].h + PAD;
	}
	if (d->some_ranks) {
		tool_shape_text(shape, text, sizeof(text));
		draw_text(d, PAD, y + LINE, "t", text);
		snprintf(text, sizeof(text), "node 0: %s%s", d->v->seats->why,
			 shape->nodes > nodes ? "; not all nodes are drawn" :
			 "");
		draw_text(d, PAD, y + 2 * LINE, "s", text);
	}
	fputs("</svg>\n", d->f);
}

bool topo_svg(const struct topo_view *v, const char *file)
{
	struct drawing d = {
		.v = v, .t = v->topo, .some_ranks = v->seats->shape.ranks,
	};
	bool ok;

	d.box = calloc((size_t)v->topo->nobjects, sizeof(*d.box));
	d.f = d.box ? fopen(file, "we") : NULL;
	if (!d.f) {
		free(d.box);
		return false;
	}
	measure(&d, 0);
	draw_all(&d);
	ok = !ferror(d.f);
	ok = !fclose(d.f) && ok;
	free(d.box);
	return ok;
}
