/* SPDX-License-Identifier: BSD-3-Clause */
/* A topology as text and as JSON. */
#include "config.h"

#include "json.h"
#include "machine.h"
#include "topo.h"

#include "base/bits.h"

#include <stdio.h>
#include <string.h>

static const char *kind_text(const struct tutti_topo_object *o, char *out,
			     size_t cap)
{
	static const char *const names[] = {
		[TUTTI_TOPO_MACHINE] = "Machine",
		[TUTTI_TOPO_PACKAGE] = "Package",
		[TUTTI_TOPO_DIE] = "Die",
		[TUTTI_TOPO_GROUP] = "Group",
		[TUTTI_TOPO_NUMA] = "NUMA domain",
		[TUTTI_TOPO_CORE] = "Core",
		[TUTTI_TOPO_PU] = "CPU",
	};

	if (o->kind == TUTTI_TOPO_CACHE)
		snprintf(out, cap, "L%d", o->level);
	else if (o->kind == TUTTI_TOPO_GROUP && *o->name)
		snprintf(out, cap, "%s", o->name);
	else
		snprintf(out, cap, "%s", names[o->kind]);
	return out;
}

const char *topo_object_text(const struct tutti_topo_object *o, char *out,
			     size_t cap)
{
	char kind[32], bytes[32];

	kind_text(o, kind, sizeof(kind));
	if (o->kind == TUTTI_TOPO_MACHINE)
		snprintf(out, cap, "%s", kind);
	else if (o->bytes)
		snprintf(out, cap, "%s %d, %s", kind, o->number,
			 tool_amount(bytes, sizeof(bytes), o->bytes));
	else
		snprintf(out, cap, "%s %d", kind, o->number);
	return out;
}

int topo_child(const struct tutti_topo *t, int parent, int child)
{
	int i = tutti_max(parent, child) + 1;

	/* What lies in an object follows it; then come parents before it. */
	for (; i < t->nobjects && t->objects[i].parent >= parent; i++)
		if (t->objects[i].parent == parent &&
		    t->objects[i].kind != TUTTI_TOPO_NUMA)
			return i;
	return -1;
}

const char *topo_ranks_at(const struct topo_view *v, int node,
			  const struct tutti_topo_object *o, char *out,
			  size_t cap)
{
	const struct tutti_shape *shape = &v->seats->shape;
	size_t used = 0;

	out[0] = 0;
	for (int r = 0; r < shape->ranks && used + 12 < cap; r++) {
		const struct tool_seat *s = &v->seats->seat[r];

		if (v->seats->node[r] == node &&
		    s->pu_first < o->pu_first + o->pu_count &&
		    o->pu_first < s->pu_first + s->pu_count)
			used += (size_t)snprintf(out + used, cap - used,
						 "%s%d", used ? "," : "", r);
	}
	return out;
}

/* ---- Text ---------------------------------------------------------------- */

static void count_text(const struct tutti_topo *t, enum tutti_topo_kind kind,
		       int level, const char *one, const char *many)
{
	int n = tutti_topo_count(t, kind, level);

	if (n)
		printf("%d %s, ", n, n == 1 ? one : many);
}

static void text_counts(const struct tutti_topo *t)
{
	char name[48], names[48];
	int n = tutti_topo_allowed(t, 0, t->npus);

	printf("  usable    ");
	count_text(t, TUTTI_TOPO_PACKAGE, 0, "package", "packages");
	count_text(t, TUTTI_TOPO_DIE, 0, "die", "dies");
	count_text(t, TUTTI_TOPO_NUMA, 0, "NUMA domain", "NUMA domains");
	snprintf(name, sizeof(name), "L%d cache", t->llc_level);
	snprintf(names, sizeof(names), "L%d caches", t->llc_level);
	if (t->llc_level)
		count_text(t, TUTTI_TOPO_CACHE, t->llc_level, name, names);
	count_text(t, TUTTI_TOPO_CORE, 0, "core", "cores");
	printf("%d CPU%s\n", n, n == 1 ? "" : "s");
}

static void text_restriction(const struct tutti_topo *t)
{
	int n = tutti_topo_allowed(t, 0, t->npus);
	char cpus[512];

	tool_topo_cpus(t, 0, t->npus, false, cpus, sizeof(cpus));
	if (n == t->npus)
		printf("  allowed   all CPUs\n");
	else
		printf("  allowed   %d of %d CPUs, %s: %s\n", n, t->npus,
		       !t->live ? "as the description has it" :
		       t->bound ? "by affinity" : "by the control group",
		       cpus);
}

/* Objects that hold nothing but the next one share a line. */
static int text_chain(const struct topo_view *v, int at)
{
	const struct tutti_topo *t = v->topo;
	char text[64];

	for (;;) {
		int first = topo_child(t, at, -1);

		printf("%s", topo_object_text(&t->objects[at], text,
					      sizeof(text)));
		if (t->objects[at].kind == TUTTI_TOPO_CORE || first < 0 ||
		    topo_child(t, at, first) >= 0 || !at ||
		    t->objects[first].kind == TUTTI_TOPO_PU)
			return at;
		printf(" + ");
		at = first;
	}
}

static void text_numa(const struct tutti_topo *t, int at, int indent)
{
	char text[64];

	for (int i = at + 1;
	     i < t->nobjects && t->objects[i].parent >= at; i++)
		if (t->objects[i].kind == TUTTI_TOPO_NUMA &&
		    t->objects[i].parent == at)
			printf("%*s%s\n", indent, "",
			       topo_object_text(&t->objects[i], text,
						sizeof(text)));
}

/* What is said of an object behind its name. */
static void text_cpus(const struct topo_view *v, int at, bool leaf)
{
	const struct tutti_topo_object *o = &v->topo->objects[at];
	int allowed = tutti_topo_allowed(v->topo, o->pu_first, o->pu_count);
	char text[512];

	if (leaf)
		printf(": CPU %s", tool_topo_cpus(v->topo, o->pu_first,
						  o->pu_count, true, text,
						  sizeof(text)));
	if (!allowed)
		printf(" (not allowed)");
	else if (leaf && allowed < o->pu_count)
		printf(" (%s allowed)",
		       tool_topo_cpus(v->topo, o->pu_first, o->pu_count,
				      false, text, sizeof(text)));
	if (leaf && allowed && *topo_ranks_at(v, 0, o, text, sizeof(text)))
		printf("  <- rank %s", text);
	printf("\n");
}

static void text_tree(const struct topo_view *v, int at, int indent)
{
	const struct tutti_topo *t = v->topo;
	int last, child;
	bool leaf;

	printf("%*s", indent, "");
	last = text_chain(v, at);
	child = topo_child(t, last, -1);
	leaf = child < 0 || t->objects[last].kind == TUTTI_TOPO_CORE ||
	       t->objects[child].kind == TUTTI_TOPO_PU;
	text_cpus(v, last, leaf);
	for (int i = at; i <= last; i++)
		text_numa(t, i, indent + 2);
	for (; !leaf && child >= 0; child = topo_child(t, last, child))
		text_tree(v, child, indent + 2);
}

static void text_devices(const struct tutti_topo *t)
{
	char near[64];

	if (!t->ndevices)
		return;
	printf("\nDevices\n");
	for (int i = 0; i < t->ndevices; i++) {
		const struct tutti_topo_device *d = &t->devices[i];

		snprintf(near, sizeof(near), "near no NUMA domain more than "
			 "another");
		if (d->numa >= 0)
			snprintf(near, sizeof(near), "near NUMA domain %d",
				 t->objects[d->numa].number);
		printf("  %-14s %-8s %-13s %s", d->name,
		       d->rdma ? "RDMA" : "network",
		       *d->bus ? d->bus : "not on PCI", near);
		if (d->mbps)
			printf(", %g Gb/s", (double)d->mbps / 1e3);
		printf("\n");
	}
}

/* The number of the object of a PU as text, "-" if a seat is in several. */
static void text_in(const struct tutti_topo *t, const struct tool_seat *s,
		    int32_t place, int object)
{
	if (place < 0 || object < 0 || !s->pu_count)
		printf("  %7s", "-");
	else
		printf("  %7d", t->objects[object].number);
}

static void text_ranks(const struct topo_view *v)
{
	const struct tutti_shape *shape = &v->seats->shape;
	const struct tutti_topo *t = v->topo;
	char text[128];

	if (!shape->ranks)
		return;
	printf("\n%s%s\n", tool_shape_text(shape, text, sizeof(text)),
	       t->live ? ", if each is bound to its share of the cores" : "");
	printf("  node 0: %s\n\n", v->seats->why);
	printf("  rank  node  domain  package     NUMA    cache  CPUs\n");
	for (int r = 0; r < shape->ranks; r++) {
		const struct tool_seat *s = &v->seats->seat[r];
		const struct tutti_topo_pu *p = &t->pus[s->pu_first];

		printf("  %4d  %4d", r, v->seats->node[r]);
		if (shape->domain)
			printf("  %6d", shape->domain[r]);
		else
			printf("  %6s", "-");
		text_in(t, s, s->place.package, p->package);
		text_in(t, s, s->place.numa, p->numa);
		text_in(t, s, s->place.llc, p->llc);
		printf("  %s\n", tool_topo_cpus(t, s->pu_first, s->pu_count,
						false, text, sizeof(text)));
	}
}

void topo_text(const struct topo_view *v)
{
	char title[256];

	printf("%s\n", tool_topo_title(v->from, title, sizeof(title)));
	if (v->topo->flat)
		printf("  flat      %s\n", v->topo->reason);
	text_counts(v->topo);
	text_restriction(v->topo);
	printf("\n");
	text_tree(v, 0, 0);
	text_devices(v->topo);
	text_ranks(v);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_count(struct tool_json *j, const struct tutti_topo *t,
		       const char *key, enum tutti_topo_kind kind, int level)
{
	tool_json_int(j, key, tutti_topo_count(t, kind, level));
}

static void json_objects(struct tool_json *j, const struct tutti_topo *t)
{
	char kind[32], cpus[512];

	tool_json_open(j, "objects", '[');
	for (int i = 0; i < t->nobjects; i++) {
		const struct tutti_topo_object *o = &t->objects[i];

		tool_json_open(j, NULL, '{');
		tool_json_text(j, "kind", kind_text(o, kind, sizeof(kind)));
		tool_json_int(j, "number", o->number);
		tool_json_int(j, "parent", o->parent);
		tool_json_text(j, "cpus",
			       tool_topo_cpus(t, o->pu_first, o->pu_count,
					      true, cpus, sizeof(cpus)));
		tool_json_int(j, "cpus_allowed",
			      tutti_topo_allowed(t, o->pu_first,
						 o->pu_count));
		if (o->bytes)
			tool_json_int(j, "bytes", o->bytes);
		tool_json_close(j, '}');
	}
	tool_json_close(j, ']');
}

static void json_devices(struct tool_json *j, const struct tutti_topo *t)
{
	tool_json_open(j, "devices", '[');
	for (int i = 0; i < t->ndevices; i++) {
		const struct tutti_topo_device *d = &t->devices[i];

		tool_json_open(j, NULL, '{');
		tool_json_text(j, "name", d->name);
		tool_json_text(j, "kind", d->rdma ? "rdma" : "network");
		tool_json_text(j, "bus", d->bus);
		if (d->numa < 0)
			tool_json_null(j, "numa");
		else
			tool_json_int(j, "numa", t->objects[d->numa].number);
		if (d->mbps)
			tool_json_int(j, "mbps", d->mbps);
		else
			tool_json_null(j, "mbps");
		tool_json_close(j, '}');
	}
	tool_json_close(j, ']');
}

static void json_ranks(struct tool_json *j, const struct topo_view *v)
{
	const struct tutti_shape *shape = &v->seats->shape;
	char cpus[512];

	if (!shape->ranks)
		return;
	tool_json_int(j, "nodes", shape->nodes);
	tool_json_int(j, "domains", shape->domains);
	tool_json_text(j, "why", v->seats->why);
	tool_json_open(j, "ranks", '[');
	for (int r = 0; r < shape->ranks; r++) {
		const struct tool_seat *s = &v->seats->seat[r];

		tool_json_open(j, NULL, '{');
		tool_json_int(j, "rank", r);
		tool_json_int(j, "node", v->seats->node[r]);
		if (shape->domain)
			tool_json_int(j, "domain", shape->domain[r]);
		else
			tool_json_null(j, "domain");
		tool_json_text(j, "cpus",
			       tool_topo_cpus(v->topo, s->pu_first,
					      s->pu_count, false, cpus,
					      sizeof(cpus)));
		tool_json_close(j, '}');
	}
	tool_json_close(j, ']');
}

void topo_json(const struct topo_view *v)
{
	struct tool_json j = { .file = stdout };
	const struct tutti_topo *t = v->topo;
	char text[512];

	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "machine",
		       tool_topo_title(v->from, text, sizeof(text)));
	tool_json_bool(&j, "live", t->live);
	tool_json_bool(&j, "bound", t->bound);
	tool_json_bool(&j, "flat", t->flat);
	tool_json_text(&j, "reason", t->reason);
	json_count(&j, t, "packages", TUTTI_TOPO_PACKAGE, 0);
	json_count(&j, t, "dies", TUTTI_TOPO_DIE, 0);
	json_count(&j, t, "groups", TUTTI_TOPO_GROUP, 0);
	json_count(&j, t, "numa_domains", TUTTI_TOPO_NUMA, 0);
	json_count(&j, t, "last_level_caches", TUTTI_TOPO_CACHE,
		   t->llc_level);
	json_count(&j, t, "cores", TUTTI_TOPO_CORE, 0);
	json_count(&j, t, "cpus_allowed", TUTTI_TOPO_PU, 0);
	tool_json_int(&j, "cpus", t->npus);
	tool_json_text(&j, "allowed",
		       tool_topo_cpus(t, 0, t->npus, false, text,
				      sizeof(text)));
	json_objects(&j, t);
	json_devices(&j, t);
	json_ranks(&j, v);
	tool_json_close(&j, '}');
}
