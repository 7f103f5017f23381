/* SPDX-License-Identifier: BSD-3-Clause */
/* Thin calls of the futex system call, shared between processes. */
#include "config.h"

#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tutti_futex_wait(_Atomic uint32_t *word, uint32_t expected,
		      int64_t timeout_ns)
{
	struct timespec ts;
	int saved = errno;

	if (timeout_ns <= 0)
		return;
	ts.tv_sec = timeout_ns / 1000000000;
	ts.tv_nsec = timeout_ns % 1000000000;
	syscall(SYS_futex, word, FUTEX_WAIT, expected, &ts, NULL, 0);
	errno = saved;
}

void tutti_futex_wake(_Atomic uint32_t *word)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}
