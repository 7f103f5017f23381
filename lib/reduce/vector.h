/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all vector instruction sets have in common, written once with the
 * compiler's vector types.  Included after VBYTES, the bytes of a register, is
 * defined.  A file that includes this adds what the compiler does not say well:
 * maximum, minimum, canonical NaN, float16, changes of the elements' width and
 * streaming stores.
 *
 * Narrow elements fill a register when widened, so their raw vectors are a half
 * or a quarter of one.
 */
#ifndef TUTTI_REDUCE_VECTOR_H
#define TUTTI_REDUCE_VECTOR_H

#include "reduce/convert.h"

#define VECTOR(bytes) __attribute__((vector_size(bytes)))

typedef uint8_t i8_v VECTOR(VBYTES), u8_v VECTOR(VBYTES);
typedef uint32_t i32_v VECTOR(VBYTES), u32_v VECTOR(VBYTES);
typedef uint64_t i64_v VECTOR(VBYTES), u64_v VECTOR(VBYTES);
typedef float f32_v VECTOR(VBYTES);
typedef double f64_v VECTOR(VBYTES);
typedef int32_t s32_v VECTOR(VBYTES);	/* comparisons and their masks */

typedef i8_v i8_raw;
typedef u8_v u8_raw;
typedef i32_v i32_raw;
typedef u32_v u32_raw;
typedef i64_v i64_raw;
typedef u64_v u64_raw;
typedef f32_v f32_raw;
typedef f64_v f64_raw;
typedef uint16_t f16_raw VECTOR(VBYTES / 2), bf16_raw VECTOR(VBYTES / 2);
typedef uint8_t e4m3_raw VECTOR(VBYTES / 4), e5m2_raw VECTOR(VBYTES / 4);

#define ISA_LANES true

/* Of the including file. */
static inline f32_v f32_quiet(f32_v x);
static inline f64_v f64_quiet(f64_v x);
static inline f32_v f16_open(f16_raw r);
static inline f32_v bf16_open(bf16_raw r);
static inline bf16_raw to_u16(u32_v x);
static inline f16_raw u16_from_u8(e4m3_raw r);
static inline e4m3_raw to_u8(u32_v x);

enum {
	i8_unroll = 1, u8_unroll = 1, i32_unroll = 1, u32_unroll = 1,
	i64_unroll = 1, u64_unroll = 1, f32_unroll = 1, f64_unroll = 1,
	f16_unroll = 1, bf16_unroll = 1, e4m3_unroll = 0, e5m2_unroll = 0
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
#define f32_close(x) f32_quiet(x)
#define f64_open(r) (r)
#define f64_close(x) f64_quiet(x)

/* Where the mask is set x, else y. */
static inline u32_v choose(s32_v mask, u32_v x, u32_v y)
{
	return (x & (u32_v)mask) | (y & ~(u32_v)mask);
}

static inline bf16_raw bf16_close(f32_v x)
{
	u32_v u = (u32_v)f32_quiet(x);

	u = (u + 0x7fff + (u >> 16 & 1)) >> 16;
	return to_u16(u);
}

/* tutti_narrow() of convert.h, lane by lane; m and bias are constants. */
static inline u32_v narrow(u32_v a, int m, int bias)
{
	const int drop = 23 - m;
	const uint32_t unit = tutti_subnormal_unit(m, bias);
	u32_v small, normal;

	small = (u32_v)((f32_v)a + tutti_f32_of_bits(unit)) - unit;
	normal = a + ((1u << (drop - 1)) - 1) + (a >> drop & 1);
	normal = (normal >> drop) - ((uint32_t)(127 - bias) << m);
	return choose((s32_v)a < (128 - bias) << 23, small, normal);
}

/* e4m3 has float16's form with another bias: read as such, times 2^8. */
static inline f32_v e4m3_open(e4m3_raw r)
{
	f16_raw h = u16_from_u8(r);
	f16_raw mag = h & 0x7f;
	f16_raw nan = (f16_raw)(mag == 0x7f);

	h = (h & 0x80) << 8 | mag << 7 | (nan & 0x7fff);
	return f16_open(h) * 256.0f;
}

static inline e4m3_raw e4m3_close(f32_v x)
{
	u32_v u = (u32_v)x, mag = narrow(u & 0x7fffffff, 3, 7);

	mag = choose((s32_v)mag > 0x7e, (u32_v){ 0 } + 0x7f,
		     mag | (u >> 24 & 0x80));
	return to_u8(mag);
}

/* e5m2 is float16 cut in half. */
static inline f32_v e5m2_open(e5m2_raw r)
{
	return f16_open(u16_from_u8(r) << 8);
}

static inline e5m2_raw e5m2_close(f32_v x)
{
	u32_v u = (u32_v)x, a = u & 0x7fffffff, mag = narrow(a, 2, 15);

	mag = choose((s32_v)mag > 0x7c, (u32_v){ 0 } + 0x7c, mag);
	mag = choose((s32_v)a > 0x7f800000, (u32_v){ 0 } + 0x7e,
		     mag | (u >> 24 & 0x80));
	return to_u8(mag);
}

#endif
