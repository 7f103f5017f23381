/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks hwloc: about this machine, or what a synthetic description means.  The
 * whole machine is taken, with what this process may not use, so that all
 * processes of a node see one tree and name its parts alike.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/io.h"
#include "topo/topo_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* hwloc builds wide levels in quadratic time. */
#define SYNTHETIC_PUS_MAX	4096
#define SYNTHETIC_LETTERS_MAX	1000

/* ---- Synthetic descriptions ---------------------------------------------- */

/* The number at *text, cut to SYNTHETIC_PUS_MAX + 1. */
static int read_arity(const char **text)
{
	int n = 0;

	for (; **text >= '0' && **text <= '9'; ++*text)
		n = tutti_min(n * 10 + (**text - '0'), SYNTHETIC_PUS_MAX + 1);
	return n;
}

/* Past the bracket that closes the one at `p`; NULL if none does. */
static const char *skip_bracket(const char *p)
{
	p = strchr(p + 1, *p == '(' ? ')' : ']');
	return p ? p + 1 : NULL;
}

static const char *check_levels(const char *p)
{
	int64_t pus = 1;
	bool any = false;

	while (*p) {
		if (*p == '(' || *p == '[') {
			p = skip_bracket(p);
			if (!p)
				return "a bracket does not close";
		} else if (*p >= '0' && *p <= '9' &&
			   (!any || p[-1] == ' ' || p[-1] == ':')) {
			any = true;
			pus *= read_arity(&p);
			if (pus < 1)
				return "a level has nothing in it";
			if (pus > SYNTHETIC_PUS_MAX)
				return "it has more than 4096 CPUs";
		} else {
			p++;
		}
	}
	return any ? NULL : "no level has a number";
}

bool topo_check_synthetic(const char *text, char *why, size_t cap)
{
	const char *what = NULL;
	size_t n = strlen(text);

	for (size_t i = 0; i < n && !what; i++)
		if (text[i] < ' ' || text[i] > '~')
			what = "it holds what is no letter";
	if (!what && n > SYNTHETIC_LETTERS_MAX)
		what = "it is too long";
	if (!what)
		what = check_levels(text);
	if (what)
		snprintf(why, cap, "%s", what);
	return !what;
}

/* ---- The walk ------------------------------------------------------------ */

static void read_word(const char *path, char *out, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, cap - 1);

	out[tutti_max(n, 0)] = 0;
	if (fd >= 0)
		tutti_close(&fd);
}

/* What the kernel says of a link. */
static int64_t link_mbps(const struct tutti_topo_device *d)
{
	char path[128], text[64];

	if (d->rdma)
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/rate", d->name);
	else
		snprintf(path, sizeof(path), "/sys/class/net/%s/speed",
			 d->name);
	read_word(path, text, sizeof(text));
	if (d->rdma)
		return (int64_t)(atof(text) * 1000);
	return tutti_max(atoll(text), 0);
}

static bool add_device(struct topo_build *b, hwloc_obj_t obj)
{
	struct tutti_topo_device d = { 0 };
	hwloc_obj_osdev_type_t type = obj->attr->osdev.type;
	hwloc_obj_t pci = obj->parent;

	d.rdma = type == HWLOC_OBJ_OSDEV_OPENFABRICS;
	if (type != HWLOC_OBJ_OSDEV_NETWORK && !d.rdma)
		return true;
	topo_name(d.name, sizeof(d.name), obj->name ? obj->name : "?");
	while (pci && pci->type == HWLOC_OBJ_OS_DEVICE)
		pci = pci->parent;
	if (pci && pci->type == HWLOC_OBJ_PCI_DEVICE)
		snprintf(d.bus, sizeof(d.bus), "%04x:%02x:%02x.%01x",
			 pci->attr->pcidev.domain, pci->attr->pcidev.bus,
			 pci->attr->pcidev.dev, pci->attr->pcidev.func);
	if (b->t->live)
		d.mbps = link_mbps(&d);
	return topo_device(b, &d);
}

/* What an object is to us; false: only what is in it counts. */
static bool describe(hwloc_obj_t obj, struct topo_item *item)
{
	*item = (struct topo_item){ .os_number = (int)obj->os_index };
	if (hwloc_obj_type_is_dcache(obj->type)) {
		item->kind = TUTTI_TOPO_CACHE;
		item->level = (int)obj->attr->cache.depth;
		item->bytes = (int64_t)obj->attr->cache.size;
		return true;
	}
	switch (obj->type) {
	case HWLOC_OBJ_MACHINE:
		item->kind = TUTTI_TOPO_MACHINE;
		return true;
	case HWLOC_OBJ_PACKAGE:
		item->kind = TUTTI_TOPO_PACKAGE;
		return true;
	case HWLOC_OBJ_DIE:
		item->kind = TUTTI_TOPO_DIE;
		return true;
	case HWLOC_OBJ_GROUP:
		item->kind = TUTTI_TOPO_GROUP;
		item->name = obj->subtype;
		return true;
	case HWLOC_OBJ_NUMANODE:
		item->kind = TUTTI_TOPO_NUMA;
		item->bytes = (int64_t)obj->attr->numanode.local_memory;
		item->no_cpus = hwloc_bitmap_iszero(obj->cpuset);
		return true;
	case HWLOC_OBJ_CORE:
		item->kind = TUTTI_TOPO_CORE;
		return true;
	case HWLOC_OBJ_PU:
		item->kind = TUTTI_TOPO_PU;
		return true;
	default:
		return false;
	}
}

/* Memory first, then what has CPUs, then devices. */
static bool walk(struct topo_build *b, hwloc_obj_t obj)
{
	hwloc_obj_t lists[] = {
		obj->memory_first_child, obj->first_child,
		obj->io_first_child,
	};
	struct topo_item item;
	bool ours = describe(obj, &item), ok = true;

	if (obj->type == HWLOC_OBJ_OS_DEVICE)
		return add_device(b, obj);
	if (ours && !topo_open(b, &item))
		return false;
	for (size_t i = 0; ok && i < tutti_countof(lists); i++)
		for (hwloc_obj_t c = lists[i]; ok && c; c = c->next_sibling)
			ok = walk(b, c);
	if (ours)
		topo_close(b);
	return ok;
}

/* ---- Loading ------------------------------------------------------------- */

/* What takes time or has effects and tells nothing that counts here: the x86
 * component runs the calling thread on every CPU in turn, the others look for
 * accelerators. */
static const char *const unwanted[] = {
	"x86", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl",
};

static int load(hwloc_topology_t h, const struct tutti_topo_from *from)
{
	enum hwloc_type_filter_e io = from->devices ?
		HWLOC_TYPE_FILTER_KEEP_IMPORTANT : HWLOC_TYPE_FILTER_KEEP_NONE;

	for (size_t i = 0; i < tutti_countof(unwanted); i++)
		hwloc_topology_set_components(
			h, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
			unwanted[i]);
	if (hwloc_topology_set_flags(h,
				     HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    hwloc_topology_set_icache_types_filter(
		    h, HWLOC_TYPE_FILTER_KEEP_NONE) ||
	    hwloc_topology_set_io_types_filter(h, io) ||
	    (from->synthetic &&
	     hwloc_topology_set_synthetic(h, from->synthetic)))
		return -1;
	return hwloc_topology_load(h);
}

static bool take(struct topo_build *b, hwloc_topology_t h)
{
	hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(h);
	struct tutti_topo *t = b->t;

	t->live = hwloc_topology_is_thissystem(h);
	if (!walk(b, hwloc_get_root_obj(h))) {
		snprintf(t->reason, sizeof(t->reason), "it lies too deep");
		return false;
	}
	for (int i = 0; i < t->npus; i++)
		t->pus[i].allowed = hwloc_bitmap_isset(
			allowed, (unsigned int)t->pus[i].os_number);
	return true;
}

bool topo_from_hwloc(struct topo_build *b, const struct tutti_topo_from *from)
{
	struct tutti_topo *t = b->t;
	hwloc_topology_t h;
	bool ok = false;

	if (from->synthetic &&
	    !topo_check_synthetic(from->synthetic, t->reason,
				  sizeof(t->reason)))
		return false;
	if (!from->synthetic &&
	    !topo_check_sysfs(t->reason, sizeof(t->reason)))
		return false;
	if (hwloc_topology_init(&h)) {
		snprintf(t->reason, sizeof(t->reason),
			 "hwloc does not start: %s", strerror(errno));
		return false;
	}
	if (!load(h, from))
		ok = take(b, h);
	else if (from->synthetic)
		snprintf(t->reason, sizeof(t->reason),
			 "hwloc cannot read it; levels go inward and end with "
			 "PUs, as in \"pack:2 [numa] core:4 pu:1\"");
	else
		snprintf(t->reason, sizeof(t->reason),
			 "hwloc cannot load it: %s", strerror(errno));
	hwloc_topology_destroy(h);
	return ok;
}

/* ---- Saving -------------------------------------------------------------- */

/* What `from` describes as XML, to be freed. */
static tuttiResult_t export(const struct tutti_topo_from *from, char **out,
			    size_t *len)
{
	struct tutti_topo_from all = *from;
	hwloc_topology_t h;
	char *text = NULL;
	int n = 0;

	all.devices = true;
	if (hwloc_topology_init(&h))
		return tutti_fail_errno(errno, "hwloc does not start");
	if (!load(h, &all) && !hwloc_topology_export_xmlbuffer(h, &text, &n, 0))
		*out = strndup(text, n > 0 ? (size_t)n : 0);
	if (text)
		hwloc_free_xmlbuffer(h, text);
	hwloc_topology_destroy(h);
	if (!*out)
		return tutti_fail(tuttiSystemError,
				  "hwloc cannot describe the machine as XML");
	*len = strlen(*out);
	return tuttiSuccess;
}

static tuttiResult_t write_file(const char *file, const char *text, size_t len)
{
	FILE *f = fopen(file, "we");
	bool ok;

	if (!f)
		return tutti_fail_errno(errno, "cannot write %s", file);
	ok = fwrite(text, 1, len, f) == len;
	if (fclose(f) || !ok)
		return tutti_fail_errno(errno, "cannot write %s", file);
	return tuttiSuccess;
}

tuttiResult_t tutti_topo_save(const struct tutti_topo_from *from,
			      const char *file)
{
	char *text = NULL, why[160];
	tuttiResult_t rc = tuttiSuccess;
	size_t len = 0;

	if (from->xml) {
		text = topo_read_file(from->xml, &len, why, sizeof(why));
		if (!text)
			rc = tutti_fail(tuttiInvalidArgument,
					"cannot read %s: %s", from->xml, why);
	} else if (from->synthetic &&
		   !topo_check_synthetic(from->synthetic, why, sizeof(why))) {
		rc = tutti_fail(tuttiInvalidArgument,
				"the synthetic description \"%s\" is not one: "
				"%s", from->synthetic, why);
	} else if (!from->synthetic && !topo_check_sysfs(why, sizeof(why))) {
		rc = tutti_fail(tuttiSystemError,
				"the topology of this machine is not known: %s",
				why);
	} else {
		rc = export(from, &text, &len);
	}
	if (!rc)
		rc = write_file(file, text, len);
	free(text);
	return rc;
}
