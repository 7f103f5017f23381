/* SPDX-License-Identifier: BSD-3-Clause */
/* `tutti sim OP SIZE`: what a schedule costs, in numbers, and the schedule as
 * text. */
#include "config.h"

#include "json.h"
#include "sim.h"

#include "base/bits.h"
#include "base/fail.h"

#include <stdio.h>
#include <stdlib.h>

struct totals {
	uint64_t messages, chunks;		/* of all ranks */
	uint64_t most_messages, most_chunks;	/* of the busiest */
	uint64_t ops, records;			/* of the longest schedule */
	uint32_t pieces, scratch, lanes;
	int ranks;				/* that have a part in it */
};

static void add_rank(struct totals *t, const struct sim_query *s,
		     const struct tutti_sched *sched)
{
	struct tutti_sched_stats st;
	struct tutti_query q = s->q;

	q.rank = sched->rank;
	q.root = sched->root;
	q.sending = sched->blocks_in > 0;
	if (tutti_sched_count(&st, s->entry->algo, &q))
		return;
	t->messages += st.messages;
	t->chunks += st.chunks_sent;
	t->most_messages = tutti_max(t->most_messages, st.messages);
	t->most_chunks = tutti_max(t->most_chunks, st.chunks_sent);
	t->ops = tutti_max(t->ops, st.ops);
	t->records = tutti_max(t->records, st.records);
	t->pieces = sched->pieces;
	t->scratch = tutti_max(t->scratch, sched->scratch);
	t->lanes = tutti_max(t->lanes, sched->nlanes);
	t->ranks++;
}

/* Bytes of so many chunks: a block is SIZE bytes over the blocks of the larger
 * buffer, and cut into pieces. */
static double bytes_of(const struct sim_query *s, const struct sim_args *args,
		       const struct totals *t, uint64_t chunks)
{
	uint32_t in, out;

	tutti_coll_blocks(s->q.coll, s->shape.ranks, true, &in, &out);
	return (double)chunks * (double)args->bytes /
	       tutti_max(1u, tutti_max(in, out)) / tutti_max(1u, t->pieces);
}

static void count_text(const struct sim_query *s, const struct sim_args *args,
		       const struct totals *t, struct tutti_cost cost)
{
	printf("%s of %lld bytes by \"%s\", %d ranks on %d node%s, %s\n\n",
	       tutti_coll_name(s->q.coll), (long long)args->bytes,
	       s->entry->name, s->shape.ranks, s->shape.nodes,
	       s->shape.nodes == 1 ? "" : "s",
	       s->q.mapped ? "mapped" : "mail");
	printf("  steps      %10u  messages one after the other\n",
	       cost.steps);
	printf("  messages   %10llu  in all; %llu by the busiest rank\n",
	       (unsigned long long)t->messages,
	       (unsigned long long)t->most_messages);
	printf("  bytes      %10.0f  in all; %.0f by the busiest rank\n",
	       bytes_of(s, args, t, t->chunks),
	       bytes_of(s, args, t, t->most_chunks));
	printf("  chunks     %10llu  in all; %llu by the busiest rank; a block has %u pieces\n",
	       (unsigned long long)t->chunks,
	       (unsigned long long)t->most_chunks, t->pieces);
	printf("  operations %10llu  of the longest schedule, in %llu records and %u lane%s\n",
	       (unsigned long long)t->ops, (unsigned long long)t->records,
	       t->lanes, t->lanes == 1 ? "" : "s");
	printf("  scratch    %10u  chunks\n", t->scratch);
}

static void count_json(const struct sim_query *s, const struct sim_args *args,
		       const struct totals *t, struct tutti_cost cost)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "op", tutti_coll_name(s->q.coll));
	tool_json_int(&j, "bytes", args->bytes);
	tool_json_text(&j, "algo", s->entry->name);
	tool_json_int(&j, "ranks", s->shape.ranks);
	tool_json_int(&j, "nodes", s->shape.nodes);
	tool_json_bool(&j, "mapped", s->q.mapped);
	tool_json_int(&j, "steps", cost.steps);
	tool_json_int(&j, "messages", (int64_t)t->messages);
	tool_json_int(&j, "messages_busiest", (int64_t)t->most_messages);
	tool_json_real(&j, "bytes_moved", bytes_of(s, args, t, t->chunks));
	tool_json_real(&j, "bytes_busiest",
		       bytes_of(s, args, t, t->most_chunks));
	tool_json_int(&j, "chunks", (int64_t)t->chunks);
	tool_json_int(&j, "chunks_busiest", (int64_t)t->most_chunks);
	tool_json_int(&j, "pieces", t->pieces);
	tool_json_int(&j, "scratch", t->scratch);
	tool_json_int(&j, "operations", (int64_t)t->ops);
	tool_json_int(&j, "records", (int64_t)t->records);
	tool_json_int(&j, "lanes", t->lanes);
	tool_json_close(&j, '}');
}

/* False if it cannot be built; told. */
static bool build(const struct sim_query *s, struct tutti_sched ***scheds)
{
	tuttiResult_t rc = tutti_scheds_build(scheds, s->entry->algo, &s->q);

	if (rc)
		sim_fault("the schedules cannot be built: %s",
			  rc == tuttiSystemError ? "no memory" :
			  tutti_fail_text());
	return !rc;
}

int sim_count(const struct sim_args *args)
{
	struct tutti_sched **scheds;
	struct totals t = { 0 };
	struct sim_query s;
	struct tutti_cost cost;

	if (!sim_query_init(&s, args))
		return 1;
	if (!build(&s, &scheds)) {
		sim_query_fini(&s);
		return 1;
	}
	for (int r = 0; r < s.shape.ranks; r++)
		if (scheds[r])
			add_rank(&t, &s, scheds[r]);
	cost = s.entry->algo->cost(&s.q);
	if (args->json)
		count_json(&s, args, &t, cost);
	else
		count_text(&s, args, &t, cost);
	tutti_scheds_free(scheds, s.shape.ranks);
	sim_query_fini(&s);
	return 0;
}

static bool print_one(const struct tutti_sched *sched)
{
	char *text = tutti_sched_print(sched);

	if (!text) {
		sim_fault("no memory for the text of a schedule");
		return false;
	}
	fputs(text, stdout);
	free(text);
	return true;
}

int sim_print(const struct sim_args *args)
{
	struct tutti_sched **scheds;
	struct sim_query s;
	bool ok = true, any = false;

	if (!sim_query_init(&s, args))
		return 1;
	if (!build(&s, &scheds)) {
		sim_query_fini(&s);
		return 1;
	}
	for (int r = 0; r < s.shape.ranks && ok; r++) {
		if (!scheds[r] || (args->rank >= 0 && args->rank != r))
			continue;
		if (any)
			putchar('\n');
		any = true;
		ok = print_one(scheds[r]);
	}
	tutti_scheds_free(scheds, s.shape.ranks);
	sim_query_fini(&s);
	return ok ? 0 : 1;
}
