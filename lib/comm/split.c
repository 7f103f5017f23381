/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splitting a communicator.  Three all-gathers over the parent, which are
 * ordinary operations of it, and an ordinary join between the second and the
 * third:
 *   1 what every rank wants: color, key, and whether it has memory to go on;
 *   2 the lowest new rank of each color gives a unique id;
 *   3 every rank tells whether it joined; if one of a color did not, the
 *     others of that color leave again.
 * A rank that cannot join tells so at once by news, so that the others of its
 * color do not wait for it until the deadline.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the deadline of the join, for the root to say who is late. */
#define GRACE_MS 5000

struct tutti_split_want {
	int32_t color, key;
	int32_t rc;
	int32_t init_ms;
};

/* An id, or the sentence of a failure. */
struct word {
	int32_t rc;
	char bytes[TUTTI_UNIQUE_ID_BYTES];
};

/* A rank of `comm` and what it is sorted by. */
struct place {
	int key, rank;
};

struct split {
	struct tuttiComm *comm;
	int color, key;
	tuttiConfig_t config;
	struct word *words;		/* of all ranks */
	struct place *member;		/* those of this color, in new order */
	int count, rank;		/* new */
	struct tuttiComm *made;
};

tuttiResult_t tutti_split_init(struct tuttiComm *comm)
{
	comm->split_wants = calloc((size_t)comm->ranks,
				   sizeof(*comm->split_wants));
	return comm->split_wants ? tuttiSuccess : tuttiSystemError;
}

void tutti_split_fini(struct tuttiComm *comm)
{
	free(comm->split_wants);
	comm->split_wants = NULL;
}

/* ---- Giving up early ----------------------------------------------------- */

static uint64_t key_of(uint64_t number, int color)
{
	return number << 32 | (uint32_t)color;
}

void tutti_split_news(struct tuttiComm *comm, const struct tutti_news *news)
{
	if (atomic_load(&comm->split_key) == key_of(news->seq, news->code))
		atomic_store(&comm->split_lost, true);
}

static bool stopped(void *arg)
{
	struct tuttiComm *comm = arg;

	return atomic_load(&comm->split_lost) || atomic_load(&comm->alarmed);
}

static void tell_lost(const struct split *s)
{
	struct tutti_news news = { .kind = TUTTI_NEWS_SPLIT,
				   .rank = s->comm->rank, .code = s->color,
				   .seq = s->comm->splits };

	tutti_boot_tell(s->comm->boot, &news);
}

/* ---- The three exchanges ------------------------------------------------- */

static tuttiResult_t gather(struct tuttiComm *comm, const void *mine,
			    void *all, size_t bytes)
{
	struct tutti_call call = { .coll = TUTTI_ALL_GATHER, .count = bytes,
				   .type = tuttiInt8, .in = mine,
				   .out = all };

	return tutti_flight_run(comm, &call);
}

static tuttiResult_t tell_wants(struct split *s)
{
	struct tuttiComm *comm = s->comm;
	struct tutti_split_want mine = { .color = s->color, .key = s->key };
	tuttiResult_t rc;

	if (!s->words || !s->member)
		mine.rc = tuttiSystemError;
	mine.init_ms = s->config.initTimeoutMs;
	rc = gather(comm, &mine, comm->split_wants, sizeof(mine));
	for (int r = 0; !rc && r < comm->ranks; r++)
		if (comm->split_wants[r].rc)
			rc = tutti_fail(r == comm->rank ? tuttiSystemError :
							  tuttiRemoteError,
					"tuttiCommSplit: rank %d is out of "
					"memory; the communicator is as it "
					"was", r);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void find_members(struct split *s)
{
	const struct tutti_split_want *w = s->comm->split_wants;

	for (int r = 0; r < s->comm->ranks; r++)
		if (w[r].color == s->color)
			s->member[s->count++] = (struct place){ w[r].key, r };
	qsort(s->member, (size_t)s->count, sizeof(*s->member), compare);
	while (s->member[s->rank].rank != s->comm->rank)
		s->rank++;
}

static void note(struct word *w, tuttiResult_t rc)
{
	w->rc = (int32_t)rc;
	snprintf(w->bytes, sizeof(w->bytes), "%s", tutti_fail_text());
}

static tuttiResult_t tell_id(struct split *s)
{
	struct word mine = { 0 };
	tuttiUniqueId id;
	tuttiResult_t rc;

	if (s->color != TUTTI_SPLIT_NOCOLOR && s->rank == 0) {
		rc = tutti_boot_unique_id(&id);
		if (rc)
			note(&mine, rc);
		else
			memcpy(mine.bytes, id.internal, sizeof(mine.bytes));
	}
	return gather(s->comm, &mine, s->words, sizeof(mine));
}

/* Join by the id of the lowest new rank, unless that could not make one. */
static void join(struct split *s, struct word *mine)
{
	const struct word *first = &s->words[s->member[0].rank];
	struct tutti_stop stop = { stopped, s->comm };
	tuttiUniqueId id;
	tuttiResult_t rc;

	if (first->rc) {
		*mine = *first;
		mine->bytes[sizeof(mine->bytes) - 1] = 0;
		return;
	}
	memcpy(id.internal, first->bytes, sizeof(id.internal));
	rc = tutti_comm_join_unless(&s->made, &id, s->count, s->rank,
				    &s->config, &stop);
	tutti_log_set_rank(s->comm->rank);
	if (!rc)
		return;
	note(mine, rc);
	if (!stopped(s->comm))
		tell_lost(s);
}

/* The others of another color may take as long as their deadline. */
static tuttiResult_t tell_outcome(struct split *s, const struct word *mine)
{
	struct tuttiComm *comm = s->comm;
	int64_t usual = comm->timeout_ns, longest = 0;
	tuttiResult_t rc;

	for (int r = 0; r < comm->ranks; r++)
		longest = tutti_max(longest, comm->split_wants[r].init_ms);
	comm->timeout_ns += (longest + GRACE_MS) * 1000000;
	rc = gather(comm, mine, s->words, sizeof(*mine));
	comm->timeout_ns = usual;
	return rc;
}

/* Whose failure to name: not one of those who only gave up because of it. */
static int culprit(const struct split *s)
{
	int found = -1;

	for (int i = 0; i < s->count; i++) {
		int r = s->member[i].rank, rc = s->words[r].rc;

		if (rc && (found < 0 ||
			   (s->words[found].rc == tuttiRemoteError &&
			    rc != tuttiRemoteError)))
			found = r;
	}
	return found;
}

static tuttiResult_t judge(struct split *s)
{
	int r = culprit(s);
	struct word *w = &s->words[r < 0 ? 0 : r];

	if (r < 0)
		return tuttiSuccess;
	w->bytes[sizeof(w->bytes) - 1] = 0;
	return tutti_fail(r == s->comm->rank ? (tuttiResult_t)w->rc :
					       tuttiRemoteError,
			  "tuttiCommSplit: rank %d could not join the %d ranks "
			  "of color %d: %s; the communicator is as it was", r,
			  s->count, s->color, w->bytes);
}

/* ---- All of it ----------------------------------------------------------- */

static int to_ms(int64_t ns)
{
	return (int)tutti_min(ns / 1000000, INT32_MAX);
}

/* What the caller left open is as in the parent. */
static void fill_config(struct split *s, const tuttiConfig_t *config)
{
	static const tuttiConfig_t open = TUTTI_CONFIG_INITIALIZER;
	const struct tuttiComm *comm = s->comm;

	s->config = config ? *config : open;
	if (!s->config.commName && comm->name[0])
		s->config.commName = comm->name;
	if (s->config.initTimeoutMs == TUTTI_CONFIG_UNDEF)
		s->config.initTimeoutMs = to_ms(comm->init_ns);
	if (s->config.timeoutMs == TUTTI_CONFIG_UNDEF)
		s->config.timeoutMs = to_ms(comm->timeout_ns);
}

static tuttiResult_t steps(struct split *s)
{
	struct word mine = { 0 };
	tuttiResult_t rc = tell_wants(s);

	if (rc)
		return rc;
	find_members(s);
	rc = tell_id(s);
	if (!rc && s->color != TUTTI_SPLIT_NOCOLOR)
		join(s, &mine);
	if (!rc)
		rc = tell_outcome(s, &mine);
	if (!rc && s->color != TUTTI_SPLIT_NOCOLOR)
		rc = judge(s);
	if (rc || !s->made)
		return rc;
	tutti_family_join(s->comm, s->made);
	/* An abort until here may have missed the child. */
	return tutti_comm_error(s->comm);
}

static tuttiResult_t split_inside(struct tuttiComm *comm, int color, int key,
				  struct tuttiComm **out,
				  const tuttiConfig_t *config)
{
	struct split s = { .comm = comm, .color = color, .key = key };
	size_t n = (size_t)comm->ranks;
	char text[TUTTI_ERROR_TEXT];
	tuttiResult_t rc;

	s.words = calloc(n, sizeof(*s.words));
	s.member = calloc(n, sizeof(*s.member));
	fill_config(&s, config);
	atomic_store(&comm->split_lost, false);
	atomic_store(&comm->split_key, key_of(++comm->splits, color));
	rc = steps(&s);
	atomic_store(&comm->split_key, 0);
	free(s.words);
	free(s.member);
	if (rc && s.made && tutti_comm_claim(s.made)) {
		snprintf(text, sizeof(text), "%s", tutti_fail_text());
		tutti_comm_destroy(s.made);
		tutti_fail_set(text);
	}
	if (!rc)
		*out = s.made;
	return rc;
}

tuttiResult_t tutti_comm_split(struct tuttiComm *comm, int color, int key,
			       struct tuttiComm **newcomm,
			       const tuttiConfig_t *config)
{
	tuttiResult_t rc = tutti_comm_enter(comm);

	if (rc)
		return rc;
	rc = split_inside(comm, color, key, newcomm, config);
	tutti_comm_leave(comm);
	return rc;
}
