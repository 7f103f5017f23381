/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of topo: making a topology object by object. */
#ifndef TUTTI_TOPO_TOPO_IMPL_H
#define TUTTI_TOPO_TOPO_IMPL_H

#include "topo/topo.h"

#define TOPO_DEPTH_MAX	64
#define TOPO_PUS_MAX	16384	/* numbers of PUs stay below, too */
#define TOPO_WORDS	(TOPO_PUS_MAX / 64)

struct topo_build {
	struct tutti_topo *t;
	int objects_cap, pus_cap, devices_cap;
	int open[TOPO_DEPTH_MAX];	/* indexes of the objects around */
	int depth;
	bool no_memory;
};

struct topo_item {
	enum tutti_topo_kind kind;
	int level, os_number;
	int64_t bytes;
	const char *name;	/* may be NULL */
	bool no_cpus;		/* a NUMA domain of memory alone */
};

/* Begin an object inside the one that is open; false if it is too deep or
 * there is no memory.  A PU is allowed until someone says otherwise. */
bool topo_open(struct topo_build *b, const struct topo_item *item);
void topo_close(struct topo_build *b);
/* A device of the object that is open; copied. */
bool topo_device(struct topo_build *b, const struct tutti_topo_device *d);
/* All is there: work out what is in what.  False if there is no PU. */
bool topo_finish(struct topo_build *b);

/* Keep printable ASCII of a name. */
void topo_name(char *out, size_t cap, const char *name);

/* The sources.  False with t->reason; `b` may then hold anything. */
bool topo_from_hwloc(struct topo_build *b, const struct tutti_topo_from *from);
/* `text` of `len` bytes; sets allowed. */
bool topo_from_xml(struct topo_build *b, const char *text, size_t len);
/* Is a synthetic description one that hwloc can be asked about? */
bool topo_check_synthetic(const char *text, char *why, size_t cap);
/* Is there what hwloc needs to look at this machine? */
bool topo_check_sysfs(char *why, size_t cap);

/* The whole file, to be freed; NULL with the end of a sentence in `why`. */
char *topo_read_file(const char *name, size_t *len, char *why, size_t cap);

#endif
