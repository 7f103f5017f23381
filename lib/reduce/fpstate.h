/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling thread's floating-point state.  A program may have set another
 * rounding mode or flushing of subnormals (any -ffast-math main does); results
 * must not depend on it.  The state is changed only where it differs, as that
 * is slow.
 */
#ifndef TUTTI_REDUCE_FPSTATE_H
#define TUTTI_REDUCE_FPSTATE_H

#include "reduce/reduce_impl.h"

#include <stdint.h>

#ifdef __FAST_MATH__
#error "-ffast-math would change the results; compile Tutti without it"
#endif
#if __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "float32 must be computed in float32; on 32-bit x86 use -mfpmath=sse"
#endif

#if defined(__SSE2__)

#include <emmintrin.h>

/* To nearest, nothing flushed, no traps. */
#define TUTTI_FP_PLAIN 0x1f80u

/*
 * Reading the register takes longer than a small reduction.  So four additions
 * at once tell the state: 1 plus three quarters and plus one quarter of its
 * last bit, a subnormal operand, and a subnormal result.
 */
static inline bool tutti_fp_is_plain(void)
{
	__m128i x = _mm_setr_epi32(0x3f800000, 0x3f800000, 0x00400000,
				   0x00c00000);
	const __m128i y = _mm_setr_epi32(0x33c00000, 0x33000000, 0,
					 (int)0x80800000);
	const __m128i sum = _mm_setr_epi32(0x3f800001, 0x3f800000, 0x00400000,
					   0x00400000);

	/* The compiler must not know the answer. */
	__asm__ __volatile__("" : "+x"(x));
	x = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(x),
					_mm_castsi128_ps(y)));
	return _mm_movemask_epi8(_mm_cmpeq_epi32(x, sum)) == 0xffff;
}

static inline uint64_t tutti_fp_get(void)
{
	return _mm_getcsr();
}

static inline void tutti_fp_set(uint64_t state)
{
	_mm_setcsr((uint32_t)state);
}

#elif defined(__aarch64__)

#define TUTTI_FP_PLAIN 0u

static inline uint64_t tutti_fp_get(void)
{
	uint64_t state;

	__asm__ __volatile__("mrs %0, fpcr" : "=r"(state));
	return state;
}

static inline void tutti_fp_set(uint64_t state)
{
	__asm__ __volatile__("msr fpcr, %0" :: "r"(state) : "memory");
}

static inline bool tutti_fp_is_plain(void)
{
	return tutti_fp_get() == TUTTI_FP_PLAIN;
}

#else	/* no such state is known: as good as plain */

#define TUTTI_FP_PLAIN 0u

static inline bool tutti_fp_is_plain(void)
{
	return true;
}

static inline uint64_t tutti_fp_get(void)
{
	return 0;
}

static inline void tutti_fp_set(uint64_t state)
{
}

#endif

/* Run a kernel over everything in the plain state.  `run` is never inlined,
 * so no arithmetic moves across the change. */
static inline void tutti_fp_run(const struct tutti_reduce_args *a,
				size_t bytes, tutti_range_fn run)
{
	uint64_t state;

	if (__builtin_expect(tutti_fp_is_plain(), 1)) {
		run(a, 0, bytes);
		return;
	}
	state = tutti_fp_get();
	tutti_fp_set(TUTTI_FP_PLAIN);
	run(a, 0, bytes);
	tutti_fp_set(state);
}

#endif
