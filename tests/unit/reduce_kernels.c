/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every implementation of the reduction kernels that this CPU can run, every
 * type, against the reference: case 53, and case 49 (NaN).
 */
#include "config.h"

#include "unit/reduce_check.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

static int types[tuttiNumTypes];

static struct criterion_test_params every_type(void)
{
	for (int i = 0; i < tuttiNumTypes; i++)
		types[i] = i;
	return cr_make_param_array(int, types, tuttiNumTypes);
}

/* The sum of a check's faults over the implementations. */
static int all(int (*check)(const struct tutti_kernels *k, int type), int type)
{
	int faults = 0;

	for (int i = 0; tutti_kernels_all[i]; i++)
		if (tutti_kernels_all[i]->supported())
			faults += check(tutti_kernels_all[i], type);
	return faults;
}

static int shapes(const struct tutti_kernels *k, int type)
{
	return check_shapes(k, type, 4);
}

static int longs(const struct tutti_kernels *k, int type)
{
	return check_long(k, type, 1);
}

static int values(const struct tutti_kernels *k, int type)
{
	return check_exhaustive(k, type, 1);
}

static int copies(const struct tutti_kernels *k, int type)
{
	return check_copy(k, 1);
}

ParameterizedTestParameters(reduce_kernels, shapes_case_53)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, shapes_case_53, .timeout = 240)
{
	cr_assert_eq(all(shapes, *type), 0);
}

ParameterizedTestParameters(reduce_kernels, long_as_scalar)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, long_as_scalar, .timeout = 120)
{
	cr_assert_eq(all(longs, *type), 0);
}

ParameterizedTestParameters(reduce_kernels, every_narrow_value)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, every_narrow_value,
		  .timeout = 120)
{
	cr_assert_eq(all(values, *type), 0);
}

ParameterizedTestParameters(reduce_kernels, convert)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, convert, .timeout = 120)
{
	cr_assert_eq(all(check_convert, *type), 0);
}

/* Type and operator; the last is scaling. */
static int chosen[2 * (tuttiNumOps + 1)];

ParameterizedTestParameters(reduce_kernels, chosen_pairs)
{
	for (int i = 0; i < 2 * (tuttiNumOps + 1); i++)
		chosen[i] = i;
	return cr_make_param_array(int, chosen, 2 * (tuttiNumOps + 1));
}

/* Under a sanitizer, which looks for other faults, fewer. */
#if defined(__SANITIZE_ADDRESS__)
#define THIN 16
#else
#define THIN 1
#endif

ParameterizedTest(int *which, reduce_kernels, chosen_pairs, .timeout = 240)
{
	cr_assert_eq(check_chosen(*which % 2 ? tuttiFloat16 : tuttiBfloat16,
				  *which / 2, THIN), 0);
}

ParameterizedTestParameters(reduce_kernels, nan_anywhere_case_49)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, nan_anywhere_case_49,
		  .timeout = 120)
{
	cr_assert_eq(all(check_nan, *type), 0);
}

ParameterizedTestParameters(reduce_kernels, zeros)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, zeros, .timeout = 60)
{
	cr_assert_eq(all(check_zeros, *type), 0);
}

ParameterizedTestParameters(reduce_kernels, fp_state)
{
	return every_type();
}

ParameterizedTest(int *type, reduce_kernels, fp_state, .timeout = 60)
{
	cr_assert_eq(all(check_fp_state, *type), 0);
}

Test(reduce_kernels, copy, .timeout = 120)
{
	cr_assert_eq(all(copies, 0), 0);
}
