/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine asked about, seats of ranks on it, and the words for it: see
 * seats.h. */
#include "config.h"

#include "placement.h"
#include "seats.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tool_asked_take(const struct tool_args *a, int opt, struct tool_asked *q,
		     bool *mine)
{
	const char *name = a->options[opt].name;
	int64_t n = 0;
	bool ok = true;

	*mine = true;
	if (!strcmp(name, "xml")) {
		q->from.xml = a->value;
	} else if (!strcmp(name, "synthetic")) {
		q->from.synthetic = a->value;
	} else if (!strcmp(name, "nodes")) {
		q->nodes = a->value;
	} else if (!strcmp(name, "ranks")) {
		ok = tool_int(a, 1, q->ranks_max, &n);
		q->ranks = (int)n;
	} else {
		*mine = false;
	}
	return ok;
}

bool tool_asked_check(const struct tool_args *a, const struct tool_asked *q)
{
	if (!q->from.xml || !q->from.synthetic)
		return true;
	tool_usage(a, "--xml and --synthetic name two machines; give one");
	return false;
}

struct tutti_topo *tool_asked_load(const struct tool_args *a,
				   struct tool_asked *q)
{
	bool named = q->from.xml || q->from.synthetic;
	bool devices = q->from.devices;
	struct tutti_topo *t;

	if (!named)
		q->from = tutti_topo_wanted();
	q->from.devices = devices;
	t = tutti_topo_load(&q->from);
	if (t && !(named && t->flat))
		return t;
	fprintf(stderr, "%s: %s\n", a->tool,
		t ? t->reason : "there is no memory for the machine");
	tutti_topo_free(t);
	return NULL;
}

static int local_count(const struct tool_seats *s, int rank)
{
	int n = 0;

	for (int r = 0; r < s->shape.ranks; r++)
		n += s->node[r] == s->node[rank];
	return n;
}

static bool group(struct tool_seats *s)
{
	size_t n = (size_t)s->shape.ranks;
	struct tutti_topo_place *places = calloc(n, sizeof(*places));
	int domains = -1;

	for (size_t r = 0; places && r < n; r++)
		places[r] = s->seat[r].place;
	if (places)
		domains = tutti_topo_group(places, s->node, s->shape.ranks, 0,
					   s->domain, s->why, sizeof(s->why));
	free(places);
	if (domains > 0) {
		s->shape.domains = domains;
		s->shape.domain = s->domain;
	}
	return domains >= 0;
}

static bool seat(struct tool_seats *s, const struct tutti_topo *t,
		 const char *nodes, char *why, size_t cap)
{
	int ranks = s->shape.ranks;

	if (nodes && !tool_placement_parse(nodes, ranks, s->node, why, cap))
		return false;
	for (int r = 0; r < ranks; r++) {
		struct tool_seat *seat = &s->seat[r];

		if (s->node[r] >= s->shape.nodes)
			s->shape.nodes = s->node[r] + 1;
		seat->place = tutti_topo_seat(t, tool_placement_local(s->node,
								      r),
					      local_count(s, r),
					      &seat->pu_first,
					      &seat->pu_count);
	}
	s->shape.node = s->shape.nodes > 1 ? s->node : NULL;
	return group(s);
}

int tool_seats_make(struct tool_seats *s, const struct tool_args *a,
		    const struct tool_asked *q, const struct tutti_topo *t)
{
	char why[160] = "but there is no memory for it";
	size_t n = (size_t)q->ranks;

	*s = (struct tool_seats){
		.shape = { .ranks = q->ranks, .nodes = 1 },
		.seat = calloc(n, sizeof(*s->seat)),
		.node = calloc(n, sizeof(*s->node)),
		.domain = calloc(n, sizeof(*s->domain)),
	};
	if (s->seat && s->node && s->domain &&
	    seat(s, t, q->nodes, why, sizeof(why)))
		return 0;
	return tool_usage(a, "--nodes is \"%s\", %s",
			  q->nodes ? q->nodes : "", why);
}

void tool_seats_free(struct tool_seats *s)
{
	free(s->seat);
	free(s->node);
	free(s->domain);
	*s = (struct tool_seats){ 0 };
}

const char *tool_topo_title(const struct tutti_topo_from *from, char *out,
			    size_t cap)
{
	if (from->xml)
		snprintf(out, cap, "%s", from->xml);
	else if (from->synthetic)
		snprintf(out, cap, "the synthetic machine \"%s\"",
			 from->synthetic);
	else
		snprintf(out, cap, "this machine, %s", tutti_host_name());
	return out;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Sorted numbers as ranges. */
static void print_ranges(const int *list, int n, char *out, size_t cap)
{
	size_t used = 0;

	for (int i = 0; i < n; ) {
		int to = i;

		while (to + 1 < n && list[to + 1] == list[to] + 1)
			to++;
		used += (size_t)snprintf(out + used, cap - used, "%s%d",
					 used ? "," : "", list[i]);
		if (to > i && used < cap)
			used += (size_t)snprintf(out + used, cap - used,
						 "%c%d", to > i + 1 ? '-' :
						 ',', list[to]);
		if (used >= cap)
			return;
		i = to + 1;
	}
}

const char *tool_topo_cpus(const struct tutti_topo *t, int first, int count,
			   bool all, char *out, size_t cap)
{
	int *list = malloc((size_t)(count + 1) * sizeof(*list));
	int n = 0;

	snprintf(out, cap, "none");
	for (int i = first; list && i < first + count; i++)
		if (all || t->pus[i].allowed)
			list[n++] = t->pus[i].os_number;
	if (!n) {
		free(list);
		return out;
	}
	qsort(list, (size_t)n, sizeof(*list), by_number);
	print_ranges(list, n, out, cap);
	free(list);
	return out;
}

const char *tool_shape_text(const struct tutti_shape *shape, char *out,
			    size_t cap)
{
	int used = snprintf(out, cap, "%d rank%s on %d node%s", shape->ranks,
			    shape->ranks == 1 ? "" : "s", shape->nodes,
			    shape->nodes == 1 ? "" : "s");

	if (shape->domain)
		snprintf(out + used, cap - (size_t)used, " in %d domains",
			 shape->domains);
	return out;
}
