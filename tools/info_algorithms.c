/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the registry of algorithms: what each costs, and what it can serve. */
#include "config.h"

#include "info.h"
#include "json.h"
#include "options.h"

#include "base/bits.h"
#include "sched/algo.h"

static const struct {
	unsigned int flag;
	const char *name;	/* in JSON */
	const char *text;
} flags[] = {
	{ TUTTI_NEEDS_ONE_NODE, "needs_one_node", "ranks of one node only" },
	{ TUTTI_HAS_MAPPED, "has_mapped", "reaches shared buffers in place" },
	{ TUTTI_ONE_COMBINE, "one_combine",
	  "serves the exact average of integers" },
	{ TUTTI_IN_ORDER, "in_order",
	  "serves operators that do not commute" },
	{ TUTTI_UNEVEN, "uneven", "serves blocks of unequal lengths" },
};

/* A composition is counted on the schedules of all its ranks, so only of so
 * many. */
#define COMPOSED_MAX 256

/* The query by which an algorithm is asked: one rank a node; all on one if it
 * needs that or is to be mapped; on two nodes if it is composed. */
struct asked {
	struct tutti_shape shape;
	struct tutti_query q;
	int node[COMPOSED_MAX];
};

static bool composed(const struct tutti_algo *algo)
{
	return algo->flags & TUTTI_COMPOSED;
}

static void ask(struct asked *a, const struct tutti_algo *algo, int ranks,
		bool mapped)
{
	bool one = mapped || algo->flags & TUTTI_NEEDS_ONE_NODE;
	bool two = composed(algo) && ranks <= COMPOSED_MAX;

	*a = (struct asked){
		.shape = {
			.ranks = ranks,
			.nodes = one ? 1 : two ? tutti_min(2, ranks) : ranks,
		},
		.q = {
			.coll = algo->coll,
			.mapped = mapped,
			.sending = algo->coll == TUTTI_SENDRECV,
		},
	};
	a->q.shape = &a->shape;
	for (int r = 0; two && r < ranks; r++)
		a->node[r] = r >= (ranks + 1) / 2;
	if (two)
		a->shape.node = a->node;
	if (algo->coll == TUTTI_SENDRECV)
		a->q.root = ranks - 1;
}

/* Strict is asked for 6 ranks if no number is given: no power of two, nor
 * odd. */
static bool serves_strict(const struct tutti_algo *algo, int ranks)
{
	struct asked a;

	ask(&a, algo, ranks ? ranks : 6, false);
	a.q.strict = true;
	return tutti_coll_reduces(algo->coll) && algo->serves(&a.q);
}

/* False if it does not serve. */
static bool cost_of(const struct tutti_algo *algo, int ranks, bool mapped,
		    struct tutti_cost *cost, uint32_t *pieces)
{
	struct tutti_sched *s;
	struct asked a;

	if (mapped && !(algo->flags & TUTTI_HAS_MAPPED))
		return false;
	ask(&a, algo, ranks, mapped);
	if ((ranks < 2 && algo->coll == TUTTI_SENDRECV) ||
	    !algo->serves(&a.q) || tutti_sched_build(&s, algo, &a.q))
		return false;
	*pieces = s->pieces;
	tutti_sched_free(s);
	*cost = algo->cost(&a.q);
	return true;
}

static void text_cost(const struct tutti_algo *algo, int ranks, bool mapped)
{
	struct tutti_cost cost;
	uint32_t pieces;

	char line[160];

	if (cost_of(algo, ranks, mapped, &cost, &pieces))
		snprintf(line, sizeof(line),
			 "%d ranks%s: %u step%s, %llu chunk%s by the busiest rank, a block has %u",
			 ranks, mapped ? ", mapped" : composed(algo) ?
			 " on 2 nodes" : "", cost.steps,
			 cost.steps == 1 ? "" : "s",
			 (unsigned long long)cost.chunks_sent,
			 cost.chunks_sent == 1 ? "" : "s", pieces);
	else if (mapped)
		return;
	else if (composed(algo) && ranks > COMPOSED_MAX)
		snprintf(line, sizeof(line),
			 "not counted here for more than %d ranks; tutti sim does",
			 COMPOSED_MAX);
	else
		snprintf(line, sizeof(line), "does not serve %d ranks%s",
			 ranks, composed(algo) ? " on 2 nodes" : "");
	tool_print_words(stdout, line, 6);
}

static void text_one(const struct tutti_algo_entry *e, int ranks)
{
	printf("  %s\n", e->name);
	tool_print_words(stdout, e->algo->help, 6);
	for (int mapped = 0; ranks && mapped < 2; mapped++)
		text_cost(e->algo, ranks, mapped);
	for (size_t i = 0; i < tutti_countof(flags); i++)
		if (e->algo->flags & flags[i].flag)
			printf("      %s\n", flags[i].text);
	if (serves_strict(e->algo, ranks))
		printf("      serves strict mode\n");
}

void info_algorithms_text(int ranks)
{
	for (int c = 0; c < TUTTI_COLLS; c++) {
		printf("%s%s\n", c ? "\n" : "",
		       tutti_coll_name((enum tutti_coll)c));
		for (const struct tutti_algo_entry *e = tutti_algos; e->name;
		     e++)
			if ((int)e->algo->coll == c)
				text_one(e, ranks);
	}
}

static void json_cost(struct tool_json *j, const struct tutti_algo *algo,
		      int ranks, bool mapped)
{
	const char *key = mapped ? "mapped_cost" : "cost";
	struct tutti_cost cost;
	uint32_t pieces;

	if (!cost_of(algo, ranks, mapped, &cost, &pieces)) {
		tool_json_null(j, key);
		return;
	}
	tool_json_open(j, key, '{');
	tool_json_int(j, "ranks", ranks);
	if (composed(algo))
		tool_json_int(j, "nodes", 2);
	tool_json_int(j, "steps", cost.steps);
	tool_json_int(j, "chunks", (int64_t)cost.chunks_sent);
	tool_json_int(j, "pieces", pieces);
	tool_json_close(j, '}');
}

void info_algorithms_json(int ranks)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_open(&j, "algorithms", '[');
	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++) {
		tool_json_open(&j, NULL, '{');
		tool_json_text(&j, "op", tutti_coll_name(e->algo->coll));
		tool_json_text(&j, "name", e->name);
		tool_json_text(&j, "help", e->algo->help);
		for (size_t i = 0; i < tutti_countof(flags); i++)
			tool_json_bool(&j, flags[i].name,
				       e->algo->flags & flags[i].flag);
		tool_json_bool(&j, "strict", serves_strict(e->algo, ranks));
		for (int mapped = 0; ranks && mapped < 2; mapped++)
			json_cost(&j, e->algo, ranks, mapped);
		tool_json_close(&j, '}');
	}
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}
