/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's schedule as text, and back.  Words are separated by blanks, lines
 * end an operation, # begins a comment.
 *
 *	schedule COLL NAME
 *	ranks N rank R root R mail|mapped
 *	blocks IN OUT pieces P scratch S [widest W]
 *	lane			(once for each lane)
 *	run TIMES		(once for each run)
 *	combine|each [final] [tree] [chunks N] SOURCE... -> TARGET... \
 *		[piece P[/ITER]] [wait LANE:OP[/ITER]]	(on the same line)
 *
 * A source or target is PLACE@RANK[:CHUNK][*COUNT] with PLACE in, out,
 * scratch or mail, and RANK and CHUNK each FIRST[/STEP[/ITER]].  What is left
 * out is 0, or 1 for chunks and COUNT.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "sched/sched_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of what is read, so that no product overflows later. */
#define RANKS_MAX (1 << 24)
#define CHUNKS_MAX (1 << 28)
#define COUNT_MAX (1 << 24)
#define WORD_MAX 128

static const char *const place_names[TUTTI_PLACES] = {
	[TUTTI_IN] = "in",
	[TUTTI_OUT] = "out",
	[TUTTI_SCRATCH] = "scratch",
	[TUTTI_MAIL] = "mail",
};

/* ---- Print ------------------------------------------------------------- */

struct writer {
	char *text;
	size_t len, max;
	bool no_memory;
};

static void __attribute__((format(printf, 2, 3)))
put(struct writer *w, const char *fmt, ...)
{
	char word[WORD_MAX];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = (size_t)vsnprintf(word, sizeof(word), fmt, ap);
	va_end(ap);
	n = tutti_min(n, sizeof(word) - 1);
	if (w->no_memory)
		return;
	if (w->len + n + 1 > w->max) {
		size_t max = 2 * w->max + WORD_MAX;
		char *p = realloc(w->text, max);

		w->no_memory = !p;
		if (!p)
			return;
		w->text = p;
		w->max = max;
	}
	memcpy(w->text + w->len, word, n + 1);
	w->len += n;
}

static void put_steps(struct writer *w, int32_t first, int32_t step,
		      int32_t iter)
{
	put(w, "%d", first);
	if (step || iter)
		put(w, "/%d", step);
	if (iter)
		put(w, "/%d", iter);
}

static void put_ref(struct writer *w, const struct tutti_ref *ref)
{
	bool chunk = ref->chunk || ref->chunk_step || ref->chunk_iter;

	put(w, " %s@", ref->place < TUTTI_PLACES ? place_names[ref->place] :
	    "?");
	put_steps(w, ref->rank, ref->rank_step, ref->rank_iter);
	if (chunk || ref->place != TUTTI_MAIL) {
		put(w, ":");
		put_steps(w, ref->chunk, ref->chunk_step, ref->chunk_iter);
	}
	if (ref->count != 1)
		put(w, "*%u", ref->count);
}

static void put_op(struct writer *w, const struct tutti_sched *s,
		   const struct tutti_op *op)
{
	const struct tutti_ref *refs = &s->refs[op->ref];

	put(w, "%s%s%s", op->kind == TUTTI_EACH ? "each" : "combine",
	    op->flags & TUTTI_FINAL ? " final" : "",
	    op->flags & TUTTI_TREE ? " tree" : "");
	if (op->nchunks != 1)
		put(w, " chunks %u", op->nchunks);
	for (uint32_t i = 0; i < op->nsrc; i++)
		put_ref(w, &refs[i]);
	put(w, " ->");
	for (uint32_t i = op->nsrc; i < (uint32_t)op->nsrc + op->ndst; i++)
		put_ref(w, &refs[i]);
	if (op->piece || op->piece_iter)
		put(w, " piece %d", op->piece);
	if (op->piece_iter)
		put(w, "/%d", op->piece_iter);
	if (op->wait_lane >= 0) {
		put(w, " wait %d:%d", op->wait_lane, op->wait_op);
		if (op->wait_iter)
			put(w, "/%d", op->wait_iter);
	}
	put(w, "\n");
}

static void put_lane(struct writer *w, const struct tutti_sched *s,
		     const struct tutti_lane *lane)
{
	put(w, "lane\n");
	for (uint32_t r = 0; r < lane->nruns; r++) {
		const struct tutti_run *run = &s->runs[lane->first + r];

		put(w, "run %u\n", run->times);
		for (uint32_t i = 0; i < run->nops; i++)
			put_op(w, s, &s->ops[run->first + i]);
	}
}

char *tutti_sched_print(const struct tutti_sched *s)
{
	struct writer w = { 0 };

	put(&w, "schedule %s %s\n", tutti_coll_name(s->coll),
	    *s->algo ? s->algo : "-");
	put(&w, "ranks %d rank %d root %d %s\n", s->ranks, s->rank, s->root,
	    s->mapped ? "mapped" : "mail");
	put(&w, "blocks %u %u pieces %u scratch %u", s->blocks_in,
	    s->blocks_out, s->pieces, s->scratch);
	if (s->widest)
		put(&w, " widest %u", s->widest);
	put(&w, "\n");
	for (uint32_t l = 0; l < s->nlanes; l++)
		put_lane(&w, s, &s->lanes[l]);
	if (!w.no_memory)
		return w.text;
	free(w.text);
	return NULL;
}

/* ---- Parse ------------------------------------------------------------- */

struct reader {
	const char *at;			/* next byte of the line */
	int line;
	tuttiResult_t rc;		/* the first error */
	char word[WORD_MAX];
	struct tutti_list list;
	struct tutti_ref *refs;		/* of the operation being read */
	uint32_t nrefs, refs_max;
};

static bool __attribute__((format(printf, 2, 3)))
bad(struct reader *r, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	if (r->rc)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->rc = tutti_fail(tuttiInvalidArgument,
			   "line %d of the schedule: %s", r->line, text);
	return false;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool line_end(char c)
{
	return c == 0 || c == '\n' || c == '#';
}

/* The next word of this line into r->word; false at its end. */
static bool next_word(struct reader *r)
{
	size_t n = 0;

	if (r->rc)
		return false;
	while (blank(*r->at))
		r->at++;
	while (!line_end(*r->at) && !blank(*r->at)) {
		if (n == WORD_MAX - 1)
			return bad(r, "a word is longer than %d bytes",
				   WORD_MAX - 1);
		r->word[n++] = *r->at++;
	}
	r->word[n] = 0;
	return n > 0;
}

/* Go to the next line that has a word, and read that; false at the end. */
static bool next_line(struct reader *r)
{
	for (;;) {
		while (*r->at && *r->at != '\n')
			r->at++;
		if (!*r->at)
			return false;
		r->at++;
		r->line++;
		if (next_word(r) || r->rc)
			return !r->rc;
	}
}

/* A number in [min, max] at *p, which moves behind it. */
static bool number(struct reader *r, const char **p, int64_t min, int64_t max,
		   int64_t *out)
{
	const char *c = *p;
	bool minus = *c == '-';
	int64_t n = 0;

	c += minus;
	if (*c < '0' || *c > '9')
		return bad(r, "a number is expected in \"%s\"", r->word);
	for (; *c >= '0' && *c <= '9'; c++) {
		n = n * 10 + (*c - '0');
		if (n > INT32_MAX)
			return bad(r, "a number in \"%s\" is too large",
				   r->word);
	}
	n = minus ? -n : n;
	if (n < min || n > max)
		return bad(r, "%lld in \"%s\" is not in %lld to %lld",
			   (long long)n, r->word, (long long)min,
			   (long long)max);
	*p = c;
	*out = n;
	return true;
}

static bool word_number(struct reader *r, int64_t min, int64_t max,
			int64_t *out)
{
	const char *p = r->word;

	if (!next_word(r))
		return bad(r, "a number is missing at the end");
	if (!number(r, &p, min, max, out))
		return false;
	return *p == 0 || bad(r, "\"%s\" is not a number", r->word);
}

/* The word `name`, then a number. */
static bool keyed(struct reader *r, const char *name, int64_t min, int64_t max,
		  int64_t *out)
{
	if (!next_word(r) || strcmp(r->word, name))
		return bad(r, "\"%s\" and a number are expected", name);
	return word_number(r, min, max, out);
}

static bool done(struct reader *r)
{
	return !next_word(r) || bad(r, "\"%s\" is one word too many", r->word);
}

/* FIRST[/STEP[/ITER]] */
static bool steps(struct reader *r, const char **p, int32_t *first,
		  int32_t *step, int32_t *iter)
{
	int32_t *const field[] = { first, step, iter };
	int64_t n;

	for (int i = 0; i < 3; i++) {
		if (!field[i])
			continue;
		if (i > 0) {
			if (**p != '/')
				break;
			++*p;
		}
		if (!number(r, p, -INT32_MAX, INT32_MAX, &n))
			return false;
		*field[i] = (int32_t)n;
	}
	return true;
}

static bool add_ref(struct reader *r, const struct tutti_ref *ref)
{
	if (r->nrefs == 2 * UINT16_MAX)
		return bad(r, "more than %d places", 2 * UINT16_MAX);
	if (r->nrefs == r->refs_max) {
		uint32_t n = r->refs_max ? 2 * r->refs_max : 16;
		void *p = realloc(r->refs, n * sizeof(*ref));

		if (!p) {
			r->rc = tutti_fail(tuttiSystemError,
					   "no memory to read a schedule");
			return false;
		}
		r->refs = p;
		r->refs_max = n;
	}
	r->refs[r->nrefs++] = *ref;
	return true;
}

/* The word just read, as a source or target. */
static bool read_ref(struct reader *r)
{
	struct tutti_ref ref = { .count = 1, .place = TUTTI_PLACES };
	const char *p = strchr(r->word, '@');
	int64_t n;

	for (int i = 0; p && i < TUTTI_PLACES; i++)
		if (strlen(place_names[i]) == (size_t)(p - r->word) &&
		    !memcmp(place_names[i], r->word, (size_t)(p - r->word)))
			ref.place = (uint8_t)i;
	if (!p || ref.place == TUTTI_PLACES)
		return bad(r, "\"%s\" is not a place like in@0:3", r->word);
	p++;
	if (!steps(r, &p, &ref.rank, &ref.rank_step, &ref.rank_iter))
		return false;
	if (*p == ':') {
		p++;
		if (!steps(r, &p, &ref.chunk, &ref.chunk_step,
			   &ref.chunk_iter))
			return false;
	}
	if (*p == '*') {
		p++;
		if (!number(r, &p, 1, COUNT_MAX, &n))
			return false;
		ref.count = (uint32_t)n;
	}
	if (*p)
		return bad(r, "\"%s\" does not end where a place ends",
			   r->word);
	return add_ref(r, &ref);
}

/* The word just read: what may follow the targets. */
static bool read_tail(struct reader *r, struct tutti_op *op)
{
	const char *p = r->word;
	int64_t n;

	if (!strcmp(r->word, "piece")) {
		if (!next_word(r))
			return bad(r, "the piece is missing");
		if (!steps(r, &p, &op->piece, NULL, &op->piece_iter))
			return false;
	} else if (!strcmp(r->word, "wait")) {
		if (!next_word(r))
			return bad(r, "what to wait for is missing");
		if (!number(r, &p, 0, TUTTI_LANES_MAX - 1, &n))
			return false;
		op->wait_lane = (int32_t)n;
		if (*p++ != ':')
			return bad(r, "\"%s\" is not LANE:OPERATION", r->word);
		if (!steps(r, &p, &op->wait_op, NULL, &op->wait_iter))
			return false;
	} else {
		return read_ref(r);
	}
	return *p == 0 || bad(r, "\"%s\" has a wrong end", r->word);
}

/* The places of an operation and what follows; its first word was read. */
static bool read_places(struct reader *r, struct tutti_op *op)
{
	uint64_t places = 0;
	bool arrow = false;
	int64_t n;

	r->nrefs = 0;
	while (next_word(r)) {
		if (arrow) {
			if (!read_tail(r, op))
				return false;
		} else if (!strcmp(r->word, "->")) {
			op->nsrc = (uint16_t)r->nrefs;
			arrow = true;
		} else if (!strcmp(r->word, "final")) {
			op->flags |= TUTTI_FINAL;
		} else if (!strcmp(r->word, "tree")) {
			op->flags |= TUTTI_TREE;
		} else if (!strcmp(r->word, "chunks")) {
			if (!word_number(r, 0, CHUNKS_MAX, &n))
				return false;
			op->nchunks = (uint32_t)n;
		} else if (!read_ref(r)) {
			return false;
		} else if (r->nrefs > UINT16_MAX) {
			return bad(r, "more than %d sources", UINT16_MAX);
		}
	}
	if (r->rc)
		return false;
	if (!arrow)
		return bad(r, "an operation has no \"->\"");
	if (r->nrefs - op->nsrc > UINT16_MAX)
		return bad(r, "more than %d targets", UINT16_MAX);
	op->ndst = (uint16_t)(r->nrefs - op->nsrc);
	for (uint32_t i = 0; i < r->nrefs; i++)
		places += r->refs[i].count;
	return places <= COUNT_MAX || bad(r, "more than %d places", COUNT_MAX);
}

static bool read_op(struct reader *r)
{
	struct tutti_op op = { .nchunks = 1, .wait_lane = -1 };

	if (!strcmp(r->word, "each"))
		op.kind = TUTTI_EACH;
	else if (strcmp(r->word, "combine"))
		return bad(r, "\"%s\" is not lane, run, combine or each",
			   r->word);
	if (!r->list.sched->nlanes)
		return bad(r, "an operation stands before the first lane");
	if (!read_places(r, &op))
		return false;
	if (op.kind == TUTTI_EACH && op.flags & TUTTI_TREE)
		return bad(r, "each adds nothing, so it cannot be a tree");
	r->rc = r->list.sink.op(&r->list.sink, &op, r->refs);
	return !r->rc;
}

static bool read_body(struct reader *r)
{
	struct tutti_sink *k = &r->list.sink;
	int64_t n;

	while (next_line(r)) {
		if (!strcmp(r->word, "lane")) {
			if (r->list.sched->nlanes == TUTTI_LANES_MAX)
				return bad(r, "more than %d lanes",
					   TUTTI_LANES_MAX);
			r->rc = k->lane(k);
			done(r);
		} else if (!strcmp(r->word, "run")) {
			if (!word_number(r, 1, INT32_MAX, &n))
				return false;
			r->rc = k->run(k, (uint32_t)n);
			done(r);
		} else {
			read_op(r);
		}
	}
	return !r->rc;
}

/* "schedule COLL NAME"; the first line may be the very first of the text. */
static bool read_names(struct reader *r, struct tutti_sched *h, char *name)
{
	int coll;

	if (!next_word(r) && !r->rc)
		next_line(r);
	if (r->rc)
		return false;
	if (strcmp(r->word, "schedule"))
		return bad(r, "a schedule must begin with \"schedule\"");
	coll = next_word(r) ? tutti_coll_find(r->word) : -1;
	if (coll < 0)
		return bad(r, "\"%s\" is not a collective", r->word);
	h->coll = (enum tutti_coll)coll;
	if (!next_word(r) || strlen(r->word) >= TUTTI_ALGO_NAME_MAX)
		return bad(r, "a name of at most %d bytes is expected",
			   TUTTI_ALGO_NAME_MAX - 1);
	strcpy(name, strcmp(r->word, "-") ? r->word : "");
	h->algo = name;
	return done(r);
}

static bool read_ranks(struct reader *r, struct tutti_sched *h)
{
	int64_t n;

	if (!next_line(r) || strcmp(r->word, "ranks"))
		return bad(r, "a line with \"ranks\" is expected");
	if (!word_number(r, 1, RANKS_MAX, &n))
		return false;
	h->ranks = (int)n;
	if (!keyed(r, "rank", 0, h->ranks - 1, &n))
		return false;
	h->rank = (int)n;
	if (!keyed(r, "root", 0, h->ranks - 1, &n))
		return false;
	h->root = (int)n;
	if (!next_word(r))
		return bad(r, "mail or mapped is missing");
	h->mapped = !strcmp(r->word, "mapped");
	if (!h->mapped && strcmp(r->word, "mail"))
		return bad(r, "\"%s\" is neither mail nor mapped", r->word);
	return done(r);
}

static bool read_sizes(struct reader *r, struct tutti_sched *h)
{
	int64_t n;

	if (!next_line(r) || strcmp(r->word, "blocks"))
		return bad(r, "a line with \"blocks\" is expected");
	if (!word_number(r, 0, RANKS_MAX, &n))
		return false;
	h->blocks_in = (uint32_t)n;
	if (!word_number(r, 0, RANKS_MAX, &n))
		return false;
	h->blocks_out = (uint32_t)n;
	if (!keyed(r, "pieces", 1, CHUNKS_MAX, &n))
		return false;
	h->pieces = (uint32_t)n;
	if (!keyed(r, "scratch", 0, CHUNKS_MAX, &n))
		return false;
	h->scratch = (uint32_t)n;
	if ((uint64_t)tutti_max(h->blocks_in, h->blocks_out) * h->pieces >
	    CHUNKS_MAX)
		return bad(r, "more than %d chunks", CHUNKS_MAX);
	if (!next_word(r))
		return true;
	if (strcmp(r->word, "widest"))
		return bad(r, "\"%s\" is one word too many", r->word);
	if (!word_number(r, 1, CHUNKS_MAX, &n))
		return false;
	h->widest = (uint32_t)n;
	return done(r);
}

tuttiResult_t tutti_sched_parse(struct tutti_sched **out, const char *text)
{
	struct reader r = { .at = text, .line = 1 };
	struct tutti_sched header = { 0 };
	char name[TUTTI_ALGO_NAME_MAX];

	tutti_list_init(&r.list);
	if (read_names(&r, &header, name) && read_ranks(&r, &header) &&
	    read_sizes(&r, &header))
		r.rc = tutti_list_begin(&r.list, &header);
	if (!r.rc && read_body(&r))
		r.rc = tutti_list_take(&r.list, out);
	free(r.refs);
	tutti_list_fini(&r.list);
	return r.rc;
}
