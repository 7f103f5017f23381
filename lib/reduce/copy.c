/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying to several targets with ordinary stores.  The C library's memcpy is
 * as good as any for one target; for several, a block that stays in L1 keeps
 * the source from being fetched again for each.
 */
#include "config.h"

#include "base/bits.h"
#include "reduce/reduce_impl.h"

#include <string.h>

#define BLOCK 8192

void tutti_copy_plain(void *const *dst, int ndst, const void *src,
		      size_t bytes)
{
	size_t block = ndst == 1 ? bytes : BLOCK, n;

	for (size_t i = 0; i < bytes; i += n) {
		n = tutti_min(bytes - i, block);
		for (int t = 0; t < ndst; t++)
			if (dst[t] != src)
				memcpy((char *)dst[t] + i,
				       (const char *)src + i, n);
	}
}
