/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages under way in the verifier: a queue for each pair of ranks and lane
 * that ever talks, found by hash, so memory follows the edges of a schedule
 * and not the square of the ranks.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/verify_impl.h"

#include <stdlib.h>

/* So many that a way for each is no waste. */
#define KEYS_ALL (1u << 18)

bool tutti_mail_init(struct tutti_mail *m, uint64_t keys)
{
	if (keys <= KEYS_ALL) {
		m->nways = (uint32_t)keys;
		m->ways = calloc(keys, sizeof(*m->ways));
		return m->ways;
	}
	m->mask = 255;
	m->ways_max = 128;
	m->table = calloc((size_t)m->mask + 1, sizeof(*m->table));
	m->ways = malloc(m->ways_max * sizeof(*m->ways));
	return m->table && m->ways;
}

void tutti_mail_fini(struct tutti_mail *m)
{
	for (uint32_t i = 0; m->under_way && i < m->nways; i++)
		while (m->ways[i].count)
			tutti_msg_free(m, tutti_mail_pop(m, &m->ways[i]));
	for (struct tutti_msg *msg = m->spare; msg; msg = msg->next)
		free(msg->many);
	while (m->slabs) {
		struct tutti_slab *slab = m->slabs;

		m->slabs = slab->next;
		free(slab);
	}
	free(m->table);
	free(m->ways);
}

static uint32_t slot_of(const struct tutti_mail *m, uint64_t key)
{
	return (uint32_t)tutti_mix(0, key) & m->mask;
}

static bool grow(struct tutti_mail *m)
{
	uint32_t max = 2 * m->ways_max;
	struct tutti_way *ways;
	uint32_t *table;

	table = calloc(2 * (size_t)max, sizeof(*table));
	if (!table)
		return false;
	free(m->table);
	m->table = table;
	m->mask = 2 * max - 1;
	for (uint32_t i = 0; i < m->nways; i++) {
		uint32_t s = slot_of(m, m->ways[i].key);

		while (table[s])
			s = (s + 1) & m->mask;
		table[s] = i + 1;
	}
	ways = realloc(m->ways, max * sizeof(*ways));
	if (!ways)
		return false;
	m->ways = ways;
	m->ways_max = max;
	return true;
}

uint32_t tutti_mail_way(struct tutti_mail *m, uint64_t key)
{
	uint32_t s;

	if (!m->table)
		return (uint32_t)key;
	s = slot_of(m, key);
	for (; m->table[s]; s = (s + 1) & m->mask)
		if (m->ways[m->table[s] - 1].key == key)
			return m->table[s] - 1;
	if (m->nways == m->ways_max) {
		if (!grow(m))
			return UINT32_MAX;
		s = slot_of(m, key);
		while (m->table[s])
			s = (s + 1) & m->mask;
	}
	m->ways[m->nways] = (struct tutti_way){ .key = key };
	m->table[s] = ++m->nways;
	return m->nways - 1;
}

static bool more_spare(struct tutti_mail *m)
{
	struct tutti_slab *slab = malloc(sizeof(*slab));

	if (!slab)
		return false;
	slab->next = m->slabs;
	m->slabs = slab;
	for (int i = 0; i < TUTTI_MSG_SLAB; i++) {
		slab->msg[i].next = m->spare;
		slab->msg[i].many = NULL;
		slab->msg[i].many_max = 0;
		m->spare = &slab->msg[i];
	}
	return true;
}

struct tutti_msg *tutti_msg_new(struct tutti_mail *m, uint32_t nchunks)
{
	struct tutti_msg *msg;

	if (!m->spare && !more_spare(m))
		return NULL;
	msg = m->spare;
	if (nchunks > tutti_max(msg->many_max, 1u)) {
		uint32_t *many = realloc(msg->many, nchunks * sizeof(*many));

		if (!many)
			return NULL;
		msg->many = many;
		msg->many_max = nchunks;
	}
	m->spare = msg->next;
	msg->nchunks = nchunks;
	msg->values = nchunks > 1 ? msg->many : &msg->one;
	return msg;
}

void tutti_msg_free(struct tutti_mail *m, struct tutti_msg *msg)
{
	if (msg->snap && --msg->snap->users == 0)
		free(msg->snap);
	msg->next = m->spare;
	m->spare = msg;
}

void tutti_mail_push(struct tutti_mail *m, struct tutti_way *w,
		     struct tutti_msg *msg)
{
	msg->next = NULL;
	if (w->first)
		w->last->next = msg;
	else
		w->first = msg;
	w->last = msg;
	w->count++;
	m->under_way++;
}

struct tutti_msg *tutti_mail_pop(struct tutti_mail *m, struct tutti_way *w)
{
	struct tutti_msg *msg = w->first;

	w->first = msg->next;
	w->count--;
	m->under_way--;
	return msg;
}
