/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network: a multilayer perceptron with softmax and cross-entropy at the
 * end.  Samples are rows; the matrix products are OpenBLAS's, everything else
 * is plain loops.
 *
 * Between the layers stands (x + sqrt(x^2 + 4 BEND)) / 2, a ReLU with a round
 * corner.  With a sharp one, the last bit of a sum, which depends on how the
 * samples are spread over ranks, could switch a unit on or off for a sample,
 * and from there the runs would drift apart.
 *
 * Gradients are sums over samples.  Dividing by the number of samples is left
 * to the update, after the sums of all ranks were added: so the mean is the
 * same however the samples were spread over ranks and pieces.
 */
#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

#define UNITS_MAX 65536
#define BEND 0.05f	/* how round the activation is near 0 */

int model_parse(const char *text, int *hidden, int *width, char *why)
{
	const char *at = text;

	if (!strcmp(text, "mlp"))
		text = "mlp:256,128";
	if (strncmp(text, "mlp:", 4))
		return fail(why, "--model %.200s: the only model is "
			    "mlp:A,B,... (hidden layers of A, B, ... units)",
			    text);
	*hidden = 0;
	for (at = text + 3; *at; *hidden += 1) {
		char *end;
		long units;

		at++;
		errno = 0;
		units = strtol(at, &end, 10);
		if (*at < '0' || *at > '9' || (*end && *end != ',') ||
		    (*end && !end[1]) || errno || units < 1 ||
		    units > UNITS_MAX)
			return fail(why, "--model %.200s: the units of each "
				    "hidden layer must be a whole number from "
				    "1 to %d", text, UNITS_MAX);
		if (*hidden == LAYERS_MAX - 1)
			return fail(why, "--model %.200s: at most %d hidden "
				    "layers", text, LAYERS_MAX - 1);
		width[*hidden] = (int)units;
		at = end;
	}
	return 0;
}

/* The three flat arrays come from the library, so that ranks of one node can
 * reach each other's without a copy. */
static int allocate_flat(float **array, size_t count, char *why)
{
	void *memory;

	if (tuttiMemAlloc(&memory, count * sizeof(float)))
		return fail(why, "no memory for %zu parameters: %s", count,
			    tuttiGetLastError(NULL));
	*array = memory;
	return 0;
}

static int allocate_rows(struct model *m, char *why)
{
	int l;

	m->label = malloc(m->rows_max);
	for (l = 0; m->label && l <= m->layers; l++) {
		size_t bytes = m->rows_max * (size_t)m->width[l] *
			       sizeof(float);

		/* Whole cache lines, at least one. */
		bytes = (bytes + 64) / 64 * 64;
		m->act[l] = aligned_alloc(64, bytes);
		m->delta[l] = aligned_alloc(64, bytes);
		if (!m->act[l] || !m->delta[l])
			break;
	}
	if (l <= m->layers)
		return fail(why, "no memory for %zu samples at once; a larger "
			    "--accumulate or a smaller --batch needs less",
			    m->rows_max);
	return 0;
}

int model_create(struct model *m, const struct options *opt, int inputs,
		 size_t rows_max, char *why)
{
	int l;

	openblas_set_num_threads(1);

	memset(m, 0, sizeof(*m));
	m->layers = opt->hidden + 1;
	m->width[0] = inputs;
	for (l = 0; l < opt->hidden; l++)
		m->width[l + 1] = opt->width[l];
	m->width[m->layers] = CLASSES;
	for (l = 0; l < m->layers; l++) {
		size_t in = (size_t)m->width[l], out = (size_t)m->width[l + 1];

		m->offset[l + 1] = m->offset[l] + in * out + out;
	}
	m->params = m->offset[m->layers];
	m->rows_max = rows_max;

	if (allocate_flat(&m->param, m->params, why) ||
	    allocate_flat(&m->grad, m->params, why) ||
	    allocate_flat(&m->velocity, m->params, why) ||
	    allocate_rows(m, why)) {
		model_destroy(m);
		return -1;
	}
	return 0;
}

void model_destroy(struct model *m)
{
	int l;

	for (l = 0; l <= m->layers; l++) {
		free(m->act[l]);
		free(m->delta[l]);
	}
	free(m->label);
	tuttiMemFree(m->param);
	tuttiMemFree(m->grad);
	tuttiMemFree(m->velocity);
	memset(m, 0, sizeof(*m));
}

void model_randomize(struct model *m, uint64_t seed)
{
	uint64_t state = ~seed;
	int l;

	/* Uniform within the bound of He et al. for ReLU; biases are 0.  No
	 * function of libm but sqrt, so every machine makes the same bits. */
	memset(m->param, 0, m->params * sizeof(float));
	memset(m->velocity, 0, m->params * sizeof(float));
	for (l = 0; l < m->layers; l++) {
		size_t weights = (size_t)m->width[l] * (size_t)m->width[l + 1];
		double bound = sqrt(6.0 / m->width[l]);
		size_t i;

		for (i = 0; i < weights; i++) {
			double unit = (double)(random_next(&state) >> 11) *
				      0x1p-53;

			m->param[m->offset[l] + i] =
				(float)((2 * unit - 1) * bound);
		}
	}
}

void model_forward(struct model *m, size_t rows)
{
	int l, n = (int)rows;

	for (l = 0; l < m->layers; l++) {
		int in = m->width[l], out = m->width[l + 1];
		const float *weight = m->param + m->offset[l];
		const float *bias = weight + (size_t)in * (size_t)out;
		float *y = m->act[l + 1];
		size_t r, i;

		for (r = 0; r < rows; r++)
			memcpy(y + r * (size_t)out, bias,
			       (size_t)out * sizeof(*y));
		/* y += act . weight^T */
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out,
			    in, 1, m->act[l], in, weight, in, 1, y, out);
		if (l == m->layers - 1)
			break;
		for (i = 0; i < rows * (size_t)out; i++)
			y[i] = (y[i] + sqrtf(y[i] * y[i] + 4 * BEND)) * 0.5f;
	}
}

double model_loss(struct model *m, size_t rows)
{
	const float *y = m->act[m->layers];
	float *d = m->delta[m->layers];
	double loss = 0;
	size_t r;
	int c;

	for (r = 0; r < rows; r++, y += CLASSES, d += CLASSES) {
		double e[CLASSES], sum = 0;
		float most = y[0];

		for (c = 1; c < CLASSES; c++)
			most = y[c] > most ? y[c] : most;
		for (c = 0; c < CLASSES; c++)
			sum += e[c] = exp((double)y[c] - most);
		for (c = 0; c < CLASSES; c++)
			d[c] = (float)(e[c] / sum - (c == m->label[r]));
		loss += log(sum) - ((double)y[m->label[r]] - most);
	}
	return loss;
}

size_t model_correct(const struct model *m, size_t rows)
{
	const float *y = m->act[m->layers];
	size_t r, correct = 0;
	int c;

	for (r = 0; r < rows; r++, y += CLASSES) {
		int best = 0;

		for (c = 1; c < CLASSES; c++)
			best = y[c] > y[best] ? c : best;
		correct += best == m->label[r];
	}
	return correct;
}

void model_backward(struct model *m, size_t rows)
{
	int l, n = (int)rows;

	for (l = m->layers - 1; l >= 0; l--) {
		int in = m->width[l], out = m->width[l + 1], o;
		size_t weights = (size_t)in * (size_t)out, r, i;
		const float *weight = m->param + m->offset[l];
		const float *d = m->delta[l + 1];
		float *gweight = m->grad + m->offset[l];
		float *gbias = gweight + weights;

		/* gweight += delta^T . act;  gbias += sum of rows of delta */
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in,
			    n, 1, d, out, m->act[l], in, 1, gweight, in);
		for (r = 0; r < rows; r++)
			for (o = 0; o < out; o++)
				gbias[o] += d[r * (size_t)out + (size_t)o];
		if (l == 0)
			break;

		/* delta = delta . weight, times the activation's slope, which
		 * is y^2 / (y^2 + BEND) where its value is y */
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in,
			    out, 1, d, out, weight, in, 0, m->delta[l], in);
		for (i = 0; i < rows * (size_t)in; i++) {
			float square = m->act[l][i] * m->act[l][i];

			m->delta[l][i] *= square / (square + BEND);
		}
	}
}

void model_update(struct model *m, double lr, double momentum,
		  uint64_t samples)
{
	float rate = (float)lr, keep = (float)momentum;
	float n = (float)samples;
	size_t i;

	for (i = 0; i < m->params; i++) {
		m->velocity[i] = keep * m->velocity[i] + m->grad[i] / n;
		m->param[i] -= rate * m->velocity[i];
	}
}
