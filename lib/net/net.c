/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of transports, the slots for what one has no use for, and the bell.
 */
#include "config.h"

#include "base/futex.h"
#include "net/xport.h"

#include <string.h>

void tutti_bell_ring(struct tutti_bell *bell)
{
	/* Partner: the owner's store of `sleeping` before it looks again. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&bell->sleeping, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&bell->rung, 1, memory_order_release);
	tutti_futex_wake(&bell->rung);
}

void tutti_xport_kick_nothing(struct tutti_chan *c)
{
}

const char *tutti_xport_fault_none(struct tutti_chan *c)
{
	return NULL;
}

bool tutti_xport_progress_nothing(struct tutti_xport *x)
{
	return false;
}

bool tutti_xport_flushed_always(struct tutti_xport *x)
{
	return true;
}

struct tutti_bell *tutti_xport_bell_given(struct tutti_xport *x)
{
	return NULL;
}

struct tutti_region tutti_xport_expose_none(struct tutti_xport *x,
					    const void *ptr, size_t bytes)
{
	return (struct tutti_region){ 0 };
}

void *tutti_xport_map_none(struct tutti_xport *x, int peer,
			   const struct tutti_region *region, size_t bytes)
{
	return NULL;
}

#define X(name) extern const struct tutti_xport_ops tutti_xport_##name;
#include "net/registry.inc"
#undef X

const struct tutti_xport_ops *const tutti_xports[] = {
#define X(name) &tutti_xport_##name,
#include "net/registry.inc"
#undef X
	NULL
};

const struct tutti_xport_ops *tutti_xport_find(const char *name)
{
	for (int i = 0; tutti_xports[i]; i++)
		if (!strcmp(tutti_xports[i]->name, name))
			return tutti_xports[i];
	return NULL;
}
