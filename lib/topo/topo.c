/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a topology from one source or another, or a flat one. */
#include "config.h"

#include "base/bits.h"
#include "base/io.h"
#include "base/settings.h"
#include "topo/topo_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (64 << 20)

static const char *env_text(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

struct tutti_topo_from tutti_topo_wanted(void)
{
	struct tutti_topo_from from = { 0 };

	if (*tutti_setting_text(TUTTI_SET_TOPO_XML))
		from.xml = tutti_setting_text(TUTTI_SET_TOPO_XML);
	else if (*tutti_setting_text(TUTTI_SET_TOPO_SYNTHETIC))
		from.synthetic = tutti_setting_text(TUTTI_SET_TOPO_SYNTHETIC);
	if (from.xml || from.synthetic)
		return from;
	from.xml = env_text("HWLOC_XMLFILE");
	if (!from.xml)
		from.synthetic = env_text("HWLOC_SYNTHETIC");
	return from;
}

/* ---- Files --------------------------------------------------------------- */

static char *read_open(int fd, size_t *len, char *why, size_t cap)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		snprintf(why, cap, "it is not a file");
		return NULL;
	}
	if (st.st_size > FILE_BYTES_MAX) {
		snprintf(why, cap, "it is larger than 64 MiB");
		return NULL;
	}
	text = malloc((size_t)st.st_size + 1);
	*len = 0;
	while (text && *len < (size_t)st.st_size) {
		ssize_t n = read(fd, text + *len, (size_t)st.st_size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			snprintf(why, cap, "%s", strerror(errno));
			free(text);
			return NULL;
		}
		if (!n)
			break;
		*len += (size_t)n;
	}
	if (!text)
		snprintf(why, cap, "%s", strerror(ENOMEM));
	else
		text[*len] = 0;
	return text;
}

char *topo_read_file(const char *name, size_t *len, char *why, size_t cap)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text;

	if (fd < 0) {
		snprintf(why, cap, "%s", strerror(errno));
		return NULL;
	}
	text = read_open(fd, len, why, cap);
	tutti_close(&fd);
	return text;
}

/* ---- Restriction --------------------------------------------------------- */

/* This thread's affinity; false if the kernel does not tell. */
static bool read_affinity(uint64_t mask[TOPO_WORDS])
{
	memset(mask, 0, TOPO_WORDS * sizeof(*mask));
	return !sched_getaffinity(0, TOPO_WORDS * sizeof(*mask),
				  (cpu_set_t *)mask);
}

static bool in_mask(const uint64_t *mask, int words, int os)
{
	return os >= 0 && os / 64 < words && mask[os / 64] >> (os % 64) & 1;
}

int tutti_topo_allowed(const struct tutti_topo *t, int first, int count)
{
	int n = 0;

	for (int i = first; i < first + count; i++)
		n += t->pus[i].allowed;
	return n;
}

/* What affinity leaves of the CPUs. */
static void restrict_to_self(struct tutti_topo *t)
{
	uint64_t mask[TOPO_WORDS];

	if (!t->live || !read_affinity(mask))
		return;
	for (int i = 0; i < t->npus; i++) {
		struct tutti_topo_pu *p = &t->pus[i];
		bool in = in_mask(mask, TOPO_WORDS, p->os_number);

		t->bound |= p->allowed && !in;
		p->allowed = p->allowed && in;
	}
}

/* ---- Loading ------------------------------------------------------------- */

static uint64_t hash_bytes(const char *text, size_t len)
{
	uint64_t h = len;

	for (size_t i = 0; i < len; i++)
		h = tutti_mix(h, (unsigned char)text[i]);
	return h | 1;
}

static bool from_file(struct topo_build *b, const char *file)
{
	const char *this_system = getenv("HWLOC_THISSYSTEM");
	struct tutti_topo *t = b->t;
	size_t len;
	char *text = topo_read_file(file, &len, t->reason, sizeof(t->reason));
	bool ok;

	if (!text)
		return false;
	t->source = hash_bytes(text, len);
	t->live = this_system && atoi(this_system);
	ok = topo_from_xml(b, text, len);
	free(text);
	return ok;
}

static bool from_source(struct topo_build *b,
			const struct tutti_topo_from *from)
{
	struct tutti_topo *t = b->t;

	if (from->xml)
		return from_file(b, from->xml);
	if (from->synthetic)
		t->source = hash_bytes(from->synthetic,
				       strlen(from->synthetic));
	return topo_from_hwloc(b, from);
}

/* Put what was asked for before the reason. */
static void tell(struct tutti_topo *t, const struct tutti_topo_from *from)
{
	char why[181];

	snprintf(why, sizeof(why), "%.180s", t->reason);
	if (from->xml)
		snprintf(t->reason, sizeof(t->reason),
			 "%.100s is not a topology: %s", from->xml, why);
	else if (from->synthetic)
		snprintf(t->reason, sizeof(t->reason),
			 "\"%.100s\" is not a synthetic topology: %s",
			 from->synthetic, why);
	else
		snprintf(t->reason, sizeof(t->reason),
			 "the topology of this machine is not known: %s",
			 why);
}

static void drop(struct tutti_topo *t)
{
	free(t->objects);
	free(t->pus);
	free(t->devices);
	t->objects = NULL;
	t->pus = NULL;
	t->devices = NULL;
	t->nobjects = t->npus = t->ndevices = t->llc_level = 0;
}

/* The CPUs of this process, and no more known of them. */
static bool make_flat(struct topo_build *b)
{
	struct topo_item item = { .kind = TUTTI_TOPO_MACHINE };
	struct tutti_topo *t = b->t;
	uint64_t mask[TOPO_WORDS];
	bool told = read_affinity(mask), ok;

	drop(t);
	t->flat = true;
	*b = (struct topo_build){ .t = t };
	ok = topo_open(b, &item);
	item.kind = TUTTI_TOPO_PU;
	for (int os = 0; ok && os < (told ? TOPO_PUS_MAX : 1); os++) {
		if (told && !in_mask(mask, TOPO_WORDS, os))
			continue;
		item.os_number = os;
		ok = topo_open(b, &item);
		if (ok)
			topo_close(b);
	}
	if (ok)
		topo_close(b);
	return ok && topo_finish(b);
}

struct tutti_topo *tutti_topo_load(const struct tutti_topo_from *from)
{
	struct topo_build b = { .t = calloc(1, sizeof(struct tutti_topo)) };
	struct tutti_topo *t = b.t;
	bool ok;

	if (!t)
		return NULL;
	ok = from_source(&b, from);
	if (ok && !topo_finish(&b)) {
		snprintf(t->reason, sizeof(t->reason), "it has no CPU");
		ok = false;
	}
	if (ok)
		restrict_to_self(t);
	if (ok && !tutti_topo_allowed(t, 0, t->npus)) {
		snprintf(t->reason, sizeof(t->reason),
			 "this process may use none of its CPUs");
		ok = false;
	}
	if (ok || b.no_memory)
		goto out;
	tell(t, from);
	ok = make_flat(&b);
out:
	if (ok)
		return t;
	tutti_topo_free(t);
	return NULL;
}

void tutti_topo_free(struct tutti_topo *t)
{
	if (!t)
		return;
	drop(t);
	free(t);
}

int tutti_topo_count(const struct tutti_topo *t, enum tutti_topo_kind kind,
		     int level)
{
	int n = 0;

	for (int i = 0; i < t->nobjects; i++) {
		const struct tutti_topo_object *o = &t->objects[i];

		n += o->kind == kind && o->level == level &&
		     tutti_topo_allowed(t, o->pu_first, o->pu_count) > 0;
	}
	return n;
}
