/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-train, the reference trainer: what its files offer each other.
 *
 *	options.c	the command line
 *	ranks.c		joining the other ranks, and failing together with them
 *	data.c		the data set, and who takes which sample
 *	model.c		the network: forward, backward, update
 *	checkpoint.c	saving and restoring a run
 *	setup.c		everything before the first step
 *	train.c		the training loop: the place to start reading
 *	report.c	all that is printed and logged
 *	plot.c		the drawing
 *
 * Functions that can fail return 0 or -1; -1 comes with a sentence in `why`,
 * an array of WHY_MAX bytes.
 */
#ifndef TUTTI_TRAIN_H
#define TUTTI_TRAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tutti.h"

#define WHY_MAX 1024
#define LAYERS_MAX 16
#define CLASSES 10
#define SHA256_BYTES 32
#define SHA256_TEXT (2 * SHA256_BYTES + 1)

enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_INTERRUPTED = 130
};

/* Write the sentence to `why` and return -1. */
int fail(char *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Seconds of the monotonic clock. */
static inline double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* The next of a sequence of random numbers (SplitMix64): the same on every
 * machine, so that a seed means the same run everywhere. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* ---- options.c --------------------------------------------------------- */

struct options {
	const char *data;		/* NULL: the usual places */
	const char *model;
	const char *mode;
	const char *checkpoint;
	const char *resume;
	const char *json;
	const char *plot;
	uint64_t epochs;		/* 0: as many as the steps need */
	uint64_t steps;			/* 0: as many as the epochs need */
	uint64_t batch;
	uint64_t accumulate;
	uint64_t seed;
	uint64_t bucket_bytes;
	uint64_t checkpoint_every;	/* 0: only at the end of an epoch */
	uint64_t stop_after;		/* 0: never */
	double lr;
	double lr_decay;
	double momentum;
	double emulate_ms;		/* 0: really compute */
	bool quiet;
	bool help;
	bool version;
	int hidden;			/* from `model`: hidden layers ... */
	int width[LAYERS_MAX];		/* ... and their widths */
};

int options_parse(struct options *opt, int argc, char **argv, char *why);
void options_help(FILE *out);

/* ---- ranks.c ----------------------------------------------------------- */

struct ranks {
	tuttiComm_t comm;
	tuttiCommInfo_t info;
	bool lost;			/* the communicator has failed */
};

/* Join the ranks that the launcher started; alone without a launcher. */
int ranks_join(struct ranks *ranks, char *why);

/* Print the library's own sentence for a call that failed and return -1. */
int ranks_lost(struct ranks *ranks, const char *doing);

/* Every rank calls this with its own outcome (0 or -1 and a sentence).  0 if
 * all are well; otherwise -1 on every rank, and the lowest rank with trouble
 * prints its sentence. */
int ranks_agree(struct ranks *ranks, int outcome, const char *why);

/* -1 on every rank, with a sentence, unless all ranks pass the same number. */
int ranks_same(struct ranks *ranks, uint64_t number, const char *what,
	       char *why);

/* ---- data.c ------------------------------------------------------------ */

struct images {
	size_t count;
	size_t rows, columns;
	uint8_t *pixel;			/* count * rows * columns */
	uint8_t *label;			/* count */
};

struct data {
	char dir[512];
	struct images train, test;
};

/* Read the four files of the set in `dir`, or in one of the usual places if
 * it is NULL. */
int data_load(struct data *data, const char *dir, char *why);
void data_free(struct data *data);

/* A number that differs between different data sets. */
uint64_t data_checksum(const struct data *data);

/* The order of the `count` samples in one epoch: depends on nothing but seed
 * and epoch, so it is the same for every rank and any number of ranks. */
void data_shuffle(uint32_t *order, size_t count, uint64_t seed,
		  uint64_t epoch);

/* Copy samples, as numbers around 0, to `input` and their labels to `label`;
 * `order` names them, NULL: those from `first` on. */
void data_fill(const struct images *set, const uint32_t *order, size_t first,
	       size_t count, float *input, uint8_t *label);

/* Part `index` of `parts` nearly equal, adjoining parts of `count` things. */
void share(size_t count, int index, int parts, size_t *first, size_t *size);

/* ---- model.c ----------------------------------------------------------- */

/* A multilayer perceptron.  Parameters, gradients and velocities (the memory
 * of the momentum) are one flat array each: layer after layer, weights
 * (outputs x inputs), then biases. */
struct model {
	int layers;
	int width[LAYERS_MAX + 1];	/* inputs, hidden layers, classes */
	size_t offset[LAYERS_MAX + 1];	/* of each layer in the flat arrays */
	size_t params;			/* = offset[layers] */
	float *param, *grad, *velocity;
	size_t rows_max;		/* samples that fit at once */
	float *act[LAYERS_MAX + 1];	/* act[0] is the input, act[l + 1] what
					 * layer l makes of act[l] */
	float *delta[LAYERS_MAX + 1];	/* d loss / d act, rows as in act */
	uint8_t *label;
};

/* "mlp:256,128" to widths. */
int model_parse(const char *text, int *hidden, int *width, char *why);
int model_create(struct model *m, const struct options *opt, int inputs,
		 size_t rows_max, char *why);
void model_destroy(struct model *m);
void model_randomize(struct model *m, uint64_t seed);

/* Compute act[layers] of the first `rows` rows of act[0]. */
void model_forward(struct model *m, size_t rows);
/* The summed loss of these rows; leaves its derivative in delta[layers]. */
double model_loss(struct model *m, size_t rows);
/* Rows whose strongest output is their label. */
size_t model_correct(const struct model *m, size_t rows);
/* Add the gradients of the summed loss of these rows to `grad`. */
void model_backward(struct model *m, size_t rows);
/* One step of SGD with momentum; `grad` is a sum over `samples`. */
void model_update(struct model *m, double lr, double momentum,
		  uint64_t samples);

/* ---- checkpoint.c ------------------------------------------------------ */

/* Where a run stands, and what it must agree with to go on. */
struct progress {
	uint64_t step;			/* steps done */
	uint64_t epoch, epoch_step;	/* the same as epochs + steps */
	uint64_t seed, batch, samples;
	uint64_t accumulate, ranks;
	double lr, lr_decay, momentum;
};

/* Can this file be written?  Asked before hours of training. */
int checkpoint_probe(const char *path, char *why);
/* Replace the file as a whole or not at all, and make it durable. */
int checkpoint_write(const char *path, const struct progress *progress,
		     const struct model *m, char *why);
/* Restore parameters and velocities of `m` and `*progress`.  On entry
 * *progress holds what the run wants: another seed, batch, data set or model
 * shape is refused, and nothing is changed. */
int checkpoint_read(const char *path, struct progress *progress,
		    struct model *m, char *why);

/* Create a file next to `path` for replacing it; NULL: sentence in `why`. */
FILE *replace_open(const char *path, char *why);
/* Make the new file durable and put it in place; or, if `keep` is false or
 * anything fails, remove it. */
int replace_close(FILE *file, const char *path, bool keep, char *why);

/* ---- sha256.c ---------------------------------------------------------- */

struct sha256 {
	uint32_t state[8];
	uint64_t length;
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES]);
void sha256_text(const uint8_t digest[SHA256_BYTES], char text[SHA256_TEXT]);

/* ---- report.c ---------------------------------------------------------- */

/* Where the time of steps went, in seconds. */
struct split {
	double compute;
	double communicate;
	double wait;
	double other;
};

struct step_report {
	uint64_t step, epoch;		/* from 1 */
	uint64_t samples;
	double loss;
	struct split split;		/* of rank 0 */
};

struct epoch_report {
	uint64_t epoch;			/* from 1 */
	uint64_t steps;			/* how many of it were done now */
	double loss;			/* mean over samples */
	double accuracy;		/* 0 to 1; below 0: not measured */
	double seconds;			/* of these steps */
	struct split mean;		/* over ranks, per step */
};

/* The seconds that are not steps. */
struct overhead {
	double start;
	double evaluate;
	double checkpoint;
};

/* Only rank 0 has one that is open; on other ranks all calls do nothing. */
struct report {
	bool on;
	bool terminal;
	bool bar_shown;
	const struct options *opt;
	FILE *json;
	int ranks;
	uint64_t total, per_epoch;	/* steps */
	uint64_t first;			/* steps done when this run began */
	double began;			/* when the first step began */
	uint64_t samples;		/* since then */
	double last_line;
	uint64_t last_quarter;
	double *loss;			/* of each step now, for --plot */
	size_t losses;
	struct epoch_report *epoch;
	size_t epochs;
	struct split *rank_split;	/* of each rank, summed over steps */
	uint64_t steps;
};

/* Open what rank 0 will write, and check what can be checked. */
int report_open(struct report *r, const struct options *opt,
		const struct ranks *ranks, char *why);
void report_say(const struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* What is about to be trained, before the first step. */
int report_begin(struct report *r, const struct ranks *ranks,
		 const struct model *m, size_t buckets,
		 const struct progress *progress, uint64_t total,
		 uint64_t per_epoch, char *why);
void report_step(struct report *r, const struct step_report *s);
/* `all` holds one split per rank, summed over these steps. */
void report_epoch(struct report *r, const struct epoch_report *e,
		  const struct split *all);
/* Summary, last line of the log, drawing. */
int report_end(struct report *r, const char *params_sha256, double accuracy,
	       uint64_t step, bool interrupted, const struct overhead *o,
	       char *why);
void report_close(struct report *r);

/* ---- plot.c ------------------------------------------------------------ */

/* Can it be drawn?  Asked before training. */
int plot_probe(const char *path, char *why);
/* Draw loss, accuracy and split of `r` to the SVG file `path`. */
int plot_draw(const char *path, const struct report *r, char *why);

/* ---- setup.c ----------------------------------------------------------- */

/* Gradients that are all-reduced by one call. */
struct bucket {
	size_t first, count;
};

struct trainer {
	const struct options *opt;
	struct ranks *ranks;
	struct report *report;
	struct data data;
	struct model model;
	struct bucket *bucket;
	size_t buckets;
	uint32_t *order;		/* of the samples in this epoch */
	size_t samples;
	size_t batch;			/* no more than samples */
	uint64_t per_epoch, total;	/* steps */
	uint64_t step;			/* steps done */
	uint64_t saved;			/* the step that was saved last */
	double lr;			/* learning rate of this epoch */
	double accuracy;		/* of these parameters; below 0:
					 * not measured */
	struct overhead overhead;
	/* Since the epoch or the run began: */
	double since;			/* when */
	double loss;			/* summed over samples */
	uint64_t epoch_samples, epoch_steps;
	struct split split;
	char why[WHY_MAX];
};

int setup(struct trainer *t);
struct progress progress_now(const struct trainer *t);

/* ---- train.c ----------------------------------------------------------- */

/* Set by a signal: stop after the step at hand. */
extern atomic_int stop_requested;

/* Train as `opt` says; returns a STATUS_. */
int train(const struct options *opt, struct ranks *ranks,
	  struct report *report, double started);

#endif
