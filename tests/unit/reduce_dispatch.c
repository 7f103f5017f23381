/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernels are used: the best, or those that TUTTI_KERNELS forces. */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "reduce/reduce.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "scalar", "avx2", "avx512", "neon" };

static tuttiResult_t force(const char *name, const struct tutti_kernels **out)
{
	if (name)
		setenv("TUTTI_KERNELS", name, 1);
	else
		unsetenv("TUTTI_KERNELS");
	tutti_settings_reload();
	return tutti_kernels_get(out);
}

/* The compiled-in implementation of that name, or NULL. */
static const struct tutti_kernels *find(const char *name)
{
	for (int i = 0; tutti_kernels_all[i]; i++)
		if (!strcmp(tutti_kernels_all[i]->name, name))
			return tutti_kernels_all[i];
	return NULL;
}

Test(reduce_dispatch, scalar_is_always_there)
{
	cr_assert_str_eq(tutti_kernels_all[0]->name, "scalar");
	cr_assert(tutti_kernels_all[0]->supported());
}

Test(reduce_dispatch, best_is_the_last_that_works)
{
	const struct tutti_kernels *k = NULL, *last = NULL, *best = NULL;

	for (int i = 0; tutti_kernels_all[i]; i++)
		if (tutti_kernels_all[i]->supported())
			last = tutti_kernels_all[i];
	cr_assert_eq(force(NULL, &k), tuttiSuccess);
	cr_assert_eq(k, last);
	cr_assert_eq(force("best", &best), tuttiSuccess);
	cr_assert_eq(best, last);
}

/* Case 53: each can be forced; what is lacking is invalid usage, never
 * replaced. */
Test(reduce_dispatch, forced_case_53)
{
	for (size_t i = 0; i < tutti_countof(names); i++) {
		const struct tutti_kernels *there = find(names[i]), *k = NULL;
		tuttiResult_t rc = force(names[i], &k);

		if (there && there->supported()) {
			cr_assert_eq(rc, tuttiSuccess, "%s", names[i]);
			cr_assert_eq(k, there);
			continue;
		}
		cr_assert_eq(rc, tuttiInvalidUsage, "%s", names[i]);
		cr_assert_null(k);
		cr_assert(strstr(tutti_fail_text(), names[i]), "%s",
			  tutti_fail_text());
		cr_assert(strstr(tutti_fail_text(), "scalar"), "%s",
			  tutti_fail_text());
	}
}

Test(reduce_dispatch, tables_are_total)
{
	for (int i = 0; tutti_kernels_all[i]; i++) {
		cr_assert_not_null(tutti_kernels_all[i]->copy);
		for (int type = 0; type < tuttiNumTypes; type++)
			for (int op = 0; op < tuttiNumOps; op++)
				cr_assert_not_null(
					tutti_kernels_all[i]->fn[type][op]);
	}
}
