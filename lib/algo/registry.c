/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All algorithms by name.  The list is in local.mk; registry.inc has a line
 * X(allreduce_ring, ring) for each file of it.
 */
#include "config.h"

#include "sched/algo.h"

#include <string.h>

#define X(file, name) extern const struct tutti_algo tutti_algo_##file;
#include "algo/registry.inc"
#undef X

const struct tutti_algo_entry tutti_algos[] = {
#define X(file, name) { #name, &tutti_algo_##file },
#include "algo/registry.inc"
#undef X
	{ NULL, NULL },
};

const struct tutti_algo_entry *tutti_algo_find(enum tutti_coll coll,
					       const char *name)
{
	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++)
		if (a->algo->coll == coll && !strcmp(a->name, name))
			return a;
	return NULL;
}

const char *tutti_algo_name(const struct tutti_algo *algo)
{
	for (const struct tutti_algo_entry *a = tutti_algos; a->name; a++)
		if (a->algo == algo)
			return a->name;
	return "";
}
