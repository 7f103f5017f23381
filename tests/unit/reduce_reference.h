/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lib/reduce must compute, written as plainly as possible and sharing no
 * code with it: values in double or 128-bit integers, formats decoded and
 * encoded by arithmetic.  Used by the unit tests and by tests/stress.
 */
#ifndef TEST_REDUCE_REFERENCE_H
#define TEST_REDUCE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti.h"

size_t ref_size(int type);
bool ref_is_float(int type);

/* The bits of one element, in the low bits. */
uint64_t ref_get(int type, const void *buf, size_t i);
void ref_put(int type, void *buf, size_t i, uint64_t bits);

/* The value of a floating-point element, and the element nearest to a value
 * (ties to even) with overflow and NaN as lib/reduce/reduce.h says.  */
double ref_decode(int type, uint64_t bits);
uint64_t ref_encode(int type, double value);
uint64_t ref_nan(int type);

/* The element that two floating-point values give; divisor as below. */
uint64_t ref_pair(int type, int op, double x, double y, int divisor);

/* Reduce k sources of n elements into `out`; `scale` and divisor as in struct
 * tutti_reduce_args. */
void ref_reduce(int type, int op, size_t n, int k, const void *const *src,
		const void *const *scale, int divisor, void *out);

/* A generator of numbers; never fed with 0. */
uint64_t ref_random(uint64_t *state);

/* Ordinary values, all bit patterns, and the odd ones: zeros, limits,
 * subnormals, infinities, several NaN. */
void ref_fill(int type, void *buf, size_t n, uint64_t seed);

#endif
