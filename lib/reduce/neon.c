/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for 64-bit Arm: registers of 16 bytes, which every such CPU has.
 * Its maximum and minimum are already the ones of reduce.h.  Stores that pass
 * the caches exist only as a hint, in pairs; ordinary ones are used.
 */
#include "config.h"

#include "reduce/reduce_impl.h"

#include <arm_neon.h>

#define VBYTES 16
#include "reduce/vector.h"

#define ISA_STREAMS false
#define isa_stream(p, r, n) memcpy(p, r, n)
#define isa_fence() ((void)0)

static inline f32_v f32_quiet(f32_v x)
{
	float32x4_t nan = vreinterpretq_f32_u32(vdupq_n_u32(TUTTI_NAN_F32));

	return (f32_v)vbslq_f32(vceqq_f32(x, x), x, nan);
}

static inline f64_v f64_quiet(f64_v x)
{
	float64x2_t nan = vreinterpretq_f64_u64(vdupq_n_u64(TUTTI_NAN_F64));

	return (f64_v)vbslq_f64(vceqq_f64(x, x), x, nan);
}

#define f32_larger(x, y) (f32_v)vmaxq_f32(x, y)
#define f32_smaller(x, y) (f32_v)vminq_f32(x, y)
#define f64_larger(x, y) (f64_v)vmaxq_f64(x, y)
#define f64_smaller(x, y) (f64_v)vminq_f64(x, y)
#define i8_larger(x, y) (i8_v)vmaxq_s8((int8x16_t)(x), (int8x16_t)(y))
#define i8_smaller(x, y) (i8_v)vminq_s8((int8x16_t)(x), (int8x16_t)(y))
#define u8_larger(x, y) (u8_v)vmaxq_u8(x, y)
#define u8_smaller(x, y) (u8_v)vminq_u8(x, y)
#define i32_larger(x, y) (i32_v)vmaxq_s32((int32x4_t)(x), (int32x4_t)(y))
#define i32_smaller(x, y) (i32_v)vminq_s32((int32x4_t)(x), (int32x4_t)(y))
#define u32_larger(x, y) (u32_v)vmaxq_u32(x, y)
#define u32_smaller(x, y) (u32_v)vminq_u32(x, y)

static inline i64_v i64_larger(i64_v x, i64_v y)
{
	return (i64_v)vbslq_u64(vcgtq_s64((int64x2_t)x, (int64x2_t)y),
				(uint64x2_t)x, (uint64x2_t)y);
}

static inline i64_v i64_smaller(i64_v x, i64_v y)
{
	return (i64_v)vbslq_u64(vcgtq_s64((int64x2_t)x, (int64x2_t)y),
				(uint64x2_t)y, (uint64x2_t)x);
}

static inline u64_v u64_larger(u64_v x, u64_v y)
{
	return (u64_v)vbslq_u64(vcgtq_u64((uint64x2_t)x, (uint64x2_t)y),
				(uint64x2_t)x, (uint64x2_t)y);
}

static inline u64_v u64_smaller(u64_v x, u64_v y)
{
	return (u64_v)vbslq_u64(vcgtq_u64((uint64x2_t)x, (uint64x2_t)y),
				(uint64x2_t)y, (uint64x2_t)x);
}

static inline f32_v f16_open(f16_raw r)
{
	return (f32_v)vcvt_f32_f16((float16x4_t)r);
}

static inline f16_raw f16_close(f32_v x)
{
	return (f16_raw)vcvt_f16_f32(f32_quiet(x));
}

static inline f32_v bf16_open(bf16_raw r)
{
	return (f32_v)vshll_n_u16((uint16x4_t)r, 16);
}

static inline bf16_raw to_u16(u32_v x)
{
	return (bf16_raw)vmovn_u32((uint32x4_t)x);
}

static inline f16_raw u16_from_u8(e4m3_raw r)
{
	return __builtin_convertvector(r, f16_raw);
}

static inline e4m3_raw to_u8(u32_v x)
{
	return __builtin_convertvector(x, e4m3_raw);
}

#include "reduce/table.inc"

static bool always(void)
{
	return true;
}

static void copy(void *const *dst, int ndst, const void *src, size_t bytes,
		 bool stream)
{
	tutti_copy_plain(dst, ndst, src, bytes);
}

const struct tutti_kernels tutti_kernels_neon = {
	.name = "neon", .supported = always, .fn = TABLE, .copy = copy,
	.to_f32 = TO_F32, .from_f32 = FROM_F32
};
