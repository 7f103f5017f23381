/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tutti sim --verify --file F`: schedules of all ranks, one after another, as
 * --print writes them.  Any bytes may be in the file.
 */
#include "config.h"

#include "json.h"
#include "sim.h"

#include "base/bits.h"
#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 30)
/* Chunks of a buffer, and operation slices, that are still proven in some
 * seconds and gigabytes. */
#define WORK_MAX (1u << 26)

struct text {
	const char *path;
	char *bytes;
	struct tutti_sched **scheds;	/* by rank */
	struct tutti_sched *first;
	int count;
};

static bool read_all(FILE *f, struct text *t)
{
	size_t len = 0, max = 1 << 16, got;

	t->bytes = malloc(max);
	while (t->bytes && (got = fread(t->bytes + len, 1, max - len - 1, f))) {
		char *more = t->bytes;

		len += got;
		if (len > BYTES_MAX) {
			sim_fault("%s is larger than %u bytes", t->path,
				  BYTES_MAX);
			return false;
		}
		if (len + 1 < max)
			continue;
		max *= 2;
		more = realloc(t->bytes, max);
		if (!more)
			free(t->bytes);
		t->bytes = more;
	}
	if (!t->bytes) {
		sim_fault("no memory to read %s", t->path);
		return false;
	}
	if (ferror(f)) {
		sim_fault("cannot read %s: %s", t->path, strerror(errno));
		return false;
	}
	t->bytes[len] = 0;
	if (memchr(t->bytes, 0, len)) {
		sim_fault("%s is no text: it has a byte of value 0", t->path);
		return false;
	}
	return true;
}

static bool read_file(struct text *t)
{
	FILE *f = fopen(t->path, "r");
	bool ok;

	if (!f) {
		sim_fault("cannot open %s: %s", t->path, strerror(errno));
		return false;
	}
	ok = read_all(f, t);
	fclose(f);
	return ok;
}

/* The next line whose first word is "schedule"; NULL if there is none. */
static char *next_schedule(char *at, int *line)
{
	static const char word[] = "schedule";

	for (;;) {
		char *p = at + strspn(at, " \t\r");

		if (!strncmp(p, word, sizeof(word) - 1) &&
		    strchr(" \t\r\n", p[sizeof(word) - 1]))
			return at;
		p = strchr(p, '\n');
		if (!p)
			return NULL;
		at = p + 1;
		++*line;
	}
}

/* What a schedule asks for is within bounds, so that to prove it ends. */
static bool modest(const struct text *t, const struct tutti_sched *s, int line)
{
	uint64_t work = (uint64_t)s->scratch +
			tutti_sched_chunks(s, TUTTI_MAIL);

	for (uint32_t r = 0; r < s->nruns; r++)
		for (uint32_t i = 0; i < s->runs[r].nops; i++) {
			const struct tutti_op *op =
				&s->ops[s->runs[r].first + i];
			uint64_t places = tutti_refs_count(&s->refs[op->ref],
						(uint32_t)op->nsrc + op->ndst);

			/* None is over 2^31, and no sum before over 2^62. */
			work += tutti_min(places * (1 + (uint64_t)op->nchunks),
					  1ull << 28) * s->runs[r].times;
			if (work > WORK_MAX)
				break;
		}
	if (work <= WORK_MAX)
		return true;
	sim_fault("%s, line %d: the schedule has more than %u chunks and operations, which is too large to prove here",
		  t->path, line, WORK_MAX);
	return false;
}

static bool add(struct text *t, struct tutti_sched *s, int line)
{
	if (!t->first) {
		t->scheds = calloc((size_t)s->ranks, sizeof(*t->scheds));
		if (!t->scheds) {
			sim_fault("no memory for %d ranks", s->ranks);
			return false;
		}
		t->first = s;
	}
	if (s->ranks != t->first->ranks) {
		sim_fault("%s, line %d: a schedule for %d ranks among those for %d",
			  t->path, line, s->ranks, t->first->ranks);
		return false;
	}
	if (t->scheds[s->rank]) {
		sim_fault("%s, line %d: rank %d has a second schedule",
			  t->path, line, s->rank);
		return false;
	}
	t->scheds[s->rank] = s;
	t->count++;
	return true;
}

/* One schedule, which begins at `at` and ends before `end`, if that is not
 * NULL. */
static bool parse_one(struct text *t, char *at, char *end, int line)
{
	struct tutti_sched *s;
	char was = 0;
	tuttiResult_t rc;

	if (end) {
		was = *end;
		*end = 0;
	}
	rc = tutti_sched_parse(&s, at);
	if (end)
		*end = was;
	if (rc) {
		sim_fault("%s: of the schedule that begins in line %d, %s",
			  t->path, line, tutti_fail_text());
		return false;
	}
	if (modest(t, s, line) && add(t, s, line))
		return true;
	tutti_sched_free(s);
	return false;
}

static bool parse(struct text *t)
{
	int line = 1;
	char *at = next_schedule(t->bytes, &line);

	if (!at) {
		sim_fault("%s has no line that begins with \"schedule\"",
			  t->path);
		return false;
	}
	while (at) {
		int next_line = line + 1;
		char *next = strchr(at, '\n');

		if (next)
			next = next_schedule(next + 1, &next_line);
		if (!parse_one(t, at, next, line))
			return false;
		at = next;
		line = next_line;
	}
	return true;
}

static const struct {
	uint32_t credits, slices, parts;
} settings[] = {
	{ 2, 1, 1 }, { 4, 2, 1 }, { 2, 1, 2 }, { 0, 1, 1 },
};

/* In place and not, with several settings; the first breach is in rep. */
static tuttiResult_t prove(const struct text *t,
			   struct tutti_verify_report *rep)
{
	bool two = t->first->coll != TUTTI_BARRIER &&
		   t->first->coll != TUTTI_SENDRECV;
	tuttiResult_t rc = tuttiSuccess;

	for (int in_place = 0; in_place <= two; in_place++)
		for (size_t i = 0; !rc && i < tutti_countof(settings); i++) {
			struct tutti_verify_args args = {
				.credits = settings[i].credits,
				.slices = settings[i].slices,
				.parts = settings[i].parts,
				.in_place = in_place,
			};

			rc = tutti_sched_verify(t->scheds, t->first->ranks,
						&args, rep);
		}
	return rc;
}

static void tell(const struct text *t, const struct tutti_verify_report *rep)
{
	const struct tutti_sched *s = t->first;

	printf("%s: %d schedules of %s \"%s\" for %d ranks are proven, in place and not:\n%u steps, at most %llu chunks moved by a rank.\n",
	       t->path, t->count, tutti_coll_name(s->coll), s->algo, s->ranks,
	       rep->steps, (unsigned long long)rep->chunks_sent);
}

static void tell_json(const struct text *t,
		      const struct tutti_verify_report *rep)
{
	struct tool_json j = { .file = stdout };
	const struct tutti_sched *s = t->first;

	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "file", t->path);
	tool_json_text(&j, "op", tutti_coll_name(s->coll));
	tool_json_text(&j, "algo", s->algo);
	tool_json_int(&j, "ranks", s->ranks);
	tool_json_int(&j, "schedules", t->count);
	tool_json_bool(&j, "proven", !rep->why[0]);
	tool_json_text(&j, "why", rep->why);
	tool_json_int(&j, "steps", rep->steps);
	tool_json_int(&j, "chunks_busiest", (int64_t)rep->chunks_sent);
	tool_json_close(&j, '}');
}

static int verify(const struct text *t, bool json)
{
	struct tutti_verify_report rep;
	tuttiResult_t rc = prove(t, &rep);

	if (rc == tuttiSystemError)
		return sim_fault("no memory to prove %s", t->path);
	if (json)
		tell_json(t, &rep);
	else if (!rc)
		tell(t, &rep);
	return rc ? sim_fault("%s: %s", t->path, rep.why) : 0;
}

int sim_verify_file(const struct sim_args *args)
{
	struct text t = { .path = args->file };
	int status = 1;

	if (read_file(&t) && parse(&t))
		status = verify(&t, args->json);
	for (int r = 0; t.scheds && t.first && r < t.first->ranks; r++)
		if (t.scheds[r] != t.first)
			tutti_sched_free(t.scheds[r]);
	tutti_sched_free(t.first);
	free(t.scheds);
	free(t.bytes);
	return status;
}
