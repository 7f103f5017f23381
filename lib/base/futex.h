/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on, and waking through, a 32-bit word that may be shared between
 * processes. */
#ifndef TUTTI_BASE_FUTEX_H
#define TUTTI_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleep while *word == expected, at most timeout_ns.  May return early for
 * any reason; the caller checks again. */
void tutti_futex_wait(_Atomic uint32_t *word, uint32_t expected,
		      int64_t timeout_ns);

/* Wake everyone who sleeps on `word`. */
void tutti_futex_wake(_Atomic uint32_t *word);

#endif
