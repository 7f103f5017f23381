/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This process's shareable buffers: those it allocated here and those of the
 * user that turned out to be shareable mappings.  Each is a segment with a
 * number that is never used again.  Any thread.
 */
#ifndef TUTTI_NET_SHM_MEM_H
#define TUTTI_NET_SHM_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

/* A memfd of `bytes`, allocated, mapped and zero.  *fd stays open.  Errors:
 * tuttiSystemError. */
tuttiResult_t tutti_memfd_map(const char *name, size_t bytes, int *fd,
			      void **ptr);

/* As tuttiMemAlloc and tuttiMemFree. */
tuttiResult_t tutti_mem_alloc(void **ptr, size_t size);
tuttiResult_t tutti_mem_free(void *ptr);

/* Make a segment of a mapping that is shareable; *seg 0 if it is not. */
tuttiResult_t tutti_mem_register(void *ptr, size_t size, uint64_t *seg);
void tutti_mem_deregister(uint64_t seg);

/* Where [ptr, ptr + bytes) lies, as one segment. */
struct tutti_mem_place {
	uint64_t seg;		/* 0: in no segment */
	uint64_t offset;
};

/* A caller's memory of its last answers; zero it first. */
struct tutti_mem_cache {
	uint64_t generation;
	struct {
		uintptr_t base;
		size_t size;
		uint64_t seg, lead;
	} entry[4];
	unsigned int next;
};

struct tutti_mem_place tutti_mem_find(struct tutti_mem_cache *cache,
				      const void *ptr, size_t bytes);

/* The key under which a segment's descriptor is offered. */
void tutti_mem_key(uint8_t key[16], uint64_t seg);

#endif
