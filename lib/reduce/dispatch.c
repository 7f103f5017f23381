/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which kernels are used: those that TUTTI_KERNELS names, or the best that
 * this CPU has.  A new instruction set is its file, one line here, one in
 * local.mk and a choice in settings.def.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "reduce/reduce_impl.h"

#include <stdio.h>
#include <string.h>

/* Better ones later. */
const struct tutti_kernels *const tutti_kernels_all[] = {
	&tutti_kernels_scalar,
#ifdef HAVE_AVX2
	&tutti_kernels_avx2,
#endif
#ifdef HAVE_AVX512
	&tutti_kernels_avx512,
#endif
#ifdef HAVE_NEON
	&tutti_kernels_neon,
#endif
	NULL
};

/* By the index of the choice in settings.def. */
static const char *const names[] = { "best", "scalar", "avx2", "avx512",
				     "neon" };

/* Say what could be chosen instead. */
static tuttiResult_t lacking(const char *name, const char *who)
{
	char usable[64] = "best";
	size_t len = strlen(usable);

	for (int i = 0; tutti_kernels_all[i]; i++)
		if (tutti_kernels_all[i]->supported())
			len += (size_t)snprintf(usable + len,
						sizeof(usable) - len, ", %s",
						tutti_kernels_all[i]->name);
	return tutti_fail(tuttiInvalidUsage,
			  "TUTTI_KERNELS=%s asks for reduction kernels that "
			  "%s lacks; set it to one of: %s.",
			  name, who, usable);
}

tuttiResult_t tutti_kernels_get(const struct tutti_kernels **out)
{
	const int64_t choice = tutti_setting(TUTTI_SET_KERNELS);
	const struct tutti_kernels *best = NULL;

	for (int i = 0; tutti_kernels_all[i]; i++) {
		const struct tutti_kernels *k = tutti_kernels_all[i];

		if (choice > 0 && strcmp(k->name, names[choice]))
			continue;
		if (k->supported())
			best = k;
		else if (choice > 0)
			return lacking(names[choice], "this CPU");
	}
	if (!best)
		return lacking(names[choice], "this build of the library");
	*out = best;
	return tuttiSuccess;
}
