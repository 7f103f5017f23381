/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti info --why`: which algorithm serves an operation of a size on ranks
 * of a machine, why, and what the others would cost.  With --table, by ranges
 * of sizes for several machines.  Asks the same rule as every communicator.
 */
#include "config.h"

#include "info.h"
#include "json.h"
#include "options.h"
#include "seats.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES_MIN 8
#define TABLE_BYTES_MAX ((size_t)1 << 30)
#define RANGES_MAX 32

/* What is asked, with names looked up. */
struct question {
	const struct info_why *w;
	enum tutti_coll coll;
	tuttiDataType_t type;
	tuttiRedOp_t redop;
	struct tool_asked asked;
	struct tutti_topo *topo;
	struct tool_seats seats;
	struct tutti_query query;
};

static int trouble(const char *sentence)
{
	fprintf(stderr, "tutti info: %s\n", sentence);
	return 1;
}

/* ---- The question -------------------------------------------------------- */

static int find_name(const char *(*name_of)(int), int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name_of(i), name))
			return i;
	return -1;
}

static const char *coll_name(int coll)
{
	return tutti_coll_name((enum tutti_coll)coll);
}

/* One of a list of names; false if it is none, told with all of them. */
static bool take_name(const struct tool_args *a, const char *option,
		      const char *given, const char *(*name_of)(int), int n,
		      int *out)
{
	char list[256] = "";
	size_t used = 0;

	*out = find_name(name_of, n, given);
	if (*out >= 0)
		return true;
	for (int i = 0; i < n && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%s", i ? ", " : "", name_of(i));
	tool_usage(a, "%s is \"%s\", but must be one of %s", option, given,
		   list);
	return false;
}

static bool take_names(const struct tool_args *a, const struct info_why *w,
		       struct question *q)
{
	int coll, type, redop;

	if (!take_name(a, "--why", w->coll, coll_name, TUTTI_COLLS, &coll) ||
	    !take_name(a, "--type", w->type ? w->type : "float",
		       tutti_type_name, tuttiNumTypes, &type) ||
	    !take_name(a, "--op", w->redop ? w->redop : "sum",
		       tutti_redop_name, tuttiNumOps, &redop))
		return false;
	q->w = w;
	q->coll = (enum tutti_coll)coll;
	q->type = (tuttiDataType_t)type;
	q->redop = (tuttiRedOp_t)redop;
	return true;
}

/* Ranks of this very machine are not bound by `tutti run`, so they are not
 * grouped either. */
static void leave_whole(struct question *q)
{
	const char *why = NULL;

	if (tutti_setting(TUTTI_SET_TOPO))
		why = "not divided, since TUTTI_TOPO is flat";
	else if (q->topo->flat)
		why = q->topo->reason;
	else if (q->topo->live)
		why = "not divided: ranks that nobody binds may run on every "
		      "CPU; --xml or --synthetic tell of machines whose ranks "
		      "are bound";
	if (!why)
		return;
	q->seats.shape.domains = 0;
	q->seats.shape.domain = NULL;
	snprintf(q->seats.why, sizeof(q->seats.why), "%.250s", why);
}

/* A rank on every core, if it is told which PUs are cores. */
static int default_ranks(const struct tutti_topo *t)
{
	int cores = tutti_topo_count(t, TUTTI_TOPO_CORE, 0);

	return tutti_min(cores ? cores : tutti_topo_allowed(t, 0, t->npus),
			 TOOL_RANKS_MAX);
}

/* Load the machine and seat the ranks.  0, or the exit status; told. */
static int settle(const struct tool_args *a, struct question *q)
{
	int ranks, status;

	q->topo = tool_asked_load(a, &q->asked);
	if (!q->topo)
		return 1;
	if (!q->asked.ranks)
		q->asked.ranks = default_ranks(q->topo);
	ranks = q->asked.ranks;
	status = tool_seats_make(&q->seats, a, &q->asked, q->topo);
	if (status)
		return status;
	leave_whole(q);
	if (q->coll == TUTTI_SENDRECV && ranks < 2)
		return trouble("sendrecv needs two ranks");
	q->query = (struct tutti_query){
		.coll = q->coll,
		.shape = &q->seats.shape,
		.strict = tutti_coll_reduces(q->coll) &&
			  tutti_setting(TUTTI_SET_DETERMINISM),
	};
	if (q->coll == TUTTI_SENDRECV) {
		q->query.root = ranks - 1;
		q->query.sending = true;
	}
	return 0;
}

static void unsettle(struct question *q)
{
	tool_seats_free(&q->seats);
	tutti_topo_free(q->topo);
	q->topo = NULL;
}

/* Elements of a block, for `bytes` of the larger buffer. */
static size_t count_of(const struct question *q, size_t bytes)
{
	uint32_t in, out;
	size_t n;

	tutti_coll_blocks(q->coll, q->seats.shape.ranks, q->query.sending, &in,
			  &out);
	n = bytes / tutti_max(tutti_max(in, out), 1u) /
	    tutti_type_size((int)q->type);
	return bytes && !n ? 1 : n;
}

/* ---- Costs --------------------------------------------------------------- */

struct price {
	uint32_t steps;
	uint64_t bytes;		/* that the busiest rank moves */
};

static bool price(const struct question *q, const struct tutti_algo *algo,
		  bool mapped, size_t count, struct price *out)
{
	struct tutti_query query = q->query;
	struct tutti_cost cost;
	struct tutti_sched *s;
	uint64_t piece;

	query.mapped = mapped;
	if (tutti_sched_build(&s, algo, &query))
		return false;
	piece = tutti_max(s->pieces, 1u);
	tutti_sched_free(s);
	cost = algo->cost(&query);
	piece = (count * tutti_type_size((int)q->type) + piece - 1) / piece;
	*out = (struct price){ cost.steps, cost.chunks_sent * piece };
	return true;
}

/* "4 KiB" where it is exact, else bytes. */
static const char *amount(char *out, size_t cap, uint64_t n)
{
	static const char units[] = "KMGT";
	int u = -1;

	while (n && n % 1024 == 0 && u < 3) {
		n /= 1024;
		u++;
	}
	if (u < 0)
		snprintf(out, cap, "%" PRIu64, n);
	else
		snprintf(out, cap, "%" PRIu64 "%c", n, units[u]);
	return out;
}

/* Calls `each` for every form of every algorithm that can serve. */
static void candidates(const struct question *q, size_t count, void *with,
		       void (*each)(void *with, const char *name, bool mapped,
				    const struct price *p))
{
	for (const struct tutti_algo_entry *e = tutti_algos; e->name; e++) {
		bool mapped = e->algo->flags & TUTTI_HAS_MAPPED &&
			      q->seats.shape.nodes == 1 &&
			      q->seats.shape.ranks > 1;
		struct price p;

		if (!tutti_can_serve(e->algo, &q->query, q->type, q->redop))
			continue;
		if (price(q, e->algo, false, count, &p))
			each(with, e->name, false, &p);
		if (mapped && price(q, e->algo, true, count, &p))
			each(with, e->name, true, &p);
	}
}

/* ---- One answer ---------------------------------------------------------- */

static void text_candidate(void *with, const char *name, bool mapped,
			   const struct price *p)
{
	char both[64], bytes[32];

	snprintf(both, sizeof(both), "%s%s", name,
		 mapped ? ", in place" : "");
	printf("%c %-24s %8u  %14s\n", !strcmp(with, name) ? '*' : ' ', both,
	       p->steps, amount(bytes, sizeof(bytes), p->bytes));
}

static void text_answer(const struct question *q, size_t count,
			const struct tutti_choice *c)
{
	char title[256], shape[128];

	printf("%s of %zu %s%s%s%s: %s\n", tutti_coll_name(q->coll), count,
	       tutti_type_name((int)q->type),
	       q->coll == TUTTI_ALL_REDUCE || q->coll == TUTTI_REDUCE ? "" :
	       " a block",
	       tutti_coll_reduces(q->coll) ? ", " : "",
	       tutti_coll_reduces(q->coll) ? tutti_redop_name((int)q->redop) :
	       "", c->entry->name);
	printf("  because %s\n", c->reason);
	printf("  shape   %s\n", tool_shape_text(&q->seats.shape, shape,
						 sizeof(shape)));
	printf("  node 0  %s\n", q->seats.why);
	printf("  machine %s\n\n",
	       tool_topo_title(&q->asked.from, title, sizeof(title)));
	printf("  %-24s %8s  %14s\n", "can serve", "steps",
	       "bytes of a rank");
	candidates(q, count, (void *)c->entry->name, text_candidate);
	printf("\n* is chosen.  Steps are the longest chain of messages; bytes "
	       "are what the busiest\nrank moves.  \"In place\" is the form for "
	       "buffers that all ranks can reach.\n");
}

static void json_shape(struct tool_json *j, const struct question *q)
{
	char title[256];

	tool_json_text(j, "machine",
		       tool_topo_title(&q->asked.from, title, sizeof(title)));
	tool_json_int(j, "ranks", q->seats.shape.ranks);
	tool_json_int(j, "nodes", q->seats.shape.nodes);
	tool_json_int(j, "domains", q->seats.shape.domains);
	tool_json_text(j, "node_0", q->seats.why);
}

static void json_candidate(void *with, const char *name, bool mapped,
			   const struct price *p)
{
	struct tool_json *j = with;

	tool_json_open(j, NULL, '{');
	tool_json_text(j, "algo", name);
	tool_json_bool(j, "in_place", mapped);
	tool_json_int(j, "steps", p->steps);
	tool_json_int(j, "bytes", (int64_t)p->bytes);
	tool_json_close(j, '}');
}

static void json_answer(const struct question *q, size_t count,
			const struct tutti_choice *c)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "op", tutti_coll_name(q->coll));
	tool_json_int(&j, "count", (int64_t)count);
	tool_json_text(&j, "dtype", tutti_type_name((int)q->type));
	tool_json_text(&j, "redop", tutti_redop_name((int)q->redop));
	tool_json_text(&j, "algo", c->entry->name);
	tool_json_text(&j, "reason", c->reason);
	json_shape(&j, q);
	tool_json_open(&j, "candidates", '[');
	candidates(q, count, &j, json_candidate);
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}

static void print_answer(struct question *q, size_t count,
			 const struct tutti_choice *c)
{
	q->query.levels = c->levels[0] ? c->levels : NULL;
	if (q->w->json)
		json_answer(q, count, c);
	else
		text_answer(q, count, c);
	q->query.levels = NULL;
}

static int answer(const struct tool_args *a, struct question *q)
{
	struct tutti_choice c;
	size_t count;
	int status = settle(a, q);

	if (!status) {
		count = count_of(q, (size_t)q->w->bytes);
		if (tutti_choose(&c, &q->query, count, q->type, q->redop))
			status = trouble(tutti_fail_text());
		else
			print_answer(q, count, &c);
	}
	unsettle(q);
	return status;
}

/* ---- The table ----------------------------------------------------------- */

/* Sizes up to `top` are served by this one. */
struct range {
	const char *name;
	size_t top;
};

/* By powers of two, as all limits of the rule are; 0: told. */
static int find_ranges(const struct question *q, struct range *r)
{
	int n = 0;

	for (size_t bytes = TABLE_BYTES_MIN; bytes <= TABLE_BYTES_MAX;
	     bytes *= 2) {
		struct tutti_choice c;

		if (tutti_choose(&c, &q->query, count_of(q, bytes), q->type,
				 q->redop)) {
			trouble(tutti_fail_text());
			return 0;
		}
		if (!n || (strcmp(r[n - 1].name, c.entry->name) != 0 &&
			   n < RANGES_MAX))
			r[n++].name = c.entry->name;
		r[n - 1].top = bytes;
	}
	return n;
}

static void text_row(const struct question *q, const struct range *r, int n)
{
	const struct tutti_topo_from *from = &q->asked.from;
	const char *name = from->xml ? from->xml : from->synthetic;
	const char *slash = from->xml ? strrchr(name, '/') : NULL;
	char top[32];

	printf("%-28s %5d %5d %7d  ",
	       !name ? "this machine" : slash ? slash + 1 : name,
	       q->seats.shape.ranks, q->seats.shape.nodes,
	       q->seats.shape.domains);
	for (int i = 0; i < n; i++)
		if (i + 1 < n)
			printf("%s to %s, ", r[i].name,
			       amount(top, sizeof(top), r[i].top));
		else
			printf("%s\n", r[i].name);
}

static void json_row(struct tool_json *j, const struct question *q,
		     const struct range *r, int n)
{
	tool_json_open(j, NULL, '{');
	json_shape(j, q);
	tool_json_open(j, "ranges", '[');
	for (int i = 0; i < n; i++) {
		tool_json_open(j, NULL, '{');
		tool_json_text(j, "algo", r[i].name);
		tool_json_int(j, "bytes_max", (int64_t)r[i].top);
		tool_json_close(j, '}');
	}
	tool_json_close(j, ']');
	tool_json_close(j, '}');
}

static int row(const struct tool_args *a, struct question *q,
	       struct tool_json *j)
{
	struct range ranges[RANGES_MAX];
	int status = settle(a, q), n = 0;

	if (!status) {
		n = find_ranges(q, ranges);
		status = n ? 0 : 1;
	}
	if (n && q->w->json)
		json_row(j, q, ranges, n);
	else if (n)
		text_row(q, ranges, n);
	unsettle(q);
	return status;
}

static int table(const struct tool_args *a, struct question *q)
{
	struct tool_json j = { .file = stdout };
	int status = 0;

	if (q->w->json)
		tool_json_open(&j, NULL, '[');
	else
		printf("%s of %s by bytes\n\n%-28s %5s %5s %7s  %s\n",
		       tutti_coll_name(q->coll),
		       tutti_type_name((int)q->type), "machine", "ranks",
		       "nodes", "domains", "algorithms");
	if (!q->w->nfiles)
		status = row(a, q, &j);
	for (int i = 0; !status && i < q->w->nfiles; i++) {
		q->asked = q->w->asked;
		q->asked.from.xml = q->w->files[i];
		status = row(a, q, &j);
	}
	if (q->w->json)
		tool_json_close(&j, ']');
	return status;
}

int info_why(const struct tool_args *a, const struct info_why *w)
{
	struct question q = { .asked = w->asked };

	if (!take_names(a, w, &q))
		return TOOL_EXIT_USAGE;
	return w->table ? table(a, &q) : answer(a, &q);
}
