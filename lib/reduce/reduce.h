/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Element arithmetic.  A kernel reads k sources, combines element by element
 * from left to right in the order of the list, and stores to m targets, in
 * one pass.  The same bits come from every implementation and every compiler:
 *   - float32 and float64: IEEE operations, no contraction, in the type;
 *   - float16, bfloat16, fp8 e4m3 and e5m2: widened to float32, combined there,
 *     rounded once at the end, to nearest even; overflow of e4m3, which has
 *     no infinity, gives its NaN; e5m2 and the others give infinity;
 *   - any NaN result is the type's canonical quiet NaN (so the payload depends
 *     on nothing); max and min with a NaN give NaN; max(-0,+0) is +0, min is -0;
 *   - integers wrap; the average of integers is exact and truncates to zero;
 *   - the calling thread's rounding mode and flushing of subnormals do not
 *     matter, and are as they were afterwards.
 *
 * A target may be the same address as a source; any other overlap is not
 * allowed.  Pointers need only the alignment of the element.
 */
#ifndef TUTTI_REDUCE_REDUCE_H
#define TUTTI_REDUCE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

struct tutti_reduce_args {
	void *const *dst;
	int ndst;		/* at least 1 */
	const void *const *src;
	int nsrc;		/* at least 1 */
	size_t count;		/* elements */
	/* Of tuttiAvg: divide by this after combining; 0: do not divide (a
	 * partial result).  Integer averages must combine all in one call. */
	int divisor;
	/* One factor for each source, applied first, or NULL.  In the
	 * element's arithmetic (integers wrap); points to elements. */
	const void *const *scale;
	/* Targets will not be read soon: use streaming stores if there are
	 * any.  Complete and ordered before the call returns. */
	bool stream;
};

typedef void (*tutti_reduce_fn)(const struct tutti_reduce_args *a);
/* Convert `count` elements; the buffers do not overlap. */
typedef void (*tutti_convert_fn)(void *dst, const void *src, size_t count);

/* An implementation: a table [type][operator], total. */
struct tutti_kernels {
	const char *name;	/* "scalar", "avx2", "avx512", "neon" */
	bool (*supported)(void);
	tutti_reduce_fn fn[tuttiNumTypes][tuttiNumOps];
	/* Copy `bytes` to m targets, any alignment, `stream` as above. */
	void (*copy)(void *const *dst, int ndst, const void *src, size_t bytes,
		     bool stream);
	/* float16, bfloat16 and the fp8 types to float32, exact, and back,
	 * rounded as above; NULL for the others. */
	tutti_convert_fn to_f32[tuttiNumTypes], from_f32[tuttiNumTypes];
};

/* All that were compiled in, scalar first; ended by NULL. */
extern const struct tutti_kernels *const tutti_kernels_all[];

/* The ones in use: the best supported, or TUTTI_KERNELS.  tuttiInvalidUsage
 * if that names some that this CPU or build lacks. */
tuttiResult_t tutti_kernels_get(const struct tutti_kernels **out);

/* One element from and to float32: exact; rounded to nearest even, overflow
 * and NaN as above. */
float tutti_f16_to_f32(uint16_t x);
uint16_t tutti_f16_from_f32(float x);
float tutti_bf16_to_f32(uint16_t x);
uint16_t tutti_bf16_from_f32(float x);
float tutti_e4m3_to_f32(uint8_t x);
uint8_t tutti_e4m3_from_f32(float x);
float tutti_e5m2_to_f32(uint8_t x);
uint8_t tutti_e5m2_from_f32(float x);

#endif
