/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The default rule and the user's override.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

/* How the ranks sit. */
#define WHOLE	1u	/* one node, not divided */
#define DIVIDED	2u	/* one node of several domains */
#define SHARED	4u	/* several nodes, and some have several ranks */
#define ALONE	8u	/* several nodes, one rank each */
#define LOCAL	(WHOLE | DIVIDED)
#define FAR	(SHARED | ALONE)
#define ANY	(LOCAL | FAR)

/*
 * The rule: the first line that fits and whose algorithm is there and can
 * serve.
 *
 * On one node, as measured on two cores with 2 to 8 ranks (perf/tutti-perf):
 * one message to everybody wins while reducing what all sent costs less than
 * a second meeting; beyond, every rank reduces its own part of all buffers, in
 * place if it can.
 *
 * On a node of several domains, by count of what crosses between them, which
 * is slow to reach (two to four times a line of the own cache) and shared by
 * all: flat, every rank reads all others and half of all traffic crosses; by
 * levels, one message or one buffer a domain does.  Few ranks do better flat:
 * three meetings cost more than reading a handful of far lines.  With a
 * buffer each and the link between two sockets a fourth as fast as their
 * memory, levels win from about sixteen ranks on.
 *
 * Between nodes, by the count of steps and bytes: few rounds for little,
 * whatever sends each byte once for much; where ranks of a node share its
 * link, levels, so that their bytes cross once and not once a rank.  A ring
 * needs as many rounds as ranks, and a chain as many before its end has the
 * first slice: for few ranks, or for many slices, only.
 */
struct rule {
	enum tutti_coll coll;
	unsigned int where;
	int ranks_min, ranks_max;	/* max 0: any */
	size_t bytes_max;		/* of the larger buffer; 0: any */
	const char *name;
	const char *reason;
};

static const char one_message[] = "one message each is quickest for so little";
static const char few_rounds[] = "few rounds matter most for so little";
static const char own_part[] =
	"on one node each rank reduces its part of all buffers";
static const char once_each[] = "every byte crosses each link once";
static const char any_count[] =
	"few rounds, every byte once, and any number of ranks alike";
static const char by_domains[] =
	"between domains one rank of each speaks for all of it";
static const char by_link[] =
	"the link between domains carries one buffer and not one a rank";
static const char by_nodes[] =
	"between nodes only what a node has made of its ranks' data crosses";
static const char by_leaders[] =
	"between nodes one rank of each speaks for all of it";
static const char two_trees[] =
	"slices go along two trees, in few rounds for so many ranks";

static const struct rule rules[] = {
	{ TUTTI_ALL_REDUCE, LOCAL, 0, 2, 2048, "direct1", one_message },
	{ TUTTI_ALL_REDUCE, LOCAL, 0, 2, 0, "direct2", own_part },
	{ TUTTI_ALL_REDUCE, DIVIDED, 9, 0, 8192, "leader", by_domains },
	{ TUTTI_ALL_REDUCE, DIVIDED, 9, 0, 8192, "hier", by_domains },
	{ TUTTI_ALL_REDUCE, LOCAL, 17, 0, 64, "direct1", one_message },
	{ TUTTI_ALL_REDUCE, LOCAL, 17, 0, 8192, "recursive", few_rounds },
	{ TUTTI_ALL_REDUCE, LOCAL, 0, 0, 8192, "direct1", one_message },
	{ TUTTI_ALL_REDUCE, LOCAL, 0, 0, 1 << 20, "direct2", own_part },
	{ TUTTI_ALL_REDUCE, DIVIDED, 16, 0, 0, "hier", by_link },
	{ TUTTI_ALL_REDUCE, LOCAL, 0, 0, 0, "direct2", own_part },
	{ TUTTI_ALL_REDUCE, SHARED, 5, 0, 4096, "leader", by_leaders },
	{ TUTTI_ALL_REDUCE, SHARED, 5, 0, 4096, "recursive", few_rounds },
	{ TUTTI_ALL_REDUCE, SHARED, 0, 4, 32768, "recursive", few_rounds },
	{ TUTTI_ALL_REDUCE, SHARED, 0, 0, 0, "hier", by_nodes },
	{ TUTTI_ALL_REDUCE, FAR, 0, 0, 32768, "recursive", few_rounds },
	{ TUTTI_ALL_REDUCE, FAR, 0, 4, 0, "direct2",
	  "two rounds, and every byte crosses a link once" },
	{ TUTTI_ALL_REDUCE, FAR, 0, 8, 1 << 20, "circulant", any_count },
	{ TUTTI_ALL_REDUCE, FAR, 0, 8, 0, "ring",
	  "every byte crosses each link once, and the rounds are few" },
	{ TUTTI_ALL_REDUCE, FAR, 0, 0, 0, "circulant", any_count },
	{ TUTTI_ALL_REDUCE, FAR, 0, 0, 0, "ring", once_each },
	{ TUTTI_ALL_REDUCE, ANY, 0, 0, 0, "direct2",
	  "of those that keep the order, it crosses each link once" },

	{ TUTTI_REDUCE, DIVIDED, 9, 0, 8192, "hier", by_domains },
	{ TUTTI_REDUCE, LOCAL, 0, 0, 8192, "direct1",
	  "one round for so little" },
	{ TUTTI_REDUCE, SHARED, 5, 0, 0, "hier", by_nodes },
	{ TUTTI_REDUCE, FAR, 0, 16, 8192, "direct1",
	  "one round for so little" },
	{ TUTTI_REDUCE, FAR, 0, 0, 32768, "binomial", few_rounds },
	{ TUTTI_REDUCE, FAR, 17, 0, 0, "dbtree", two_trees },
	{ TUTTI_REDUCE, ANY, 0, 0, 0, "direct2",
	  "all ranks share the work of reducing" },

	{ TUTTI_BROADCAST, DIVIDED, 9, 0, 16384, "hier", by_domains },
	{ TUTTI_BROADCAST, SHARED, 5, 0, 0, "hier", by_leaders },
	{ TUTTI_BROADCAST, ANY, 0, 0, 16384, "binomial", few_rounds },
	{ TUTTI_BROADCAST, LOCAL, 0, 0, 0, "direct1",
	  "all ranks read the root's buffer" },
	{ TUTTI_BROADCAST, FAR, 5, 0, 1 << 20, "scag",
	  "pieces are scattered and gathered, in few rounds" },
	{ TUTTI_BROADCAST, FAR, 17, 0, 0, "dbtree", two_trees },
	{ TUTTI_BROADCAST, FAR, 0, 0, 0, "chain",
	  "slices follow one another along a chain" },

	{ TUTTI_ALL_GATHER, LOCAL, 0, 0, 8192, "recursive", few_rounds },
	{ TUTTI_ALL_GATHER, LOCAL, 0, 0, 8192, "bruck", few_rounds },
	{ TUTTI_ALL_GATHER, LOCAL, 0, 0, 0, "direct1",
	  "every rank stores its block to all buffers" },
	{ TUTTI_ALL_GATHER, SHARED, 5, 0, 0, "hier",
	  "between nodes every block crosses once" },
	{ TUTTI_ALL_GATHER, FAR, 0, 0, 8192, "recursive", few_rounds },
	{ TUTTI_ALL_GATHER, FAR, 0, 0, 8192, "bruck", few_rounds },
	{ TUTTI_ALL_GATHER, FAR, 0, 4, 0, "ring", once_each },
	{ TUTTI_ALL_GATHER, FAR, 0, 0, 0, "circulant", any_count },
	{ TUTTI_ALL_GATHER, FAR, 0, 0, 0, "pat", any_count },
	{ TUTTI_ALL_GATHER, FAR, 0, 0, 0, "ring", once_each },

	{ TUTTI_REDUCE_SCATTER, LOCAL, 0, 0, 0, "direct1",
	  "every rank reduces its block of all buffers" },
	{ TUTTI_REDUCE_SCATTER, SHARED, 5, 0, 0, "hier", by_nodes },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 16, 65536, "direct1",
	  "one round for so little" },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 4, 0, "ring", once_each },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 0, 0, "circulant", any_count },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 0, 0, "pat", any_count },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 0, 65536, "direct1",
	  "one round for so little" },
	{ TUTTI_REDUCE_SCATTER, FAR, 0, 0, 0, "ring", once_each },
	{ TUTTI_REDUCE_SCATTER, ANY, 0, 0, 0, "direct1",
	  "it is the one that keeps the order" },

	{ TUTTI_ALLTOALL, FAR, 9, 0, 16384, "bruck",
	  "blocks travel together, in few rounds" },
	{ TUTTI_ALLTOALL, FAR, 0, 0, 0, "pairwise",
	  "one partner at a time, so that no link is crowded" },
	{ TUTTI_ALLTOALL, ANY, 0, 0, 0, "direct1",
	  "every block crosses once" },
	{ TUTTI_GATHER, FAR, 5, 0, 32768, "binomial", few_rounds },
	{ TUTTI_GATHER, ANY, 0, 0, 0, "direct1", "every block crosses once" },
	{ TUTTI_SCATTER, FAR, 5, 0, 32768, "binomial", few_rounds },
	{ TUTTI_SCATTER, ANY, 0, 0, 0, "direct1",
	  "every block crosses once" },

	{ TUTTI_BARRIER, LOCAL, 0, 8, 0, "direct1",
	  "one round for few ranks" },
	{ TUTTI_BARRIER, DIVIDED, 9, 0, 0, "hier", by_domains },
	{ TUTTI_BARRIER, SHARED, 5, 0, 0, "hier", by_leaders },
	{ TUTTI_BARRIER, ANY, 0, 0, 0, "dissemination",
	  "rounds grow with the logarithm of the ranks" },

	{ TUTTI_SENDRECV, ANY, 0, 0, 0, "direct1", "there is one way only" },
};

static unsigned int where(const struct tutti_shape *s)
{
	if (s->nodes == 1)
		return s->domain && s->domains > 1 ? DIVIDED : WHOLE;
	return s->ranks > s->nodes ? SHARED : ALONE;
}

/* Integer averages are exact only if one combine adds all ranks. */
static bool needs_one_combine(const struct tutti_query *q,
			      tuttiDataType_t type, tuttiRedOp_t redop)
{
	return redop == tuttiAvg && type < tuttiFloat16 &&
	       tutti_coll_reduces(q->coll);
}

/* As it must be built: rank order that the algorithm does not keep by itself is
 * kept by its strict form. */
static struct tutti_query as_built(const struct tutti_algo *a,
				   const struct tutti_query *q)
{
	struct tutti_query built = *q;

	if (!tutti_coll_reduces(q->coll))
		built.strict = false;
	else if (q->in_order && !(a->flags & TUTTI_IN_ORDER))
		built.strict = true;
	return built;
}

static bool can_serve(const struct tutti_algo *a, const struct tutti_query *q,
		      bool one_combine)
{
	struct tutti_query built = as_built(a, q);

	return a->coll == q->coll &&
	       (!one_combine || a->flags & TUTTI_ONE_COMBINE) &&
	       (!q->uneven || a->flags & TUTTI_UNEVEN) &&
	       (!(a->flags & TUTTI_NEEDS_ONE_NODE) || q->shape->nodes == 1) &&
	       a->serves(&built);
}

/* What a call asks of algorithms that not all can give, in brackets. */
static const char *demand(const struct tutti_algo *a,
			  const struct tutti_query *q, bool one_combine)
{
	if (q->uneven && !(a->flags & TUTTI_UNEVEN))
		return " (blocks have lengths of their own)";
	if (one_combine)
		return " (integer averages are reduced at once)";
	if (!tutti_coll_reduces(q->coll))
		return "";
	if (q->strict)
		return " (TUTTI_DETERMINISM=strict wants one order of "
		       "additions for all)";
	return q->in_order ? " (the operator does not commute)" : "";
}

bool tutti_can_serve(const struct tutti_algo *algo,
		     const struct tutti_query *q, tuttiDataType_t type,
		     tuttiRedOp_t redop)
{
	return can_serve(algo, q, needs_one_combine(q, type, redop));
}

/* ---- TUTTI_ALGO ---------------------------------------------------------- */

struct forced {
	int coll;
	char name[TUTTI_LEVELS_MAX + 32];
	char levels[TUTTI_LEVELS_MAX];	/* of name(levels) */
	int64_t min, max;
};

/* Cut "name(levels)" of f->name in two; false if parentheses are wrong. */
static bool split_levels(struct forced *f)
{
	char *open = strchr(f->name, '(');
	size_t len;

	f->levels[0] = 0;
	if (!open)
		return true;
	*open++ = 0;
	len = strlen(open);
	if (len < 2 || open[len - 1] != ')' || len > sizeof(f->levels) ||
	    open == f->name + 1)
		return false;
	memcpy(f->levels, open, len - 1);
	f->levels[len - 1] = 0;
	return true;
}

/* One operation:name[:MIN-MAX] of `len` bytes; false if it is not that. */
static bool parse_item(const char *text, size_t len, struct forced *f)
{
	char item[2 * TUTTI_LEVELS_MAX], *name, *range, *to;

	if (len >= sizeof(item))
		return false;
	memcpy(item, text, len);
	item[len] = 0;
	name = strchr(item, ':');
	if (!name || name == item || !name[1])
		return false;
	*name++ = 0;
	range = strchr(name, ':');
	f->min = 0;
	f->max = INT64_MAX;
	if (range) {
		*range++ = 0;
		to = strchr(range, '-');
		if (!to)
			return false;
		*to++ = 0;
		if (!tutti_parse_bytes(range, &f->min) ||
		    !tutti_parse_bytes(to, &f->max))
			return false;
	}
	f->coll = tutti_coll_find(item);
	return snprintf(f->name, sizeof(f->name), "%s", name) <
		       (int)sizeof(f->name) && split_levels(f);
}

/* "direct1, direct2, ring": all of an operation, or those that can serve q. */
static void list_algos(enum tutti_coll coll, const struct tutti_query *q,
		       bool one_combine, char *out, size_t cap)
{
	size_t used = 0;

	out[0] = 0;
	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++)
		if (e->algo->coll == coll && used < cap &&
		    (!q || can_serve(e->algo, q, one_combine)))
			used += (size_t)snprintf(out + used, cap - used,
						 "%s%s", used ? ", " : "",
						 e->name);
}

static void list_colls(char *out, size_t cap)
{
	size_t used = 0;

	for (int c = 0; c < TUTTI_COLLS; c++)
		used += (size_t)snprintf(out + used, cap - used, "%s%s",
					 c ? ", " : "", tutti_coll_name(c));
}

/* What is wrong with an item, whatever the call is. */
static tuttiResult_t check_item(const char *text, size_t len,
				struct forced *f)
{
	int n = (int)tutti_min(len, (size_t)100);
	const struct tutti_algo_entry *e;
	char list[512];

	if (!parse_item(text, len, f))
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_ALGO: \"%.*s\" cannot be read; write "
				  "operation:name[:MIN-MAX], as in all_reduce:"
				  "ring:1M-64M", n, text);
	if (f->min > f->max)
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_ALGO: \"%.*s\" takes no size: its range "
				  "ends before it begins; write it as MIN-MAX",
				  n, text);
	if (f->coll < 0) {
		list_colls(list, sizeof(list));
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_ALGO: \"%.*s\" names no operation of "
				  "this library; there are %s", n, text, list);
	}
	e = tutti_algo_find((enum tutti_coll)f->coll, f->name);
	if (e && f->levels[0] &&
	    tutti_levels_fault(e->algo, f->levels, list, sizeof(list)))
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_ALGO: \"%.*s\" cannot be composed: %s",
				  n, text, list);
	if (e)
		return tuttiSuccess;
	list_algos((enum tutti_coll)f->coll, NULL, false, list, sizeof(list));
	return tutti_fail(tuttiInvalidUsage,
			  "TUTTI_ALGO: \"%.*s\" names no algorithm of %s; there "
			  "are %s", n, text,
			  tutti_coll_name((enum tutti_coll)f->coll), list);
}

/* An item that is for this call: it must be able to serve it. */
static tuttiResult_t use_item(struct tutti_choice *out,
			      const struct forced *f,
			      const struct tutti_query *q, bool one_combine)
{
	const struct tutti_algo_entry *e = tutti_algo_find(q->coll, f->name);
	struct tutti_query own = *q;
	char list[512];

	if (f->levels[0])
		own.levels = f->levels;
	if (can_serve(e->algo, &own, one_combine)) {
		out->entry = e;
		memcpy(out->levels, f->levels, sizeof(out->levels));
		out->reason = "TUTTI_ALGO says so";
		return tuttiSuccess;
	}
	list_algos(q->coll, q, one_combine, list, sizeof(list));
	return tutti_fail(tuttiInvalidUsage,
			  "TUTTI_ALGO asks for %s%s as %s%s%s%s, which cannot "
			  "serve this call%s of %d rank%s on %d node%s; those "
			  "that can are %s",
			  tutti_coll_name(q->coll), q->uneven ? "v" : "",
			  f->name,
			  f->levels[0] ? " of " : "", f->levels,
			  e->algo->flags & TUTTI_COMPOSED ?
				  " (levels need groups of ranks, and algorithms that serve those in one lane)" :
				  "",
			  demand(e->algo, q, one_combine), q->shape->ranks,
			  q->shape->ranks > 1 ? "s" : "", q->shape->nodes,
			  q->shape->nodes > 1 ? "s" : "",
			  list[0] ? list : "none");
}

#define ITEMS_MAX 64

/* The sizes that items take, in their order. */
struct taken {
	int n;
	struct {
		int coll;
		int64_t min, max;
	} item[ITEMS_MAX];
};

/* An item whose sizes an earlier one takes all would never be used. */
static tuttiResult_t take_sizes(struct taken *t, const struct forced *f,
				const char *text, size_t len)
{
	int n = (int)tutti_min(len, (size_t)100);

	if (t->n == ITEMS_MAX)
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_ALGO has more than %d items; give "
				  "each operation fewer ranges", ITEMS_MAX);
	for (int i = 0; i < t->n; i++)
		if (t->item[i].coll == f->coll && t->item[i].min <= f->min &&
		    t->item[i].max >= f->max)
			return tutti_fail(tuttiInvalidUsage,
					  "TUTTI_ALGO: \"%.*s\" would never be "
					  "used, since item %d takes all its "
					  "sizes; put it first, or give that "
					  "one a narrower range", n, text,
					  i + 1);
	t->item[t->n].coll = f->coll;
	t->item[t->n].min = f->min;
	t->item[t->n++].max = f->max;
	return tuttiSuccess;
}

/* Sets out->entry if an item matches.  All items are checked, so a mistake
 * shows with the first call and not with the first it would concern. */
static tuttiResult_t look_up(struct tutti_choice *out,
			     const struct tutti_query *q, size_t bytes,
			     bool one_combine)
{
	const char *text = tutti_setting_text(TUTTI_SET_ALGO);
	struct forced f, first = { .coll = -1 };
	struct taken taken = { .n = 0 };
	bool more = *text;

	while (more) {
		size_t len = strcspn(text, ",");
		tuttiResult_t rc = check_item(text, len, &f);

		if (!rc)
			rc = take_sizes(&taken, &f, text, len);
		if (rc)
			return rc;
		if (first.coll < 0 && f.coll == (int)q->coll &&
		    bytes >= (size_t)f.min && bytes <= (size_t)f.max)
			first = f;
		/* A comma wants another item behind it. */
		more = text[len] == ',';
		text += len + more;
	}
	return first.coll < 0 ? tuttiSuccess :
	       use_item(out, &first, q, one_combine);
}

/* ---- The rule ------------------------------------------------------------ */

static bool fits(const struct rule *r, const struct tutti_query *q,
		 size_t bytes, bool one_combine)
{
	const struct tutti_algo_entry *e;

	if (r->coll != q->coll || !(r->where & where(q->shape)) ||
	    q->shape->ranks < r->ranks_min ||
	    (r->ranks_max && q->shape->ranks > r->ranks_max) ||
	    (r->bytes_max && bytes > r->bytes_max))
		return false;
	e = tutti_algo_find(r->coll, r->name);
	return e && can_serve(e->algo, q, one_combine);
}

static tuttiResult_t choose(struct tutti_choice *out,
			    const struct tutti_query *q, size_t count,
			    tuttiDataType_t type, tuttiRedOp_t redop)
{
	bool one_combine = needs_one_combine(q, type, redop);
	size_t bytes = count * tutti_type_size((int)type);
	uint32_t in, blocks;
	tuttiResult_t rc;

	tutti_coll_blocks(q->coll, q->shape->ranks, q->sending, &in, &blocks);
	bytes *= tutti_max(in, blocks);
	out->entry = NULL;
	out->levels[0] = 0;
	rc = look_up(out, q, bytes, one_combine);
	if (rc || out->entry)
		return rc;
	for (size_t i = 0; i < tutti_countof(rules); i++) {
		if (!fits(&rules[i], q, bytes, one_combine))
			continue;
		out->entry = tutti_algo_find(q->coll, rules[i].name);
		out->reason = rules[i].reason;
		return tuttiSuccess;
	}
	/* Integer averages over several nodes, say. */
	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++) {
		if (!can_serve(e->algo, q, one_combine))
			continue;
		out->entry = e;
		out->reason = "it is the first that can serve the call";
		return tuttiSuccess;
	}
	return tutti_fail(tuttiInternalError, "no algorithm serves %s",
			  tutti_coll_name(q->coll));
}

tuttiResult_t tutti_choose(struct tutti_choice *out,
			   const struct tutti_query *q, size_t count,
			   tuttiDataType_t type, tuttiRedOp_t redop)
{
	tuttiResult_t rc = choose(out, q, count, type, redop);

	if (!rc)
		out->strict = as_built(out->entry->algo, q).strict;
	return rc;
}
