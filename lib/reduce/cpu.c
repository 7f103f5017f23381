/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this x86 CPU can do, and what its system lets programs use: the
 * instructions may be there while the system does not save their registers.
 * Built only where the vector kernels of x86 are.
 */
#include "config.h"

#include "reduce/reduce_impl.h"

#include <cpuid.h>
#include <stdint.h>

#define XCR0_AVX 0x06u		/* SSE and AVX registers */
#define XCR0_AVX512 0xe6u	/* those, and masks and upper halves */
#define AVX512_NEEDED (bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL)

static uint32_t saved_registers(void)
{
	uint32_t low, high;

	__asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

/* The feature bits of leaf 7 if AVX and F16C work and the system saves all of
 * `xcr0`; else 0. */
static uint32_t features(uint32_t xcr0)
{
	const uint32_t needed = bit_OSXSAVE | bit_AVX | bit_F16C;
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed)
		return 0;
	if ((saved_registers() & xcr0) != xcr0)
		return 0;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return 0;
	return b;
}

bool tutti_cpu_avx2(void)
{
	return features(XCR0_AVX) & bit_AVX2;
}

bool tutti_cpu_avx512(void)
{
	return (features(XCR0_AVX512) & AVX512_NEEDED) == AVX512_NEEDED;
}
