/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for AVX2 with F16C: registers of 32 bytes.  Compiled with flags
 * of its own, so nothing in here may run before tutti_cpu_avx2() said yes, and
 * no inline function with external linkage may be used.
 */
#include "config.h"

#include "reduce/reduce_impl.h"

#include <immintrin.h>

#define VBYTES 32
#include "reduce/vector.h"

#define ISA_STREAMS true

static inline void isa_stream(void *p, const void *r, size_t n)
{
	if (n == 32)
		_mm256_stream_si256(p, _mm256_loadu_si256(r));
	else
		_mm_stream_si128(p, _mm_loadu_si128(r));
}

static inline void isa_fence(void)
{
	_mm_sfence();
}

static inline f32_v f32_quiet(f32_v x)
{
	__m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(TUTTI_NAN_F32));

	return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

static inline f64_v f64_quiet(f64_v x)
{
	__m256d nan = _mm256_castsi256_pd(_mm256_set1_epi64x(TUTTI_NAN_F64));

	return _mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
}

/*
 * The instructions return their second operand for a pair of zeros and for
 * any NaN.  Both orders differ only then: `and` makes +0 of two zeros, `or`
 * makes -0, and `or` with a NaN is a NaN.
 */
static inline f32_v f32_larger(f32_v x, f32_v y)
{
	__m256 nan = _mm256_cmp_ps(x, y, _CMP_UNORD_Q);

	return _mm256_or_ps(nan, _mm256_and_ps(_mm256_max_ps(x, y),
					       _mm256_max_ps(y, x)));
}

static inline f32_v f32_smaller(f32_v x, f32_v y)
{
	return _mm256_or_ps(_mm256_min_ps(x, y), _mm256_min_ps(y, x));
}

static inline f64_v f64_larger(f64_v x, f64_v y)
{
	__m256d nan = _mm256_cmp_pd(x, y, _CMP_UNORD_Q);

	return _mm256_or_pd(nan, _mm256_and_pd(_mm256_max_pd(x, y),
					       _mm256_max_pd(y, x)));
}

static inline f64_v f64_smaller(f64_v x, f64_v y)
{
	return _mm256_or_pd(_mm256_min_pd(x, y), _mm256_min_pd(y, x));
}

static inline i64_v i64_larger(i64_v x, i64_v y)
{
	__m256i less = _mm256_cmpgt_epi64((__m256i)y, (__m256i)x);

	return (i64_v)_mm256_blendv_epi8((__m256i)x, (__m256i)y, less);
}

static inline i64_v i64_smaller(i64_v x, i64_v y)
{
	__m256i less = _mm256_cmpgt_epi64((__m256i)y, (__m256i)x);

	return (i64_v)_mm256_blendv_epi8((__m256i)y, (__m256i)x, less);
}

/* Unsigned order is signed order with the top bit turned. */
static inline u64_v u64_larger(u64_v x, u64_v y)
{
	const u64_v top = (u64_v){ 0 } + (1ull << 63);

	return i64_larger(x ^ top, y ^ top) ^ top;
}

static inline u64_v u64_smaller(u64_v x, u64_v y)
{
	const u64_v top = (u64_v){ 0 } + (1ull << 63);

	return i64_smaller(x ^ top, y ^ top) ^ top;
}

#define i8_larger(x, y) (i8_v)_mm256_max_epi8((__m256i)(x), (__m256i)(y))
#define i8_smaller(x, y) (i8_v)_mm256_min_epi8((__m256i)(x), (__m256i)(y))
#define u8_larger(x, y) (u8_v)_mm256_max_epu8((__m256i)(x), (__m256i)(y))
#define u8_smaller(x, y) (u8_v)_mm256_min_epu8((__m256i)(x), (__m256i)(y))
#define i32_larger(x, y) (i32_v)_mm256_max_epi32((__m256i)(x), (__m256i)(y))
#define i32_smaller(x, y) (i32_v)_mm256_min_epi32((__m256i)(x), (__m256i)(y))
#define u32_larger(x, y) (u32_v)_mm256_max_epu32((__m256i)(x), (__m256i)(y))
#define u32_smaller(x, y) (u32_v)_mm256_min_epu32((__m256i)(x), (__m256i)(y))

static inline f32_v f16_open(f16_raw r)
{
	return _mm256_cvtph_ps((__m128i)r);
}

static inline f16_raw f16_close(f32_v x)
{
	return (f16_raw)_mm256_cvtps_ph(f32_quiet(x),
					_MM_FROUND_TO_NEAREST_INT |
					_MM_FROUND_NO_EXC);
}

/* Every element into the upper half of its lane by one shuffle. */
static inline f32_v bf16_open(bf16_raw r)
{
	const __m256i where = _mm256_setr_epi8(
		-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,
		-1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);

	return (f32_v)_mm256_shuffle_epi8(
		_mm256_broadcastsi128_si256((__m128i)r), where);
}

static inline bf16_raw to_u16(u32_v x)
{
	return (bf16_raw)_mm_packus_epi32(
		_mm256_castsi256_si128((__m256i)x),
		_mm256_extracti128_si256((__m256i)x, 1));
}

static inline f16_raw u16_from_u8(e4m3_raw r)
{
	return (f16_raw)_mm_cvtepu8_epi16(_mm_loadl_epi64((void *)&r));
}

static inline e4m3_raw to_u8(u32_v x)
{
	__m128i h = (__m128i)to_u16(x);
	e4m3_raw r;

	_mm_storel_epi64((void *)&r, _mm_packus_epi16(h, h));
	return r;
}

#include "reduce/table.inc"
#include "reduce/copy.inc"

const struct tutti_kernels tutti_kernels_avx2 = {
	.name = "avx2", .supported = tutti_cpu_avx2, .fn = TABLE, .copy = copy,
	.to_f32 = TO_F32, .from_f32 = FROM_F32
};
