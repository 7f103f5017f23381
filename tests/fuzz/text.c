/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as the text of a schedule.  What is read must print to a text that
 * reads back to the same text, and be safe to verify among sound peers.
 *
 * LLVMFuzzerTestOneInput is the usual entry.  Without that engine, main() here
 * changes texts at random for so many seconds:
 *	text [SECONDS [SEED]]
 * and says what came of it.  An input that fails is printed.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "sched/verify.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX 4096
#define RANKS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	uint64_t inputs, read, verified, proven;
} counts;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "text: %s\n", what);
	abort();
}

/* Small enough that the verifier ends at once; larger ones are legal. */
static bool modest(const struct tutti_sched *s)
{
	uint64_t places = 0, ops = 0;

	for (uint32_t i = 0; i < s->nrefs; i++)
		places += s->refs[i].count;
	for (uint32_t l = 0; l < s->nlanes; l++)
		ops += s->lanes[l].nops;
	return s->ranks <= 64 && s->scratch <= 1000 && s->pieces <= 100 &&
	       places <= 1000 && ops <= 1000 &&
	       tutti_sched_widest(s) <= 1000;
}

/* Peers for it: the schedules of the first algorithm that serves. */
static void verify(struct tutti_sched *s)
{
	struct tutti_shape shape = { .ranks = s->ranks, .nodes = 1 };
	const struct tutti_algo_entry *e = tutti_algos;
	struct tutti_query q = { .coll = s->coll, .shape = &shape,
				 .root = s->root, .mapped = s->mapped };
	struct tutti_verify_report rep;
	struct tutti_sched **scheds, *was;

	if (s->coll == TUTTI_SENDRECV)
		return;
	e = tutti_algo_find(s->coll, s->algo);
	while (!e || e->algo->coll != s->coll || !e->algo->serves(&q))
		if (!(e = e ? e + 1 : tutti_algos)->name)
			return;
	if (tutti_scheds_build(&scheds, e->algo, &q))
		return;
	was = scheds[s->rank];
	scheds[s->rank] = s;
	for (int i = 0; i < 4; i++) {
		struct tutti_verify_args args = {
			.credits = i & 2 ? 4 : 2,
			.slices = i & 2 ? 2 : 1,
			.in_place = i & 1,
			.turned = i == 0,
		};
		tuttiResult_t rc;

		rc = tutti_sched_verify(scheds, s->ranks, &args, &rep);
		check(rc == tuttiSuccess || rc == tuttiInternalError,
		      "the verifier has no memory");
		check(!rc == !rep.why[0], "a verdict without a reason");
		counts.proven += !rc;
	}
	counts.verified++;
	scheds[s->rank] = was;
	tutti_scheds_free(scheds, shape.ranks);
}

static void one(const char *text)
{
	struct tutti_sched *s, *t = NULL;
	char *first, *second;
	tuttiResult_t rc;

	counts.inputs++;
	rc = tutti_sched_parse(&s, text);
	if (rc) {
		check(rc == tuttiInvalidArgument, "an unexpected error");
		check(*tutti_fail_text(), "an error without a sentence");
		return;
	}
	counts.read++;
	first = tutti_sched_print(s);
	check(first && tutti_sched_parse(&t, first) == tuttiSuccess,
	      "what was printed is not read");
	second = tutti_sched_print(t);
	check(second && !strcmp(first, second), "a text that changes");
	if (modest(s))
		verify(s);
	free(first);
	free(second);
	tutti_sched_free(s);
	tutti_sched_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	one(text);
	free(text);
	return 0;
}

#ifndef TUTTI_FUZZ_ENGINE

static uint64_t state;
static char input[INPUT_MAX + 1];

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* A sound schedule of a few ranks to begin with. */
static void seed_text(void)
{
	struct tutti_shape shape = { .nodes = 1 };
	const struct tutti_algo_entry *e;
	struct tutti_sched **scheds;
	struct tutti_query q;
	uint32_t n = 0;
	char *text;

	while (tutti_algos[n].name)
		n++;
	e = &tutti_algos[below(n)];
	shape.ranks = 2 + (int)below(RANKS);
	q = (struct tutti_query){
		.coll = e->algo->coll, .shape = &shape,
		.mapped = e->algo->flags & TUTTI_HAS_MAPPED && below(2),
		.root = e->algo->coll == TUTTI_SENDRECV ? shape.ranks - 1 :
			(int)below((uint32_t)shape.ranks),
		.sending = true,
	};
	*input = 0;
	if (!e->algo->serves(&q) ||
	    tutti_scheds_build(&scheds, e->algo, &q))
		return;
	q.rank = (int)below((uint32_t)shape.ranks);
	text = scheds[q.rank] ? tutti_sched_print(scheds[q.rank]) : NULL;
	if (text)
		snprintf(input, sizeof(input), "%s", text);
	free(text);
	tutti_scheds_free(scheds, shape.ranks);
}

static void insert(size_t at, const char *what, size_t n)
{
	size_t len = strlen(input);

	if (len + n > INPUT_MAX)
		return;
	memmove(input + at + n, input + at, len - at + 1);
	memcpy(input + at, what, n);
}

static void remove_bytes(size_t at, size_t n)
{
	size_t len = strlen(input);

	n = tutti_min(n, len - at);
	memmove(input + at, input + at + n, len - at - n + 1);
}

/* Another line of the text, or a part of one, put in at `at`. */
static void copy_part(size_t at, size_t len)
{
	char part[128];
	size_t from = below((uint32_t)len);
	size_t n = 1 + below(sizeof(part) - 1);

	/* The macro may work out its arguments twice. */
	n = tutti_min(n, len - from);
	memcpy(part, input + from, n);
	insert(at, part, n);
}

static void mutate(void)
{
	static const char *const words[] = {
		"lane\n", "run 3\n", "each ", "combine ", " final", " tree",
		" chunks 2", " chunks 0", "in@0:0 ", "out@1/1/1:2/3/4*5 ",
		"scratch@0:0 ", "mail@1 ", "-> ", " piece 1/2",
		" wait 1:0/1", "-1", "2147483647", "16777216", "mapped", "/",
		"*", ":", "@", "#", "\n", "\t", "\r", "\xff", "0", "9",
	};
	size_t len = strlen(input), at = len ? below((uint32_t)len) : 0;

	switch (below(6)) {
	case 0:
		if (len)
			input[at] = (char)(1 + below(255));
		break;
	case 1:
		remove_bytes(at, 1 + below(below(8) ? 4 : 80));
		break;
	case 2:
		if (len)
			copy_part(at, len);
		break;
	case 3:
		if (len && input[at] >= '0' && input[at] <= '9')
			input[at] = (char)('0' + below(10));
		break;
	default: {
		const char *w = words[below(tutti_countof(words))];

		insert(at, w, strlen(w));
	}
	}
}

/* The input that was the last, where a fault ends the program. */
static void show_input(int sig)
{
	size_t len = strlen(input);
	ssize_t n = write(STDERR_FILENO, input, len);

	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int64_t end = tutti_now_ns() + (int64_t)(seconds * 1e9);

	state = seed;
	signal(SIGABRT, show_input);
	signal(SIGSEGV, show_input);
	while (tutti_now_ns() < end) {
		seed_text();
		for (uint32_t i = 1 + below(below(4) ? 3 : 40); i; i--) {
			mutate();
			one(input);
		}
	}
	printf("text: %.0f s, seed %llu: %llu inputs, %llu read, %llu verified among peers, %llu of 4 times as many proofs held\n",
	       seconds, (unsigned long long)seed,
	       (unsigned long long)counts.inputs,
	       (unsigned long long)counts.read,
	       (unsigned long long)counts.verified,
	       (unsigned long long)counts.proven);
	return counts.verified ? 0 : 1;
}

#endif
