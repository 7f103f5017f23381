/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trainer's network: its gradients against differences of the loss, the
 * sum over pieces, and one step of SGD with momentum.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

#define ROWS 5
#define INPUTS 7

static char why[WHY_MAX];
static struct options opt;
static struct model m;

static void make(void)
{
	char *argv[] = { (char *)"tutti-train", (char *)"--model=mlp:6,4" };
	uint64_t state = 3;
	int i;

	cr_assert_eq(options_parse(&opt, 2, argv, why), 0, "%s", why);
	cr_assert_eq(model_create(&m, &opt, INPUTS, ROWS, why), 0, "%s", why);
	model_randomize(&m, 1);
	for (i = 0; i < ROWS * INPUTS; i++)
		m.act[0][i] = (float)(random_next(&state) >> 40) * 0x1p-23f - 1;
	for (i = 0; i < ROWS; i++)
		m.label[i] = (uint8_t)(3 * i % CLASSES);
}

static void clean(void)
{
	model_destroy(&m);
}

TestSuite(train_model, .init = make, .fini = clean, .timeout = 60);

static double loss(void)
{
	model_forward(&m, ROWS);
	return model_loss(&m, ROWS);
}

Test(train_model, gradients_are_those_of_the_loss)
{
	const double h = 1e-3;
	size_t i;

	loss();
	model_backward(&m, ROWS);
	for (i = 0; i < m.params; i++) {
		float kept = m.param[i];
		double up, down, slope;

		m.param[i] = kept + (float)h;
		up = loss();
		m.param[i] = kept - (float)h;
		down = loss();
		m.param[i] = kept;
		slope = (up - down) / (2 * h);
		cr_assert_float_eq(m.grad[i], slope, 2e-3 + 1e-3 * fabs(slope),
				   "parameter %zu: %g, but the loss says %g",
				   i, (double)m.grad[i], slope);
	}
}

Test(train_model, pieces_add_up_to_the_whole)
{
	float *whole = malloc(m.params * sizeof(float));
	double sum = loss(), parts;
	size_t i;

	model_backward(&m, ROWS);
	memcpy(whole, m.grad, m.params * sizeof(float));
	memset(m.grad, 0, m.params * sizeof(float));

	model_forward(&m, 2);
	parts = model_loss(&m, 2);
	model_backward(&m, 2);
	memmove(m.act[0], m.act[0] + 2 * INPUTS,
		3 * INPUTS * sizeof(float));
	memmove(m.label, m.label + 2, 3);
	model_forward(&m, 3);
	parts += model_loss(&m, 3);
	model_backward(&m, 3);

	cr_expect_float_eq(sum, parts, 1e-5);
	for (i = 0; i < m.params; i++)
		cr_assert_float_eq(whole[i], m.grad[i], 1e-5);
	free(whole);
}

/* case 83: the mean is the sum, then divided. */
Test(train_model, update_divides_the_sum_and_keeps_momentum)
{
	float before = m.param[3];

	m.grad[3] = 8;
	model_update(&m, 0.5, 0.75, 4);
	cr_expect_float_eq(m.param[3], before - 0.5f * 2, 1e-6);
	m.grad[3] = 4;
	model_update(&m, 0.5, 0.75, 4);
	cr_expect_float_eq(m.velocity[3], 0.75f * 2 + 1, 1e-6);
	cr_expect_float_eq(m.param[3], before - 1 - 0.5f * 2.5f, 1e-6);
}

Test(train_model, the_strongest_output_counts)
{
	float *y = m.act[m.layers];

	memset(y, 0, ROWS * CLASSES * sizeof(float));
	y[0 * CLASSES + 0] = 1;		/* label 0 */
	y[1 * CLASSES + 3] = 1;		/* label 3 */
	y[2 * CLASSES + 5] = 1;		/* label 6: wrong */
	y[3 * CLASSES + 9] = -1;	/* label 9: wrong */
	cr_expect_eq(model_correct(&m, 4), 2);
}

Test(train_model, loss_of_huge_outputs_is_finite)
{
	float *y = m.act[m.layers];
	int c;

	for (c = 0; c < CLASSES; c++)
		y[c] = c ? -1e30f : 1e30f;
	cr_expect_float_eq(model_loss(&m, 1), 0, 1e-9);
	cr_expect(isfinite(m.delta[m.layers][0]));
}

Test(train_model, seeds_make_different_models)
{
	float first = m.param[0];

	model_randomize(&m, 1);
	cr_expect_eq(m.param[0], first);
	model_randomize(&m, 2);
	cr_expect_neq(m.param[0], first);
}
