/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cases NAME...: run these cases as one process of a launcher.
 * cases --threads N NAME...: run them on N threads.
 * cases: run on threads those that suit ThreadSanitizer.
 * cases --plain: status 0 unless a sanitizer is built in, whose memory nobody
 * measures.
 * Ends 0 if all was right, else 1 after a line for each fault.
 */
#include "config.h"

#include "proc/cases.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

static const struct {
	const char *name;
	void (*run)(struct seat *s);
} cases[] = {
	{ "differ_small", differ_small },
	{ "differ_large", differ_large },
	{ "differ_message", differ_message },
	{ "differ_any", differ_any },
	{ "differ_quiet", differ_quiet },
	{ "differ_late", differ_late },
	{ "group_head", group_head },
	{ "group_without", group_without },
	{ "group_pairs", group_pairs },
	{ "group_many", group_many },
	{ "group_self", group_self },
	{ "group_mixed", group_mixed },
	{ "group_uneven", group_uneven },
	{ "group_two", group_two },
	{ "group_rules", group_rules },
	{ "group_differ", group_differ },
	{ "group_late", group_late },
	{ "group_abort", group_abort },
	{ "differ_counts", differ_counts },
	{ "input_life", input_life },
	{ "input_calls", input_calls },
	{ "input_overlap", input_overlap },
	{ "input_blocks", input_blocks },
	{ "input_fork", input_fork },
	{ "input_memory", input_memory },
	{ "meaning_zero", meaning_zero },
	{ "meaning_place", meaning_place },
	{ "meaning_large", meaning_large },
	{ "meaning_head", meaning_head },
	{ "meaning_kept", meaning_kept },
	{ "meaning_absent", meaning_absent },
	{ "meaning_absent_each", meaning_absent_each },
	{ "fault_kill", fault_kill },
	{ "fault_abort", fault_abort },
	{ "fault_stopped", fault_stopped },
	{ "fault_leave", fault_leave },
	{ "fault_exit", fault_exit },
	{ "number_nan", number_nan },
	{ "number_nan_each", number_nan_each },
	{ "number_small", number_small },
	{ "number_integer", number_integer },
	{ "number_bits", number_bits },
	{ "redop_premul", redop_premul },
	{ "redop_user", redop_user },
	{ "redop_wrong", redop_wrong },
	{ "redop_differ", redop_differ },
	{ "life_churn", life_churn },
	{ "life_leave", life_leave },
	{ "life_growth", life_growth },
	{ "life_signals", life_signals },
	{ "life_timer", life_timer },
	{ "life_many", life_many },
	{ "life_first", life_first },
	{ "life_crowd", life_crowd },
	{ "life_scarce", life_scarce },
	{ "life_footprint", life_footprint },
	{ "life_user", life_user },
	{ "life_mixed", life_mixed },
	{ "split_shapes", split_shapes },
	{ "split_wrong", split_wrong },
	{ "split_config", split_config },
	{ "split_orders", split_orders },
	{ "split_abort", split_abort },
	{ "split_waits", split_waits },
	{ "split_files", split_files },
	{ "split_memory", split_memory },
	{ "split_churn", split_churn },
	{ "topo_bound", topo_bound },
	{ "topo_files", topo_files },
	{ "memory_kinds", memory_kinds },
	{ "memory_register", memory_register },
	{ "memory_again", memory_again },
};

static char *races[] = {
	"life_first", "differ_small", "differ_message", "differ_counts",
	"input_calls", "input_overlap", "input_blocks", "fault_abort",
	"life_many", "memory_again", "group_pairs", "group_uneven", "group_two",
	"group_rules", "group_abort", "split_shapes", "split_orders", "split_waits", NULL,
};

static _Atomic int faults;

void case_fault(const char *where, int line, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "FAULT: %s:%d: %s\n", where, line, text);
	atomic_fetch_add(&faults, 1);
}

int64_t case_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void case_sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

tuttiComm_t case_join(struct seat *s)
{
	tuttiComm_t comm = NULL;
	tuttiResult_t rc;

	if (s->meet) {
		if (s->rank == 0 && tuttiGetUniqueId(s->id))
			FAULT("no id: %s", tuttiGetLastError(NULL));
		pthread_barrier_wait(s->meet);
		rc = tuttiCommInitRank(&comm, s->ranks, *s->id, s->rank);
		pthread_barrier_wait(s->meet);
	} else {
		rc = tuttiCommInitEnv(&comm, NULL);
	}
	if (rc) {
		FAULT("rank %d: init: %s", s->rank, tuttiGetLastError(NULL));
		exit(1);
	}
	return comm;
}

/* One line, with words, and no sign of a value that was not there. */
static bool is_sentence(const char *text)
{
	return strlen(text) > 15 && strchr(text, ' ') &&
	       !strchr(text, '\n') && !strstr(text, "(null)");
}

void case_expect(const char *where, int line, tuttiResult_t rc,
		 tuttiResult_t want, const char *const *texts)
{
	const char *said = tuttiGetLastError(NULL);

	if (rc != want)
		case_fault(where, line, "result %d, wanted %d (%s)", (int)rc,
			   (int)want, said);
	if (want == tuttiSuccess)
		return;
	if (!is_sentence(said))
		case_fault(where, line, "no sentence: \"%s\"", said);
	for (; *texts; texts++)
		if (!strstr(said, *texts))
			case_fault(where, line, "\"%s\" is not in \"%s\"",
				   *texts, said);
}

const char *case_coll_name(enum case_coll coll)
{
	static const char *const name[COLLS] = {
		"all_reduce", "reduce", "broadcast", "all_gather",
		"reduce_scatter", "alltoall", "gather", "scatter",
		"all_gatherv", "reduce_scatterv", "alltoallv", "gatherv",
		"scatterv", "barrier", "send", "recv",
	};

	return name[coll];
}

bool case_reduces(enum case_coll c)
{
	return c == ALL_REDUCE || c == REDUCE || c == REDUCE_SCATTER ||
	       c == REDUCE_SCATTERV;
}

static bool to_root(enum case_coll c)
{
	return c == REDUCE || c == GATHER || c == GATHERV;
}

static bool from_root(enum case_coll c)
{
	return c == BROADCAST || c == SCATTER || c == SCATTERV;
}

bool case_rooted(enum case_coll c)
{
	return to_root(c) || from_root(c) || c == SEND || c == RECV;
}

bool case_gives(const struct case_call *c, int rank)
{
	return c->coll != RECV && (!from_root(c->coll) || rank == c->root);
}

bool case_gets(const struct case_call *c, int rank)
{
	return c->coll != SEND && (!to_root(c->coll) || rank == c->root);
}

static tuttiResult_t call_uneven(const struct case_call *c, const void *in,
				 void *out, tuttiComm_t comm)
{
	/* In a group they are read at its end. */
	static _Thread_local size_t counts[64];

	for (int i = 0; i < 64; i++)
		counts[i] = c->count;
	switch ((int)c->coll) {
	case ALL_GATHERV:
		return tuttiAllGatherv(in, out, counts, NULL, c->type, comm,
				       NULL);
	case REDUCE_SCATTERV:
		return tuttiReduceScatterv(in, out, counts, c->type, c->op,
					   comm, NULL);
	case ALLTOALLV:
		return tuttiAlltoAllv(in, counts, NULL, out, counts, NULL,
				      c->type, comm, NULL);
	case GATHERV:
		return tuttiGatherv(in, c->count, out, counts, NULL, c->type,
				    c->root, comm, NULL);
	default:
		return tuttiScatterv(in, counts, NULL, out, c->count, c->type,
				     c->root, comm, NULL);
	}
}

tuttiResult_t case_call(const struct case_call *c, const void *in, void *out,
			tuttiComm_t comm)
{
	switch (c->coll) {
	case ALL_REDUCE:
		return tuttiAllReduce(in, out, c->count, c->type, c->op, comm,
				      NULL);
	case REDUCE:
		return tuttiReduce(in, out, c->count, c->type, c->op, c->root,
				   comm, NULL);
	case BROADCAST:
		return tuttiBroadcast(in, out, c->count, c->type, c->root,
				      comm, NULL);
	case ALL_GATHER:
		return tuttiAllGather(in, out, c->count, c->type, comm, NULL);
	case REDUCE_SCATTER:
		return tuttiReduceScatter(in, out, c->count, c->type, c->op,
					  comm, NULL);
	case ALLTOALL:
		return tuttiAlltoAll(in, out, c->count, c->type, comm, NULL);
	case GATHER:
		return tuttiGather(in, out, c->count, c->type, c->root, comm,
				   NULL);
	case SCATTER:
		return tuttiScatter(in, out, c->count, c->type, c->root, comm,
				    NULL);
	case ALL_GATHERV:
	case REDUCE_SCATTERV:
	case ALLTOALLV:
	case GATHERV:
	case SCATTERV:
		return call_uneven(c, in, out, comm);
	case SEND:
		return tuttiSend(in, c->count, c->type, c->root, comm, NULL);
	case RECV:
		return tuttiRecv(out, c->count, c->type, c->root, comm, NULL);
	default:
		return tuttiBarrier(comm, NULL);
	}
}

static void run_named(struct seat *s, char **names)
{
	for (; *names; names++) {
		size_t i = 0, n = sizeof(cases) / sizeof(cases[0]);

		while (i < n && strcmp(*names, cases[i].name))
			i++;
		if (i < n)
			cases[i].run(s);
		else
			FAULT("there is no case \"%s\"", *names);
	}
}

struct chair {
	struct seat seat;
	char **names;
	pthread_t thread;
};

static void *sit(void *arg)
{
	struct chair *c = arg;

	run_named(&c->seat, c->names);
	return NULL;
}

static void run_threads(int n, char **names)
{
	struct chair *c = calloc((size_t)n, sizeof(*c));
	pthread_barrier_t meet;
	tuttiUniqueId id;

	pthread_barrier_init(&meet, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		c[i].seat = (struct seat){ .rank = i, .ranks = n,
					   .meet = &meet, .id = &id };
		c[i].names = names;
		if (pthread_create(&c[i].thread, NULL, sit, &c[i]))
			exit(99);
	}
	for (int i = 0; i < n; i++)
		pthread_join(c[i].thread, NULL);
	pthread_barrier_destroy(&meet);
	free(c);
}

static int env_int(const char *name, int otherwise)
{
	const char *v = getenv(name);

	return v ? atoi(v) : otherwise;
}

int main(int argc, char **argv)
{
	struct seat s = { .rank = env_int("TUTTI_RANK", 0),
			  .ranks = env_int("TUTTI_SIZE", 1) };

	if (argc == 2 && !strcmp(argv[1], "--plain"))
		return SANITIZED;
	if (argc == 1)
		run_threads(3, races);
	else if (argc > 2 && !strcmp(argv[1], "--threads"))
		run_threads(atoi(argv[2]), argv + 3);
	else
		run_named(&s, argv + 1);
	return faults != 0;
}
