/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti sim --curve`: all-reduce of one rank a node, for every rank count: the
 * steps and bytes that an algorithm's file states, over the lower bounds of an
 * all-reduce that moves least, 2 ceil(lg p) steps and 2 (p - 1) / p blocks by
 * the busiest rank.  That schedules keep to what the files state is what
 * --verify proves.
 */
#include "config.h"

#include "json.h"
#include "sim.h"
#include "svg.h"

#include "base/bits.h"
#include "sched/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 6
#define DEFAULT "circulant,rabenseifner,ring"
#define WIDTH 900.0
#define PANEL 300.0
#define LEFT 64.0
#define RIGHT 24.0
#define TOP 56.0
#define GAP 80.0

static const char *const colors[LINES_MAX] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
};

struct point {
	float steps, bytes;	/* over the bound; 0: does not serve */
};

struct line {
	const struct tutti_algo_entry *entry;
	struct point *points;	/* by rank count - ranks_min */
	struct point most;
	int most_steps_at, most_bytes_at;
};

struct curve {
	const struct sim_args *args;
	struct line lines[LINES_MAX];
	int nlines;
	double bottom[2], top[2];	/* of the axes */
};

/* ---- Numbers ------------------------------------------------------------ */

static struct point point_of(const struct tutti_algo *algo, int ranks)
{
	struct tutti_shape shape = { .ranks = ranks, .nodes = ranks };
	struct tutti_query q = { .coll = TUTTI_ALL_REDUCE, .shape = &shape };
	struct point p = { 0 };
	struct tutti_sched *s;
	struct tutti_cost c;

	if (!algo->serves(&q) || tutti_sched_build(&s, algo, &q))
		return p;
	c = algo->cost(&q);
	p.steps = (float)(c.steps /
			  (2.0 * tutti_log2_ceil((uint32_t)ranks)));
	p.bytes = (float)((double)c.chunks_sent / s->pieces /
			  (2.0 * (ranks - 1) / ranks));
	tutti_sched_free(s);
	return p;
}

static bool measure(struct line *l, int min, int max)
{
	l->points = calloc((size_t)(max - min) + 1, sizeof(*l->points));
	if (!l->points)
		return false;
	for (int n = min; n <= max; n++) {
		struct point p = point_of(l->entry->algo, n);

		l->points[n - min] = p;
		if (p.steps > l->most.steps) {
			l->most.steps = p.steps;
			l->most_steps_at = n;
		}
		if (p.bytes > l->most.bytes) {
			l->most.bytes = p.bytes;
			l->most_bytes_at = n;
		}
	}
	return true;
}

/* The algorithms of a list with commas; names that do not exist are an error
 * unless the list is the default one. */
static bool find_lines(struct curve *c, const char *names, bool strict)
{
	char name[64];

	while (*names) {
		size_t len = strcspn(names, ",");
		const struct tutti_algo_entry *e;

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		e = tutti_algo_find(TUTTI_ALL_REDUCE, name);
		names += len + (names[len] == ',');
		if (!e && !strict)
			continue;
		if (!e) {
			sim_fault("all_reduce has no algorithm \"%s\"; `tutti info --algorithms` lists all",
				  name);
			return false;
		}
		if (c->nlines == LINES_MAX) {
			sim_fault("--curve draws at most %d algorithms",
				  LINES_MAX);
			return false;
		}
		c->lines[c->nlines++].entry = e;
	}
	return c->nlines > 0;
}

/* ---- The picture -------------------------------------------------------- */

static double value(struct point p, int panel)
{
	return panel ? p.bytes : p.steps;
}

static double x_of(const struct curve *c, double n)
{
	double from = log(c->args->ranks_min), to = log(c->args->ranks_max);

	return LEFT + (to > from ? (log(n) - from) / (to - from) : 0.5) *
		      (WIDTH - LEFT - RIGHT);
}

static double panel_top(int panel)
{
	return TOP + panel * (PANEL + GAP);
}

static double y_of(const struct curve *c, int panel, double v)
{
	double at = (v - c->bottom[panel]) / (c->top[panel] - c->bottom[panel]);

	return panel_top(panel) + PANEL * (1 - at);
}

static double least(const struct curve *c, const struct line *l, int panel)
{
	double v = 1;

	for (int i = 0; i <= c->args->ranks_max - c->args->ranks_min; i++)
		if (l->points[i].steps > 0)
			v = fmin(v, value(l->points[i], panel));
	return v;
}

/* The axis ends above the lines that stay below four times the bound, so that
 * a ring's steps, which leave every paper, do not flatten the others. */
static void find_range(struct curve *c)
{
	for (int panel = 0; panel < 2; panel++) {
		double top = 1.05, bottom = 1;

		for (int i = 0; i < c->nlines; i++) {
			double most = value(c->lines[i].most, panel);

			if (most <= 4)
				top = fmax(top, most);
			bottom = fmin(bottom, least(c, &c->lines[i], panel));
		}
		c->top[panel] = 1 + (top - 1) * 1.15;
		c->bottom[panel] = bottom;
	}
}

/* 1, 2 or 5 times a power of ten, with at most eight lines. */
static double step_of(double range)
{
	static const double factors[] = { 1, 2, 5 };
	double step = 0.001;

	for (int i = 0; range / step > 8; i++)
		step = 0.001 * factors[i % 3] * pow(10, i / 3);
	return step;
}

static void draw_axes(const struct curve *c, struct tool_svg *s, int panel)
{
	double y0 = panel_top(panel), step;
	double v = c->bottom[panel];
	char text[32];

	step = step_of(c->top[panel] - v);
	tool_svg_text(s, LEFT, y0 - 10, "font-weight=\"bold\"",
		      panel ? "Bytes of the busiest rank over 2 (p - 1) / p blocks" :
			      "Steps over 2 ceil(lg p)");
	for (v = ceil(v / step - 1e-6) * step; v <= c->top[panel] + 1e-9;
	     v += step) {
		double y = y_of(c, panel, v);

		tool_svg_line(s, LEFT, y, WIDTH - RIGHT, y,
			      "stroke=\"#ddd\"");
		snprintf(text, sizeof(text), "%.3g", v);
		tool_svg_text(s, LEFT - 6, y + 4, "text-anchor=\"end\"", text);
	}
	for (int n = 2; n <= c->args->ranks_max; n *= 2) {
		double x = x_of(c, n);

		if (n < c->args->ranks_min)
			continue;
		tool_svg_line(s, x, y0, x, y0 + PANEL, "stroke=\"#eee\"");
		snprintf(text, sizeof(text), "%d", n);
		tool_svg_text(s, x, y0 + PANEL + 16, "text-anchor=\"middle\"",
			      text);
	}
	tool_svg_text(s, WIDTH - RIGHT, y0 + PANEL + 32,
		      "text-anchor=\"end\"", "ranks p");
}

/* Points above the axis are left out; the line begins anew behind them. */
static void draw_line(const struct curve *c, struct tool_svg *s, int panel,
		      int index)
{
	const struct line *l = &c->lines[index];
	int min = c->args->ranks_min, max = c->args->ranks_max;
	bool pen = false;

	fprintf(s->file, "<path fill=\"none\" stroke=\"%s\" "
		"stroke-width=\"%s\" d=\"", colors[index],
		index ? "1.2" : "2");
	for (int n = min; n <= max; n++) {
		double v = value(l->points[n - min], panel);
		bool inside = v > 0 && v <= c->top[panel];

		if (inside)
			fprintf(s->file, "%c%.1f %.1f", pen ? 'L' : 'M',
				x_of(c, n), y_of(c, panel, v));
		pen = inside;
	}
	fprintf(s->file, "\"/>\n");
}

static void draw_legend(const struct curve *c, struct tool_svg *s, int panel)
{
	double y = panel_top(panel) + PANEL + 32, x = LEFT;
	char text[96];

	for (int i = 0; i < c->nlines; i++) {
		const struct line *l = &c->lines[i];
		double most = value(l->most, panel);
		char color[64];

		snprintf(color, sizeof(color), "fill=\"%s\"", colors[i]);
		tool_svg_rect(s, x, y - 9, 14, 8, color, NULL);
		snprintf(text, sizeof(text), "%s: at most %.4g, at %d%s",
			 l->entry->name, most,
			 panel ? l->most_bytes_at : l->most_steps_at,
			 most > c->top[panel] ? " (beyond)" : "");
		tool_svg_text(s, x + 18, y, "", text);
		x += 26 + 6.4 * (double)strlen(text);
	}
}

static bool draw(const struct curve *c, char *why, size_t cap)
{
	char title[128];
	struct tool_svg s;

	snprintf(title, sizeof(title), "all_reduce, %d to %d ranks: steps and bytes over the lower bound",
		 c->args->ranks_min, c->args->ranks_max);
	if (!tool_svg_open(&s, c->args->svg, WIDTH,
			   panel_top(1) + PANEL + 48, title, why, cap))
		return false;
	tool_svg_text(&s, LEFT, 24, "font-size=\"15\"", title);
	for (int panel = 0; panel < 2; panel++) {
		draw_axes(c, &s, panel);
		for (int i = c->nlines - 1; i >= 0; i--)
			draw_line(c, &s, panel, i);
		draw_legend(c, &s, panel);
	}
	return tool_svg_close(&s, why, cap);
}

/* ---- The numbers as text ------------------------------------------------ */

static bool write_csv(const struct curve *c, char *why, size_t cap)
{
	struct tool_svg s;

	if (!tool_file_open(&s, c->args->csv, why, cap))
		return false;
	fprintf(s.file, "ranks");
	for (int i = 0; i < c->nlines; i++)
		fprintf(s.file, ",%s_steps,%s_bytes", c->lines[i].entry->name,
			c->lines[i].entry->name);
	fputc('\n', s.file);
	for (int n = c->args->ranks_min; n <= c->args->ranks_max; n++) {
		fprintf(s.file, "%d", n);
		for (int i = 0; i < c->nlines; i++) {
			struct point p = c->lines[i].points[
					 n - c->args->ranks_min];

			if (p.steps > 0)
				fprintf(s.file, ",%.6g,%.6g", p.steps,
					p.bytes);
			else
				fputs(",,", s.file);
		}
		fputc('\n', s.file);
	}
	return tool_file_close(&s, why, cap);
}

static void print_text(const struct curve *c)
{
	printf("all_reduce, %d to %d ranks, over 2 ceil(lg p) steps and 2 (p - 1) / p blocks:\n\n%-14s %12s %8s %12s %8s\n",
	       c->args->ranks_min, c->args->ranks_max, "algorithm",
	       "steps, most", "at", "bytes, most", "at");
	for (int i = 0; i < c->nlines; i++) {
		const struct line *l = &c->lines[i];

		printf("%-14s %12.4f %8d %12.4f %8d\n", l->entry->name,
		       l->most.steps, l->most_steps_at, l->most.bytes,
		       l->most_bytes_at);
	}
}

static void print_json(const struct curve *c)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "op", "all_reduce");
	tool_json_int(&j, "ranks_min", c->args->ranks_min);
	tool_json_int(&j, "ranks_max", c->args->ranks_max);
	tool_json_open(&j, "algorithms", '[');
	for (int i = 0; i < c->nlines; i++) {
		const struct line *l = &c->lines[i];

		tool_json_open(&j, NULL, '{');
		tool_json_text(&j, "algo", l->entry->name);
		tool_json_real(&j, "steps_most", l->most.steps);
		tool_json_int(&j, "steps_most_at", l->most_steps_at);
		tool_json_real(&j, "bytes_most", l->most.bytes);
		tool_json_int(&j, "bytes_most_at", l->most_bytes_at);
		tool_json_close(&j, '}');
	}
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}

int sim_curve(const struct sim_args *args)
{
	struct curve c = { .args = args };
	bool ok = find_lines(&c, args->algo ? args->algo : DEFAULT,
			     args->algo);
	char why[512] = "";

	for (int i = 0; ok && i < c.nlines; i++)
		if (!measure(&c.lines[i], args->ranks_min, args->ranks_max))
			ok = !sim_fault("no memory for %d points",
					args->ranks_max);
	if (ok) {
		find_range(&c);
		ok = draw(&c, why, sizeof(why)) &&
		     (!args->csv || write_csv(&c, why, sizeof(why)));
	}
	if (*why)
		sim_fault("%s", why);
	if (ok && args->json)
		print_json(&c);
	else if (ok)
		print_text(&c);
	for (int i = 0; i < c.nlines; i++)
		free(c.lines[i].points);
	return ok ? 0 : 1;
}
