/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti sim --draw`: ranks by rows, time by columns.  The verifier runs the
 * schedules, which proves them on the way, and tells what fires and which
 * messages it takes; an operation takes one step, and begins when the one
 * before it in its lane, the one it waits for and its messages are there.
 */
#include "config.h"

#include "sim.h"
#include "svg.h"

#include "base/bits.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 256
#define BOXES_MAX 100000
#define LEFT 70.0
#define TOP 64.0
#define WIDTH 1240.0		/* of the time axis, if steps are not too thin */

enum kind { NOTIFY, SEND, RECEIVE, FORWARD, REDUCE, COPY, KINDS };

static const struct {
	const char *name, *color, *help;
} kinds[KINDS] = {
	[NOTIFY] = { "notify", "#bbbbbb", "a notification" },
	[SEND] = { "send", "#56b4e9", "memory to messages" },
	[RECEIVE] = { "receive", "#009e73", "messages to memory" },
	[FORWARD] = { "forward", "#f0e442", "a message on, or memory and both" },
	[REDUCE] = { "reduce", "#e69f00", "adds several sources" },
	[COPY] = { "copy", "#cc79a7", "memory to memory" },
};

struct box {
	float start;
	uint8_t kind;
	bool final;
	uint32_t nchunks;
};

struct arrow {
	uint32_t from, to;	/* boxes */
};

struct drawing {
	struct tutti_watch watch;	/* first */
	const struct sim_args *args;
	const struct sim_query *query;
	struct tutti_sched **scheds;
	uint32_t *first;		/* box of each rank's lane */
	uint32_t nboxes, narrows, arrows_max;
	struct box *boxes;
	struct arrow *arrows;
	uint32_t lanes;
	double ready;			/* what the next firing waits for */
	double end, scale, row;		/* of time; pixels */
	bool no_memory;
};

/* ---- Time --------------------------------------------------------------- */

static uint32_t box_of(const struct drawing *d, int rank, uint32_t lane,
		       uint32_t op)
{
	return d->first[(uint32_t)rank * d->lanes + lane] + op;
}

static void add_arrow(struct drawing *d, uint32_t from, uint32_t to)
{
	if (d->narrows == d->arrows_max) {
		uint32_t max = 2 * d->arrows_max + 64;
		void *p = realloc(d->arrows, max * sizeof(*d->arrows));

		d->no_memory |= !p;
		if (!p)
			return;
		d->arrows = p;
		d->arrows_max = max;
	}
	d->arrows[d->narrows++] = (struct arrow){ from, to };
}

static void took(struct tutti_watch *w, const struct tutti_firing *f, int from,
		 uint32_t from_op)
{
	struct drawing *d = (struct drawing *)w;
	uint32_t sender = box_of(d, from, f->lane, from_op);
	double at = d->boxes[sender].start + 1 + d->args->alpha +
		    d->args->beta * f->rec->nchunks;

	d->ready = tutti_max(d->ready, at);
	add_arrow(d, sender, box_of(d, f->rank, f->lane, f->op));
}

static enum kind kind_of(const struct tutti_sched *s,
			 const struct tutti_op *op)
{
	const struct tutti_ref *refs = &s->refs[op->ref];
	bool in = false, out = false;
	uint32_t nsrc = tutti_refs_count(refs, op->nsrc);

	for (uint32_t i = 0; i < (uint32_t)op->nsrc + op->ndst; i++) {
		bool mail = refs[i].place == TUTTI_MAIL;

		in |= mail && i < op->nsrc;
		out |= mail && i >= op->nsrc;
	}
	if (!op->nchunks)
		return NOTIFY;
	if (op->kind == TUTTI_COMBINE && nsrc > 1)
		return REDUCE;
	if (in)
		return out ? FORWARD : RECEIVE;
	return out ? SEND : COPY;
}

static double end_of(const struct drawing *d, const struct tutti_firing *f,
		     uint32_t lane, int64_t op)
{
	return d->boxes[box_of(d, f->rank, lane, (uint32_t)op)].start + 1;
}

static void fired(struct tutti_watch *w, const struct tutti_firing *f)
{
	struct drawing *d = (struct drawing *)w;
	struct box *b = &d->boxes[box_of(d, f->rank, f->lane, f->op)];

	if (f->op > 0)
		d->ready = tutti_max(d->ready,
				     end_of(d, f, f->lane, f->op - 1));
	if (f->rec->wait_lane >= 0)
		d->ready = tutti_max(d->ready,
				     end_of(d, f, (uint32_t)f->rec->wait_lane,
					    f->rec->wait_op + (int64_t)f->iter *
					    f->rec->wait_iter));
	*b = (struct box){
		.start = (float)d->ready,
		.kind = (uint8_t)kind_of(d->scheds[f->rank], f->rec),
		.final = f->rec->flags & TUTTI_FINAL,
		.nchunks = f->rec->nchunks,
	};
	d->end = tutti_max(d->end, d->ready + 1);
	d->ready = 0;
}

static bool no_memory(void)
{
	sim_fault("no memory to draw");
	return false;
}

/* Room for every operation; false if there are too many, or no memory. */
static bool make_room(struct drawing *d)
{
	uint32_t ranks = (uint32_t)d->query->shape.ranks;
	uint64_t n = 0;

	for (uint32_t r = 0; r < ranks; r++)
		if (d->scheds[r])
			d->lanes = tutti_max(d->lanes, d->scheds[r]->nlanes);
	d->first = calloc((size_t)ranks * d->lanes, sizeof(*d->first));
	if (!d->first)
		return no_memory();
	for (uint32_t r = 0; r < ranks; r++)
		for (uint32_t l = 0; d->scheds[r] && l < d->scheds[r]->nlanes;
		     l++) {
			d->first[r * d->lanes + l] = (uint32_t)n;
			n += d->scheds[r]->lanes[l].nops;
		}
	if (n > BOXES_MAX) {
		sim_fault("the schedules have %llu operations; at most %d can be drawn, so take fewer ranks",
			  (unsigned long long)n, BOXES_MAX);
		return false;
	}
	d->nboxes = (uint32_t)n;
	d->boxes = calloc(n + 1, sizeof(*d->boxes));
	return d->boxes || no_memory();
}

static bool run(struct drawing *d)
{
	struct tutti_verify_args args = { .watch = &d->watch };
	struct tutti_verify_report rep;

	if (!make_room(d))
		return false;
	d->watch = (struct tutti_watch){ .took = took, .fired = fired };
	if (tutti_sched_verify(d->scheds, d->query->shape.ranks, &args,
			       &rep)) {
		sim_fault("%s", rep.why);
		return false;
	}
	return !d->no_memory || no_memory();
}

/* ---- The picture -------------------------------------------------------- */

static double x_at(const struct drawing *d, double t)
{
	return LEFT + t * d->scale;
}

static double height_of(const struct drawing *d)
{
	return d->row * 0.62 / d->lanes;
}

static double y_at(const struct drawing *d, int rank, uint32_t lane)
{
	return TOP + rank * d->row + d->row * 0.19 + lane * height_of(d);
}

/* The row and lane of a box. */
static void place_of(const struct drawing *d, uint32_t box, int *rank,
		     uint32_t *lane)
{
	uint32_t lo = 0, hi = (uint32_t)d->query->shape.ranks * d->lanes - 1;

	while (lo < hi) {
		uint32_t mid = (lo + hi + 1) / 2;

		if (d->first[mid] <= box)
			lo = mid;
		else
			hi = mid - 1;
	}
	*rank = (int)(lo / d->lanes);
	*lane = lo % d->lanes;
}

static void draw_style(struct tool_svg *s, const struct drawing *d)
{
	fprintf(s->file, "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" "
		"refX=\"7\" refY=\"4\" markerWidth=\"%d\" markerHeight=\"%d\" "
		"orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#444\"/>"
		"</marker></defs>\n", d->narrows > 1000 ? 3 : 6,
		d->narrows > 1000 ? 3 : 6);
}

static void draw_rows(struct tool_svg *s, const struct drawing *d)
{
	int ranks = d->query->shape.ranks;
	double bottom = TOP + ranks * d->row, right = x_at(d, d->end);
	int every = d->scale >= 18 ? 1 : d->scale >= 6 ? 5 : 20;
	char text[32];

	for (int t = 0; t <= (int)(d->end + 0.5); t++) {
		double x = x_at(d, t);

		tool_svg_line(s, x, TOP, x, bottom, t % every ?
			      "stroke=\"#f4f4f4\"" : "stroke=\"#e4e4e4\"");
		if (t % every)
			continue;
		snprintf(text, sizeof(text), "%d", t);
		tool_svg_text(s, x, TOP - 6, "text-anchor=\"middle\" "
			      "font-size=\"10\" fill=\"#666\"", text);
	}
	for (int r = 0; r < ranks; r++) {
		const struct tutti_shape *shape = &d->query->shape;

		if (shape->node && shape->node[r] % 2)
			tool_svg_rect(s, 0, TOP + r * d->row, right, d->row,
				      "fill=\"#000\" fill-opacity=\"0.04\"",
				      NULL);
		snprintf(text, sizeof(text), "rank %d", r);
		tool_svg_text(s, LEFT - 8, TOP + (r + 0.5) * d->row + 4,
			      d->row < 14 ? "text-anchor=\"end\" "
			      "font-size=\"9\"" : "text-anchor=\"end\"", text);
	}
}

static void draw_boxes(struct tool_svg *s, const struct drawing *d)
{
	uint32_t box = 0;
	char attributes[128], tip[128];

	for (uint32_t i = 0; i < (uint32_t)d->query->shape.ranks * d->lanes;
	     i++) {
		const struct tutti_sched *sched = d->scheds[i / d->lanes];
		uint32_t lane = i % d->lanes;
		uint32_t nops = sched && lane < sched->nlanes ?
				sched->lanes[lane].nops : 0;

		for (uint32_t op = 0; op < nops; op++, box++) {
			const struct box *b = &d->boxes[box];
			double x = x_at(d, b->start), w = d->scale;

			snprintf(attributes, sizeof(attributes),
				 "fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"",
				 kinds[b->kind].color,
				 b->final ? "#000" : "#777",
				 b->final ? "1.6" : "0.5");
			snprintf(tip, sizeof(tip),
				 "rank %u, lane %u, operation %u: %s%s, %u chunk%s",
				 i / d->lanes, lane, op, kinds[b->kind].name,
				 b->final ? " (final)" : "", b->nchunks,
				 b->nchunks == 1 ? "" : "s");
			tool_svg_rect(s, x + 0.06 * w,
				      y_at(d, (int)(i / d->lanes), lane),
				      0.88 * w, height_of(d) - 1, attributes,
				      tip);
		}
	}
}

static void draw_labels(struct tool_svg *s, const struct drawing *d)
{
	if (d->scale < 46 || height_of(d) < 13)
		return;
	for (uint32_t box = 0; box < d->nboxes; box++) {
		const struct box *b = &d->boxes[box];
		uint32_t lane;
		int rank;

		place_of(d, box, &rank, &lane);
		tool_svg_text(s, x_at(d, b->start + 0.5),
			      y_at(d, rank, lane) + height_of(d) / 2 + 3,
			      "text-anchor=\"middle\" font-size=\"10\"",
			      kinds[b->kind].name);
	}
}

static void draw_arrows(struct tool_svg *s, const struct drawing *d)
{
	fprintf(s->file, "<g stroke=\"#444\" stroke-width=\"%s\" "
		"stroke-opacity=\"%s\">\n", d->narrows > 1000 ? "0.5" : "1",
		d->narrows > 1000 ? "0.35" : "0.8");
	for (uint32_t i = 0; i < d->narrows; i++) {
		const struct arrow *a = &d->arrows[i];
		double half = height_of(d) / 2;
		uint32_t lane, to_lane;
		int from, to;

		place_of(d, a->from, &from, &lane);
		place_of(d, a->to, &to, &to_lane);
		tool_svg_line(s, x_at(d, d->boxes[a->from].start + 0.94),
			      y_at(d, from, lane) + half,
			      x_at(d, d->boxes[a->to].start + 0.06),
			      y_at(d, to, to_lane) + half,
			      "marker-end=\"url(#head)\"");
	}
	fputs("</g>\n", s->file);
}

static void draw_legend(struct tool_svg *s, const struct drawing *d,
			double y)
{
	double x = LEFT;
	char attributes[64], text[96];

	for (int k = 0; k < KINDS; k++) {
		snprintf(attributes, sizeof(attributes),
			 "fill=\"%s\" stroke=\"#777\" stroke-width=\"0.5\"",
			 kinds[k].color);
		tool_svg_rect(s, x, y - 10, 14, 11, attributes, NULL);
		tool_svg_text(s, x + 19, y, "font-size=\"11\"",
			      kinds[k].name);
		x += 30 + 6.5 * (double)strlen(kinds[k].name);
	}
	tool_svg_rect(s, x, y - 10, 14, 11, "fill=\"#fff\" stroke=\"#000\" "
		      "stroke-width=\"1.6\"", NULL);
	tool_svg_text(s, x + 19, y, "font-size=\"11\"", "final");
	x += 62;
	tool_svg_line(s, x, y - 4, x + 24, y - 4, "stroke=\"#444\" "
		      "marker-end=\"url(#head)\"");
	snprintf(text, sizeof(text), "message: %g step%s%s",
		 d->args->alpha, d->args->alpha == 1 ? "" : "s",
		 d->args->beta > 0 ? ", and more by its chunks" : "");
	tool_svg_text(s, x + 30, y, "font-size=\"11\"", text);
}

static bool picture(struct drawing *d, char *why, size_t cap)
{
	const struct sim_query *q = d->query;
	double width, bottom;
	char title[160];
	struct tool_svg s;

	d->row = q->shape.ranks <= 16 ? 34 : q->shape.ranks <= 64 ? 14 : 10;
	d->scale = tutti_min(64.0, tutti_max(3.0, WIDTH /
					     tutti_max(1.0, d->end)));
	bottom = TOP + q->shape.ranks * d->row;
	width = tutti_max(780.0, x_at(d, d->end) + 30);
	snprintf(title, sizeof(title), "%s by \"%s\": %d ranks on %d node%s, %s",
		 tutti_coll_name(q->q.coll), q->entry->name, q->shape.ranks,
		 q->shape.nodes, q->shape.nodes == 1 ? "" : "s",
		 q->q.mapped ? "mapped" : "mail");
	if (tutti_coll_rooted(q->q.coll))
		snprintf(title + strlen(title), sizeof(title) - strlen(title),
			 ", root %d", q->q.root);
	if (!tool_svg_open(&s, d->args->svg, width, bottom + 44, title, why,
			   cap))
		return false;
	draw_style(&s, d);
	tool_svg_text(&s, LEFT, 24, "font-size=\"15\"", title);
	tool_svg_text(&s, LEFT, 42, "font-size=\"11\" fill=\"#666\"",
		      "steps, an operation takes one");
	draw_rows(&s, d);
	draw_boxes(&s, d);
	draw_labels(&s, d);
	draw_arrows(&s, d);
	draw_legend(&s, d, bottom + 28);
	return tool_svg_close(&s, why, cap);
}

int sim_draw(const struct sim_args *args)
{
	struct sim_query query;
	struct drawing d = { .args = args, .query = &query, .lanes = 1 };
	char why[512] = "";
	bool ok;

	if (args->ranks_min > RANKS_MAX)
		return sim_fault("at most %d ranks can be drawn", RANKS_MAX);
	if (!sim_query_init(&query, args))
		return 1;
	if (tutti_scheds_build(&d.scheds, query.entry->algo, &query.q)) {
		sim_fault("the schedules cannot be built: %s",
			  tutti_fail_text());
		sim_query_fini(&query);
		return 1;
	}
	ok = run(&d) && picture(&d, why, sizeof(why));
	if (*why)
		sim_fault("%s", why);
	tutti_scheds_free(d.scheds, query.shape.ranks);
	sim_query_fini(&query);
	free(d.first);
	free(d.boxes);
	free(d.arrows);
	return ok ? 0 : 1;
}
