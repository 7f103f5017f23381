/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher's variables say, and joining by them.
 *
 * TUTTI_RANK and TUTTI_SIZE are believed above all others, since they are
 * meant for nobody else.  Every other launcher's signs must agree, with one
 * exception: inside a task of Slurm that is itself a launcher (SLURM_TASK_PID
 * is another process), Slurm's variables describe that launcher, and the
 * inner one's are believed.
 *
 * The ids of launchers serve one communicator after another, told apart by a
 * generation that every process counts: all call tuttiCommInitEnv equally
 * often.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Signs ------------------------------------------------------------- */

struct number {
	const char *name;	/* of the variable; NULL: not set */
	int value;
};

struct sign {
	const char *launcher;
	struct number rank, size, local;
};

enum { OPENMPI, PMIX, MPICH, SLURM, TORCHRUN, LAUNCHERS };

static const struct {
	const char *launcher;
	const char *rank[2], *size[4], *local[2];
} known[LAUNCHERS] = {
	[OPENMPI] = { "Open MPI", { "OMPI_COMM_WORLD_RANK" },
		      { "OMPI_COMM_WORLD_SIZE" },
		      { "OMPI_COMM_WORLD_LOCAL_RANK" } },
	[PMIX] = { "PMIx", { "PMIX_RANK" }, { NULL }, { NULL } },
	[MPICH] = { "MPICH", { "PMI_RANK" }, { "PMI_SIZE" },
		    { "MPI_LOCALRANKID" } },
	[SLURM] = { "Slurm", { "SLURM_PROCID" },
		    { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
		      "SLURM_NPROCS" },
		    { "SLURM_LOCALID" } },
	[TORCHRUN] = { "torchrun", { "RANK" }, { "WORLD_SIZE" },
		       { "LOCAL_RANK" } },
};

/* The first of `names` that is set. */
static tuttiResult_t read_number(struct number *out, const char *const *names,
				 size_t n)
{
	out->name = NULL;
	for (size_t i = 0; i < n && names[i]; i++) {
		const char *text = getenv(names[i]);
		char *end;
		long v;

		if (!text || !*text)
			continue;
		errno = 0;
		v = strtol(text, &end, 10);
		if (*end || errno || v < 0 || v > INT_MAX)
			return tutti_fail(tuttiInvalidUsage, "%s=%s is not a "
					  "number that a launcher sets",
					  names[i], text);
		out->name = names[i];
		out->value = (int)v;
		return tuttiSuccess;
	}
	return tuttiSuccess;
}

/* Slurm's tasks per node: the size if nothing else tells it, else a check. */
static tuttiResult_t read_slurm_tasks(struct sign *s)
{
	static const char *const names[] = { "SLURM_STEP_TASKS_PER_NODE",
					     "SLURM_TASKS_PER_NODE" };
	int64_t sum;
	size_t n;

	for (size_t i = 0; i < tutti_countof(names); i++) {
		const char *text = getenv(names[i]);

		if (!text || !*text)
			continue;
		if (!tutti_slurm_tasks(text, NULL, 0, &n, &sum) ||
		    sum > INT_MAX)
			return tutti_fail(tuttiInvalidUsage, "%s=%s is not a "
					  "list of tasks per node", names[i],
					  text);
		if (!s->size.name) {
			s->size = (struct number){ names[i], (int)sum };
			return tuttiSuccess;
		}
		/* That of the job may be larger than that of the step. */
		if (i == 0 && sum != s->size.value)
			return tutti_fail(tuttiInvalidUsage, "%s=%s makes "
					  "%lld tasks, but %s=%d", names[i],
					  text, (long long)sum, s->size.name,
					  s->size.value);
		return tuttiSuccess;
	}
	return tuttiSuccess;
}

static tuttiResult_t read_signs(struct sign s[LAUNCHERS])
{
	tuttiResult_t rc = tuttiSuccess;

	for (int i = 0; i < LAUNCHERS && !rc; i++) {
		s[i].launcher = known[i].launcher;
		rc = read_number(&s[i].rank, known[i].rank, 2);
		if (!rc)
			rc = read_number(&s[i].size, known[i].size, 4);
		if (!rc)
			rc = read_number(&s[i].local, known[i].local, 2);
	}
	if (!rc && s[SLURM].rank.name)
		rc = read_slurm_tasks(&s[SLURM]);
	return rc;
}

static void drop(struct sign *s)
{
	s->rank.name = s->size.name = s->local.name = NULL;
}

static bool differ(const struct number *a, const struct number *b)
{
	return a->name && b->name && a->value != b->value;
}

/* Inside a launcher that is a task of Slurm: what Slurm says, and what its
 * own managers repeat, is about that launcher. */
static void drop_outer(struct sign s[LAUNCHERS])
{
	const char *text = getenv("SLURM_TASK_PID");
	bool outer = false;

	if (!text || !s[SLURM].rank.name || atol(text) == (long)getpid())
		return;
	for (int i = 0; i < LAUNCHERS; i++)
		outer |= differ(&s[i].rank, &s[SLURM].rank) ||
			 differ(&s[i].size, &s[SLURM].size);
	if (!outer)
		return;
	/* PMIx and PMI are of the innermost launcher that speaks them, which
	 * torchrun does not. */
	if (s[TORCHRUN].rank.name && s[TORCHRUN].size.name &&
	    !s[OPENMPI].rank.name) {
		drop(&s[PMIX]);
		drop(&s[MPICH]);
	}
	drop(&s[SLURM]);
	tutti_info("Slurm started this process's launcher, not this process: "
		   "its variables are not used");
}

static tuttiResult_t contradiction(const struct sign *a,
				   const struct number *x,
				   const struct sign *b,
				   const struct number *y)
{
	return tutti_fail(tuttiInvalidUsage, "%s=%d (%s) and %s=%d (%s) "
			  "contradict each other: unset those of the launcher "
			  "that did not start this process", x->name, x->value,
			  a->launcher, y->name, y->value, b->launcher);
}

static tuttiResult_t compare(const struct sign s[LAUNCHERS])
{
	for (int i = 0; i < LAUNCHERS; i++)
		for (int j = i + 1; j < LAUNCHERS; j++) {
			if (differ(&s[i].rank, &s[j].rank))
				return contradiction(&s[i], &s[i].rank, &s[j],
						     &s[j].rank);
			if (differ(&s[i].size, &s[j].size))
				return contradiction(&s[i], &s[i].size, &s[j],
						     &s[j].size);
		}
	return tuttiSuccess;
}

/* ---- The choice -------------------------------------------------------- */

static tuttiResult_t check_range(const char *rank_name, int rank,
				 const char *size_name, int size)
{
	if (size >= 1 && rank < size)
		return tuttiSuccess;
	return tutti_fail(tuttiInvalidUsage, "%s=%d and %s=%d contradict each "
			  "other: ranks are 0 to size - 1", rank_name, rank,
			  size_name, size);
}

/* True if TUTTI_RANK and TUTTI_SIZE decide. */
static bool own_signs(struct tutti_boot_env *env, tuttiResult_t *rc)
{
	bool rank = tutti_setting(TUTTI_SET_RANK) >= 0;
	bool size = tutti_setting(TUTTI_SET_SIZE) >= 0;

	*rc = tuttiSuccess;
	if (!rank && !size && !tutti_setting_given(TUTTI_SET_UNIQUE_ID))
		return false;
	if (!rank || !size) {
		*rc = tutti_fail(tuttiInvalidUsage, "%s is set, but not %s: "
				 "`tutti run` sets TUTTI_RANK and TUTTI_SIZE",
				 rank ? "TUTTI_RANK" :
				 size ? "TUTTI_SIZE" : "TUTTI_UNIQUE_ID",
				 rank ? "TUTTI_SIZE" : "TUTTI_RANK");
		return true;
	}
	env->launcher = "tutti run";
	env->rank = (int)tutti_setting(TUTTI_SET_RANK);
	env->size = (int)tutti_setting(TUTTI_SET_SIZE);
	env->local_rank = (int)tutti_setting(TUTTI_SET_LOCAL_RANK);
	*rc = check_range("TUTTI_RANK", env->rank, "TUTTI_SIZE", env->size);
	return true;
}

/* No launcher gives both rank and size.  Half a sign of several ranks is no
 * reason to run alone. */
static tuttiResult_t alone(struct tutti_boot_env *env,
			   const struct sign s[LAUNCHERS])
{
	for (int i = 0; i < LAUNCHERS; i++) {
		const struct number *has = s[i].size.name &&
			s[i].size.value > 1 ? &s[i].size :
			s[i].rank.name && s[i].rank.value > 0 ?
			&s[i].rank : NULL;
		bool size = has == &s[i].size;

		if (has)
			return tutti_fail(tuttiInvalidUsage, "%s=%d speaks of "
					  "several ranks, but %s is not set: "
					  "start the program with %s, or for "
					  "one process alone set TUTTI_RANK=0 "
					  "and TUTTI_SIZE=1", has->name,
					  has->value, size ?
					  known[i].rank[0] : known[i].size[0],
					  i == SLURM ? "srun" :
					  s[i].launcher);
	}
	*env = (struct tutti_boot_env){ "none", 0, 1, -1 };
	return tuttiSuccess;
}

static tuttiResult_t decide(struct tutti_boot_env *env,
			    struct sign s[LAUNCHERS])
{
	const struct number *rank = NULL, *size = NULL, *local = NULL;
	tuttiResult_t rc;

	drop_outer(s);
	rc = compare(s);
	if (rc)
		return rc;
	env->launcher = NULL;
	for (int i = 0; i < LAUNCHERS; i++) {
		/* PMIx tells the size when it is asked. */
		bool whole = s[i].rank.name && (s[i].size.name || i == PMIX);

		if (whole && !env->launcher)
			env->launcher = s[i].launcher;
		if (!rank && s[i].rank.name)
			rank = &s[i].rank;
		if (!size && s[i].size.name)
			size = &s[i].size;
		if (!local && s[i].local.name && s[i].rank.name)
			local = &s[i].local;
	}
	if (!env->launcher)
		return alone(env, s);
	env->rank = rank->value;
	env->size = size ? size->value : -1;
	env->local_rank = local ? local->value : -1;
	return size ? check_range(rank->name, rank->value, size->name,
				  size->value) : tuttiSuccess;
}

static tuttiResult_t read_env(struct tutti_boot_env *env,
			      struct sign s[LAUNCHERS])
{
	tuttiResult_t rc;

	rc = tutti_settings_check();
	if (rc)
		return rc;
	memset(s, 0, LAUNCHERS * sizeof(*s));
	if (own_signs(env, &rc))
		return rc;
	rc = read_signs(s);
	return rc ? rc : decide(env, s);
}

tuttiResult_t tutti_boot_env_read(struct tutti_boot_env *env)
{
	struct tutti_boot_env found;
	struct sign s[LAUNCHERS];
	tuttiResult_t rc;

	rc = read_env(&found, s);
	if (!rc)
		*env = found;
	return rc;
}

/* ---- Joining ----------------------------------------------------------- */

/* What this process has found out about its job. */
static struct {
	pthread_mutex_t lock;
	bool known;		/* target and nranks, of a manager */
	struct tutti_target target;
	int nranks;
	uint8_t secret[TUTTI_SECRET_BYTES]; /* of which generations count */
	uint32_t generation;
} job = { .lock = PTHREAD_MUTEX_INITIALIZER };

void tutti_env_after_fork(void)
{
	pthread_mutex_init(&job.lock, NULL);
}

static tuttiResult_t by_id(struct tutti_target *to, const tuttiUniqueId *id)
{
	struct tutti_id plain;
	tuttiResult_t rc;

	rc = tutti_id_unpack(&plain, id);
	if (!rc)
		rc = tutti_target_from_id(to, &plain);
	tutti_auth_forget(&plain, sizeof(plain));
	return rc;
}

static tuttiResult_t by_variable(struct tutti_target *to)
{
	const char *text = tutti_setting_text(TUTTI_SET_UNIQUE_ID);
	tuttiUniqueId id;
	tuttiResult_t rc;

	if (!*text)
		return tutti_fail(tuttiInvalidUsage, "TUTTI_SIZE=%d, but "
				  "TUTTI_UNIQUE_ID, which names the meeting "
				  "point, is not set: start the ranks with "
				  "`tutti run`",
				  (int)tutti_setting(TUTTI_SET_SIZE));
	if (!tutti_id_from_hex(&id, text))
		return tutti_fail(tuttiInvalidUsage, "TUTTI_UNIQUE_ID must be "
				  "%d hexadecimal digits (its value is not "
				  "shown here)", 2 * TUTTI_UNIQUE_ID_BYTES);
	rc = by_id(to, &id);
	tutti_auth_forget(&id, sizeof(id));
	/* Whoever set the variable, it is not an argument of a call. */
	return rc == tuttiInvalidArgument ? tuttiInvalidUsage : rc;
}

/* Rank 0 makes an id and a process manager passes it around.  Rank 0 comes
 * also if it could make none, so that the others need not wait for it. */
static tuttiResult_t by_manager(struct tutti_target *to, bool pmix, int rank,
				int *nranks, int64_t deadline_ns, bool *absent)
{
	static const tuttiUniqueId none;
	tuttiUniqueId id = none;
	tuttiResult_t own = tuttiSuccess, rc;
	char text[TUTTI_TEXT_BYTES] = "";

	if (rank == 0) {
		own = tutti_boot_unique_id(&id);
		snprintf(text, sizeof(text), "%s", tutti_fail_text());
	}
	rc = pmix ? tutti_pmix_exchange(&id, rank, nranks, deadline_ns,
					absent) :
		    tutti_pmi1_exchange(&id, rank, deadline_ns);
	if (own) {
		tutti_fail_set(text);
		return own;
	}
	if (!rc && !memcmp(&id, &none, sizeof(id)))
		rc = tutti_fail(tuttiRemoteError, "rank %d: rank 0 could not "
				"open a meeting point; see its own error",
				rank);
	if (!rc)
		rc = by_id(to, &id);
	tutti_auth_forget(&id, sizeof(id));
	return rc;
}

static tuttiResult_t unreachable(const struct tutti_boot_env *env,
				 const char *missing)
{
	return tutti_fail(tuttiInvalidUsage, "%s started this process as rank "
			  "%d of %d, but %s, so its process manager cannot be "
			  "reached: start the ranks with `tutti run` or give "
			  "an all-gather to tuttiCommInitUser", env->launcher,
			  env->rank, env->size, missing);
}

/* Find the way to rank 0, by the best means that the signs name. */
static tuttiResult_t find_way(struct tutti_target *to,
			      const struct sign s[LAUNCHERS],
			      const struct tutti_boot_env *env, int *nranks,
			      int64_t deadline_ns)
{
	bool slurm = s[SLURM].rank.name && s[SLURM].size.name;
	bool absent = false;
	tuttiResult_t rc;

	if (s[PMIX].rank.name) {
		rc = by_manager(to, true, env->rank, nranks, deadline_ns,
				&absent);
		if (!absent || !slurm)
			return rc;
		tutti_info("no PMIx library: meeting by Slurm's variables");
	} else if (s[OPENMPI].rank.name) {
		return unreachable(env, "no variable of PMIx is set");
	} else if (getenv("PMI_FD") && s[MPICH].rank.name) {
		return by_manager(to, false, env->rank, nranks, deadline_ns,
				  &absent);
	}
	if (slurm)
		return tutti_derive_slurm(to, env->rank, deadline_ns);
	if (s[MPICH].rank.name)
		return unreachable(env, "PMI_FD is not set");
	return tutti_derive_torchrun(to, env->rank, deadline_ns);
}

/* Fill in target, size and generation.  With the lock. */
static tuttiResult_t prepare(struct tutti_target *to, int *nranks,
			     const struct sign s[LAUNCHERS],
			     const struct tutti_boot_env *env,
			     int64_t deadline_ns)
{
	bool own = !strcmp(env->launcher, "tutti run");
	tuttiResult_t rc = tuttiSuccess;

	*nranks = env->size;
	if (own) {
		rc = by_variable(to);
	} else if (job.known) {
		*to = job.target;
		*nranks = job.nranks;
	} else {
		rc = find_way(to, s, env, nranks, deadline_ns);
		if (rc)
			return rc;
		job.known = true;
		job.target = *to;
		job.nranks = *nranks;
	}
	if (rc)
		return rc;
	if (memcmp(job.secret, to->secret, sizeof(job.secret))) {
		memcpy(job.secret, to->secret, sizeof(job.secret));
		job.generation = 0;
	}
	to->generation = ++job.generation;
	return tuttiSuccess;
}

tuttiResult_t tutti_boot_join_env(struct tutti_boot **out, int *nranks,
				  int *rank, int64_t deadline_ns)
{
	struct tutti_boot_env env;
	struct sign s[LAUNCHERS];
	struct tutti_target to;
	struct tutti_boot *b;
	tuttiResult_t rc;
	int n;

	rc = read_env(&env, s);
	if (rc)
		return rc;
	tutti_info("launcher: %s, rank %d of %d", env.launcher, env.rank,
		   env.size);
	n = env.size;
	if (n == 1) {
		rc = tutti_boot_solo(&b);
	} else {
		pthread_mutex_lock(&job.lock);
		rc = prepare(&to, &n, s, &env, deadline_ns);
		pthread_mutex_unlock(&job.lock);
		if (!rc)
			rc = tutti_join(&b, &to, n, env.rank, deadline_ns);
		tutti_auth_forget(to.secret, sizeof(to.secret));
	}
	if (rc)
		return rc;
	*out = b;
	*nranks = n;
	*rank = env.rank;
	return tuttiSuccess;
}
