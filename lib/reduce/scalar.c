/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels in plain C, for every CPU: the "vector" is one element.  The
 * other implementations must give the same bits, and leave to this one what
 * does not fill a vector.
 */
#include "config.h"

#include "reduce/convert.h"
#include "reduce/reduce_impl.h"

#define ISA_LANES false
#define ISA_STREAMS false
#define isa_stream(p, r, n) memcpy(p, r, n)
#define isa_fence() ((void)0)

typedef i8_elem i8_v, i8_raw;
typedef u8_elem u8_v, u8_raw;
typedef i32_elem i32_v, i32_raw;
typedef u32_elem u32_v, u32_raw;
typedef i64_elem i64_v, i64_raw;
typedef u64_elem u64_v, u64_raw;
typedef float f32_v, f32_raw;
typedef double f64_v, f64_raw;
typedef f16_elem f16_raw;
typedef bf16_elem bf16_raw;
typedef e4m3_elem e4m3_raw;
typedef e5m2_elem e5m2_raw;

enum {
	i8_unroll = 1, u8_unroll = 1, i32_unroll = 1, u32_unroll = 1,
	i64_unroll = 1, u64_unroll = 1, f32_unroll = 1, f64_unroll = 1,
	f16_unroll = 0, bf16_unroll = 0, e4m3_unroll = 0, e5m2_unroll = 0
};

#define i8_open(r) (r)
#define i8_close(x) (x)
#define u8_open(r) (r)
#define u8_close(x) (x)
#define i32_open(r) (r)
#define i32_close(x) (x)
#define u32_open(r) (r)
#define u32_close(x) (x)
#define i64_open(r) (r)
#define i64_close(x) (x)
#define u64_open(r) (r)
#define u64_close(x) (x)
#define f32_open(r) (r)
#define f32_close(x) f32_narrow(x)
#define f64_open(r) (r)
#define f64_close(x) f64_narrow(x)
#define f16_open(r) f16_widen(r)
#define f16_close(x) f16_narrow(x)
#define bf16_open(r) bf16_widen(r)
#define bf16_close(x) bf16_narrow(x)
#define e4m3_open(r) e4m3_widen(r)
#define e4m3_close(x) e4m3_narrow(x)
#define e5m2_open(r) e5m2_widen(r)
#define e5m2_close(x) e5m2_narrow(x)

#define greater(x, y) ((x) > (y) ? (x) : (y))
#define less(x, y) ((x) < (y) ? (x) : (y))
#define i8_larger(x, y) greater((int8_t)(x), (int8_t)(y))
#define i8_smaller(x, y) less((int8_t)(x), (int8_t)(y))
#define u8_larger(x, y) greater(x, y)
#define u8_smaller(x, y) less(x, y)
#define i32_larger(x, y) greater((int32_t)(x), (int32_t)(y))
#define i32_smaller(x, y) less((int32_t)(x), (int32_t)(y))
#define u32_larger(x, y) greater(x, y)
#define u32_smaller(x, y) less(x, y)
#define i64_larger(x, y) greater((int64_t)(x), (int64_t)(y))
#define i64_smaller(x, y) less((int64_t)(x), (int64_t)(y))
#define u64_larger(x, y) greater(x, y)
#define u64_smaller(x, y) less(x, y)

/* A NaN wins; of two zeros the positive one. */
static inline float f32_larger(float x, float y)
{
	if (x == y)
		return __builtin_signbit(x) ? y : x;
	return x > y || x != x ? x : y;
}

static inline float f32_smaller(float x, float y)
{
	if (x == y)
		return __builtin_signbit(x) ? x : y;
	return x < y || x != x ? x : y;
}

static inline double f64_larger(double x, double y)
{
	if (x == y)
		return __builtin_signbit(x) ? y : x;
	return x > y || x != x ? x : y;
}

static inline double f64_smaller(double x, double y)
{
	if (x == y)
		return __builtin_signbit(x) ? x : y;
	return x < y || x != x ? x : y;
}

#include "reduce/table.inc"

#define RANGES(e) \
	[e##_type] = { e##_sum_range, e##_prod_range, e##_max_range, \
		       e##_min_range, e##_quotient_range }

const tutti_range_fn tutti_scalar_ranges[tuttiNumTypes][tuttiNumOps] = {
	RANGES(i8), RANGES(u8), RANGES(i32), RANGES(u32),
	RANGES(i64), RANGES(u64), RANGES(f16), RANGES(f32),
	RANGES(f64), RANGES(bf16), RANGES(e4m3), RANGES(e5m2)
};

static bool always(void)
{
	return true;
}

static void copy(void *const *dst, int ndst, const void *src, size_t bytes,
		 bool stream)
{
	tutti_copy_plain(dst, ndst, src, bytes);
}

const struct tutti_kernels tutti_kernels_scalar = {
	.name = "scalar", .supported = always, .fn = TABLE, .copy = copy,
	.to_f32 = TO_F32, .from_f32 = FROM_F32
};
