/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who reaches whom by what.  Ranks exchange facts, then try the transports in
 * order; a pair uses the first that both ends have really tried and found
 * working.  Ranks that share memory form a node.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "comm/comm.h"
#include "net/shm/shm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 64

/* What every rank tells at first.  Settings that shape messages or results
 * must agree. */
struct facts {
	struct tutti_cpus cpus;
	uint64_t host;			/* equal on ranks of one kernel */
	int32_t node;			/* TUTTI_NODE, or -1 */
	int32_t slots;
	int64_t slot_bytes, slice_bytes, seq_start;
	int64_t determinism;
	uint64_t algo_hash, transports_hash;
};

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0;

	for (; *s; s++)
		h = tutti_mix(h, (unsigned char)*s);
	return h;
}

/* Ranks of one kernel compete for its CPUs, whatever node they think they are
 * on.  Decides nothing else. */
static uint64_t read_host(void)
{
	char id[37] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f && !fgets(id, sizeof(id), f))
		id[0] = 0;
	if (f)
		fclose(f);
	return tutti_mix(hash_text(id), hash_text(tutti_host_name()));
}

static void read_facts(struct facts *f)
{
	memset(f, 0, sizeof(*f));
	tutti_cpus_read(&f->cpus);
	f->host = read_host();
	f->node = (int32_t)tutti_setting(TUTTI_SET_NODE);
	f->slots = (int32_t)tutti_setting(TUTTI_SET_SLOTS);
	f->slot_bytes = tutti_setting(TUTTI_SET_SLOT_BYTES);
	f->slice_bytes = tutti_setting(TUTTI_SET_SLICE);
	f->seq_start = tutti_setting(TUTTI_SET_DEBUG_SEQ_START);
	f->determinism = tutti_setting(TUTTI_SET_DETERMINISM);
	f->algo_hash = hash_text(tutti_setting_text(TUTTI_SET_ALGO));
	f->transports_hash =
		hash_text(tutti_setting_text(TUTTI_SET_TRANSPORTS));
}

static tuttiResult_t differing_determinism(const struct facts *all, int r)
{
	static const char *const names[] = { "default", "strict" };

	return tutti_fail(tuttiInvalidUsage,
			  "TUTTI_DETERMINISM is %s on rank 0 and %s on rank "
			  "%d; it must be the same on all ranks",
			  names[all[0].determinism & 1],
			  names[all[r].determinism & 1], r);
}

static tuttiResult_t compare_facts(const struct facts *all, int ranks)
{
	for (int r = 1; r < ranks; r++) {
		const char *what = NULL;

		if (all[r].determinism != all[0].determinism)
			return differing_determinism(all, r);
		if (all[r].slots != all[0].slots)
			what = "TUTTI_SLOTS";
		if (all[r].slot_bytes != all[0].slot_bytes)
			what = "TUTTI_SLOT_BYTES";
		if (all[r].slice_bytes != all[0].slice_bytes)
			what = "TUTTI_SLICE";
		if (all[r].seq_start != all[0].seq_start)
			what = "TUTTI_DEBUG_SEQ_START";
		if (all[r].algo_hash != all[0].algo_hash)
			what = "TUTTI_ALGO";
		if (all[r].transports_hash != all[0].transports_hash)
			what = "TUTTI_TRANSPORTS";
		if (what)
			return tutti_fail(tuttiInvalidUsage,
					  "%s differs between rank 0 and rank "
					  "%d; it must be the same on all "
					  "ranks", what, r);
	}
	return tuttiSuccess;
}

/* Slots of all channels of a rank together stay below 8 MiB or so. */
static size_t choose_slot_bytes(const struct facts *f, int ranks)
{
	size_t slot = 64 << 10, share;

	if (f->slot_bytes)
		return tutti_round_up(tutti_max((size_t)f->slot_bytes, 256),
				      TUTTI_LINE * 2);
	share = ((size_t)8 << 20) / (size_t)f->slots /
		(size_t)tutti_max(ranks - 1, 1);
	while (slot > share && slot > 4096)
		slot /= 2;
	return slot;
}

static void fill_env(struct tuttiComm *comm, const struct facts *f,
		     struct tutti_xport_env *env)
{
	memset(env, 0, sizeof(*env));
	env->rank = comm->rank;
	env->ranks = comm->ranks;
	env->secret = tutti_boot_secret(comm->boot);
	env->bell = comm->waiter.bell;
	env->lines = LINES;
	env->slots = (uint32_t)f->slots;
	env->slot_bytes = choose_slot_bytes(f, comm->ranks);
	env->seq_start = (uint64_t)f->seq_start;
	env->stopped = comm->stop.fn;
	env->stop_arg = comm->stop.arg;
}

/* Does the list in TUTTI_TRANSPORTS hold `name`? */
static bool listed(const char *name)
{
	const char *list = tutti_setting_text(TUTTI_SET_TRANSPORTS);
	size_t len = strlen(name);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, name, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static tuttiResult_t check_list(void)
{
	char name[32];
	const char *list = tutti_setting_text(TUTTI_SET_TRANSPORTS);

	while (*list) {
		size_t n = strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s", (int)n, list);
		if (strcmp(name, "self") && !tutti_xport_find(name))
			return tutti_fail(tuttiInvalidUsage,
					  "TUTTI_TRANSPORTS names \"%s\", "
					  "which this library does not have; "
					  "it has self, shm and tcp", name);
		list += n + (list[n] == ',');
	}
	return tuttiSuccess;
}

struct trial {
	uint8_t open;			/* this rank opened its end */
	uint8_t addr[TUTTI_ADDR_MAX];
};

/* Whether a pair should try this transport. */
static bool wanted(const struct tuttiComm *comm, const struct facts *f,
		   const char *name, int peer)
{
	if (peer == comm->rank || comm->via[peer] >= 0)
		return false;
	/* Ranks told to be on different nodes must not share memory. */
	return strcmp(name, "shm") ||
	       f[peer].node == f[comm->rank].node;
}

/* Tell every rank whom I reached; a pair counts if both say so. */
static tuttiResult_t agree(struct tuttiComm *comm, bool *reached,
			   int64_t deadline_ns)
{
	size_t n = (size_t)comm->ranks, bytes = (n + 7) / 8;
	uint8_t *mine = calloc(1, bytes), *all = calloc(n, bytes);
	tuttiResult_t rc = tuttiSystemError;

	if (!mine || !all) {
		rc = tutti_fail(rc, "out of memory");
		goto out;
	}
	for (size_t r = 0; r < n; r++)
		if (reached[r])
			mine[r / 8] |= (uint8_t)(1u << (r % 8));
	rc = tutti_boot_allgather(comm->boot, mine, all, bytes, deadline_ns);
	for (size_t r = 0; !rc && r < n; r++)
		if (!(all[r * bytes + (size_t)comm->rank / 8] >>
		      (comm->rank % 8) & 1))
			reached[r] = false;
out:
	free(mine);
	free(all);
	return rc;
}

struct round {
	const struct tutti_xport_ops *ops;
	struct tutti_xport *x;
	struct trial *trials;
	uint8_t *addrs;
	bool *want, *reached;
};

static void round_free(struct round *t)
{
	free(t->trials);
	free(t->addrs);
	free(t->want);
	free(t->reached);
}

/* Open this rank's end and learn the others'. */
static tuttiResult_t exchange(struct tuttiComm *comm, struct round *t,
			      const struct facts *f,
			      const struct tutti_xport_env *env,
			      int64_t deadline_ns)
{
	struct trial mine = { 0 };
	tuttiResult_t rc;

	if (listed(t->ops->name) && !t->ops->open(&t->x, env)) {
		mine.open = 1;
		t->ops->local_addr(t->x, mine.addr);
	}
	rc = tutti_boot_allgather(comm->boot, &mine, t->trials, sizeof(mine),
				  deadline_ns);
	if (rc)
		return rc;
	for (int r = 0; r < comm->ranks; r++) {
		memcpy(t->addrs + (size_t)r * t->ops->addr_bytes,
		       t->trials[r].addr, t->ops->addr_bytes);
		t->want[r] = t->x && t->trials[r].open &&
			     wanted(comm, f, t->ops->name, r);
	}
	return tuttiSuccess;
}

/* Try one transport between all pairs that have none yet. */
static tuttiResult_t try_transport(struct tuttiComm *comm, struct round *t,
				   const struct facts *f,
				   const struct tutti_xport_env *env,
				   int64_t deadline_ns)
{
	tuttiResult_t rc = exchange(comm, t, f, env, deadline_ns);
	bool used = false;

	if (!rc && t->x)
		rc = t->ops->connect(t->x, t->want, t->addrs, t->reached,
				     deadline_ns);
	if (!rc)
		rc = agree(comm, t->reached, deadline_ns);
	for (int r = 0; !rc && r < comm->ranks; r++) {
		if (!t->want[r] || !t->reached[r])
			continue;
		comm->via[r] = comm->nxports;
		used = true;
	}
	if (rc || !used) {
		if (t->x)
			t->ops->close(t->x);
		return rc;
	}
	comm->ops[comm->nxports] = t->ops;
	comm->xport[comm->nxports++] = t->x;
	return tuttiSuccess;
}

static tuttiResult_t try_all(struct tuttiComm *comm, const struct facts *f,
			     struct tutti_xport_env *env, int64_t deadline_ns)
{
	size_t n = (size_t)comm->ranks;
	tuttiResult_t rc = tuttiSuccess;

	for (int i = 0; !rc && tutti_xports[i]; i++) {
		struct round t = { .ops = tutti_xports[i] };

		t.trials = calloc(n, sizeof(*t.trials));
		t.addrs = calloc(n, TUTTI_ADDR_MAX);
		t.want = calloc(n, sizeof(*t.want));
		t.reached = calloc(n, sizeof(*t.reached));
		if (t.trials && t.addrs && t.want && t.reached)
			rc = try_transport(comm, &t, f, env, deadline_ns);
		else
			rc = tutti_fail(tuttiSystemError, "out of memory");
		if (!rc && comm->nxports && comm->ops[comm->nxports - 1] ==
					    t.ops) {
			struct tutti_bell *bell = t.ops->bell(t.x);

			if (bell)
				env->bell = comm->waiter.bell = bell;
			if (!strcmp(t.ops->name, "shm"))
				comm->shm = t.x;
		}
		round_free(&t);
	}
	for (int r = 0; !rc && r < comm->ranks; r++)
		if (r != comm->rank && comm->via[r] < 0)
			rc = tutti_fail(tuttiRemoteError,
					"rank %d on %s reaches rank %d by "
					"none of the transports %s",
					comm->rank, tutti_host_name(), r,
					tutti_setting_text(
						TUTTI_SET_TRANSPORTS));
	return rc;
}

static tuttiResult_t make_channels(struct tuttiComm *comm,
				   const struct tutti_xport_env *env)
{
	size_t n = (size_t)comm->ranks * TUTTI_NET_LANES;
	struct tutti_chan *chans;
	tuttiResult_t rc = tuttiSuccess;

	chans = aligned_alloc(TUTTI_LINE, tutti_round_up(n * sizeof(*chans),
							 TUTTI_LINE));
	if (!chans)
		return tutti_fail(tuttiSystemError, "out of memory");
	memset(chans, 0, n * sizeof(*chans));
	comm->exec.chans = chans;
	for (size_t i = 0; !rc && i < n; i++) {
		struct tutti_chan *c = &chans[i];
		int peer = (int)(i / TUTTI_NET_LANES), via = comm->via[peer];

		if (via < 0)
			continue;
		c->ops = comm->ops[via];
		c->x = comm->xport[via];
		c->peer = peer;
		c->lane = (int)(i % TUTTI_NET_LANES);
		c->lines = env->lines;
		c->slots = env->slots;
		c->slot_bytes = env->slot_bytes;
		tutti_chan_start(c, env->seq_start);
		rc = c->ops->chan_init(c->x, c);
	}
	return rc;
}

/* Every rank tells the lowest rank it shares memory with; equal answers are
 * one node, numbered by their lowest rank. */
static tuttiResult_t find_nodes(struct tuttiComm *comm, int64_t deadline_ns)
{
	int32_t mine = comm->rank;
	tuttiResult_t rc;

	for (int r = comm->rank - 1; r >= 0; r--)
		if (comm->shm && comm->xport[comm->via[r]] == comm->shm)
			mine = r;
	rc = tutti_boot_allgather(comm->boot, &mine, comm->node, sizeof(mine),
				  deadline_ns);
	if (rc)
		return rc;
	comm->nodes = 0;
	for (int r = 0; r < comm->ranks; r++) {
		int lowest = comm->node[r];

		comm->node[r] = lowest == r ? comm->nodes++ :
					      comm->node[lowest];
	}
	for (int r = 0; r < comm->ranks; r++)
		if (comm->node[r] == comm->node[comm->rank]) {
			comm->local_rank += r < comm->rank;
			comm->local_count++;
		}
	comm->shape.ranks = comm->ranks;
	comm->shape.nodes = comm->nodes;
	comm->shape.node = comm->node;
	return tuttiSuccess;
}

static void set_waiting(struct tuttiComm *comm, const struct facts *f)
{
	struct tutti_cpus *cpus = calloc((size_t)comm->ranks, sizeof(*cpus));
	int n = 0, self = 0;

	for (int r = 0; cpus && r < comm->ranks; r++) {
		if (f[r].host != f[comm->rank].host)
			continue;
		if (r == comm->rank)
			self = n;
		cpus[n++] = f[r].cpus;
	}
	/* Without memory for this: as if alone. */
	if (cpus)
		tutti_waiter_init(&comm->waiter, comm->waiter.bell, cpus, n,
				  self);
	else
		tutti_waiter_init(&comm->waiter, comm->waiter.bell,
				  &f[comm->rank].cpus, 1, 0);
	free(cpus);
}

static void tell_peers(const struct tuttiComm *comm)
{
	for (int r = 0; r < comm->ranks; r++)
		if (r != comm->rank)
			tutti_info("rank %d (node %d) is reached by %s", r,
				   comm->node[r],
				   comm->ops[comm->via[r]]->name);
}

tuttiResult_t tutti_peers_connect(struct tuttiComm *comm, int64_t deadline_ns)
{
	struct facts mine, *all = calloc((size_t)comm->ranks, sizeof(*all));
	struct tutti_xport_env env;
	tuttiResult_t rc = check_list();

	if (!all)
		rc = tutti_fail(tuttiSystemError, "out of memory");
	if (rc)
		goto out;
	read_facts(&mine);
	rc = tutti_boot_allgather(comm->boot, &mine, all, sizeof(mine),
				  deadline_ns);
	if (!rc)
		rc = compare_facts(all, comm->ranks);
	if (rc)
		goto out;
	fill_env(comm, &mine, &env);
	rc = tutti_boot_address(comm->boot, env.address);
	if (!rc)
		rc = try_all(comm, all, &env, deadline_ns);
	if (!rc)
		rc = find_nodes(comm, deadline_ns);
	if (!rc)
		rc = tutti_domains_find(comm, &mine.cpus, deadline_ns);
	if (!rc)
		rc = make_channels(comm, &env);
	if (rc)
		goto out;
	comm->strict = mine.determinism;
	comm->exec.slot_bytes = env.slot_bytes;
	comm->exec.credits = env.slots;
	comm->exec.slice_bytes = (size_t)mine.slice_bytes;
	if (comm->shm && comm->nodes == 1) {
		comm->exec.map_ops = tutti_xport_find("shm");
		comm->exec.map_xport = comm->shm;
	}
	set_waiting(comm, all);
	tell_peers(comm);
out:
	free(all);
	return rc;
}

void tutti_peers_close(struct tuttiComm *comm)
{
	for (int i = comm->nxports - 1; i >= 0; i--)
		comm->ops[i]->close(comm->xport[i]);
	comm->nxports = 0;
	comm->shm = NULL;
	free(comm->exec.chans);
	comm->exec.chans = NULL;
}
