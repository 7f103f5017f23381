/* SPDX-License-Identifier: BSD-3-Clause */
/* The query that a command line of `tutti sim OP SIZE` names, and its
 * algorithm: the one asked for, or the one that the library would choose. */
#include "config.h"

#include "placement.h"
#include "sim.h"

#include "base/bits.h"
#include "base/fail.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define TYPE tuttiFloat32

static bool place(struct sim_query *s, const char *text)
{
	char why[160];

	s->node = calloc((size_t)s->shape.ranks, sizeof(*s->node));
	if (!s->node) {
		sim_fault("no memory for %d ranks", s->shape.ranks);
		return false;
	}
	if (!tool_placement_parse(text, s->shape.ranks, s->node, why,
				  sizeof(why))) {
		sim_fault("--nodes is \"%s\", %s", text, why);
		return false;
	}
	for (int r = 0; r < s->shape.ranks; r++)
		s->shape.nodes = tutti_max(s->shape.nodes, s->node[r] + 1);
	if (s->shape.nodes > 1)
		s->shape.node = s->node;
	return true;
}

static bool named(struct sim_query *s, const char *name)
{
	const char *op = tutti_coll_name(s->q.coll);

	s->entry = tutti_algo_find(s->q.coll, name);
	if (!s->entry) {
		sim_fault("%s has no algorithm \"%s\"; `tutti info --algorithms` lists all",
			  op, name);
		return false;
	}
	if (s->q.mapped && !(s->entry->algo->flags & TUTTI_HAS_MAPPED)) {
		sim_fault("%s %s has no mapped form", op, name);
		return false;
	}
	if (s->entry->algo->serves(&s->q))
		return true;
	sim_fault("%s %s does not serve %d ranks on %d nodes%s", op, name,
		  s->shape.ranks, s->shape.nodes,
		  s->q.mapped ? ", mapped" : "");
	return false;
}

static bool chosen(struct sim_query *s, int64_t bytes)
{
	struct tutti_choice choice;
	uint32_t in, out;
	size_t count;

	tutti_coll_blocks(s->q.coll, s->shape.ranks, true, &in, &out);
	count = (size_t)bytes / tutti_type_size(TYPE) /
		tutti_max(1u, tutti_max(in, out));
	if (tutti_choose(&choice, &s->q, count, TYPE, tuttiSum)) {
		sim_fault("%s", tutti_fail_text());
		return false;
	}
	s->entry = choice.entry;
	return true;
}

bool sim_query_init(struct sim_query *s, const struct sim_args *args)
{
	bool ok;

	*s = (struct sim_query){
		.shape = { .ranks = args->ranks_min, .nodes = 1 },
		.q = {
			.coll = (enum tutti_coll)args->coll,
			.root = args->root,
			.mapped = args->mapped,
			.sending = args->coll == TUTTI_SENDRECV,
		},
	};
	s->q.shape = &s->shape;
	if (s->q.coll == TUTTI_SENDRECV)
		s->q.root = s->shape.ranks - 1;
	ok = (!args->nodes || place(s, args->nodes)) &&
	     (args->algo ? named(s, args->algo) : chosen(s, args->bytes));
	if (!ok) {
		sim_query_fini(s);
		return false;
	}
	if (!(s->entry->algo->flags & TUTTI_HAS_MAPPED))
		s->q.mapped = false;
	return true;
}

void sim_query_fini(struct sim_query *s)
{
	free(s->node);
	s->node = NULL;
}
