/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a machine is like, as plain integers: read from the machine this
 * process runs on, from a file that hwloc wrote, or from a synthetic
 * description.  Whatever goes wrong, there is always a topology: a flat one,
 * of CPUs alone, with the reason in it.  Nothing here prints, binds or waits;
 * any thread may call.
 */
#ifndef TUTTI_TOPO_TOPO_H
#define TUTTI_TOPO_TOPO_H

#include "tutti.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tutti_topo_kind {
	TUTTI_TOPO_MACHINE,
	TUTTI_TOPO_PACKAGE,
	TUTTI_TOPO_DIE,
	TUTTI_TOPO_GROUP,
	TUTTI_TOPO_NUMA,
	TUTTI_TOPO_CACHE,	/* of data, or of both */
	TUTTI_TOPO_CORE,
	TUTTI_TOPO_PU,		/* what the operating system calls a CPU */
	TUTTI_TOPO_KINDS
};

/* The objects stand in the order of a walk from the machine inward; objects[0]
 * is the machine.  A NUMA domain has the PUs of its parent. */
struct tutti_topo_object {
	enum tutti_topo_kind kind;
	int level;		/* of a cache, 1 to 5; else 0 */
	int parent;		/* index in objects; -1: the machine */
	int number;		/* among its kind and level */
	int os_number;		/* as the operating system has it, or -1 */
	int pu_first, pu_count;	/* a range of pus */
	int64_t bytes;		/* of a cache, or a domain's memory; or 0 */
	char name[24];		/* what the group is; mostly "" */
};

/* package to core: index in objects of what it is in, or -1. */
struct tutti_topo_pu {
	int os_number;
	bool allowed;		/* this process may use it */
	int package, numa, llc, core;
};

struct tutti_topo_device {
	bool rdma;		/* of the verbs; else a network interface */
	char name[32];
	char bus[24];		/* "0000:3b:00.0"; "" if not on PCI */
	int parent;		/* index in objects: what it is attached to */
	int numa;		/* index in objects, or -1: near none */
	int64_t mbps;		/* speed of the link; 0: not known */
};

struct tutti_topo {
	struct tutti_topo_object *objects;
	struct tutti_topo_pu *pus;
	struct tutti_topo_device *devices;
	int nobjects, npus, ndevices;
	int llc_level;		/* of the last cache; 0: none is known */
	bool live;		/* of this machine: affinity means something */
	bool bound;		/* live, and its affinity leaves CPUs out */
	bool flat;		/* nothing but CPUs is known */
	char reason[320];	/* why it is flat: a sentence */
	uint64_t source;	/* 0 if live, else of the description */
};

/* Where the description comes from; both NULL: this machine.  An `xml` file
 * comes first. */
struct tutti_topo_from {
	const char *xml;
	const char *synthetic;
	bool devices;		/* look for devices, which takes time */
};

/* What the settings say, and after them hwloc's own HWLOC_XMLFILE and
 * HWLOC_SYNTHETIC.  The texts live as long as the environment. */
struct tutti_topo_from tutti_topo_wanted(void);

/* Read it.  NULL only if there is no memory. */
struct tutti_topo *tutti_topo_load(const struct tutti_topo_from *from);
void tutti_topo_free(struct tutti_topo *t);

/* How many of a kind (and, of caches, level) have an allowed PU. */
int tutti_topo_count(const struct tutti_topo *t, enum tutti_topo_kind kind,
		     int level);
/* Allowed PUs in a range. */
int tutti_topo_allowed(const struct tutti_topo *t, int first, int count);

/* Write the description as XML of hwloc's.  From a file: its bytes.
 * Errors: tuttiInvalidArgument (nothing to describe), tuttiSystemError. */
tuttiResult_t tutti_topo_save(const struct tutti_topo_from *from,
			      const char *file);

/* ---- Where ranks sit ----------------------------------------------------- */

/* The package, NUMA domain and last cache (if it is an L3 or further out) that
 * all CPUs of a rank are in:
 * numbers that are equal for two ranks of a machine if the object is the
 * same; -1: its CPUs are in several, or that is not known. */
struct tutti_topo_place {
	int32_t package, numa, llc;
};

/* The place of a rank that may run on the PUs in `mask`, 64 to a word by
 * their OS numbers. */
struct tutti_topo_place tutti_topo_place_of(const struct tutti_topo *t,
					    const uint64_t *mask, int words);

/* The seat of rank `i` of `n` on this machine, as a range of pus: cores that
 * have allowed PUs are dealt out evenly and in order, and ranks share a core
 * only when there are more of them.  Give its place. */
struct tutti_topo_place tutti_topo_seat(const struct tutti_topo *t, int i,
					int n, int *pu_first, int *pu_count);

/*
 * Group ranks: those of a node into domains by cache, NUMA domain or package,
 * whichever makes the largest domain and the number of domains together
 * smallest, the wider first.  A node stays one domain unless every rank's
 * place is known, there is more than one domain, and some domain has more
 * than one rank.
 * Fills domain[], numbered through by lowest rank, and returns their number,
 * 0 if no node is divided.  `why` gets a sentence about the node of `self`.
 * -1 if there is no memory.
 */
int tutti_topo_group(const struct tutti_topo_place *place, const int *node,
		     int ranks, int self, int *domain, char *why, size_t cap);

#endif
