/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks of a node share a cache, a NUMA domain or a package.  Each rank
 * tells where it sits; what all were told decides, so all decide alike, and a
 * rank that does not know its place leaves its node undivided.  Ranks that may
 * run on every CPU are nowhere in particular: nothing is guessed for them, and
 * hwloc is not even loaded.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "comm/comm.h"
#include "topo/topo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOPO_AUTO, TOPO_FLAT };

/* What every rank tells. */
struct seat {
	uint64_t source;	/* of the topology that it read */
	struct tutti_topo_place place;
	int32_t pad;
};

static const struct tutti_topo_place nowhere = { -1, -1, -1 };

/* One topology serves all communicators of a process; read when first
 * needed. */
static struct {
	pthread_mutex_t lock;
	struct tutti_topo *topo;
	uint64_t key;		/* of what was asked for */
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t hash_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = tutti_mix(h, (unsigned char)*s);
	return tutti_mix(h, s ? 1 : 2);
}

/* With the lock held; NULL if there is no memory. */
static const struct tutti_topo *get_topo(const struct tutti_topo_from *from)
{
	uint64_t key = hash_text(hash_text(0, from->xml), from->synthetic);

	if (cache.topo && cache.key == key)
		return cache.topo;
	tutti_topo_free(cache.topo);
	cache.topo = tutti_topo_load(from);
	cache.key = key;
	if (cache.topo && cache.topo->flat)
		tutti_warn("%s; ranks are not grouped within this node",
			   cache.topo->reason);
	return cache.topo;
}

static bool may_run_anywhere(const struct tutti_cpus *cpus)
{
	long n = 0;

	for (size_t i = 0; i < tutti_countof(cpus->mask); i++)
		n += __builtin_popcountll(cpus->mask[i]);
	return !n || n >= sysconf(_SC_NPROCESSORS_ONLN);
}

static void find_seat(const struct tuttiComm *comm,
		      const struct tutti_cpus *cpus, struct seat *mine)
{
	struct tutti_topo_from from = tutti_topo_wanted();
	const struct tutti_topo *t;
	int first, count;

	mine->place = nowhere;
	if (tutti_setting(TUTTI_SET_TOPO) == TOPO_FLAT)
		return;
	if (!from.xml && !from.synthetic && may_run_anywhere(cpus))
		return;
	pthread_mutex_lock(&cache.lock);
	t = get_topo(&from);
	if (t && !t->flat) {
		mine->source = t->source;
		mine->place = t->live ?
			tutti_topo_place_of(t, cpus->mask,
					    tutti_countof(cpus->mask)) :
			tutti_topo_seat(t, comm->local_rank,
					comm->local_count, &first, &count);
	}
	pthread_mutex_unlock(&cache.lock);
}

/* Places from two descriptions cannot be compared. */
static void compare_sources(const struct tuttiComm *comm,
			    const struct seat *seats,
			    struct tutti_topo_place *places)
{
	int *first = comm->domain;	/* lowest rank of each node, for now */

	for (int r = comm->ranks - 1; r >= 0; r--)
		first[comm->node[r]] = r;
	for (int r = 0; r < comm->ranks; r++) {
		const struct seat *s = &seats[first[comm->node[r]]];

		places[r] = seats[r].source == s->source ? seats[r].place :
							   nowhere;
	}
}

static tuttiResult_t group(struct tuttiComm *comm, const struct seat *seats,
			   struct tutti_topo_place *places)
{
	char why[256];
	int n;

	compare_sources(comm, seats, places);
	n = tutti_topo_group(places, comm->node, comm->ranks, comm->rank,
			     comm->domain, why, sizeof(why));
	if (n < 0)
		return tutti_fail(tuttiSystemError, "out of memory");
	if (n) {
		comm->shape.domains = n;
		comm->shape.domain = comm->domain;
	}
	tutti_info("ranks of this node: %s%s", why,
		   tutti_setting(TUTTI_SET_TOPO) == TOPO_FLAT ?
		   " (TUTTI_TOPO=flat)" : "");
	return tuttiSuccess;
}

/* Fewer ranks than three cannot be divided usefully. */
static bool worth_it(const struct tuttiComm *comm)
{
	int *size = comm->domain;	/* of each node, for now */
	bool worth = false;

	for (int r = 0; r < comm->ranks; r++)
		worth |= ++size[comm->node[r]] > 2;
	return worth;
}

tuttiResult_t tutti_domains_find(struct tuttiComm *comm,
				 const struct tutti_cpus *cpus,
				 int64_t deadline_ns)
{
	size_t n = (size_t)comm->ranks;
	struct tutti_topo_place *places;
	struct seat mine = { 0 }, *seats;
	tuttiResult_t rc;

	comm->domain = calloc(n, sizeof(*comm->domain));
	if (comm->domain && !worth_it(comm))
		return tuttiSuccess;
	seats = calloc(n, sizeof(*seats));
	places = calloc(n, sizeof(*places));
	if (!seats || !places || !comm->domain) {
		rc = tutti_fail(tuttiSystemError, "out of memory");
		goto out;
	}
	find_seat(comm, cpus, &mine);
	rc = tutti_boot_allgather(comm->boot, &mine, seats, sizeof(mine),
				  deadline_ns);
	if (!rc)
		rc = group(comm, seats, places);
out:
	free(seats);
	free(places);
	return rc;
}
