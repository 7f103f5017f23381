/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the XML that hwloc 2 writes.  hwloc reads it too, but trusts it: bytes
 * changed at random make it crash about once in a dozen times, and a damaged
 * file must cost a job its grouping only.  So this reads what is needed, the
 * tree of objects, and checks it: elements close in order, every object's
 * cpuset is the union of its PUs, no PU is there twice.  Distances, memory
 * attributes and the like are passed over.
 */
#include "config.h"

#include "base/bits.h"
#include "topo/topo_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#define ATTRS_MAX 32

struct mask {
	uint64_t word[TOPO_WORDS];
};

/* What an element is to us. */
enum what {
	DOCUMENT, TOPOLOGY, OTHER,
	/* Objects: */
	THING, MACHINE, PU, NUMA, PCI, DEVICE, PASSED
};

struct frame {
	enum what what;
	char name[24];		/* of the element */
	char bus[24];		/* of a PCI device, for what is on it */
	bool opened;		/* topo_open() was called for it */
	struct mask cpus;	/* its cpuset */
	struct mask below;	/* the PUs found in it */
};

/* A name and its value, in the text. */
struct attr {
	const char *name, *value;
	size_t name_len, value_len;
};

struct reader {
	const char *p, *end;
	struct topo_build *b;
	int depth;		/* of frame; frame[0] is the document */
	bool root_seen;
	struct attr attr[ATTRS_MAX];
	int nattrs;
	struct mask allowed;
	bool allowed_given;
	bool wrong;
	const char *begin;
	struct frame frame[TOPO_DEPTH_MAX];
};

/* The first thing that is wrong; returns false. */
static bool wrong(struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool wrong(struct reader *r, const char *fmt, ...)
{
	struct tutti_topo *t = r->b->t;
	int line = 1, used;
	va_list ap;

	if (r->wrong)
		return false;
	r->wrong = true;
	for (const char *p = r->begin; p < r->p; p++)
		line += *p == '\n';
	used = snprintf(t->reason, sizeof(t->reason), "line %d: ", line);
	va_start(ap, fmt);
	vsnprintf(t->reason + used, sizeof(t->reason) - (size_t)used, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- Characters ---------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && is_space(*r->p))
		r->p++;
}

static bool at(const struct reader *r, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(r->end - r->p) >= n && !memcmp(r->p, text, n);
}

/* Past the next `text`. */
static bool skip_to(struct reader *r, const char *text)
{
	const char *found = memmem(r->p, (size_t)(r->end - r->p), text,
				   strlen(text));

	if (!found)
		return wrong(r, "the file ends within a comment or "
			     "declaration");
	r->p = found + strlen(text);
	return true;
}

static size_t name_here(const struct reader *r)
{
	const char *q = r->p;

	while (q < r->end && is_name(*q))
		q++;
	return (size_t)(q - r->p);
}

/* ---- Attributes ---------------------------------------------------------- */

static bool read_attr(struct reader *r)
{
	struct attr *a = &r->attr[r->nattrs];
	const char *close;

	a->name = r->p;
	a->name_len = name_here(r);
	if (!a->name_len)
		return wrong(r, "an attribute is expected");
	r->p += a->name_len;
	if (r->end - r->p < 2 || r->p[0] != '=' || r->p[1] != '"')
		return wrong(r, "an attribute is written name=\"value\"");
	r->p += 2;
	close = memchr(r->p, '"', (size_t)(r->end - r->p));
	if (!close || memchr(r->p, '<', (size_t)(close - r->p)))
		return wrong(r, "the value of an attribute does not end");
	a->value = r->p;
	a->value_len = (size_t)(close - r->p);
	r->p = close + 1;
	for (int i = 0; i < r->nattrs; i++)
		if (r->attr[i].name_len == a->name_len &&
		    !memcmp(r->attr[i].name, a->name, a->name_len))
			return wrong(r, "an attribute is given twice");
	if (++r->nattrs == ATTRS_MAX)
		return wrong(r, "too many attributes");
	return true;
}

static const struct attr *find_attr(const struct reader *r, const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < r->nattrs; i++)
		if (r->attr[i].name_len == n &&
		    !memcmp(r->attr[i].name, name, n))
			return &r->attr[i];
	return NULL;
}

/* The value as a string, cut to `cap`; "" if there is none.  Names of devices
 * have no entities; what others stand for does not matter here. */
static const char *attr_text(const struct reader *r, const char *name,
			     char *out, size_t cap)
{
	const struct attr *a = find_attr(r, name);
	size_t n = a ? tutti_min(a->value_len, cap - 1) : 0;

	if (n)
		memcpy(out, a->value, n);
	out[n] = 0;
	return out;
}

static bool attr_is(const struct reader *r, const char *name,
		    const char *value)
{
	const struct attr *a = find_attr(r, name);

	return a && a->value_len == strlen(value) &&
	       !memcmp(a->value, value, a->value_len);
}

/* A number from 0; *out stays if the attribute is not there. */
static bool attr_number(struct reader *r, const char *name, int64_t max,
			int64_t *out)
{
	const struct attr *a = find_attr(r, name);
	int64_t n = 0;
	bool ok;

	if (!a)
		return true;
	ok = a->value_len;
	for (size_t i = 0; ok && i < a->value_len; i++) {
		int digit = a->value[i] - '0';

		ok = digit >= 0 && digit <= 9 &&
		     !__builtin_mul_overflow(n, 10, &n) &&
		     !__builtin_add_overflow(n, digit, &n) && n <= max;
	}
	if (!ok)
		return wrong(r, "%s=\"%.*s\" is not a number from 0 to %lld",
			     name, (int)tutti_min(a->value_len, 24u),
			     a->value, (long long)max);
	*out = n;
	return true;
}

/* ---- Sets of CPUs -------------------------------------------------------- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* One group of 32 bits: "" or 0x and up to eight digits. */
static bool parse_group(const char *s, size_t n, uint32_t *out)
{
	*out = 0;
	if (!n)
		return true;
	if (n < 3 || n > 10 || s[0] != '0' || s[1] != 'x')
		return false;
	for (size_t i = 2; i < n; i++) {
		int d = hex(s[i]);

		if (d < 0)
			return false;
		*out = *out << 4 | (uint32_t)d;
	}
	return true;
}

/* "0x1,,0xffffffff": groups of 32 bits, the highest first. */
static bool parse_mask(const struct attr *a, struct mask *m)
{
	const char *s = a->value, *stop = s + a->value_len;
	size_t groups = 1;

	memset(m, 0, sizeof(*m));
	for (const char *q = s; q < stop; q++)
		groups += *q == ',';
	if (!a->value_len || groups > 2 * TOPO_WORDS)
		return false;
	for (size_t g = groups; g-- > 0; ) {
		const char *comma = memchr(s, ',', (size_t)(stop - s));
		const char *to = comma ? comma : stop;
		uint32_t bits;

		if (!parse_group(s, (size_t)(to - s), &bits))
			return false;
		m->word[g / 2] |= (uint64_t)bits << (g % 2 * 32);
		s = to + 1;
	}
	return true;
}

static bool attr_mask(struct reader *r, const char *name, struct mask *m)
{
	const struct attr *a = find_attr(r, name);

	if (a && parse_mask(a, m))
		return true;
	if (!a)
		return wrong(r, "an object has no %s", name);
	return wrong(r, "%s=\"%.*s\" is not a set of CPUs from 0 to %d", name,
		     (int)tutti_min(a->value_len, 40u), a->value,
		     TOPO_PUS_MAX - 1);
}

static bool is_empty(const struct mask *m)
{
	uint64_t any = 0;

	for (int i = 0; i < TOPO_WORDS; i++)
		any |= m->word[i];
	return !any;
}

static void add_mask(struct mask *to, const struct mask *m)
{
	for (int i = 0; i < TOPO_WORDS; i++)
		to->word[i] |= m->word[i];
}

static bool within(const struct mask *m, const struct mask *outer)
{
	for (int i = 0; i < TOPO_WORDS; i++)
		if (m->word[i] & ~outer->word[i])
			return false;
	return true;
}

static bool overlap(const struct mask *a, const struct mask *b)
{
	for (int i = 0; i < TOPO_WORDS; i++)
		if (a->word[i] & b->word[i])
			return true;
	return false;
}

/* ---- Objects ------------------------------------------------------------- */

static const struct type {
	const char *name;
	enum what what;
	enum tutti_topo_kind kind;
	int level;
} types[] = {
	{ "Machine", MACHINE, TUTTI_TOPO_MACHINE, 0 },
	{ "Package", THING, TUTTI_TOPO_PACKAGE, 0 },
	{ "Die", THING, TUTTI_TOPO_DIE, 0 },
	{ "Group", THING, TUTTI_TOPO_GROUP, 0 },
	{ "NUMANode", NUMA, TUTTI_TOPO_NUMA, 0 },
	{ "L5Cache", THING, TUTTI_TOPO_CACHE, 5 },
	{ "L4Cache", THING, TUTTI_TOPO_CACHE, 4 },
	{ "L3Cache", THING, TUTTI_TOPO_CACHE, 3 },
	{ "L2Cache", THING, TUTTI_TOPO_CACHE, 2 },
	{ "L1Cache", THING, TUTTI_TOPO_CACHE, 1 },
	{ "Core", THING, TUTTI_TOPO_CORE, 0 },
	{ "PU", PU, TUTTI_TOPO_PU, 0 },
	{ "L1iCache", PASSED, 0, 0 }, { "L2iCache", PASSED, 0, 0 },
	{ "L3iCache", PASSED, 0, 0 }, { "MemCache", PASSED, 0, 0 },
	{ "Misc", PASSED, 0, 0 }, { "Bridge", PASSED, 0, 0 },
	{ "PCIDev", PCI, 0, 0 }, { "OSDev", DEVICE, 0, 0 },
};

static const struct type *find_type(struct reader *r)
{
	char name[32];

	attr_text(r, "type", name, sizeof(name));
	for (size_t i = 0; i < tutti_countof(types); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	wrong(r, "there is no type of objects \"%s\"", name);
	return NULL;
}

static bool open_object(struct reader *r, struct frame *f,
			const struct type *type)
{
	int64_t os = -1, bytes = 0;
	char name[24];
	struct topo_item item = { .kind = type->kind, .level = type->level };

	if (!attr_number(r, "os_index", TOPO_PUS_MAX - 1, &os) ||
	    !attr_number(r, "cache_size", INT64_MAX, &bytes) ||
	    !attr_number(r, "local_memory", INT64_MAX, &bytes) ||
	    !attr_mask(r, "cpuset", &f->cpus))
		return false;
	item.os_number = (int)os;
	item.bytes = bytes;
	item.no_cpus = is_empty(&f->cpus);
	if (type->kind == TUTTI_TOPO_GROUP)
		item.name = attr_text(r, "subtype", name, sizeof(name));
	f->opened = topo_open(r->b, &item);
	return f->opened || wrong(r, "objects lie too deep");
}

static bool open_pu(struct reader *r, struct frame *f)
{
	const struct tutti_topo *t = r->b->t;
	int os = t->pus[t->npus - 1].os_number;

	if (os < 0)
		return wrong(r, "a PU has no os_index");
	f->below.word[os / 64] = 1ull << (os % 64);
	return true;
}

static bool open_machine(struct reader *r)
{
	r->allowed_given = find_attr(r, "allowed_cpuset");
	return !r->allowed_given ||
	       attr_mask(r, "allowed_cpuset", &r->allowed);
}

static bool open_device(struct reader *r)
{
	struct tutti_topo_device d = { 0 };
	bool net = attr_is(r, "osdev_type", "2");
	char name[32];

	d.rdma = attr_is(r, "osdev_type", "3");
	if (!net && !d.rdma)
		return true;
	topo_name(d.name, sizeof(d.name),
		  attr_text(r, "name", name, sizeof(name)));
	for (int i = r->depth; i >= 0; i--)
		if (r->frame[i].what == PCI) {
			memcpy(d.bus, r->frame[i].bus, sizeof(d.bus));
			break;
		}
	return topo_device(r->b, &d) || wrong(r, "a device is in nothing");
}

/* The innermost object around that has CPUs. */
static const struct frame *around(const struct reader *r)
{
	int i = r->depth - 1;

	while (i > 0 && !r->frame[i].opened)
		i--;
	return &r->frame[i];
}

static bool begin_object(struct reader *r, struct frame *f)
{
	const struct type *type = find_type(r);
	const struct frame *outer = around(r);
	char bus[24];

	if (!type)
		return false;
	f->what = type->what;
	if ((f->what == MACHINE) != (r->frame[r->depth - 1].what == TOPOLOGY))
		return wrong(r, "the outermost object is a Machine, and no "
			     "other is");
	if (f->what == MACHINE && r->b->t->nobjects)
		return wrong(r, "there are two Machines");
	if (f->what == DEVICE)
		return open_device(r);
	if (f->what == PCI)
		topo_name(f->bus, sizeof(f->bus),
			  attr_text(r, "pci_busid", bus, sizeof(bus)));
	if (f->what == PCI || f->what == PASSED)
		return true;
	if (outer->what == PU || outer->what == NUMA)
		return wrong(r, "an object lies in a %s",
			     outer->what == PU ? "PU" : "NUMANode");
	if (!open_object(r, f, type))
		return false;
	if (f->what != MACHINE && !within(&f->cpus, &outer->cpus))
		return wrong(r, "the cpuset of a %s is not within that of the "
			     "object around it", type->name);
	if (f->what == PU)
		return open_pu(r, f);
	return f->what != MACHINE || open_machine(r);
}

static bool end_object(struct reader *r, struct frame *f)
{
	struct frame *outer = (struct frame *)around(r);

	if (!f->opened)
		return true;
	topo_close(r->b);
	if (f->what == NUMA)
		return true;
	if (memcmp(&f->cpus, &f->below, sizeof(f->cpus)) != 0)
		return wrong(r, "the cpuset of an object is not that of the "
			     "PUs in it");
	if (overlap(&f->below, &outer->below))
		return wrong(r, "a PU is there twice");
	add_mask(&outer->below, &f->below);
	return true;
}

/* ---- Elements ------------------------------------------------------------ */

/* Those that hold nothing this needs. */
static const char *const others[] = {
	"info", "page_type", "userdata", "distances2", "distances2hetero",
	"indexes", "u64values", "support", "memattr", "memattr_value",
	"cpukind",
};

static bool begin_topology(struct reader *r)
{
	char version[8];

	attr_text(r, "version", version, sizeof(version));
	if (!strncmp(version, "2.", 2))
		return true;
	return wrong(r, "it is hwloc's, but in the format of version %.7s; "
		     "this reads that of 2", *version ? version : "1");
}

static bool begin_element(struct reader *r, struct frame *f)
{
	enum what outer = r->frame[r->depth - 1].what;

	if (outer == DOCUMENT) {
		if (r->root_seen || strcmp(f->name, "topology") != 0)
			return wrong(r, "<%s> begins, which is not a "
				     "topology of hwloc", f->name);
		r->root_seen = true;
		f->what = TOPOLOGY;
		return begin_topology(r);
	}
	if (!strcmp(f->name, "object") && outer != OTHER)
		return begin_object(r, f);
	f->what = OTHER;
	for (size_t i = 0; i < tutti_countof(others); i++)
		if (!strcmp(f->name, others[i]))
			return true;
	return wrong(r, "hwloc writes no element <%s> here", f->name);
}

static bool end_element(struct reader *r)
{
	struct frame *f = &r->frame[r->depth];

	if (f->what >= THING && !end_object(r, f))
		return false;
	r->depth--;
	return true;
}

/* "<" is behind us. */
static bool read_begin(struct reader *r)
{
	size_t n = name_here(r);
	struct frame *f;

	if (r->depth + 1 == TOPO_DEPTH_MAX)
		return wrong(r, "elements lie too deep");
	f = &r->frame[r->depth + 1];
	memset(f, 0, sizeof(*f));
	if (!n || n >= sizeof(f->name))
		return wrong(r, "an element is expected");
	memcpy(f->name, r->p, n);
	r->p += n;
	r->nattrs = 0;
	for (skip_space(r); r->p < r->end && *r->p != '>' && *r->p != '/';
	     skip_space(r))
		if (!read_attr(r))
			return false;
	r->depth++;
	if (!begin_element(r, f))
		return false;
	if (at(r, "/>")) {
		r->p += 2;
		return end_element(r);
	}
	if (!at(r, ">"))
		return wrong(r, "<%s> does not end", f->name);
	r->p++;
	return true;
}

/* "</" is behind us. */
static bool read_end(struct reader *r)
{
	const struct frame *f = &r->frame[r->depth];
	size_t n = name_here(r);

	if (!r->depth || strlen(f->name) != n || memcmp(f->name, r->p, n) != 0)
		return wrong(r, "</%.*s> closes nothing", (int)tutti_min(n, 24u),
			     r->p);
	r->p += n;
	skip_space(r);
	if (!at(r, ">"))
		return wrong(r, "</%s> does not end", f->name);
	r->p++;
	return end_element(r);
}

/* What follows "<!" or "<?": a comment, a declaration without definitions. */
static bool read_aside(struct reader *r)
{
	const char *from = r->p;

	if (at(r, "!--"))
		return skip_to(r, "-->");
	if (*r->p == '?')
		return skip_to(r, "?>");
	if (!at(r, "!DOCTYPE") || r->root_seen)
		return wrong(r, "this is not XML of hwloc's");
	if (!skip_to(r, ">"))
		return false;
	if (memchr(from, '[', (size_t)(r->p - from)))
		return wrong(r, "hwloc defines nothing within its files");
	return true;
}

/* Text between elements: only inside those passed over. */
static bool read_text(struct reader *r)
{
	while (r->p < r->end && *r->p != '<') {
		if (!is_space(*r->p) && r->frame[r->depth].what != OTHER)
			return wrong(r, r->root_seen ?
				     "there is text between the elements" :
				     "this is not XML");
		r->p++;
	}
	return true;
}

static bool read_all(struct reader *r)
{
	while (read_text(r) && r->p < r->end) {
		bool ok;

		if (++r->p == r->end)
			return wrong(r, "the file ends within an element");
		if (*r->p == '/') {
			r->p++;
			ok = read_end(r);
		} else if (*r->p == '!' || *r->p == '?') {
			ok = read_aside(r);
		} else {
			ok = read_begin(r);
		}
		if (!ok)
			return false;
	}
	if (r->wrong)
		return false;
	if (!r->root_seen)
		return wrong(r, "there is no topology in it");
	if (r->depth)
		return wrong(r, "the file ends before <%s> does",
			     r->frame[r->depth].name);
	return true;
}

bool topo_from_xml(struct topo_build *b, const char *text, size_t len)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct tutti_topo *t = b->t;
	bool ok;

	if (!r) {
		b->no_memory = true;
		return false;
	}
	r->p = r->begin = text;
	r->end = text + len;
	r->b = b;
	ok = read_all(r) && (t->npus || wrong(r, "no CPU is in it"));
	for (int i = 0; ok && r->allowed_given && i < t->npus; i++) {
		int os = t->pus[i].os_number;

		t->pus[i].allowed = r->allowed.word[os / 64] >> (os % 64) & 1;
	}
	free(r);
	return ok;
}
