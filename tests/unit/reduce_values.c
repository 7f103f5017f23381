/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results known beforehand, of every implementation that this CPU can run:
 * sums of many narrow operands (case 50), wrapping (case 51), averages of
 * integers (case 52), conversions.
 */
#include "config.h"

#include "reduce/reduce.h"
#include "unit/reduce_reference.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define N 67		/* elements of a vector and a tail, in every type */
#define K 300

static char source[K][N * 8], target[N * 8];
static const void *sources[K];

/* Reduce the first k sources by the i-th implementation; false if there is no
 * such. */
static bool run(int i, int type, int op, int k, int divisor)
{
	void *dst[1] = { target };
	const struct tutti_reduce_args a = {
		.dst = dst, .ndst = 1, .src = sources, .nsrc = k, .count = N,
		.divisor = divisor
	};

	if (!tutti_kernels_all[i])
		return false;
	for (int s = 0; s < k; s++)
		sources[s] = source[s];
	if (tutti_kernels_all[i]->supported())
		tutti_kernels_all[i]->fn[type][op](&a);
	else
		tutti_kernels_all[0]->fn[type][op](&a);
	return true;
}

static void set(int type, int s, uint64_t bits)
{
	for (size_t e = 0; e < N; e++)
		ref_put(type, source[s], e, bits);
}

/* Every element of the target is `bits`. */
static void expect(int i, int type, uint64_t bits)
{
	const uint64_t mask = ~0ull >> (64 - 8 * ref_size(type));

	for (size_t e = 0; e < N; e++)
		cr_assert_eq(ref_get(type, target, e), bits & mask,
			     "%s type %d element %zu: %llx, not %llx",
			     tutti_kernels_all[i]->name, type, e,
			     (unsigned long long)ref_get(type, target, e),
			     (unsigned long long)(bits & mask));
}

/* Case 50: a running sum in bfloat16 would stick at 256. */
Test(reduce_values, many_ones_case_50)
{
	for (int s = 0; s < K; s++) {
		set(tuttiBfloat16, s, 0x3f80);
	}
	for (int i = 0; run(i, tuttiBfloat16, tuttiSum, K, 0); i++)
		expect(i, tuttiBfloat16, tutti_bf16_from_f32(300));
	for (int i = 0; run(i, tuttiBfloat16, tuttiAvg, K, K); i++)
		expect(i, tuttiBfloat16, 0x3f80);
	for (int s = 0; s < K; s++)
		set(tuttiFloat8e5m2, s, 0x3c);
	for (int i = 0; run(i, tuttiFloat8e5m2, tuttiSum, 256, 0); i++)
		expect(i, tuttiFloat8e5m2, tutti_e5m2_from_f32(256));
}

/* Case 50: the error of 64 random operands is that of a float32 sum and of
 * one rounding: each of 63 additions at most half a last bit of the sum of
 * magnitudes, and half a last bit of the result. */
static void random_sum(int type, double last_bit)
{
	for (int s = 0; s < 64; s++)
		ref_fill(type, source[s], N, (uint64_t)s + 1);
	for (int s = 0; s < 64; s++)
		for (size_t e = 0; e < N; e++) {
			double x = ref_decode(type,
					      ref_get(type, source[s], e));

			if (!(fabs(x) < 100))
				ref_put(type, source[s], e,
					ref_encode(type, 0.3));
		}
	for (int i = 0; run(i, type, tuttiSum, 64, 0); i++)
		for (size_t e = 0; e < N; e++) {
			double sum = 0, all = 0, x, got;

			for (int s = 0; s < 64; s++) {
				x = ref_decode(type,
					       ref_get(type, source[s], e));
				sum += x;
				all += fabs(x);
			}
			got = ref_decode(type, ref_get(type, target, e));
			cr_assert_leq(fabs(got - sum),
				      63 * all * 0x1p-24 +
				      fabs(sum) * last_bit + 0x1p-24,
				      "type %d: %g, not %g", type, got, sum);
		}
}

Test(reduce_values, random_sums_case_50)
{
	random_sum(tuttiFloat16, 0x1p-11);
	random_sum(tuttiBfloat16, 0x1p-8);
}

/* Case 51: sums and products wrap; no undefined behaviour (run under
 * UBSan). */
Test(reduce_values, overflow_case_51)
{
	static const int types[] = { tuttiInt8, tuttiUint8, tuttiInt32,
				     tuttiUint32, tuttiInt64, tuttiUint64 };

	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
		const int type = types[t], bits = 8 * (int)ref_size(type);
		const uint64_t least = 1ull << (bits - 1), most = least - 1;

		set(type, 0, most);
		set(type, 1, most);
		for (int i = 0; run(i, type, tuttiSum, 2, 0); i++)
			expect(i, type, most + most);
		for (int i = 0; run(i, type, tuttiProd, 2, 0); i++)
			expect(i, type, 1);
		set(type, 0, least);
		set(type, 1, ~0ull);
		for (int i = 0; run(i, type, tuttiSum, 2, 0); i++)
			expect(i, type, most);
		for (int i = 0; run(i, type, tuttiProd, 2, 0); i++)
			expect(i, type, least);
		set(type, 1, least);
		for (int i = 0; run(i, type, tuttiSum, 2, 0); i++)
			expect(i, type, 0);
	}
	set(tuttiInt8, 0, 120);
	set(tuttiInt8, 1, 100);
	for (int i = 0; run(i, tuttiInt8, tuttiSum, 2, 0); i++)
		expect(i, tuttiInt8, (uint64_t)-36);
}

static void average(int type, int k, uint64_t want)
{
	for (int i = 0; run(i, type, tuttiAvg, k, k); i++)
		expect(i, type, want);
}

/* Case 52: the sum does not wrap before it is divided, the sign stays, the
 * quotient is cut toward zero. */
Test(reduce_values, integer_average_case_52)
{
	static const int counts[] = { 1, 3, 7 };

	for (int c = 0; c < 3; c++) {
		for (int s = 0; s < counts[c]; s++)
			set(tuttiInt8, s, (uint64_t)-10);
		average(tuttiInt8, counts[c], (uint64_t)-10);
		for (int s = 0; s < counts[c]; s++)
			set(tuttiUint8, s, 200);
		average(tuttiUint8, counts[c], 200);
		for (int s = 0; s < counts[c]; s++)
			set(tuttiInt64, s, (uint64_t)INT64_MIN);
		average(tuttiInt64, counts[c], (uint64_t)INT64_MIN);
		for (int s = 0; s < counts[c]; s++)
			set(tuttiInt64, s, INT64_MAX);
		average(tuttiInt64, counts[c], INT64_MAX);
		for (int s = 0; s < counts[c]; s++)
			set(tuttiUint64, s, UINT64_MAX);
		average(tuttiUint64, counts[c], UINT64_MAX);
	}
	/* (-5 + 3 - 6) / 3 = -2.67 and (5 - 3 + 6) / 3 = 2.67 */
	set(tuttiInt32, 0, (uint64_t)-5);
	set(tuttiInt32, 1, 3);
	set(tuttiInt32, 2, (uint64_t)-6);
	average(tuttiInt32, 3, (uint64_t)-2);
	set(tuttiInt32, 0, 5);
	set(tuttiInt32, 1, (uint64_t)-3);
	set(tuttiInt32, 2, 6);
	average(tuttiInt32, 3, 2);
	set(tuttiUint32, 0, UINT32_MAX);
	set(tuttiUint32, 1, UINT32_MAX);
	set(tuttiUint32, 2, UINT32_MAX - 1);
	average(tuttiUint32, 3, UINT32_MAX - 1);
}

/* ---- Conversions ------------------------------------------------------- */

static const struct {
	int type;
	float value;
	uint64_t bits;
} known[] = {
	{ tuttiFloat16, 1, 0x3c00 },
	{ tuttiFloat16, 65504, 0x7bff },
	{ tuttiFloat16, 65519.996f, 0x7bff },
	{ tuttiFloat16, 65520, 0x7c00 },	/* the tie goes to even */
	{ tuttiFloat16, -0x1p-24f, 0x8001 },
	{ tuttiFloat16, 0x1p-25f, 0 },
	{ tuttiFloat16, 0x1.8p-24f, 2 },
	{ tuttiBfloat16, 1.00390625f, 0x3f80 },
	{ tuttiBfloat16, 1.01171875f, 0x3f82 },
	{ tuttiBfloat16, 0x1.fffffep127f, 0x7f80 },
	{ tuttiFloat8e4m3, 448, 0x7e },
	{ tuttiFloat8e4m3, 464, 0x7e },
	{ tuttiFloat8e4m3, -465, 0x7f },	/* no infinity: NaN */
	{ tuttiFloat8e4m3, INFINITY, 0x7f },
	{ tuttiFloat8e4m3, -0x1p-9f, 0x81 },
	{ tuttiFloat8e4m3, 0x1p-10f, 0 },
	{ tuttiFloat8e5m2, 57344, 0x7b },
	{ tuttiFloat8e5m2, -61440, 0xfc },
	{ tuttiFloat8e5m2, 0x1p-16f, 1 },
	{ tuttiFloat8e5m2, 0x1.8p-16f, 2 },
};

static uint64_t narrow(int type, float x)
{
	switch (type) {
	case tuttiFloat16:
		return tutti_f16_from_f32(x);
	case tuttiBfloat16:
		return tutti_bf16_from_f32(x);
	case tuttiFloat8e4m3:
		return tutti_e4m3_from_f32(x);
	default:
		return tutti_e5m2_from_f32(x);
	}
}

static float widen(int type, uint64_t bits)
{
	switch (type) {
	case tuttiFloat16:
		return tutti_f16_to_f32((uint16_t)bits);
	case tuttiBfloat16:
		return tutti_bf16_to_f32((uint16_t)bits);
	case tuttiFloat8e4m3:
		return tutti_e4m3_to_f32((uint8_t)bits);
	default:
		return tutti_e5m2_to_f32((uint8_t)bits);
	}
}

Test(reduce_values, known_conversions)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		cr_assert_eq(narrow(known[i].type, known[i].value),
			     known[i].bits, "type %d: %a", known[i].type,
			     (double)known[i].value);
}

static const int narrow_types[] = { tuttiFloat16, tuttiBfloat16,
				    tuttiFloat8e4m3, tuttiFloat8e5m2 };

/* Every value survives; midway between two neighbours the even one wins, and
 * anything beyond midway the nearer. */
Test(reduce_values, conversions_of_every_value)
{
	for (int t = 0; t < 4; t++) {
		const int type = narrow_types[t];
		const uint64_t end = 1ull << (8 * ref_size(type));

		for (uint64_t b = 0; b < end; b++) {
			float x = widen(type, b), y = widen(type, b + 1);
			float mid = x + (y - x) / 2;

			if (isnan(x)) {
				cr_assert_eq(narrow(type, x), ref_nan(type));
				continue;
			}
			cr_assert_eq((double)x, ref_decode(type, b));
			cr_assert_eq(narrow(type, x), b);
			if (b + 1 == end || !isfinite(x) || !isfinite(y) ||
			    signbit(x) != signbit(y))
				continue;
			cr_assert_eq(narrow(type, mid), b + (b & 1));
			cr_assert_eq(narrow(type, nextafterf(mid, x)), b);
			cr_assert_eq(narrow(type, nextafterf(mid, y)), b + 1);
		}
	}
}

Test(reduce_values, conversions_of_random_values)
{
	uint64_t state = 5;

	for (int i = 0; i < 400000; i++) {
		const int type = narrow_types[i % 4];
		uint32_t u = (uint32_t)ref_random(&state);
		float x;

		memcpy(&x, &u, sizeof(x));
		cr_assert_eq(narrow(type, x), ref_encode(type, (double)x),
			     "type %d: %a", type, (double)x);
	}
}
