/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements one at a time: the C type of each (X_elem), the type it is
 * computed in (X_unit), and the way between the two (X_widen, X_narrow).
 * Narrowing rounds to nearest even and makes every NaN canonical; integers are
 * unsigned here, so that they wrap.
 *
 * float16 and the two fp8 types differ only in the bits of the mantissa, the
 * bias and what lies at the top of the range.
 */
#ifndef TUTTI_REDUCE_CONVERT_H
#define TUTTI_REDUCE_CONVERT_H

#include <stdint.h>
#include <string.h>

#define TUTTI_NAN_F32 0x7fc00000u
#define TUTTI_NAN_F64 0x7ff8000000000000u

typedef uint8_t i8_elem, i8_unit, u8_elem, u8_unit;
typedef uint32_t i32_elem, i32_unit, u32_elem, u32_unit;
typedef uint64_t i64_elem, i64_unit, u64_elem, u64_unit;
typedef uint16_t f16_elem, bf16_elem;
typedef uint8_t e4m3_elem, e5m2_elem;
typedef float f32_elem, f32_unit;
typedef double f64_elem, f64_unit;

static inline uint32_t tutti_f32_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static inline float tutti_f32_of_bits(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static inline double tutti_f64_of_bits(uint64_t u)
{
	double x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/* The float32 whose last bit is worth the smallest subnormal of a format with
 * `m` bits of mantissa: adding it rounds to subnormals, and its own last bits
 * count them. */
static inline uint32_t tutti_subnormal_unit(int m, int bias)
{
	return (uint32_t)(151 - bias - m) << 23;
}

/* The finite value of magnitude `mag`. */
static inline float tutti_widen(uint32_t mag, int m, int bias)
{
	const uint32_t unit = tutti_subnormal_unit(m, bias);

	if (mag >> m == 0)
		return tutti_f32_of_bits(unit + mag) - tutti_f32_of_bits(unit);
	return tutti_f32_of_bits((mag << (23 - m)) +
				 ((uint32_t)(127 - bias) << 23));
}

/* The magnitude nearest to the float32 whose magnitude is `a`, as if there
 * were no end to the exponents; of a NaN, something above infinity. */
static inline uint32_t tutti_narrow(uint32_t a, int m, int bias)
{
	const uint32_t unit = tutti_subnormal_unit(m, bias);
	const int drop = 23 - m;

	if (a < (uint32_t)(128 - bias) << 23)
		return tutti_f32_bits(tutti_f32_of_bits(a) +
				      tutti_f32_of_bits(unit)) - unit;
	a += (1u << (drop - 1)) - 1 + ((a >> drop) & 1);
	return (a >> drop) - ((uint32_t)(127 - bias) << m);
}

static inline float tutti_with_sign(float x, uint32_t negative)
{
	return tutti_f32_of_bits(tutti_f32_bits(x) | negative << 31);
}

static inline float f32_narrow(float x)
{
	return x == x ? x : tutti_f32_of_bits(TUTTI_NAN_F32);
}

static inline double f64_narrow(double x)
{
	return x == x ? x : tutti_f64_of_bits(TUTTI_NAN_F64);
}

static inline float f16_widen(uint16_t h)
{
	uint32_t mag = h & 0x7fffu;

	if (mag >= 0x7c00)
		return tutti_f32_of_bits((h & 0x8000u) << 16 | 0x7f800000 |
					 (mag & 0x3ff) << 13);
	return tutti_with_sign(tutti_widen(mag, 10, 15), h >> 15);
}

static inline uint16_t f16_narrow(float x)
{
	uint32_t u = tutti_f32_bits(x), a = u & 0x7fffffff, mag;

	if (a > 0x7f800000)
		return 0x7e00;
	mag = tutti_narrow(a, 10, 15);
	return (mag < 0x7c00 ? mag : 0x7c00) | (u >> 16 & 0x8000);
}

static inline float bf16_widen(uint16_t h)
{
	return tutti_f32_of_bits((uint32_t)h << 16);
}

static inline uint16_t bf16_narrow(float x)
{
	uint32_t u = tutti_f32_bits(f32_narrow(x));

	return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static inline float e4m3_widen(uint8_t b)
{
	uint32_t mag = b & 0x7fu;

	if (mag == 0x7f)
		return tutti_f32_of_bits(TUTTI_NAN_F32);
	return tutti_with_sign(tutti_widen(mag, 3, 7), b >> 7);
}

static inline uint8_t e4m3_narrow(float x)
{
	uint32_t u = tutti_f32_bits(x);
	uint32_t mag = tutti_narrow(u & 0x7fffffff, 3, 7);

	return mag > 0x7e ? 0x7f : mag | (u >> 24 & 0x80);
}

static inline float e5m2_widen(uint8_t b)
{
	return f16_widen((uint16_t)(b << 8));
}

static inline uint8_t e5m2_narrow(float x)
{
	uint32_t u = tutti_f32_bits(x), a = u & 0x7fffffff, mag;

	if (a > 0x7f800000)
		return 0x7e;
	mag = tutti_narrow(a, 2, 15);
	return (mag < 0x7c ? mag : 0x7c) | (u >> 24 & 0x80);
}

/* The types that are computed in as they are. */
#define i8_widen(x) (x)
#define u8_widen(x) (x)
#define i32_widen(x) (x)
#define u32_widen(x) (x)
#define i64_widen(x) (x)
#define u64_widen(x) (x)
#define f32_widen(x) (x)
#define f64_widen(x) (x)

#endif
