/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding by search: a small float has at most 65536 values, so the nearest is
 * found by looking at the neighbours of a scaled guess, in double arithmetic.
 */
#include "config.h"

#include "conform/number.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct format {
	int exponent_bits, mantissa_bits;
	int no_infinity;	/* e4m3: only one NaN pattern at the top */
};

static struct format format_of(tuttiDataType_t type)
{
	switch ((int)type) {
	case tuttiFloat16:
		return (struct format){ 5, 10, 0 };
	case tuttiBfloat16:
		return (struct format){ 8, 7, 0 };
	case tuttiFloat8e4m3:
		return (struct format){ 4, 3, 1 };
	case tuttiFloat8e5m2:
		return (struct format){ 5, 2, 0 };
	}
	return (struct format){ 0, 0, 0 };
}

size_t number_size(tuttiDataType_t type)
{
	static const size_t size[tuttiNumTypes] = { 1, 1, 4, 4, 8, 8,
						    2, 4, 8, 2, 1, 1 };

	return size[type];
}

static double decode(struct format f, unsigned int bits)
{
	unsigned int mask = (1u << f.mantissa_bits) - 1;
	unsigned int m = bits & mask;
	int top = (1 << f.exponent_bits) - 1;
	int e = (int)(bits >> f.mantissa_bits) & top;
	int bias = top / 2;
	double sign = bits >> (f.exponent_bits + f.mantissa_bits) ? -1 : 1;

	if (e == top && (!f.no_infinity || m == mask))
		return m && !(f.no_infinity && m != mask) ? NAN :
							    sign * INFINITY;
	if (!e)
		return sign * ldexp(m, 1 - bias - f.mantissa_bits);
	return sign * ldexp((double)(m | (mask + 1)),
			    e - bias - f.mantissa_bits);
}

/* Positive values grow with their bits, so a bisection finds the two around
 * `v`; halfway goes to the even one. */
static unsigned int encode(struct format f, double v)
{
	unsigned int sign = signbit(v) ? 1u << (f.exponent_bits +
						f.mantissa_bits) : 0;
	unsigned int low = 0, high;
	double a = fabs(v), down, up;

	high = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
	if (f.no_infinity)
		high |= (1u << f.mantissa_bits) - 1;
	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (decode(f, mid) <= a)
			low = mid;
		else
			high = mid;
	}
	down = a - decode(f, low);
	up = decode(f, high) - a;
	if (up < down || (up == down && low & 1))
		low = high;
	return sign | low;
}

/* Tests store few different values very often. */
static unsigned int encode_cached(tuttiDataType_t type, double v)
{
	static __thread struct {
		double v;
		unsigned int bits;
		int known;
	} cache[tuttiNumTypes][64];
	int at = (int)((int64_t)(v * 4) & 63);

	if (!cache[type][at].known || cache[type][at].v != v) {
		cache[type][at].v = v;
		cache[type][at].bits = encode(format_of(type), v);
		cache[type][at].known = 1;
	}
	return cache[type][at].bits;
}

void number_store(tuttiDataType_t type, void *base, size_t i, double v)
{
	union {
		int8_t i8;
		uint8_t u8;
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64;
		uint16_t u16;
		float f32;
		double f64;
	} x;
	size_t size = number_size(type);

	memset(&x, 0, sizeof(x));
	switch ((int)type) {
	case tuttiInt8:
	case tuttiUint8:
		x.u8 = (uint8_t)(int64_t)v;
		break;
	case tuttiInt32:
	case tuttiUint32:
		x.u32 = (uint32_t)(int64_t)v;
		break;
	case tuttiInt64:
	case tuttiUint64:
		x.u64 = (uint64_t)(int64_t)v;
		break;
	case tuttiFloat32:
		x.f32 = (float)v;
		break;
	case tuttiFloat64:
		x.f64 = v;
		break;
	default:
		x.u16 = (uint16_t)encode_cached(type, v);
	}
	memcpy((char *)base + i * size, &x, size);
}

double number_load(tuttiDataType_t type, const void *base, size_t i)
{
	size_t size = number_size(type);
	const char *p = (const char *)base + i * size;
	uint64_t bits = 0;
	float f32;
	double f64;

	memcpy(&bits, p, size);
	switch ((int)type) {
	case tuttiInt8:
		return (int8_t)bits;
	case tuttiInt32:
		return (int32_t)bits;
	case tuttiInt64:
		return (double)(int64_t)bits;
	case tuttiUint8:
	case tuttiUint32:
	case tuttiUint64:
		return (double)bits;
	case tuttiFloat32:
		memcpy(&f32, p, 4);
		return f32;
	case tuttiFloat64:
		memcpy(&f64, p, 8);
		return f64;
	}
	return decode(format_of(type), (unsigned int)bits);
}
