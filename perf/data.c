/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the buffers hold.  A value is a function of type, operator, number of
 * ranks, seed, rank and index, so each rank knows every other's.  Integers
 * use the whole range of their type, sums and products wrap.  Floats are
 * chosen so that every partial result is exact in their type, in any order:
 * small integers, of which at most eight ranks contribute to an element of a
 * sum or product.  So the expected result has one bit pattern, also for
 * 8-bit floats, and a missing, doubled or displaced contribution shows.
 */
#include "perf.h"

#define CONTRIBUTORS 8

const struct perf_type perf_types[tuttiNumTypes] = {
	{ "int8", "char", tuttiInt8, 1, PERF_SIGNED, 0, 0, 0 },
	{ "uint8", NULL, tuttiUint8, 1, PERF_UNSIGNED, 0, 0, 0 },
	{ "int32", "int", tuttiInt32, 4, PERF_SIGNED, 0, 0, 0 },
	{ "uint32", NULL, tuttiUint32, 4, PERF_UNSIGNED, 0, 0, 0 },
	{ "int64", NULL, tuttiInt64, 8, PERF_SIGNED, 0, 0, 0 },
	{ "uint64", NULL, tuttiUint64, 8, PERF_UNSIGNED, 0, 0, 0 },
	{ "half", "float16", tuttiFloat16, 2, PERF_FLOAT, 0x1p11, 10, 15 },
	{ "float", "float32", tuttiFloat32, 4, PERF_FLOAT, 0x1p24, 23, 127 },
	{ "double", "float64", tuttiFloat64, 8, PERF_FLOAT, 0x1p53, 52, 1023 },
	{ "bfloat16", NULL, tuttiBfloat16, 2, PERF_FLOAT, 0x1p8, 7, 127 },
	{ "f8e4m3", "float8e4m3", tuttiFloat8e4m3, 1, PERF_FLOAT, 16, 3, 7 },
	{ "f8e5m2", "float8e5m2", tuttiFloat8e5m2, 1, PERF_FLOAT, 8, 2, 15 },
};

const struct perf_redop perf_redops[tuttiNumOps] = {
	{ "sum", tuttiSum },
	{ "prod", tuttiProd },
	{ "max", tuttiMax },
	{ "min", tuttiMin },
	{ "avg", tuttiAvg },
};

/* 64 well mixed bits (the finisher of splitmix64). */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t random_bits(const struct perf_run *run, int rank, uint64_t i)
{
	return mix(mix(run->seed * 0x10001 + (uint64_t)rank) ^ i);
}

static __int128 as_integer(const struct perf_type *type, uint64_t bits)
{
	unsigned int unused = 64 - 8 * type->bytes;

	if (type->kind == PERF_SIGNED)
		return (int64_t)(bits << unused) >> unused;
	return bits << unused >> unused;
}

/* The nearest value of the type, ties to even, as its bits.  `value` is in
 * the range of the type. */
static uint64_t encode(const struct perf_type *type, double value)
{
	uint64_t sign = signbit(value) ? 1 : 0, bits = 0;
	int exponent;
	double whole;

	value = fabs(value);
	if (value > 0) {
		exponent = ilogb(value);
		if (exponent < 1 - type->bias)
			exponent = 1 - type->bias;
		/* The significand as an integer; one that rounds up to the
		 * next power of two carries into the exponent below. */
		whole = nearbyint(scalbn(value, type->mantissa - exponent));
		bits = ((uint64_t)(exponent + type->bias) << type->mantissa) +
		       (uint64_t)whole - ((uint64_t)1 << type->mantissa);
	}
	return bits | sign << (8 * type->bytes - 1);
}

static void store(const struct perf_type *type, void *to, uint64_t bits)
{
	uint8_t b8 = (uint8_t)bits;
	uint16_t b16 = (uint16_t)bits;
	uint32_t b32 = (uint32_t)bits;

	switch (type->bytes) {
	case 1:
		memcpy(to, &b8, 1);
		break;
	case 2:
		memcpy(to, &b16, 2);
		break;
	case 4:
		memcpy(to, &b32, 4);
		break;
	default:
		memcpy(to, &bits, 8);
	}
}

/* A random integer from -most to most. */
static double small_integer(uint64_t bits, double most)
{
	return (double)(bits % (2 * (uint64_t)most + 1)) - most;
}

/* The float that a rank contributes to element `i`. */
static double float_value(const struct perf_run *run, int rank, uint64_t i)
{
	static const double factors[4] = { 1, -1, 2, -2 };
	uint64_t bits = random_bits(run, rank, i);
	int ranks = run->info.count;
	int n = ranks < CONTRIBUTORS ? ranks : CONTRIBUTORS;
	bool contributes = ((uint64_t)rank + i) % (uint64_t)ranks < (size_t)n;

	if (!run->redop)
		return small_integer(bits, run->type->exact);
	switch (run->redop->op) {
	case tuttiProd:
		return contributes ? factors[bits % 4] : 1;
	case tuttiSum:
	case tuttiAvg:
		return contributes ?
			small_integer(bits, floor(run->type->exact / n)) : 0;
	default:
		return small_integer(bits, run->type->exact);
	}
}

static double float_reduced(const struct perf_run *run, uint64_t i)
{
	double sum = float_value(run, 0, i);
	int ranks = run->info.count, rank;

	for (rank = 1; rank < ranks; rank++) {
		double v = float_value(run, rank, i);

		switch (run->redop->op) {
		case tuttiProd:
			sum *= v;
			break;
		case tuttiMax:
			sum = v > sum ? v : sum;
			break;
		case tuttiMin:
			sum = v < sum ? v : sum;
			break;
		default:
			sum += v;
		}
	}
	if (run->redop->op != tuttiAvg)
		return sum;
	/* The library divides in float, or double for double. */
	if (run->type->bytes == 8)
		return sum / ranks;
	return (float)sum / (float)ranks;
}

static uint64_t integer_reduced(const struct perf_run *run, uint64_t i)
{
	const struct perf_type *type = run->type;
	__int128 sum = as_integer(type, random_bits(run, 0, i));
	int ranks = run->info.count, rank;

	for (rank = 1; rank < ranks; rank++) {
		__int128 v = as_integer(type, random_bits(run, rank, i));

		switch (run->redop->op) {
		case tuttiProd:
			sum = (uint64_t)sum * (uint64_t)v;
			break;
		case tuttiMax:
			sum = v > sum ? v : sum;
			break;
		case tuttiMin:
			sum = v < sum ? v : sum;
			break;
		default:
			sum += v;
		}
	}
	if (run->redop->op == tuttiAvg)
		sum /= ranks;
	return (uint64_t)sum;
}

void perf_table_rank(const struct perf_run *run, int rank)
{
	const struct perf_type *type = run->type;
	unsigned char *to = run->table;
	uint64_t i;

	for (i = 0; i < PERF_PERIOD; i++, to += type->bytes) {
		if (type->kind == PERF_FLOAT)
			store(type, to,
			      encode(type, float_value(run, rank, i)));
		else
			store(type, to, random_bits(run, rank, i));
	}
}

void perf_table_reduced(const struct perf_run *run)
{
	const struct perf_type *type = run->type;
	unsigned char *to = run->table;
	uint64_t i;

	for (i = 0; i < PERF_PERIOD; i++, to += type->bytes) {
		if (type->kind == PERF_FLOAT)
			store(type, to, encode(type, float_reduced(run, i)));
		else
			store(type, to, integer_reduced(run, i));
	}
}

/* Elements from `first` on up to the end of the table, at most `count`. */
static size_t run_of(size_t first, size_t count)
{
	size_t n = PERF_PERIOD - first % PERF_PERIOD;

	return n < count ? n : count;
}

void perf_fill(const struct perf_run *run, char *to, size_t count)
{
	size_t i, n;

	for (i = 0; i < count; i += n) {
		n = run_of(i, count - i);
		memcpy(to + i * run->type->bytes, run->table,
		       n * run->type->bytes);
	}
}

size_t perf_differ(const struct perf_run *run, const char *at, size_t first,
		   size_t count)
{
	size_t size = run->type->bytes, wrong = 0, i, k, n;

	for (i = 0; i < count; i += n) {
		const char *is = at + i * size;
		const unsigned char *want = run->table +
					(first + i) % PERF_PERIOD * size;

		n = run_of(first + i, count - i);
		if (!memcmp(is, want, n * size))
			continue;
		for (k = 0; k < n; k++)
			wrong += !!memcmp(is + k * size, want + k * size,
					  size);
	}
	return wrong;
}

/* Gradient-like: any sign, eight binary orders of magnitude, all bits of the
 * significand in use, no period; integers of the whole range. */
void perf_fill_random(const struct perf_run *run, char *to, size_t count)
{
	const struct perf_type *type = run->type;
	uint64_t i;

	for (i = 0; i < count; i++, to += type->bytes) {
		uint64_t bits = random_bits(run, run->info.rank, i);
		double value;

		if (type->kind == PERF_FLOAT) {
			value = 1 + (double)(bits >> 12) * 0x1p-52;
			value = scalbn(value, -(int)(bits & 7));
			bits = encode(type, bits & 8 ? -value : value);
		}
		store(type, to, bits);
	}
}
