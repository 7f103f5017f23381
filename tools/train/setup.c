/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything before the first step: the data, the model, its first parameters
 * (new or from a checkpoint), the buckets of gradients.
 *
 * Here ranks can fail alone, so each part ends in ranks_agree(); and ranks
 * that were started differently are found here, before they wait for each
 * other in vain.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "train.h"

/* What stands in for the data set where nothing is computed. */
#define EMULATED_SAMPLES 60000
#define EMULATED_INPUTS 784

/* Samples that must fit at once, for testing. */
#define EVALUATE_ROWS 250

static int load_data(struct trainer *t)
{
	const struct options *opt = t->opt;
	double begin = now();
	int outcome;

	if (opt->emulate_ms > 0) {
		report_say(t->report, "computing is emulated: each step sleeps "
			   "%g ms; no data is read, nothing is learnt",
			   opt->emulate_ms);
		t->samples = EMULATED_SAMPLES;
		return 0;
	}
	report_say(t->report, "loading the data set ...");
	outcome = data_load(&t->data, opt->data, t->why);
	if (ranks_agree(t->ranks, outcome, t->why) ||
	    ranks_same(t->ranks, data_checksum(&t->data), "another data set",
		       t->why))
		return -1;
	t->samples = t->data.train.count;
	report_say(t->report, "%zu training and %zu test images of %zu x %zu "
		   "from %s (%.1f s)", t->samples, t->data.test.count,
		   t->data.train.rows, t->data.train.columns, t->data.dir,
		   now() - begin);
	return 0;
}

/* All ranks must make the same steps, or some would wait for ever. */
static int compare_options(struct trainer *t)
{
	const struct options *o = t->opt;
	char text[512];

	snprintf(text, sizeof(text),
		 "%.300s %llu %llu %llu %llu %llu %llu %llu %a %a %a %d %d %d",
		 o->model, (unsigned long long)o->epochs,
		 (unsigned long long)o->steps, (unsigned long long)o->batch,
		 (unsigned long long)o->seed,
		 (unsigned long long)o->bucket_bytes,
		 (unsigned long long)o->checkpoint_every,
		 (unsigned long long)o->stop_after, o->lr, o->lr_decay,
		 o->momentum, o->emulate_ms > 0, o->checkpoint != NULL,
		 o->resume != NULL);
	return ranks_same(t->ranks, crc32_z(0, (const Bytef *)text,
					    strlen(text)), "other flags",
			  t->why);
}

static void count_steps(struct trainer *t)
{
	const struct options *opt = t->opt;

	t->batch = opt->batch < t->samples ? opt->batch : t->samples;
	t->per_epoch = (t->samples + t->batch - 1) / t->batch;
	t->total = opt->epochs ? opt->epochs * t->per_epoch : opt->steps;
	if (opt->steps && opt->steps < t->total)
		t->total = opt->steps;
}

static int create_model(struct trainer *t)
{
	const struct options *opt = t->opt;
	size_t ranks = (size_t)t->ranks->info.count;
	size_t share_max = (t->batch + ranks - 1) / ranks;
	size_t rows = (share_max + opt->accumulate - 1) / opt->accumulate;
	int inputs = EMULATED_INPUTS, outcome;

	if (opt->emulate_ms > 0)
		rows = 1;
	else
		inputs = (int)(t->data.train.rows * t->data.train.columns);
	if (opt->emulate_ms <= 0 && rows < EVALUATE_ROWS)
		rows = EVALUATE_ROWS;
	outcome = model_create(&t->model, opt, inputs, rows, t->why);
	t->order = malloc(t->samples * sizeof(*t->order));
	if (!outcome && !t->order)
		outcome = fail(t->why, "no memory for the order of samples");
	return ranks_agree(t->ranks, outcome, t->why);
}

/* Cut the gradients into buckets, from the end to the front: the backward
 * pass finishes the last layer first. */
static int make_buckets(struct trainer *t)
{
	size_t each = t->opt->bucket_bytes / sizeof(float);
	size_t end = t->model.params, b;
	int outcome = 0;

	t->buckets = (end + each - 1) / each;
	t->bucket = calloc(t->buckets, sizeof(*t->bucket));
	if (!t->bucket)
		outcome = fail(t->why, "no memory for %zu buckets; use a "
			       "larger --bucket", t->buckets);
	for (b = 0; !outcome && b < t->buckets; b++) {
		t->bucket[b].count = end < each ? end : each;
		end -= t->bucket[b].count;
		t->bucket[b].first = end;
	}
	return ranks_agree(t->ranks, outcome, t->why);
}

struct progress progress_now(const struct trainer *t)
{
	const struct options *opt = t->opt;
	struct progress p = {
		.step = t->step,
		.epoch = t->step / t->per_epoch,
		.epoch_step = t->step % t->per_epoch,
		.seed = opt->seed,
		.batch = opt->batch,
		.samples = t->samples,
		.accumulate = opt->accumulate,
		.ranks = (uint64_t)t->ranks->info.count,
		.lr = opt->lr,
		.lr_decay = opt->lr_decay,
		.momentum = opt->momentum,
	};

	return p;
}

/* Say where the resumed run will not be what the unbroken one was. */
static void tell_changes(const struct trainer *t, const struct progress *old)
{
	struct progress new = progress_now(t);

	report_say(t->report, "going on from %s: step %llu, epoch %llu",
		   t->opt->resume, (unsigned long long)old->step,
		   (unsigned long long)old->epoch + 1);
	if (old->lr != new.lr || old->lr_decay != new.lr_decay ||
	    old->momentum != new.momentum)
		report_say(t->report, "note: it was made with --lr %g "
			   "--lr-decay %g --momentum %g", old->lr,
			   old->lr_decay, old->momentum);
	if (old->ranks != new.ranks || old->accumulate != new.accumulate)
		report_say(t->report, "note: it was made with %llu ranks and "
			   "--accumulate %llu, so rounding will differ",
			   (unsigned long long)old->ranks,
			   (unsigned long long)old->accumulate);
}

/* Rank 0 makes or reads the first parameters, the others get them from it:
 * the file need not be on every machine. */
static int first_parameters(struct trainer *t)
{
	tuttiComm_t comm = t->ranks->comm;
	struct model *m = &t->model;
	struct progress p = progress_now(t);
	int outcome = 0;

	if (t->ranks->info.rank == 0 && t->opt->resume)
		outcome = checkpoint_read(t->opt->resume, &p, m, t->why);
	else if (t->ranks->info.rank == 0)
		model_randomize(m, t->opt->seed);
	if (ranks_agree(t->ranks, outcome, t->why))
		return -1;
	if (tuttiBroadcast(&p, &p, sizeof(p), tuttiUint8, 0, comm, NULL) ||
	    tuttiBroadcast(m->param, m->param, m->params, tuttiFloat32, 0,
			   comm, NULL) ||
	    tuttiBroadcast(m->velocity, m->velocity, m->params, tuttiFloat32,
			   0, comm, NULL))
		return ranks_lost(t->ranks, "sending the first parameters");
	t->step = p.step;
	if (t->opt->resume)
		tell_changes(t, &p);
	return 0;
}

int setup(struct trainer *t)
{
	struct progress p;
	int outcome;

	if (compare_options(t) || load_data(t))
		return -1;
	count_steps(t);
	if (create_model(t) || make_buckets(t) || first_parameters(t))
		return -1;
	p = progress_now(t);
	outcome = report_begin(t->report, t->ranks, &t->model, t->buckets, &p,
			       t->total, t->per_epoch, t->why);
	return ranks_agree(t->ranks, outcome, t->why);
}
