/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The training loop: data-parallel SGD.
 *
 * Every rank holds the whole model and computes the gradients of its share of
 * the batch.  The gradients of all ranks are added by all-reduce, bucket by
 * bucket; then every rank makes the same update.  The sum has the same bits
 * on every rank, so the parameters stay the same without ever being sent.
 *
 * One step of one rank:
 *
 *	compute		forward and backward pass over its share
 *	wait		a small all-reduce: adds up the loss, and cannot end
 *			before the last rank has come
 *	communicate	all-reduce of the gradients
 *	compute		update of the parameters
 *
 * Since the small all-reduce comes first, its time is the time waited for
 * slower ranks (plus the microseconds that 16 bytes need), and the buckets
 * then find all ranks ready, so their time is that of the transfer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

atomic_int stop_requested;

/* ---- One step ---------------------------------------------------------- */

/* The gradients of this rank's share: `count` samples from `first` on in the
 * order of the epoch.  Returns their summed loss. */
static double compute_gradients(struct trainer *t, size_t first, size_t count)
{
	int pieces = (int)t->opt->accumulate, piece;
	struct model *m = &t->model;
	double loss = 0;

	memset(m->grad, 0, m->params * sizeof(float));
	for (piece = 0; piece < pieces; piece++) {
		size_t offset, rows;

		share(count, piece, pieces, &offset, &rows);
		if (rows == 0)
			continue;
		data_fill(&t->data.train, t->order, first + offset, rows,
			  m->act[0], m->label);
		model_forward(m, rows);
		loss += model_loss(m, rows);
		model_backward(m, rows);
	}
	return loss;
}

static void sleep_ms(double ms)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(fmod(ms, 1000) * 1e6),
	};

	while (nanosleep(&ts, &ts))
		;
}

static int one_step(struct trainer *t, bool *stop)
{
	tuttiComm_t comm = t->ranks->comm;
	bool emulate = t->opt->emulate_ms > 0;
	size_t begin = t->step % t->per_epoch * t->batch;
	size_t size = t->samples - begin < t->batch ? t->samples - begin :
		      t->batch;
	struct step_report s = { .step = t->step + 1, .samples = size };
	size_t first, count, b;
	double meet[2] = { 0, 0 };	/* loss, ranks that want to stop */
	double start = now(), computed, met, reduced;

	share(size, t->ranks->info.rank, t->ranks->info.count, &first, &count);
	if (emulate)
		sleep_ms(t->opt->emulate_ms);
	else
		meet[0] = compute_gradients(t, begin + first, count);
	computed = now();

	meet[1] = stop_requested || t->step + 1 == t->opt->stop_after;
	if (tuttiAllReduce(meet, meet, 2, tuttiFloat64, tuttiSum, comm, NULL))
		return ranks_lost(t->ranks, "adding up the loss");
	met = now();

	for (b = 0; b < t->buckets; b++) {
		float *grad = t->model.grad + t->bucket[b].first;

		if (tuttiAllReduce(grad, grad, t->bucket[b].count,
				   tuttiFloat32, tuttiSum, comm, NULL))
			return ranks_lost(t->ranks, "adding up gradients");
	}
	reduced = now();

	if (!emulate)
		model_update(&t->model, t->lr, t->opt->momentum, size);
	s.split.compute = computed - start + now() - reduced;
	s.split.wait = met - computed;
	s.split.communicate = reduced - met;
	s.epoch = t->step / t->per_epoch + 1;
	s.loss = emulate ? NAN : meet[0] / (double)size;
	*stop = meet[1] > 0;

	t->step++;
	t->accuracy = -1;
	t->loss += meet[0];
	t->epoch_samples += size;
	t->epoch_steps++;
	t->split.compute += s.split.compute;
	t->split.wait += s.split.wait;
	t->split.communicate += s.split.communicate;
	report_step(t->report, &s);
	if (!emulate && !isfinite(s.loss))
		return ranks_agree(t->ranks, fail(t->why, "the loss of step "
				"%llu is not a number: training diverged; try "
				"a smaller --lr", (unsigned long long)s.step),
				t->why);
	return 0;
}

/* ---- Between steps ----------------------------------------------------- */

/* Accuracy on the test set, of which each rank takes its share. */
static int evaluate(struct trainer *t)
{
	struct model *m = &t->model;
	double begin = now();
	size_t first, count;
	int64_t correct = 0;

	if (t->opt->emulate_ms > 0)
		return 0;
	share(t->data.test.count, t->ranks->info.rank, t->ranks->info.count,
	      &first, &count);
	while (count > 0) {
		size_t rows = count < m->rows_max ? count : m->rows_max;

		data_fill(&t->data.test, NULL, first, rows, m->act[0],
			  m->label);
		model_forward(m, rows);
		correct += (int64_t)model_correct(m, rows);
		first += rows;
		count -= rows;
	}
	if (tuttiAllReduce(&correct, &correct, 1, tuttiInt64, tuttiSum,
			   t->ranks->comm, NULL))
		return ranks_lost(t->ranks, "adding up the test results");
	t->accuracy = (double)correct / (double)t->data.test.count;
	t->overhead.evaluate += now() - begin;
	return 0;
}

static int save(struct trainer *t)
{
	struct progress p = progress_now(t);
	double begin = now();
	int outcome = 0;

	if (!t->opt->checkpoint || t->saved == t->step)
		return 0;
	if (t->ranks->info.rank == 0)
		outcome = checkpoint_write(t->opt->checkpoint, &p, &t->model,
					   t->why);
	if (ranks_agree(t->ranks, outcome, t->why))
		return -1;
	t->saved = t->step;
	t->overhead.checkpoint += now() - begin;
	return 0;
}

/* The learning rate depends on the epoch alone, not on how long the run will
 * be, so a run that is cut in two makes the same steps.  (No pow(): it may
 * differ between the machines of one run.) */
static double learning_rate(const struct options *opt, uint64_t epoch)
{
	double lr = opt->lr;

	while (epoch-- > 0)
		lr *= opt->lr_decay;
	return lr;
}

static void begin_epoch(struct trainer *t)
{
	static const struct split none;
	uint64_t epoch = t->step / t->per_epoch;

	t->lr = learning_rate(t->opt, epoch);
	t->since = now();
	t->loss = 0;
	t->epoch_samples = 0;
	t->epoch_steps = 0;
	t->split = none;
	if (t->step < t->total && t->opt->emulate_ms <= 0)
		data_shuffle(t->order, t->samples, t->opt->seed, epoch);
}

/* Account for the steps since begin_epoch(): every rank's split goes to all,
 * rank 0 reports.  `measure` the accuracy too. */
static int end_epoch(struct trainer *t, bool measure)
{
	size_t ranks = (size_t)t->ranks->info.count;
	struct epoch_report e = {
		.epoch = (t->step - 1) / t->per_epoch + 1,
		.steps = t->epoch_steps,
		.loss = t->opt->emulate_ms > 0 ? NAN :
			t->loss / (double)t->epoch_samples,
		.seconds = now() - t->since,
		.accuracy = -1,
	};
	struct split *all = calloc(ranks, sizeof(*all));
	int outcome = all ? 0 : fail(t->why, "no memory for the split of time");

	t->split.other = e.seconds - t->split.compute - t->split.wait -
			 t->split.communicate;
	if (ranks_agree(t->ranks, outcome, t->why)) {
		outcome = -1;
		goto out;
	}
	if (tuttiAllGather(&t->split, all, sizeof(*all) / sizeof(double),
			   tuttiFloat64, t->ranks->comm, NULL)) {
		outcome = ranks_lost(t->ranks, "gathering the split of time");
		goto out;
	}
	if (measure) {
		outcome = evaluate(t);
		e.accuracy = t->accuracy;
	}
	if (!outcome)
		report_epoch(t->report, &e, all);
out:
	free(all);
	return outcome;
}

/* Save in the middle of an epoch; the time is not that of a step. */
static int save_now(struct trainer *t)
{
	double begin = now();

	if (save(t))
		return -1;
	t->since += now() - begin;
	return 0;
}

static int loop(struct trainer *t, bool *interrupted)
{
	uint64_t every = t->opt->checkpoint_every;
	bool stop = false;

	begin_epoch(t);
	while (t->step < t->total && !stop) {
		if (one_step(t, &stop))
			return -1;
		if (t->step % t->per_epoch == 0 || t->step == t->total ||
		    stop) {
			*interrupted = stop && t->step < t->total;
			if (end_epoch(t, !*interrupted) || save(t))
				return -1;
			begin_epoch(t);
		} else if (every && t->step % every == 0 && save_now(t)) {
			return -1;
		}
	}
	return 0;
}

/* ---- After the last step ----------------------------------------------- */

/* All ranks must have ended with the same parameters, to the bit. */
static int compare_parameters(struct trainer *t, char text[SHA256_TEXT])
{
	size_t ranks = (size_t)t->ranks->info.count, r;
	uint8_t mine[SHA256_BYTES], *all = malloc(ranks * SHA256_BYTES);
	int outcome = all ? 0 : fail(t->why, "no memory to compare the ranks");
	struct sha256 sum;

	if (ranks_agree(t->ranks, outcome, t->why)) {
		outcome = -1;
		goto out;
	}
	sha256_init(&sum);
	sha256_add(&sum, t->model.param, t->model.params * sizeof(float));
	sha256_end(&sum, mine);
	sha256_text(mine, text);
	if (tuttiAllGather(mine, all, SHA256_BYTES, tuttiUint8,
			   t->ranks->comm, NULL)) {
		outcome = ranks_lost(t->ranks, "comparing the parameters");
		goto out;
	}
	for (r = 1; r < ranks && !outcome; r++)
		if (memcmp(all, all + r * SHA256_BYTES, SHA256_BYTES))
			outcome = fail(t->why, "after step %llu the parameters "
				       "of rank %zu are not those of rank 0",
				       (unsigned long long)t->step, r);
	outcome = ranks_agree(t->ranks, outcome, t->why);
out:
	free(all);
	return outcome;
}

static int finish(struct trainer *t, bool interrupted)
{
	char hash[SHA256_TEXT];
	int outcome;

	if (compare_parameters(t, hash))
		return -1;
	/* A run that was resumed at its end has not been measured. */
	if (!interrupted && t->accuracy < 0 && evaluate(t))
		return -1;
	if (save(t))
		return -1;
	outcome = report_end(t->report, hash, t->accuracy, t->step,
			     interrupted, &t->overhead, t->why);
	return ranks_agree(t->ranks, outcome, t->why);
}

int train(const struct options *opt, struct ranks *ranks,
	  struct report *report, double started)
{
	struct trainer t = {
		.opt = opt, .ranks = ranks, .report = report,
		.saved = UINT64_MAX, .accuracy = -1
	};
	int status = STATUS_FAILED;
	bool interrupted = false;

	if (setup(&t))
		goto out;
	t.overhead.start = now() - started;
	if (loop(&t, &interrupted) || finish(&t, interrupted))
		goto out;
	status = interrupted ? STATUS_INTERRUPTED : STATUS_DONE;
out:
	model_destroy(&t.model);
	data_free(&t.data);
	free(t.bucket);
	free(t.order);
	return status;
}
