/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reduction kernels on whatever machine this runs on, without a test
 * framework: also cross-compiled and under an emulator.  Every implementation
 * that the CPU supports is checked against the reference.
 *   kernels [-t THIN] [NAME]
 * THIN runs one in that many of the shapes; NAME checks that one only.  Exit
 * status 0: right; 1: wrong; 77: NAME is not there.
 */
#include "unit/reduce_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int thin = 64, checked = 0, wrong = 0, faults, opt;
	const char *name = NULL;

	while ((opt = getopt(argc, argv, "t:")) != -1) {
		if (opt == 't')
			thin = atoi(optarg);
		if (opt == '?' || thin < 1) {
			fprintf(stderr, "usage: kernels [-t THIN] [NAME]\n");
			return 2;
		}
	}
	if (optind < argc)
		name = argv[optind];
	for (int i = 0; tutti_kernels_all[i]; i++) {
		const struct tutti_kernels *k = tutti_kernels_all[i];

		if (name && strcmp(name, k->name))
			continue;
		if (!k->supported()) {
			printf("%s: not on this CPU\n", k->name);
			continue;
		}
		faults = check_all(k, thin);
		printf("%s: %d faults\n", k->name, faults);
		fflush(stdout);
		wrong += faults != 0;
		checked++;
	}
	if (!checked)
		return 77;
	return wrong ? 1 : 0;
}
