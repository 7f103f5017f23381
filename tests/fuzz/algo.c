/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as TUTTI_ALGO, asked about all kinds of calls.  A sound list does
 * what a plain reading of it says; any other is an error in one sentence.
 * What is chosen can be built, and some of it is proven.
 *
 * LLVMFuzzerTestOneInput is the usual entry.  Without that engine, main() here
 * makes lists and changes them at random for so many seconds:
 *	algo [SECONDS [SEED]]
 * and says what came of it.  An input that fails is printed.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/settings.h"
#include "model/model.h"
#include "sched/verify.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_MAX (1 << 16)
#define RANKS_MAX 24
#define ITEMS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	uint64_t inputs, calls, refused, unable, forced, proven;
} counts;
static uint64_t state = 1;
static char input[INPUT_MAX + 1];

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "algo: %s; the last sentence: %s\nTUTTI_ALGO=", what,
		tutti_fail_text());
	abort();
}

/* ---- A call ---------------------------------------------------------------- */

struct call {
	struct tutti_shape shape;
	struct tutti_query q;
	int node[RANKS_MAX], domain[RANKS_MAX];
	size_t count;
	tuttiDataType_t type;
	tuttiRedOp_t redop;
};

/* Numbered by first appearance, as everything that makes shapes does. */
static int number_through(int *of, int n)
{
	int name[RANKS_MAX], many = 0;

	for (int r = 0; r < n; r++) {
		int k = 0;

		while (k < many && name[k] != of[r])
			k++;
		if (k == many)
			name[many++] = of[r];
		of[r] = k;
	}
	return many;
}

static void make_shape(struct call *c)
{
	struct tutti_shape *s = &c->shape;
	uint32_t most = 1 + below(below(2) ? 1 : 6);
	bool mixed = below(2);

	*s = (struct tutti_shape){
		.ranks = 1 + (int)below(below(2) ? 8 : RANKS_MAX),
	};
	for (int r = 0; r < s->ranks; r++)
		c->node[r] = mixed ? (int)below(most) :
				     r * (int)most / s->ranks;
	s->nodes = number_through(c->node, s->ranks);
	s->node = s->nodes > 1 ? c->node : NULL;
	if (below(3))
		return;
	for (int r = 0; r < s->ranks; r++)
		c->domain[r] = c->node[r] * RANKS_MAX + (int)below(2);
	s->domains = number_through(c->domain, s->ranks);
	s->domain = c->domain;
}

static void make_call(struct call *c)
{
	struct tutti_query *q = &c->q;

	make_shape(c);
	*q = (struct tutti_query){
		.coll = (enum tutti_coll)below(TUTTI_COLLS),
		.shape = &c->shape,
	};
	if (q->coll == TUTTI_SENDRECV && c->shape.ranks == 1)
		q->coll = TUTTI_BARRIER;
	q->rank = (int)below((uint32_t)c->shape.ranks);
	if (tutti_coll_rooted(q->coll))
		q->root = (int)below((uint32_t)c->shape.ranks);
	if (q->coll == TUTTI_SENDRECV) {
		q->root = (q->rank + 1) % c->shape.ranks;
		q->sending = below(2);
	}
	if (tutti_coll_reduces(q->coll)) {
		q->strict = !below(4);
		q->in_order = !below(4);
	}
	q->uneven = (q->coll == TUTTI_ALL_GATHER || q->coll == TUTTI_ALLTOALL ||
		     q->coll == TUTTI_REDUCE_SCATTER ||
		     q->coll == TUTTI_GATHER || q->coll == TUTTI_SCATTER) &&
		    !below(4);
	c->count = below(2) ? below(40) : (size_t)1 << below(32);
	c->type = (tuttiDataType_t)below(tuttiNumTypes);
	c->redop = (tuttiRedOp_t)below(tuttiNumOps);
}

static size_t bytes_of(const struct call *c)
{
	size_t size = tutti_type_size((int)c->type), n = (size_t)c->shape.ranks;

	switch (c->q.coll) {
	case TUTTI_BARRIER:
		return 0;
	case TUTTI_ALL_GATHER:
	case TUTTI_REDUCE_SCATTER:
	case TUTTI_ALLTOALL:
	case TUTTI_GATHER:
	case TUTTI_SCATTER:
		return c->count * size * n;
	default:
		return c->count * size;
	}
}

/* ---- What must hold of any answer ----------------------------------------- */

static void check_sentence(void)
{
	const char *s = tutti_fail_text();

	check(!strncmp(s, "TUTTI_ALGO", 10), "an error that does not name it");
	check(strlen(s) > 40 && strlen(s) < 1000, "no sentence, or a cut one");
	for (; *s; s++)
		check(*s >= ' ' && *s <= '~', "an error that is no text");
}

static void check_choice(const struct call *c, const struct tutti_choice *t)
{
	const struct tutti_algo *a = t->entry->algo;
	struct tutti_verify_report rep;
	struct tutti_choice again;
	struct tutti_query q = c->q;
	struct tutti_sched *s;

	q.rank = (q.rank + 1) % q.shape->ranks;
	if (q.coll == TUTTI_SENDRECV)
		q.root = (q.rank + 1) % q.shape->ranks;
	check(!tutti_choose(&again, &q, c->count, c->type, c->redop) &&
	      again.entry == t->entry && again.strict == t->strict &&
	      !strcmp(again.levels, t->levels), "ranks that choose apart");
	check(a->coll == q.coll, "an algorithm of another operation");
	check(!*t->levels || a->flags & TUTTI_COMPOSED, "levels of nothing");
	check(!q.strict || t->strict, "an order that was not asked for");
	q = c->q;
	q.strict = t->strict;
	q.levels = *t->levels ? t->levels : NULL;
	check(a->serves(&q), "what is chosen does not serve");
	check(!tutti_sched_build(&s, a, &q), "what is chosen is not built");
	tutti_sched_free(s);
	if (!q.levels || q.shape->ranks > 8 || below(2))
		return;
	check(!tutti_algo_verify(t->entry, &q, &rep), rep.why);
	counts.proven++;
}

/* Does any list say something about any call? */
static tuttiResult_t ask(const struct call *c, struct tutti_choice *out)
{
	int64_t began = tutti_now_ns();
	tuttiResult_t rc = tutti_choose(out, &c->q, c->count, c->type,
					c->redop);

	check(tutti_now_ns() - began < 20000000000, "an answer that took 20 s");
	counts.calls++;
	if (rc) {
		check(rc == tuttiInvalidUsage, "an unexpected error");
		check_sentence();
		counts.refused++;
		counts.unable += strstr(tutti_fail_text(),
					"cannot serve this call") != NULL;
	} else {
		check_choice(c, out);
		counts.forced += !strcmp(out->reason, "TUTTI_ALGO says so");
	}
	return rc;
}

/* By one string of our own: setenv() never frees what it has taken. */
static void set(const char *text)
{
	static char variable[INPUT_MAX + 16];

	counts.inputs++;
	snprintf(variable, sizeof(variable), "TUTTI_ALGO=%s", text);
	putenv(variable);
	tutti_settings_reload();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tutti_choice choice;
	struct call call;

	size = tutti_min(size, (size_t)INPUT_MAX);
	memcpy(input, data, size);
	input[size] = 0;
	set(input);
	make_call(&call);
	ask(&call, &choice);
	return 0;
}

#ifndef TUTTI_FUZZ_ENGINE

/* ---- Sound lists ---------------------------------------------------------- */

struct item {
	const struct tutti_algo_entry *entry;
	char levels[TUTTI_LEVELS_MAX];
	size_t min, max;
};

/* A size of these, as it may be written. */
static size_t write_size(char *out, size_t cap)
{
	static const char units[] = "KMGT";
	uint32_t unit = below(4), n = below(64);

	if (below(2)) {
		snprintf(out, cap, "%u", n);
		return n;
	}
	snprintf(out, cap, "%u%c", n, units[unit] + (below(4) ? 0 : 32));
	return (size_t)n << (10 * (unit + 1));
}

static void write_range(struct item *it, char *out, size_t cap)
{
	char a[16], b[16];

	*out = 0;
	it->min = 0;
	it->max = SIZE_MAX;
	if (!below(3))
		return;
	it->min = write_size(a, sizeof(a));
	it->max = write_size(b, sizeof(b));
	snprintf(out, cap, ":%s-%s", a, b);
	if (it->min <= it->max)
		return;
	snprintf(out, cap, ":%s-%s", b, a);
	it->max = it->min;
	it->min = write_size(a, sizeof(a));
	/* Of any two sizes one is the lesser. */
	if (it->min > it->max)
		it->min = 0;
	snprintf(out, cap, ":%zu-%zu", it->min, it->max);
}

/* An algorithm with levels of the list of those that exist. */
static void pick_levels(struct item *it)
{
	uint32_t n = 0;

	*it->levels = 0;
	if (!(it->entry->algo->flags & TUTTI_COMPOSED) || below(2))
		return;
	while (tutti_levels_nth(it->entry->algo, n, it->levels))
		n++;
	tutti_levels_nth(it->entry->algo, below(n), it->levels);
}

/* Mostly about the operation that is asked for. */
static int make_items(struct item *it, enum tutti_coll coll)
{
	int n = 1 + (int)below(ITEMS);
	uint32_t many = 0;
	size_t used = 0;

	while (tutti_algos[many].name)
		many++;
	for (int i = 0; i < n; i++) {
		char range[64];
		bool composed = !below(3);

		do
			it[i].entry = &tutti_algos[below(many)];
		while ((it[i].entry->algo->coll != coll ||
			(composed && !(it[i].entry->algo->flags &
				       TUTTI_COMPOSED))) && below(40));
		pick_levels(&it[i]);
		write_range(&it[i], range, sizeof(range));
		used += (size_t)snprintf(input + used, sizeof(input) - used,
					 "%s%s:%s%s%s%s%s", i ? "," : "",
					 tutti_coll_name(it[i].entry->algo->coll),
					 it[i].entry->name,
					 *it[i].levels ? "(" : "", it[i].levels,
					 *it[i].levels ? ")" : "", range);
	}
	return n;
}

static bool is_hidden(const struct item *it, int i)
{
	for (int k = 0; k < i; k++)
		if (it[k].entry->algo->coll == it[i].entry->algo->coll &&
		    it[k].min <= it[i].min && it[k].max >= it[i].max)
			return true;
	return false;
}

/* What a plain reading says, against what is chosen. */
static void check_sound(const struct item *it, int n, const struct call *c)
{
	size_t bytes = bytes_of(c);
	struct tutti_choice choice;
	tuttiResult_t rc = ask(c, &choice);
	const struct item *first = NULL;

	for (int i = 0; i < n; i++)
		if (is_hidden(it, i)) {
			check(rc && strstr(tutti_fail_text(), "never be used"),
			      "an item without any use is no error");
			return;
		}
	for (int i = n - 1; i >= 0; i--)
		if (it[i].entry->algo->coll == c->q.coll &&
		    bytes >= it[i].min && bytes <= it[i].max)
			first = &it[i];
	if (rc)
		check(first && strstr(tutti_fail_text(),
				      "cannot serve this call"),
		      "a sound list is refused");
	else if (first)
		check(choice.entry == first->entry &&
		      !strcmp(choice.levels, first->levels),
		      "another algorithm than the list says");
	else
		check(strcmp(choice.reason, "TUTTI_ALGO says so") != 0,
		      "a list that says nothing of this call decides it");
}

/* ---- Damaged lists -------------------------------------------------------- */

static void insert(size_t at, const char *what, size_t n)
{
	size_t len = strlen(input);

	if (len + n > INPUT_MAX)
		return;
	memmove(input + at + n, input + at, len - at + 1);
	memcpy(input + at, what, n);
}

static void copy_part(size_t at, size_t len)
{
	char part[128];
	size_t from = below((uint32_t)len);
	size_t n = 1 + below(sizeof(part) - 1);

	n = tutti_min(n, len - from);
	memcpy(part, input + from, n);
	insert(at, part, n);
}

/* The whole again behind itself, until it is long. */
static void repeat(void)
{
	size_t len = strlen(input);

	while (len && 2 * len + 1 < INPUT_MAX) {
		input[len] = ',';
		memcpy(input + len + 1, input, len);
		input[2 * len + 1] = 0;
		len = 2 * len + 1;
	}
}

static void damage(void)
{
	static const char *const words[] = {
		"(", ")", "+", ":", "-", ",", "hier(", "leader(", "hier(+)",
		"((((((((", "))))))))", "hier(hier(hier(hier(hier(hier(",
		"ring", "direct2", "+ring)", "all_reduce:", "sendrecv:direct1",
		"0-0", "1M-2M", "9223372036854775807", "9223372036854775808",
		"99999999999999999999T", "-1", "0x10", "1e3", " ", "\n", "%s%n",
		"\xff", "\x01", "all_reduce:hier(+):0-1,", "hier(ring+ring)+",
	};
	size_t len = strlen(input), at = len ? below((uint32_t)len) : 0;
	size_t n = 1 + below(below(8) ? 4 : 80);
	const char *w = words[below(tutti_countof(words))];

	n = tutti_min(n, len - at);
	switch (below(40) ? below(5) : 5) {
	case 0:
		if (len)
			input[at] = (char)(1 + below(255));
		break;
	case 1:
		memmove(input + at, input + at + n, len - at - n + 1);
		break;
	case 2:
		if (len)
			copy_part(at, len);
		break;
	case 5:
		repeat();
		break;
	default:
		insert(below((uint32_t)len + 1), w, strlen(w));
	}
}

/* The input that was the last, where a fault ends the program. */
static void show_input(int sig)
{
	ssize_t n = write(STDERR_FILENO, input, strlen(input));

	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

static void once(void)
{
	struct item items[ITEMS];
	struct tutti_choice choice;
	struct call call;
	int n;

	make_call(&call);
	n = make_items(items, call.q.coll);
	set(input);
	check_sound(items, n, &call);
	for (uint32_t i = 1 + below(below(4) ? 3 : 20); i; i--) {
		damage();
		set(input);
		if (!below(4))
			make_call(&call);
		ask(&call, &choice);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int64_t end = tutti_now_ns() + (int64_t)(seconds * 1e9);

	state = seed;
	signal(SIGABRT, show_input);
	signal(SIGSEGV, show_input);
	while (tutti_now_ns() < end)
		once();
	printf("algo: %.0f s, seed %llu: %llu inputs, %llu calls, %llu refused, of them %llu since it cannot serve, %llu forced, %llu compositions proven\n",
	       seconds, (unsigned long long)seed,
	       (unsigned long long)counts.inputs,
	       (unsigned long long)counts.calls,
	       (unsigned long long)counts.refused,
	       (unsigned long long)counts.unable,
	       (unsigned long long)counts.forced,
	       (unsigned long long)counts.proven);
	return counts.unable && counts.forced && counts.proven ? 0 : 1;
}

#endif
