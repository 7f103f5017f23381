/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of one implementation of lib/reduce against the reference, without a
 * test framework, so that they run anywhere.  Each returns the number of
 * faults it found, and prints the first few to stderr.
 */
#ifndef TEST_REDUCE_CHECK_H
#define TEST_REDUCE_CHECK_H

#include "reduce/reduce.h"

/* `thin` is 1 for everything, more for less: of the combinations below one in
 * `thin` is run, others in each length; from 64 on, lengths are shorter too,
 * for emulators. */

/* All lengths 0 to 257 and some longer ones, 1 to 9, 16 and 17 sources, 1 to 3
 * targets, every alignment, streaming, scaling, in place (the target is a
 * source); no byte outside the buffers is read or written. */
int check_shapes(const struct tutti_kernels *k, int type, int thin);

/* Long and odd lengths, compared with the scalar kernels byte by byte. */
int check_long(const struct tutti_kernels *k, int type, int thin);

/* Every single 8- and 16-bit element, and every pair of 8-bit ones. */
int check_exhaustive(const struct tutti_kernels *k, int type, int thin);

/* Of a 16-bit type: every value with each of a few hundred chosen ones, whose
 * exponents are all, with zeros, subnormals, infinities and NaN, by one
 * operator; `op` tuttiNumOps: every value scaled by the chosen.  All
 * implementations at once, as the reference takes the time. */
int check_chosen(int type, int op, int thin);

/* to_f32 and from_f32: every value, ties and their neighbours, lengths. */
int check_convert(const struct tutti_kernels *k, int type);

/* NaN at each source in turn, at each position of a vector (case 49). */
int check_nan(const struct tutti_kernels *k, int type);

/* Signs of zeros in max, min and scaling. */
int check_zeros(const struct tutti_kernels *k, int type);

/* Flushing of subnormals, another rounding mode: no effect, and kept. */
int check_fp_state(const struct tutti_kernels *k, int type);

/* copy(): lengths, alignments, targets, streaming, onto itself. */
int check_copy(const struct tutti_kernels *k, int thin);

/* All of the above, for all types. */
int check_all(const struct tutti_kernels *k, int thin);

#endif
