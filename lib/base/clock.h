/* SPDX-License-Identifier: BSD-3-Clause */
/* Time for deadlines and measurements: the monotonic clock, never the wall. */
#ifndef TUTTI_BASE_CLOCK_H
#define TUTTI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t tutti_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t tutti_now_ms(void)
{
	return tutti_now_ns() / 1000000;
}

/* Tell the CPU that this is a spinning loop. */
static inline void tutti_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

#endif
