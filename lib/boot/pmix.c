/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx: the process manager interface of Open MPI's launcher and of Slurm.
 * The library is loaded only where a launcher's variables ask for it, so
 * nothing needs it at build time; of its types only the parts that are used
 * are described here, as the PMIx ABI fixes them.
 *
 * Everything runs in a thread of its own, because the library waits without a
 * deadline.  The conversation is closed at the end: a process that leaves it
 * open counts as failed when it exits.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "tutti.id"
#define PMIX_STRING_TYPE 3
#define PMIX_BOOL_TYPE 1
#define PMIX_UINT32_TYPE 14
#define PMIX_GLOBAL_SCOPE 3
#define PMIX_ANY_RANK (UINT32_MAX - 1)	/* the job itself */

struct proc {
	char nspace[256];
	uint32_t rank;
};

struct value {
	uint16_t type;
	union {
		bool flag;
		char *string;
		uint32_t uint32;
		uint64_t room[3];
	} data;
};

struct info {
	char key[512];
	uint32_t flags;
	struct value value;
};

struct pmix {
	int (*init)(struct proc *self, struct info *info, size_t n);
	int (*finalize)(const struct info *info, size_t n);
	int (*put)(uint8_t scope, const char *key, struct value *value);
	int (*commit)(void);
	int (*fence)(const struct proc *procs, size_t nprocs,
		     const struct info *info, size_t n);
	int (*get)(const struct proc *proc, const char *key,
		   const struct info *info, size_t n, struct value **value);
	const char *(*error_string)(int status);
};

struct errand {
	struct pmix api;
	tuttiUniqueId id;
	int rank, nranks;
	int status;		/* of the step that failed, 0: none */
	const char *step;
};

static const char *load(struct pmix *api)
{
	static const char *const names[] = {
		"PMIx_Init", "PMIx_Finalize", "PMIx_Put", "PMIx_Commit",
		"PMIx_Fence", "PMIx_Get", "PMIx_Error_string",
	};
	void **slots[] = {
		(void **)&api->init, (void **)&api->finalize,
		(void **)&api->put, (void **)&api->commit,
		(void **)&api->fence, (void **)&api->get,
		(void **)&api->error_string,
	};
	void *lib = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);

	if (!lib)
		return "libpmix.so.2 cannot be loaded";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*slots[i] = dlsym(lib, names[i]);
		if (!*slots[i])
			return "libpmix.so.2 lacks a function";
	}
	return NULL;
}

/* What PMIx_Get hands out was made by malloc and is the caller's. */
static int get_string(const struct pmix *api, const struct proc *from,
		      char *out, size_t cap)
{
	struct value *v = NULL;
	int status = api->get(from, KEY, NULL, 0, &v);

	if (status)
		return status;
	if (!v || v->type != PMIX_STRING_TYPE || !v->data.string)
		return -1;
	snprintf(out, cap, "%s", v->data.string);
	tutti_auth_forget(v->data.string, strlen(v->data.string));
	free(v->data.string);
	free(v);
	return 0;
}

static int get_size(const struct pmix *api, const struct proc *self, int *out)
{
	struct proc job = *self;
	struct value *v = NULL;
	int status;

	job.rank = PMIX_ANY_RANK;
	status = api->get(&job, "pmix.job.size", NULL, 0, &v);
	if (status)
		return status;
	if (!v || v->type != PMIX_UINT32_TYPE)
		return -1;
	*out = (int)v->data.uint32;
	free(v);
	return 0;
}

/* Pass the id; e->step says what is being done. */
static int pass(struct errand *e, struct proc *self)
{
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1];
	struct value v = { .type = PMIX_STRING_TYPE };
	struct info collect = { .key = "pmix.collect" };
	struct proc zero = *self;
	int status = 0;

	zero.rank = 0;
	if (e->rank == 0) {
		e->step = "giving the unique id";
		tutti_id_to_hex(hex, &e->id);
		v.data.string = hex;
		status = e->api.put(PMIX_GLOBAL_SCOPE, KEY, &v);
		if (!status)
			status = e->api.commit();
	}
	if (status)
		return status;
	e->step = "waiting for the other ranks";
	collect.value.type = PMIX_BOOL_TYPE;
	collect.value.data.flag = true;
	status = e->api.fence(NULL, 0, &collect, 1);
	if (status || e->rank == 0)
		return status;
	e->step = "asking for the unique id";
	status = get_string(&e->api, &zero, hex, sizeof(hex));
	if (!status && !tutti_id_from_hex(&e->id, hex))
		status = -1;
	tutti_auth_forget(hex, sizeof(hex));
	return status;
}

static void run(void *arg)
{
	struct errand *e = arg;
	struct proc self = { .rank = 0 };

	e->step = "connecting";
	e->status = e->api.init(&self, NULL, 0);
	if (e->status)
		return;
	e->step = "asking for the number of ranks";
	e->status = get_size(&e->api, &self, &e->nranks);
	if (!e->status)
		e->status = pass(e, &self);
	e->api.finalize(NULL, 0);
}

tuttiResult_t tutti_pmix_exchange(tuttiUniqueId *id, int rank, int *nranks,
				  int64_t deadline_ns, bool *absent)
{
	struct errand e = { .rank = rank };
	const char *why = load(&e.api);
	tuttiResult_t rc;
	int err;

	*absent = why != NULL;
	if (why)
		return tutti_fail(tuttiInvalidUsage, "rank %d was started "
				  "under PMIx, but %s: install PMIx (Debian: "
				  "libpmix2) or start with `tutti run`", rank,
				  why);
	e.id = *id;
	err = tutti_bounded(run, &e, sizeof(e), deadline_ns);
	if (err == ETIMEDOUT)
		rc = tutti_fail(tuttiTimeout, "rank %d: PMIx did not pass the "
				"unique id in time: have all ranks started?",
				rank);
	else if (err)
		rc = tutti_fail_errno(err, "rank %d: cannot start a thread "
				      "that speaks to PMIx", rank);
	else if (e.status)
		rc = tutti_fail(tuttiInvalidUsage, "rank %d: the PMIx server "
				"of its launcher cannot be used: %s while %s",
				rank, e.status < 0 ?
				e.api.error_string(e.status) : "failure",
				e.step);
	else
		rc = tuttiSuccess;
	if (!rc) {
		*id = e.id;
		*nranks = e.nranks;
	}
	tutti_auth_forget(&e, sizeof(e));
	return rc;
}
