/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suite with ranks as threads in one plain process.  With an
 * argument only that transport, with a second only the cases whose name contains
 * it.
 */
#include "config.h"

#include "conform/suite.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int bad = 0, runs = 0;

	for (int t = 0; tutti_xports[t]; t++)
		for (int c = 0; c < xs_case_count; c++) {
			const char *why;

			if (!(xs_cases[c].modes & 1u << XS_THREADS) ||
			    (argc > 1 &&
			     strcmp(tutti_xports[t]->name, argv[1])) ||
			    (argc > 2 && !strstr(xs_cases[c].name, argv[2])))
				continue;
			why = xs_run(tutti_xports[t], &xs_cases[c], XS_THREADS);
			if (why)
				fprintf(stderr, "%s\n", why);
			bad += why != NULL;
			runs++;
		}
	return bad || !runs;
}
