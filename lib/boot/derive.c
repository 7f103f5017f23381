/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meeting point of launchers that pass nothing between ranks but their
 * variables: Slurm without PMIx, and torchrun.  Secret and ports are derived
 * from what all ranks of a job, and no other job, see; TUTTI_SECRET makes the
 * secret one, TUTTI_PORT replaces the ports.  Rank 0 listens at the first of
 * the ports that is free, the others try all.
 *
 * torchrun's own store may listen at MASTER_PORT, so that port is not used.
 * The host of rank 0 is looked up by name, because the launcher gives only
 * that; the own address never is.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORTS 4
/* Below the kernel's own range of 32768 and up, above the services. */
#define PORT_FIRST 20000
#define PORT_COUNT 12000
#define JOB_BYTES 1024
#define LOOKUP_MAX 8
#define NODES_MAX 65536

struct meeting {
	uint16_t port[PORTS];
	size_t ports;
};

/* The values of `names`, joined: what makes this job another than the next. */
static void job_text(char out[JOB_BYTES], const char *launcher,
		     const char *const *names, size_t n)
{
	size_t used = (size_t)snprintf(out, JOB_BYTES, "%s", launcher);

	for (size_t i = 0; i < n && used < JOB_BYTES; i++) {
		const char *value = getenv(names[i]);

		used += (size_t)snprintf(out + used, JOB_BYTES - used,
					 "\n%s=%s", names[i],
					 value ? value : "");
	}
}

static tuttiResult_t derive(struct tutti_target *to, struct meeting *m,
			    const char *launcher, const char *job)
{
	const char *text = tutti_setting_text(TUTTI_SET_SECRET);
	const struct tutti_part part = { job, strlen(job) };
	uint8_t key[TUTTI_SECRET_BYTES] = { 0 }, mac[TUTTI_MAC_BYTES];
	int64_t port = tutti_setting(TUTTI_SET_PORT);

	if (*text && !tutti_from_hex(key, sizeof(key), text))
		return tutti_fail(tuttiInvalidUsage, "TUTTI_SECRET must be %d "
				  "hexadecimal digits (its value is not shown "
				  "here)", 2 * TUTTI_SECRET_BYTES);
	if (!*text)
		tutti_info("%s hands out no secret: this job's is derived "
			   "from its variables and is only as secret as they "
			   "are; set TUTTI_SECRET to keep strangers of this "
			   "network out", launcher);
	if (!tutti_auth_mac(mac, key, sizeof(key), "tutti job", &part, 1))
		return tutti_fail(tuttiSystemError,
				  "libcrypto cannot derive a secret");
	memset(to, 0, sizeof(*to));
	to->patient = true;
	memcpy(to->secret, mac, TUTTI_SECRET_BYTES);
	for (m->ports = 0; m->ports < PORTS; m->ports++)
		m->port[m->ports] = (uint16_t)
			(PORT_FIRST + tutti_get16(mac + TUTTI_SECRET_BYTES +
						  2 * m->ports) % PORT_COUNT);
	if (port) {
		m->port[0] = (uint16_t)port;
		m->ports = 1;
	}
	tutti_auth_forget(key, sizeof(key));
	tutti_auth_forget(mac, sizeof(mac));
	return tuttiSuccess;
}

/* This host's addresses, loopback last. */
static tuttiResult_t add_own(struct tutti_target *to, const struct meeting *m)
{
	static const struct tutti_addr loopback[] = {
		{ 4, { 127, 0, 0, 1 } },
		{ 6, { [15] = 1 } },
	};
	struct tutti_addr own[TUTTI_ID_ADDRS];
	tuttiResult_t rc;
	size_t n;

	rc = tutti_address_own(own, TUTTI_ID_ADDRS, &n);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		tutti_target_add(to, &own[i], m->port, m->ports);
	for (size_t i = 0; i < tutti_countof(loopback); i++)
		tutti_target_add(to, &loopback[i], m->port, m->ports);
	return tuttiSuccess;
}

/* Rank 0's side. */
static tuttiResult_t serve(struct tutti_target *to, struct meeting *m)
{
	tuttiResult_t rc;

	rc = tutti_root_serve(to->secret, m->port, m->ports, &m->port[0]);
	if (rc)
		return rc;
	m->ports = 1;
	return add_own(to, m);
}

/* ---- Looking up another host ------------------------------------------- */

struct lookup {
	char name[256];
	int error;		/* of getaddrinfo */
	size_t count;
	struct tutti_addr found[LOOKUP_MAX];
};

static void look_up(void *arg)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *i;
	struct lookup *l = arg;

	l->error = getaddrinfo(l->name, NULL, &hints, &list);
	if (l->error)
		return;
	for (i = list; i && l->count < LOOKUP_MAX; i = i->ai_next) {
		const union tutti_sockaddr *a = (const void *)i->ai_addr;
		struct tutti_addr *out = &l->found[l->count];

		if (a->sa.sa_family == AF_INET) {
			out->family = 4;
			memcpy(out->bytes, &a->in.sin_addr, 4);
		} else if (a->sa.sa_family == AF_INET6) {
			out->family = 6;
			memcpy(out->bytes, &a->in6.sin6_addr, 16);
		} else {
			continue;
		}
		l->count++;
	}
	freeaddrinfo(list);
}

/* Once or, while the name service is busy, again until the deadline. */
static int look_up_by(struct lookup *l, int64_t deadline_ns)
{
	const struct timespec second = { .tv_sec = 1 };
	int err;

	for (;;) {
		err = tutti_bounded(look_up, l, sizeof(*l), deadline_ns);
		if (err || l->error != EAI_AGAIN)
			return err;
		if (tutti_now_ns() + 1000 * TUTTI_MS >= deadline_ns)
			return ETIMEDOUT;
		nanosleep(&second, NULL);
	}
}

/* Add the addresses of `name`, which stands in the variable `from`. */
static tuttiResult_t add_host(struct tutti_target *to, const struct meeting *m,
			      const char *name, const char *from,
			      bool elsewhere, int64_t deadline_ns)
{
	struct lookup l = { .error = 0 };
	int err;

	if (strlen(name) >= sizeof(l.name))
		return tutti_fail(tuttiInvalidUsage, "the name of rank 0's "
				  "host in %s is too long", from);
	strcpy(l.name, name);
	err = look_up_by(&l, deadline_ns);
	if (err == ETIMEDOUT)
		return tutti_fail(tuttiTimeout, "the name service did not "
				  "find rank 0's host %s (%s) in time", name,
				  from);
	if (err)
		return tutti_fail_errno(err, "cannot start a thread that "
					"looks up rank 0's host %s", name);
	if (l.error)
		return tutti_fail(tuttiInvalidUsage, "cannot find the address "
				  "of rank 0's host %s (%s): %s", name, from,
				  gai_strerror(l.error));
	for (size_t i = 0; i < l.count; i++)
		/* A table of hosts that calls another host's name loopback
		 * is wrong. */
		if (!elsewhere || !tutti_address_loopback(&l.found[i]))
			tutti_target_add(to, &l.found[i], m->port, m->ports);
	if (!to->count)
		return tutti_fail(tuttiInvalidUsage, "rank 0's host %s (%s) "
				  "has only a loopback address here (%s): look "
				  "at /etc/hosts", name, from,
				  tutti_host_name());
	return tuttiSuccess;
}

/* ---- Slurm ------------------------------------------------------------- */

static const char *first_of(const char *const *names, const char **which)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && *value) {
			*which = *names;
			return value;
		}
	}
	return NULL;
}

struct nodes {
	char first[256];
	int count;
	bool here;		/* this host is in the list */
	bool first_here;
};

/* Is `name` what this host calls itself, with or without a domain? */
static bool names_this_host(const char *name)
{
	const char *slurm = getenv("SLURMD_NODENAME");
	const char *own = slurm && *slurm ? slurm : tutti_host_name();
	size_t len = strcspn(own, ".");

	return !strcmp(name, own) || !strcmp(name, "localhost") ||
	       (!strncmp(name, own, len) && strcspn(name, ".") == len);
}

static int on_node(void *arg, const char *name)
{
	struct nodes *n = arg;
	bool mine = names_this_host(name);

	if (!n->count)
		snprintf(n->first, sizeof(n->first), "%s", name);
	if (!n->count)
		n->first_here = mine;
	n->here |= mine;
	return ++n->count >= NODES_MAX;
}

static tuttiResult_t slurm_nodes(struct nodes *n, const char **from)
{
	static const char *const lists[] = { "SLURM_STEP_NODELIST",
					     "SLURM_JOB_NODELIST",
					     "SLURM_NODELIST", NULL };
	const char *list = first_of(lists, from);
	const char *node = getenv("SLURM_NODEID");

	memset(n, 0, sizeof(*n));
	if (!list)
		return tutti_fail(tuttiInvalidUsage, "Slurm's variables show "
				  "several tasks, but no list of nodes "
				  "(SLURM_STEP_NODELIST or "
				  "SLURM_JOB_NODELIST), so rank 0 cannot be "
				  "found: start the program with srun");
	if (!tutti_slurm_nodes(list, on_node, n))
		return tutti_fail(tuttiInvalidUsage, "%s=%s is not a list of "
				  "nodes", *from, list);
	if (n->count == 1)
		n->here = n->first_here = true;
	if (!n->here)
		return tutti_fail(tuttiInvalidUsage, "this host, %s, is none "
				  "of Slurm's nodes (%s=%s): start the program "
				  "with srun, or for one process alone set "
				  "TUTTI_RANK=0 and TUTTI_SIZE=1",
				  tutti_host_name(), *from, list);
	if (node && !strcmp(node, "0"))
		n->first_here = true;
	return tuttiSuccess;
}

tuttiResult_t tutti_derive_slurm(struct tutti_target *to, int rank,
				 int64_t deadline_ns)
{
	static const char *const names[] = {
		"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID",
		"SLURM_JOB_UID", "SLURM_RESTART_COUNT",
	};
	char job[JOB_BYTES];
	struct meeting m;
	struct nodes nodes;
	const char *from = "";
	tuttiResult_t rc;

	rc = slurm_nodes(&nodes, &from);
	if (rc)
		return rc;
	job_text(job, "Slurm", names, tutti_countof(names));
	rc = derive(to, &m, "Slurm", job);
	if (rc)
		return rc;
	to->note = "rank 0 is expected on the first node of the step";
	if (rank == 0)
		return serve(to, &m);
	if (nodes.first_here)
		return add_own(to, &m);
	return add_host(to, &m, nodes.first, from, true, deadline_ns);
}

/* ---- torchrun ---------------------------------------------------------- */

tuttiResult_t tutti_derive_torchrun(struct tutti_target *to, int rank,
				    int64_t deadline_ns)
{
	static const char *const names[] = {
		"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE",
		"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
	};
	const char *host = getenv("MASTER_ADDR");
	const char *port = getenv("MASTER_PORT");
	const char *group = getenv("GROUP_RANK");
	char job[JOB_BYTES];
	struct meeting m;
	tuttiResult_t rc;

	if (!host || !*host || !port || !*port)
		return tutti_fail(tuttiInvalidUsage, "RANK and WORLD_SIZE are "
				  "set, but not MASTER_ADDR and MASTER_PORT, "
				  "which name rank 0's host and this job");
	job_text(job, "torchrun", names, tutti_countof(names));
	rc = derive(to, &m, "torchrun", job);
	if (rc)
		return rc;
	to->note = "rank 0 is expected at MASTER_ADDR";
	if (rank == 0)
		return serve(to, &m);
	rc = add_host(to, &m, host, "MASTER_ADDR", false, deadline_ns);
	if (!rc && group && !strcmp(group, "0"))
		rc = add_own(to, &m);
	return rc;
}
