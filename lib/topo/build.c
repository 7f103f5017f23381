/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a topology object by object, from a walk from the machine inward. */
#include "config.h"

#include "base/bits.h"
#include "topo/topo_impl.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more of `size` bytes in a list of `n`. */
static bool grow(struct topo_build *b, void **list, int n, int *cap,
		 size_t size)
{
	int want = *cap ? *cap * 2 : 64;
	void *more;

	if (n < *cap)
		return true;
	more = realloc(*list, (size_t)want * size);
	if (!more) {
		b->no_memory = true;
		return false;
	}
	*list = more;
	*cap = want;
	return true;
}

void topo_name(char *out, size_t cap, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < cap; name++)
		out[n++] = *name > ' ' && *name < 0x7f ? *name : '_';
	out[n] = 0;
}

static bool add_pu(struct topo_build *b, int os_number)
{
	struct tutti_topo *t = b->t;

	if (!grow(b, (void **)&t->pus, t->npus, &b->pus_cap, sizeof(*t->pus)))
		return false;
	t->pus[t->npus++] = (struct tutti_topo_pu){
		.os_number = os_number, .allowed = true,
		.package = -1, .numa = -1, .llc = -1, .core = -1,
	};
	return true;
}

bool topo_open(struct topo_build *b, const struct topo_item *item)
{
	struct tutti_topo *t = b->t;
	struct tutti_topo_object *o;

	if (b->depth == TOPO_DEPTH_MAX ||
	    !grow(b, (void **)&t->objects, t->nobjects, &b->objects_cap,
		  sizeof(*t->objects)))
		return false;
	o = &t->objects[t->nobjects];
	*o = (struct tutti_topo_object){
		.kind = item->kind, .level = item->level,
		.parent = b->depth ? b->open[b->depth - 1] : -1,
		.os_number = item->os_number, .bytes = item->bytes,
		.pu_first = t->npus,
		/* Of a NUMA domain, for topo_finish(): -1 is "as the
		 * parent". */
		.pu_count = item->kind == TUTTI_TOPO_NUMA && !item->no_cpus ?
			    -1 : 0,
	};
	if (item->name)
		topo_name(o->name, sizeof(o->name), item->name);
	if (item->kind == TUTTI_TOPO_PU && !add_pu(b, item->os_number))
		return false;
	b->open[b->depth++] = t->nobjects++;
	return true;
}

void topo_close(struct topo_build *b)
{
	struct tutti_topo_object *o = &b->t->objects[b->open[--b->depth]];

	if (o->kind != TUTTI_TOPO_NUMA)
		o->pu_count = b->t->npus - o->pu_first;
}

bool topo_device(struct topo_build *b, const struct tutti_topo_device *d)
{
	struct tutti_topo *t = b->t;

	if (!b->depth || !grow(b, (void **)&t->devices, t->ndevices,
			       &b->devices_cap, sizeof(*t->devices)))
		return false;
	t->devices[t->ndevices] = *d;
	t->devices[t->ndevices++].parent = b->open[b->depth - 1];
	return true;
}

/* Of two NUMA domains with the same PUs (of two kinds of memory), the first
 * counts. */
static void link_numa(struct tutti_topo *t, int index, struct tutti_topo_pu *p)
{
	const struct tutti_topo_object *o = &t->objects[index], *had;

	had = p->numa < 0 ? NULL : &t->objects[p->numa];
	if (!had || had->pu_first != o->pu_first ||
	    had->pu_count != o->pu_count)
		p->numa = index;
}

/* The walk is from the outside in, so the innermost is what stays. */
static void link_pus(struct tutti_topo *t, int index)
{
	const struct tutti_topo_object *o = &t->objects[index];

	for (int i = o->pu_first; i < o->pu_first + o->pu_count; i++) {
		struct tutti_topo_pu *p = &t->pus[i];

		switch (o->kind) {
		case TUTTI_TOPO_PACKAGE:
			p->package = index;
			break;
		case TUTTI_TOPO_NUMA:
			link_numa(t, index, p);
			break;
		case TUTTI_TOPO_CACHE:
			if (o->level == t->llc_level)
				p->llc = index;
			break;
		case TUTTI_TOPO_CORE:
			p->core = index;
			break;
		default:
			break;
		}
	}
}

/* The domain that a device is near: that of all PUs of its parent. */
static int near_numa(const struct tutti_topo *t, int parent)
{
	const struct tutti_topo_object *o = &t->objects[parent];
	int numa = o->pu_count ? t->pus[o->pu_first].numa : -1;

	for (int i = o->pu_first; i < o->pu_first + o->pu_count; i++)
		if (t->pus[i].numa != numa)
			return -1;
	return numa;
}

bool topo_finish(struct topo_build *b)
{
	struct tutti_topo *t = b->t;
	int numbers[TUTTI_TOPO_KINDS][6] = { { 0 } };

	if (!t->npus || b->no_memory)
		return false;
	for (int i = 0; i < t->nobjects; i++) {
		struct tutti_topo_object *o = &t->objects[i];

		o->number = numbers[o->kind][o->level]++;
		if (o->kind == TUTTI_TOPO_CACHE)
			t->llc_level = tutti_max(t->llc_level, o->level);
		if (o->pu_count >= 0)
			continue;
		o->pu_first = t->objects[o->parent].pu_first;
		o->pu_count = t->objects[o->parent].pu_count;
	}
	for (int i = 0; i < t->nobjects; i++)
		link_pus(t, i);
	for (int i = 0; i < t->ndevices; i++)
		t->devices[i].numa = near_numa(t, t->devices[i].parent);
	return true;
}
