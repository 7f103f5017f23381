/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every transport of the registry against every case of the conformance suite,
 * with ranks as threads and as processes.
 */
#include "config.h"

#include "conform/suite.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

struct param {
	int xport, c, mode;
};

ParameterizedTestParameters(xport, conforms)
{
	static struct param list[256];
	size_t n = 0;

	for (int t = 0; tutti_xports[t]; t++)
		for (int c = 0; c < xs_case_count; c++)
			for (int m = 0; m < XS_MODES; m++)
				if (xs_cases[c].modes & 1u << m &&
				    n < tutti_countof(list))
					list[n++] = (struct param){ t, c, m };
	return cr_make_param_array(struct param, list, n);
}

ParameterizedTest(struct param *p, xport, conforms, .timeout = 60)
{
	const char *why = xs_run(tutti_xports[p->xport], &xs_cases[p->c],
				 (enum xs_mode)p->mode);

	cr_assert(!why, "%s", why);
}

/* A registry that is empty, or too long for the list above, proves nothing. */
Test(xport, registry)
{
	int n = 0;

	while (tutti_xports[n]) {
		cr_assert(tutti_xport_find(tutti_xports[n]->name) ==
			  tutti_xports[n]);
		n++;
	}
	cr_assert(n > 0 && n * xs_case_count * XS_MODES <= 256);
	cr_assert(!tutti_xport_find("pigeon"));
}
