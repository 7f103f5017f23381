/* SPDX-License-Identifier: BSD-3-Clause */
/* Small arithmetic that every room needs. */
#ifndef TUTTI_BASE_BITS_H
#define TUTTI_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

#define TUTTI_LINE 64	/* bytes of a cache line */

#define tutti_min(a, b) ((a) < (b) ? (a) : (b))
#define tutti_max(a, b) ((a) > (b) ? (a) : (b))
#define tutti_countof(a) (sizeof(a) / sizeof((a)[0]))

static inline size_t tutti_round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* a * b; false if it overflows. */
static inline bool tutti_mul(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* A 64-bit mix of `h` and `v`, for hashes that need no secrecy. */
static inline uint64_t tutti_mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	h ^= h >> 31;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 29;
	return h;
}

/* Bytes of one element; 0 for a type that does not exist. */
size_t tutti_type_size(int datatype);
/* Kinds of operators that programs make, after the numbers of the others. */
enum {
	TUTTI_REDOP_PREMUL = tuttiNumOps,
	TUTTI_REDOP_USER,
	TUTTI_REDOP_ORDERED,	/* a function that does not commute */
	TUTTI_REDOPS
};
/* "float32" and the like, as in nccl-tests' short form ("float", "half");
 * "?" for a type or operator that does not exist. */
const char *tutti_type_name(int datatype);
const char *tutti_redop_name(int op);

#endif
