/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The average of integers: the exact sum in 128 bits, divided, truncated toward
 * zero.  The same code for every instruction set, as no vector unit divides
 * integers.  Scaling comes first and wraps in the element's type.
 */
#include "config.h"

#include "base/bits.h"
#include "reduce/reduce_impl.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 256	/* elements summed at a time */

/* sum[i] += element first + i of `src`, scaled. */
static void add(__int128 *sum, int type, const void *src, size_t first,
		size_t n, uint64_t scale)
{
	const uint8_t *b = (const uint8_t *)src + first;
	const uint32_t *w = (const uint32_t *)src + first;
	const uint64_t *d = (const uint64_t *)src + first;

	switch (type) {
	case tuttiInt8:
		for (size_t i = 0; i < n; i++)
			sum[i] += (int8_t)(b[i] * scale);
		break;
	case tuttiUint8:
		for (size_t i = 0; i < n; i++)
			sum[i] += (uint8_t)(b[i] * scale);
		break;
	case tuttiInt32:
		for (size_t i = 0; i < n; i++)
			sum[i] += (int32_t)(w[i] * scale);
		break;
	case tuttiUint32:
		for (size_t i = 0; i < n; i++)
			sum[i] += (uint32_t)(w[i] * scale);
		break;
	case tuttiInt64:
		for (size_t i = 0; i < n; i++)
			sum[i] += (int64_t)(d[i] * scale);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			sum[i] += d[i] * scale;
	}
}

/* The quotient in the low bits; 64-bit division where the sum allows it. */
static uint64_t divide(__int128 sum, int divisor)
{
	if (sum == (int64_t)sum)
		return (uint64_t)((int64_t)sum / divisor);
	return (uint64_t)(sum / divisor);
}

static void store(void *dst, size_t size, size_t first, size_t n,
		  const uint64_t *q)
{
	uint8_t *b = (uint8_t *)dst + first;
	uint32_t *w = (uint32_t *)dst + first;
	uint64_t *d = (uint64_t *)dst + first;

	switch (size) {
	case 1:
		for (size_t i = 0; i < n; i++)
			b[i] = (uint8_t)q[i];
		break;
	case 4:
		for (size_t i = 0; i < n; i++)
			w[i] = (uint32_t)q[i];
		break;
	default:
		memcpy(d, q, n * sizeof(*q));
	}
}

/* The factor of source `s`, zero-extended: only its low bits matter. */
static uint64_t factor(const struct tutti_reduce_args *a, int type, int s)
{
	uint8_t b;
	uint32_t w;
	uint64_t d;

	if (!a->scale)
		return 1;
	switch (tutti_type_size(type)) {
	case 1:
		memcpy(&b, a->scale[s], sizeof(b));
		return b;
	case 4:
		memcpy(&w, a->scale[s], sizeof(w));
		return w;
	default:
		memcpy(&d, a->scale[s], sizeof(d));
		return d;
	}
}

void tutti_average(const struct tutti_reduce_args *a, int type)
{
	const size_t size = tutti_type_size(type);
	__int128 sum[BLOCK];
	uint64_t q[BLOCK];
	size_t n;

	for (size_t i = 0; i < a->count; i += n) {
		n = tutti_min(a->count - i, (size_t)BLOCK);
		memset(sum, 0, n * sizeof(*sum));
		for (int s = 0; s < a->nsrc; s++)
			add(sum, type, a->src[s], i, n, factor(a, type, s));
		for (size_t j = 0; j < n; j++)
			q[j] = divide(sum[j], a->divisor);
		for (int t = 0; t < a->ndst; t++)
			store(a->dst[t], size, i, n, q);
	}
}
