/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference for lib/reduce.  A float32 operation is done in double and
 * rounded once more, which gives float32's own result for + * and /, as double
 * has more than twice its bits.
 */
#include "unit/reduce_reference.h"

#include <math.h>
#include <string.h>

/* Sign, then exponent, then `mantissa` bits; `emin` is the exponent of the
 * smallest normal number, `top` the code of what follows the largest finite
 * one. */
static const struct format {
	size_t size;
	int mantissa, emin;
	uint64_t top, nan;
} formats[tuttiNumTypes] = {
	[tuttiInt8] = { .size = 1 }, [tuttiUint8] = { .size = 1 },
	[tuttiInt32] = { .size = 4 }, [tuttiUint32] = { .size = 4 },
	[tuttiInt64] = { .size = 8 }, [tuttiUint64] = { .size = 8 },
	[tuttiFloat16] = { 2, 10, -14, 0x7c00, 0x7e00 },
	[tuttiBfloat16] = { 2, 7, -126, 0x7f80, 0x7fc0 },
	[tuttiFloat32] = { 4, 23, -126, 0x7f800000, 0x7fc00000 },
	[tuttiFloat64] = { 8, 52, -1022, 0x7ff0000000000000,
			   0x7ff8000000000000 },
	[tuttiFloat8e4m3] = { 1, 3, -6, 0x7f, 0x7f },
	[tuttiFloat8e5m2] = { 1, 2, -14, 0x7c, 0x7e },
};

size_t ref_size(int type)
{
	return formats[type].size;
}

bool ref_is_float(int type)
{
	return formats[type].top != 0;
}

uint64_t ref_nan(int type)
{
	return formats[type].nan;
}

uint64_t ref_get(int type, const void *buf, size_t i)
{
	const unsigned char *p = (const unsigned char *)buf + i * ref_size(type);
	uint32_t w;
	uint16_t h;
	uint64_t d;

	switch (ref_size(type)) {
	case 1:
		return *p;
	case 2:
		memcpy(&h, p, sizeof(h));
		return h;
	case 4:
		memcpy(&w, p, sizeof(w));
		return w;
	default:
		memcpy(&d, p, sizeof(d));
		return d;
	}
}

void ref_put(int type, void *buf, size_t i, uint64_t bits)
{
	unsigned char *p = (unsigned char *)buf + i * ref_size(type);
	uint32_t w = (uint32_t)bits;
	uint16_t h = (uint16_t)bits;

	switch (ref_size(type)) {
	case 1:
		*p = (unsigned char)bits;
		break;
	case 2:
		memcpy(p, &h, sizeof(h));
		break;
	case 4:
		memcpy(p, &w, sizeof(w));
		break;
	default:
		memcpy(p, &bits, sizeof(bits));
	}
}

static uint64_t sign_bit(int type)
{
	return 1ull << (8 * ref_size(type) - 1);
}

double ref_decode(int type, uint64_t bits)
{
	const struct format *f = &formats[type];
	uint64_t mag = bits & (sign_bit(type) - 1);
	uint64_t low = mag & ((1ull << f->mantissa) - 1);
	uint64_t exponent = mag >> f->mantissa;
	double x;

	if (mag > f->top || (mag == f->top && f->top == f->nan))
		return NAN;
	if (mag == f->top)
		x = INFINITY;
	else if (exponent == 0)
		x = ldexp((double)low, f->emin - f->mantissa);
	else
		x = ldexp((double)(low + (1ull << f->mantissa)),
			  (int)exponent - 1 + f->emin - f->mantissa);
	return bits & sign_bit(type) ? -x : x;
}

uint64_t ref_encode(int type, double value)
{
	const struct format *f = &formats[type];
	uint64_t sign = signbit(value) ? sign_bit(type) : 0, code;
	double a = fabs(value), units;
	int e;

	if (isnan(value))
		return f->nan;
	if (a == 0)
		return sign;
	if (isinf(a))
		return f->top == f->nan ? f->nan : f->top | sign;
	e = ilogb(a) < f->emin ? f->emin : ilogb(a);
	units = nearbyint(ldexp(a, f->mantissa - e));
	/* Units that reach the next power of two carry into the exponent. */
	code = (uint64_t)units + ((uint64_t)(e - f->emin) << f->mantissa);
	if (code >= f->top)
		return f->top == f->nan ? f->nan : f->top | sign;
	return code | sign;
}

/* ---- Operations -------------------------------------------------------- */

/* To the precision that `type` is computed in. */
static double settle(int type, double x)
{
	return type == tuttiFloat64 ? x : (double)(float)x;
}

static double float_op(int type, int op, double x, double y)
{
	bool swap;

	switch (op) {
	case tuttiProd:
		return settle(type, x * y);
	case tuttiMax:
	case tuttiMin:
		if (isnan(x) || isnan(y))
			return NAN;
		swap = x == y ? signbit(x) != 0 : x < y;
		return swap == (op == tuttiMax) ? y : x;
	default:
		return settle(type, x + y);
	}
}

/* Divided if that is asked for, and rounded to the type. */
static uint64_t settled(int type, int op, double x, int divisor)
{
	if (op == tuttiAvg && divisor)
		x = settle(type, x / (double)(float)divisor);
	return ref_encode(type, x);
}

uint64_t ref_pair(int type, int op, double x, double y, int divisor)
{
	return settled(type, op, float_op(type, op, x, y), divisor);
}

static uint64_t reduce_float(int type, int op, size_t i, int k,
			     const void *const *src, const void *const *scale,
			     int divisor)
{
	double x = 0, y;

	for (int s = 0; s < k; s++) {
		y = ref_decode(type, ref_get(type, src[s], i));
		if (scale)
			y = settle(type, y * ref_decode(type,
						ref_get(type, scale[s], 0)));
		x = s ? float_op(type, op, x, y) : y;
	}
	return settled(type, op, x, divisor);
}

static __int128 integer(int type, uint64_t bits)
{
	switch (type) {
	case tuttiInt8:
		return (int8_t)bits;
	case tuttiInt32:
		return (int32_t)bits;
	case tuttiInt64:
		return (int64_t)bits;
	case tuttiUint8:
		return (uint8_t)bits;
	case tuttiUint32:
		return (uint32_t)bits;
	default:
		return bits;
	}
}

static uint64_t reduce_integer(int type, int op, size_t i, int k,
			       const void *const *src,
			       const void *const *scale, int divisor)
{
	__int128 x = 0, y;
	uint64_t bits;

	for (int s = 0; s < k; s++) {
		bits = ref_get(type, src[s], i);
		if (scale)
			bits *= ref_get(type, scale[s], 0);
		y = integer(type, bits);
		if (s == 0)
			x = y;
		else if (op == tuttiProd)
			x = integer(type, (uint64_t)x * (uint64_t)y);
		else if (op == tuttiMax)
			x = x > y ? x : y;
		else if (op == tuttiMin)
			x = x < y ? x : y;
		else
			x += y;
	}
	if (op == tuttiAvg && divisor)
		x /= divisor;
	return (uint64_t)x;
}

void ref_reduce(int type, int op, size_t n, int k, const void *const *src,
		const void *const *scale, int divisor, void *out)
{
	for (size_t i = 0; i < n; i++)
		ref_put(type, out, i, ref_is_float(type) ?
			reduce_float(type, op, i, k, src, scale, divisor) :
			reduce_integer(type, op, i, k, src, scale, divisor));
}

/* ---- Data -------------------------------------------------------------- */

uint64_t ref_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

static uint64_t odd_one(int type, uint64_t r)
{
	const struct format *f = &formats[type];
	uint64_t s = r >> 8 & 1 ? sign_bit(type) : 0;

	if (!ref_is_float(type)) {
		const uint64_t some[] = { 0, 1, ~0ull, sign_bit(type),
					  sign_bit(type) - 1 };

		return some[r % 5];
	}
	switch (r % 8) {
	case 0:
		return s;				/* zero */
	case 1:
		return s | 1;				/* subnormals */
	case 2:
		return s | ((1ull << f->mantissa) - 1);
	case 3:
		return s | (f->top - 1);		/* largest */
	case 4:
		return s | f->top;			/* infinity */
	case 5:
		return s | f->nan;
	case 6:
		return s | (f->top == f->nan ? f->nan : f->top + 1);
	default:
		return ref_encode(type, s ? -1 : 1);
	}
}

void ref_fill(int type, void *buf, size_t n, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ull | 1, r, bits;

	for (size_t i = 0; i < n; i++) {
		r = ref_random(&state);
		if (r >> 60 == 0)
			bits = odd_one(type, r);
		else if (!ref_is_float(type) || r >> 62 == 1)
			bits = ref_random(&state);
		else
			bits = ref_encode(type, ((double)(r & 0xffffff) -
						 0x800000) / 0x200000);
		ref_put(type, buf, i, bits);
	}
}
