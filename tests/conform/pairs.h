/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample of a product of factors that still has every pair of their values:
 * faults nearly always need two values to meet, seldom three.
 */
#ifndef TESTS_CONFORM_PAIRS_H
#define TESTS_CONFORM_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_FACTORS 8

struct pairs {
	int factors;
	int size[PAIRS_FACTORS];	/* values of each factor */
	/* Can this row be tested?  It must not depend on anything else. */
	bool (*allowed)(const int *row, const void *arg);
	const void *arg;
};

/* Rows of `factors` values, one after another, such that every pair of values
 * that some allowed row has is in one of them; a pure function of its
 * arguments.  Returns their number, *rows is to be freed; 0 without memory. */
size_t pairs_make(const struct pairs *p, uint64_t seed, int **rows);

#endif
