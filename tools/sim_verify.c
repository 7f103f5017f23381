/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti sim --verify`: a list of jobs (an algorithm and a rank count), worked
 * off by as many threads as there are processors, and a table of what was
 * proven and what was not.
 */
#include "config.h"

#include "json.h"
#include "machine.h"
#include "sim.h"

#include "base/bits.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Up to here with every setting of credits, slices and parts. */
#define THOROUGH_RANKS 16
#define ALL_ROOTS_RANKS 16
/* Up to here, and for these counts, every shape. */
#define SHAPES_RANKS 64
static const int shape_counts[] = {
	65, 66, 71, 72, 80, 81, 96, 97, 100, 112, 120, 121,
	125, 127, 128, 129, 144, 160, 169, 192, 200, 243, 255, 256,
};
/* Messages and chunks of one query: a second's work. */
#define BUDGET 4000000u

struct list {
	struct sim_target *targets;
	int ntargets;
	struct sim_job *jobs;
	int njobs;
	int threads;
	atomic_int next;		/* job to take */
	pthread_mutex_t lock;		/* of all below, and of the targets */
	int done;
	bool no_memory, progress;
	int64_t start_ns, shown_ns;
};

/* ---- What to prove ------------------------------------------------------ */

static uint32_t count_levels(const struct tutti_algo *algo)
{
	char text[TUTTI_LEVELS_MAX];
	uint32_t n = 0;

	while (tutti_levels_nth(algo, n, text))
		n++;
	return n;
}

/* The algorithms asked for: those of the registry. */
static int find_targets(const struct sim_args *args, struct sim_target *out)
{
	int n = 0;

	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++) {
		if ((args->coll >= 0 && (int)e->algo->coll != args->coll) ||
		    (args->algo && strcmp(args->algo, e->name)))
			continue;
		if (out)
			out[n] = (struct sim_target){
				.entry = e,
				.levels = count_levels(e->algo),
				.composed = count_levels(e->algo) > 0,
			};
		n++;
	}
	return n;
}

static bool shapes_chosen(int ranks)
{
	for (size_t i = 0; i < tutti_countof(shape_counts); i++)
		if (shape_counts[i] == ranks)
			return true;
	return ranks <= SHAPES_RANKS;
}

static void add_job(struct list *l, const struct sim_args *args,
		    struct sim_target *t, int ranks)
{
	bool all = args->exhaustive;

	if (t->composed && !all && !args->random && !shapes_chosen(ranks))
		return;
	l->jobs[l->njobs++] = (struct sim_job){
		.target = t,
		.ranks = ranks,
		.shape = args->shape,
		.all_shapes = args->random ? t->composed :
			      all || shapes_chosen(ranks),
		.thorough = ranks <= (all ? 4 : 1) * THOROUGH_RANKS,
		.all_roots = (all ? 4 : 1) * ALL_ROOTS_RANKS,
		.budget = all ? UINT64_MAX : BUDGET,
	};
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* The largest first, so that the last jobs are short. */
static int job_cmp(const void *a, const void *b)
{
	const struct sim_job *x = a, *y = b;

	return x->ranks != y->ranks ? (x->ranks < y->ranks ? 1 : -1) :
	       x->target < y->target ? -1 : x->target > y->target;
}

static bool make_jobs(struct list *l, const struct sim_args *args)
{
	int64_t counts = args->random ? args->random :
			 args->ranks_max - args->ranks_min + 1;
	uint64_t state = (uint64_t)args->seed;

	l->ntargets = find_targets(args, NULL);
	l->targets = calloc((size_t)l->ntargets + 1, sizeof(*l->targets));
	l->jobs = calloc((size_t)l->ntargets * (size_t)counts + 1,
			 sizeof(*l->jobs));
	if (!l->targets || !l->jobs)
		return false;
	find_targets(args, l->targets);
	for (int64_t i = 0; i < counts; i++) {
		int ranks = args->random ?
			    1 + (int)(next_random(&state) %
				      (uint64_t)args->max) :
			    args->ranks_min + (int)i;

		for (int t = 0; t < l->ntargets; t++)
			add_job(l, args, &l->targets[t], ranks);
	}
	qsort(l->jobs, (size_t)l->njobs, sizeof(*l->jobs), job_cmp);
	return true;
}

/* ---- Proving ------------------------------------------------------------ */

static void merge(struct sim_target *t, const struct sim_target *own)
{
	if (own->counts) {
		t->counts_min = t->counts ? tutti_min(t->counts_min,
						      own->counts_min) :
					    own->counts_min;
		t->counts_max = tutti_max(t->counts_max, own->counts_max);
	}
	if (own->over) {
		t->over_min = t->over ? tutti_min(t->over_min, own->over_min) :
					own->over_min;
		t->over_max = tutti_max(t->over_max, own->over_max);
		t->over_events = tutti_max(t->over_events, own->over_events);
	}
	t->counts += own->counts;
	t->over += own->over;
	t->queries += own->queries;
	t->sets += own->sets;
	t->turned += own->turned;
	t->thorough += own->thorough;
	t->schedules += own->schedules;
	t->faults += own->faults;
}

/* Under the lock. */
static void show_progress(struct list *l)
{
	int64_t now = tutti_now_ns();

	if (!l->progress || now - l->shown_ns < 200000000)
		return;
	l->shown_ns = now;
	fprintf(stderr, "\r%d of %d jobs, %.0f s ", l->done, l->njobs,
		(double)(now - l->start_ns) / 1e9);
}

static void *work(void *arg)
{
	struct list *l = arg;
	int i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->njobs) {
		const struct sim_job *job = &l->jobs[i];
		struct sim_target own = { .entry = job->target->entry };
		bool ok = sim_prove(job, &own);

		pthread_mutex_lock(&l->lock);
		l->done++;
		l->no_memory |= !ok;
		merge(job->target, &own);
		show_progress(l);
		pthread_mutex_unlock(&l->lock);
	}
	return NULL;
}

static void run(struct list *l, int threads)
{
	pthread_t thread[64];
	int n = 0;

	l->progress = isatty(STDERR_FILENO);
	l->start_ns = tutti_now_ns();
	pthread_mutex_init(&l->lock, NULL);
	while (n < tutti_min(threads - 1, 64) &&
	       !pthread_create(&thread[n], NULL, work, l))
		n++;
	l->threads = n + 1;
	work(l);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_mutex_destroy(&l->lock);
	if (l->progress)
		fprintf(stderr, "\r%*s\r", 60, "");
}

/* ---- The report --------------------------------------------------------- */

static void add_up(const struct list *l, struct sim_target *sum)
{
	*sum = (struct sim_target){ 0 };
	for (int t = 0; t < l->ntargets; t++)
		merge(sum, &l->targets[t]);
}

static const char *const properties[] = {
	"every result holds every contribution once, by one expression on all ranks",
	"nothing is read before it is written, nor overwritten before its last read",
	"no two accesses race, and none reaches a rank before its begin or after its end",
	"every message is received, with the chunks and the piece that were sent",
	"no deadlock, with 2 credits or more, whatever the slices and parts",
	"flags, steps and chunks are what the file states; of compositions the flags",
};

static const char *range(char *buf, size_t cap, int min, int max)
{
	if (max == 0)
		snprintf(buf, cap, "none");
	else if (min == max)
		snprintf(buf, cap, "%d", min);
	else
		snprintf(buf, cap, "%d..%d", min, max);
	return buf;
}

static void text_row(const struct sim_target *t)
{
	char ranks[32];

	printf("%-15s %-14s %6u  %-10s %8llu %8llu %8llu %10llu%s\n",
	       tutti_coll_name(t->entry->algo->coll), t->entry->name,
	       t->counts, range(ranks, sizeof(ranks), t->counts_min,
				t->counts_max),
	       (unsigned long long)t->queries, (unsigned long long)t->sets,
	       (unsigned long long)t->turned,
	       (unsigned long long)t->schedules, t->faults ? "  FAILED" : "");
	if (t->levels)
		printf("%15s with its own choice of level algorithms and %u others\n",
		       "", t->levels);
}

static void text_scope(const struct sim_args *args)
{
	if (args->random)
		printf("%lld random rank counts to %lld, seed %lld; ",
		       (long long)args->random, (long long)args->max,
		       (long long)args->seed);
	else
		printf("Rank counts %d to %d; ", args->ranks_min,
		       args->ranks_max);
	if (args->shape >= 0)
		printf("shape \"%s\"; ", sim_shape_names[args->shape]);
	else if (args->exhaustive)
		printf("all six node shapes; ");
	else if (args->random)
		printf("one node and interleaved nodes, compositions on all "
		       "six shapes; ");
	else
		printf("all six node shapes to %d ranks and at %zu counts "
		       "beyond,\none node and interleaved nodes at the "
		       "others, compositions left out there;\n",
		       SHAPES_RANKS, tutti_countof(shape_counts));
	printf("all roots to %d ranks, three beyond; mail and mapped, default "
	       "and strict,\neven and uneven blocks, as far as each serves.\n",
	       (args->exhaustive ? 4 : 1) * ALL_ROOTS_RANKS);
}

static void text_not_proven(const struct list *l, const struct sim_args *args)
{
	bool any = false;
	char ranks[32];

	for (int i = 0; i < l->ntargets; i++) {
		const struct sim_target *t = &l->targets[i];

		if (!t->over && t->queries)
			continue;
		printf("%s", any ? "" : "\nNot proven:\n");
		any = true;
		printf("  %s %s: ", tutti_coll_name(t->entry->algo->coll),
		       t->entry->name);
		if (t->over)
			printf("%s, %u count%s: a query has up to %.3g million\n    messages and chunks, and at most %.3g million are run\n",
			       range(ranks, sizeof(ranks), t->over_min,
				     t->over_max),
			       t->over, t->over > 1 ? "s" : "",
			       (double)t->over_events / 1e6, BUDGET / 1e6);
		else
			printf("serves none of these\n");
	}
	if (!any)
		printf("\nNothing of this was left out.\n");
	if (!args->exhaustive)
		printf("--exhaustive takes every shape at every count, all roots and all ten settings\nto 64 ranks, and has no limit of messages.\n");
}

static void text_report(const struct list *l, const struct sim_args *args,
			double seconds)
{
	struct sim_target sum;

	add_up(l, &sum);
	text_scope(args);
	printf("\n%-15s %-14s %6s  %-10s %8s %8s %8s %10s\n", "operation",
	       "algorithm", "counts", "ranks", "queries", "sets", "turned",
	       "schedules");
	for (int t = 0; t < l->ntargets; t++)
		text_row(&l->targets[t]);
	printf("\n%llu queries are proven by %llu sets of schedules (%llu schedules): other queries\nhave the very same schedules, or such that the proof holds for them too: turned to\nanother root, without trees, or behind a meeting of all ranks.  Of the sets,\n%llu are turns of their first rank's schedule, which alone was run for all, and\n%llu were run with all ten settings (counts to %d); the others in place and not with\n2 credits and one slice, from which the rest follows.\n",
	       (unsigned long long)sum.queries, (unsigned long long)sum.sets,
	       (unsigned long long)sum.schedules,
	       (unsigned long long)sum.turned,
	       (unsigned long long)sum.thorough,
	       (args->exhaustive ? 4 : 1) * THOROUGH_RANKS);
	printf("\nProven of each:\n");
	for (size_t i = 0; i < tutti_countof(properties); i++)
		printf("  - %s\n", properties[i]);
	text_not_proven(l, args);
	printf("\n%s in %.1f s by %d threads.\n",
	       sum.faults ? "FAILED" : sum.queries ? "All proven" :
	       "Nothing proven", seconds, l->threads);
}

static void json_target(struct tool_json *j, const struct sim_target *t)
{
	tool_json_open(j, NULL, '{');
	tool_json_text(j, "op", tutti_coll_name(t->entry->algo->coll));
	tool_json_text(j, "algo", t->entry->name);
	tool_json_int(j, "levels", t->levels);
	tool_json_int(j, "counts", t->counts);
	tool_json_int(j, "ranks_min", t->counts_min);
	tool_json_int(j, "ranks_max", t->counts_max);
	tool_json_int(j, "queries", (int64_t)t->queries);
	tool_json_int(j, "sets", (int64_t)t->sets);
	tool_json_int(j, "turned", (int64_t)t->turned);
	tool_json_int(j, "thorough", (int64_t)t->thorough);
	tool_json_int(j, "schedules", (int64_t)t->schedules);
	tool_json_int(j, "not_proven", t->over);
	tool_json_int(j, "not_proven_min", t->over_min);
	tool_json_int(j, "not_proven_max", t->over_max);
	tool_json_int(j, "not_proven_events", (int64_t)t->over_events);
	tool_json_int(j, "faults", t->faults);
	tool_json_close(j, '}');
}

static void json_report(const struct list *l, const struct sim_args *args,
			double seconds)
{
	struct tool_json j = { .file = stdout };
	struct sim_target sum;

	add_up(l, &sum);
	tool_json_open(&j, NULL, '{');
	if (args->random) {
		tool_json_int(&j, "random", args->random);
		tool_json_int(&j, "seed", args->seed);
		tool_json_int(&j, "max", args->max);
	} else {
		tool_json_int(&j, "ranks_min", args->ranks_min);
		tool_json_int(&j, "ranks_max", args->ranks_max);
	}
	tool_json_bool(&j, "exhaustive", args->exhaustive);
	tool_json_int(&j, "queries", (int64_t)sum.queries);
	tool_json_int(&j, "sets", (int64_t)sum.sets);
	tool_json_int(&j, "schedules", (int64_t)sum.schedules);
	tool_json_int(&j, "faults", sum.faults);
	tool_json_int(&j, "budget", BUDGET);
	tool_json_int(&j, "threads", l->threads);
	tool_json_real(&j, "seconds", seconds);
	tool_json_open(&j, "proven", '[');
	for (size_t i = 0; i < tutti_countof(properties); i++)
		tool_json_text(&j, NULL, properties[i]);
	tool_json_close(&j, ']');
	tool_json_open(&j, "algorithms", '[');
	for (int t = 0; t < l->ntargets; t++)
		json_target(&j, &l->targets[t]);
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}

static int report(const struct list *l, const struct sim_args *args)
{
	double seconds = (double)(tutti_now_ns() - l->start_ns) / 1e9;
	struct sim_target sum;

	add_up(l, &sum);
	if (l->no_memory)
		return sim_fault("no memory to prove all of this");
	if (args->json)
		json_report(l, args, seconds);
	else
		text_report(l, args, seconds);
	return sum.faults || !sum.queries ? 1 : 0;
}

int sim_verify(const struct sim_args *args)
{
	struct list l = { 0 };
	int status;

	if (!make_jobs(&l, args)) {
		status = sim_fault("no memory for the list of what to prove");
	} else if (!l.ntargets) {
		status = args->coll < 0 ?
			sim_fault("no operation has an algorithm \"%s\"; `tutti info --algorithms` lists all",
				  args->algo) :
			sim_fault("%s has no algorithm \"%s\"; `tutti info --algorithms` lists all",
				  tutti_coll_name((enum tutti_coll)args->coll),
				  args->algo);
	} else {
		run(&l, args->threads);
		status = report(&l, args);
	}
	free(l.targets);
	free(l.jobs);
	return status;
}
