/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this room share: the scalar kernels, which also finish
 * what does not fill a vector, the averages of integers, the plain copy, the
 * CPU's features, and the guard of the floating-point state.
 */
#ifndef TUTTI_REDUCE_IMPL_H
#define TUTTI_REDUCE_IMPL_H

#include "reduce/reduce.h"

/* Sources taken in registers at a time. */
#define TUTTI_PASS 8
/* Bytes of intermediate results between two passes; stays in L1. */
#define TUTTI_ACC_BYTES 4096
/* Below this, streaming stores cost more than they save. */
#define TUTTI_STREAM_MIN 4096

/* Facts about each element: its type code, and whether it is an integer. */
enum {
	i8_type = tuttiInt8, i8_whole = 1,
	u8_type = tuttiUint8, u8_whole = 1,
	i32_type = tuttiInt32, i32_whole = 1,
	u32_type = tuttiUint32, u32_whole = 1,
	i64_type = tuttiInt64, i64_whole = 1,
	u64_type = tuttiUint64, u64_whole = 1,
	f16_type = tuttiFloat16,
	f32_type = tuttiFloat32, f32_whole = 0,
	f64_type = tuttiFloat64, f64_whole = 0,
	bf16_type = tuttiBfloat16,
	e4m3_type = tuttiFloat8e4m3,
	e5m2_type = tuttiFloat8e5m2
};

/* Reduce the bytes from `first` to before `end` of every buffer. */
typedef void (*tutti_range_fn)(const struct tutti_reduce_args *a,
			       size_t first, size_t end);

/* The scalar kernels by range; the average always divides. */
extern const tutti_range_fn tutti_scalar_ranges[tuttiNumTypes][tuttiNumOps];

/* The exact average of an integer type; a->divisor is not 0. */
void tutti_average(const struct tutti_reduce_args *a, int type);

/* Copy with ordinary stores. */
void tutti_copy_plain(void *const *dst, int ndst, const void *src,
		      size_t bytes);

/* True if this CPU and its system have what the kernels were compiled for. */
bool tutti_cpu_avx2(void);
bool tutti_cpu_avx512(void);

extern const struct tutti_kernels tutti_kernels_scalar;
extern const struct tutti_kernels tutti_kernels_avx2;
extern const struct tutti_kernels tutti_kernels_avx512;
extern const struct tutti_kernels tutti_kernels_neon;

#endif
