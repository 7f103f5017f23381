/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ranks for people: ranges folded, cut when there is no room.
 */
#include "config.h"

#include "boot/boot_impl.h"

#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 32	/* room kept for "and N more" */

void tutti_ranks_fold(char *out, size_t cap, int n,
		      bool (*absent)(const void *arg, int i),
		      const void *arg)
{
	size_t used = 0;
	int more = 0;

	out[0] = 0;
	for (int i = 0; i < n; i++) {
		char item[32];
		int first = i, len;

		if (!absent(arg, i))
			continue;
		while (i + 1 < n && absent(arg, i + 1))
			i++;
		/* Two in a row read better as two. */
		len = i > first + 1 ?
			snprintf(item, sizeof(item), "%d-%d", first, i) :
		      i > first ?
			snprintf(item, sizeof(item), "%d, %d", first, i) :
			snprintf(item, sizeof(item), "%d", first);
		if (more || used + (size_t)len + 2 + TAIL_BYTES > cap) {
			more += i - first + 1;
			continue;
		}
		used += (size_t)snprintf(out + used, cap - used, "%s%s",
					 used ? ", " : "", item);
	}
	if (more)
		snprintf(out + used, cap - used, "%sand %d more",
			 used ? " " : "", more);
}
