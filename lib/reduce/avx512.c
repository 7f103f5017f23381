/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for AVX-512 (F, BW, DQ, VL): registers of 64 bytes.  Compiled
 * with flags of its own, so nothing in here may run before tutti_cpu_avx512()
 * said yes, and no inline function with external linkage may be used.
 */
#include "config.h"

#include "reduce/reduce_impl.h"

#include <immintrin.h>

#define VBYTES 64
#include "reduce/vector.h"

#define ISA_STREAMS true

static inline void isa_stream(void *p, const void *r, size_t n)
{
	if (n == 64)
		_mm512_stream_si512(p, _mm512_loadu_si512(r));
	else
		_mm256_stream_si256(p, _mm256_loadu_si256(r));
}

static inline void isa_fence(void)
{
	_mm_sfence();
}

static inline f32_v f32_quiet(f32_v x)
{
	__m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(TUTTI_NAN_F32));

	return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
				  nan);
}

static inline f64_v f64_quiet(f64_v x)
{
	__m512d nan = _mm512_castsi512_pd(_mm512_set1_epi64(TUTTI_NAN_F64));

	return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q),
				  nan);
}

/*
 * The instructions return their second operand for a pair of zeros and for
 * any NaN.  Both orders differ only then: `and` makes +0 of two zeros, `or`
 * makes -0, and `or` with a NaN is a NaN.
 */
static inline f32_v f32_larger(f32_v x, f32_v y)
{
	__m512 z = _mm512_and_ps(_mm512_max_ps(x, y), _mm512_max_ps(y, x));

	return _mm512_mask_add_ps(z, _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q),
				  x, y);
}

static inline f32_v f32_smaller(f32_v x, f32_v y)
{
	return _mm512_or_ps(_mm512_min_ps(x, y), _mm512_min_ps(y, x));
}

static inline f64_v f64_larger(f64_v x, f64_v y)
{
	__m512d z = _mm512_and_pd(_mm512_max_pd(x, y), _mm512_max_pd(y, x));

	return _mm512_mask_add_pd(z, _mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q),
				  x, y);
}

static inline f64_v f64_smaller(f64_v x, f64_v y)
{
	return _mm512_or_pd(_mm512_min_pd(x, y), _mm512_min_pd(y, x));
}

#define i8_larger(x, y) (i8_v)_mm512_max_epi8((__m512i)(x), (__m512i)(y))
#define i8_smaller(x, y) (i8_v)_mm512_min_epi8((__m512i)(x), (__m512i)(y))
#define u8_larger(x, y) (u8_v)_mm512_max_epu8((__m512i)(x), (__m512i)(y))
#define u8_smaller(x, y) (u8_v)_mm512_min_epu8((__m512i)(x), (__m512i)(y))
#define i32_larger(x, y) (i32_v)_mm512_max_epi32((__m512i)(x), (__m512i)(y))
#define i32_smaller(x, y) (i32_v)_mm512_min_epi32((__m512i)(x), (__m512i)(y))
#define u32_larger(x, y) (u32_v)_mm512_max_epu32((__m512i)(x), (__m512i)(y))
#define u32_smaller(x, y) (u32_v)_mm512_min_epu32((__m512i)(x), (__m512i)(y))
#define i64_larger(x, y) (i64_v)_mm512_max_epi64((__m512i)(x), (__m512i)(y))
#define i64_smaller(x, y) (i64_v)_mm512_min_epi64((__m512i)(x), (__m512i)(y))
#define u64_larger(x, y) (u64_v)_mm512_max_epu64((__m512i)(x), (__m512i)(y))
#define u64_smaller(x, y) (u64_v)_mm512_min_epu64((__m512i)(x), (__m512i)(y))

static inline f32_v f16_open(f16_raw r)
{
	return _mm512_cvtph_ps((__m256i)r);
}

static inline f16_raw f16_close(f32_v x)
{
	return (f16_raw)_mm512_cvtps_ph(f32_quiet(x),
					_MM_FROUND_TO_NEAREST_INT |
					_MM_FROUND_NO_EXC);
}

static inline f32_v bf16_open(bf16_raw r)
{
	return (f32_v)_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)r), 16);
}

static inline bf16_raw to_u16(u32_v x)
{
	return (bf16_raw)_mm512_cvtepi32_epi16((__m512i)x);
}

static inline f16_raw u16_from_u8(e4m3_raw r)
{
	return (f16_raw)_mm256_cvtepu8_epi16((__m128i)r);
}

static inline e4m3_raw to_u8(u32_v x)
{
	return (e4m3_raw)_mm512_cvtepi32_epi8((__m512i)x);
}

#include "reduce/table.inc"
#include "reduce/copy.inc"

const struct tutti_kernels tutti_kernels_avx512 = {
	.name = "avx512", .supported = tutti_cpu_avx512, .fn = TABLE,
	.copy = copy, .to_f32 = TO_F32, .from_f32 = FROM_F32
};
