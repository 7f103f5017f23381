/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of ranks.  What says rank, size or meeting point for another
 * launcher is left out: the ranks of a `tutti run` inside a Slurm allocation or
 * under mpirun would otherwise have two stories to believe.  Names that only
 * describe the surrounding job stay.
 */
#include "config.h"

#include "launch.h"
#include "placement.h"

#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARS 5		/* the most that a rank gets */

struct launch_env {
	const struct launch *job;
	char **list;		/* kept ones, then VARS slots, then NULL */
	size_t kept;
	char id[32 + 2 * TUTTI_UNIQUE_ID_BYTES];
	char var[VARS - 1][48];
};

/* A name that ends in * stands for all that begin so. */
static const char *const left_out[] = {
	"TUTTI_RANK", "TUTTI_SIZE", "TUTTI_LOCAL_RANK", "TUTTI_NODE",
	"TUTTI_UNIQUE_ID",
	"SLURM_*", "SLURMD_*",
	"PMI_*", "PMI2_*", "PMIX_*", "PRTE_*",
	"OMPI_*", "OPAL_*",
	"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "HYDI_*", "PALS_*",
	"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",
	"GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME",
	"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_*",
};

/* Names of those that say nothing about ranks. */
static const char *const kept_anyway[] = {
	"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_ACCOUNT",
	"SLURM_JOB_PARTITION", "SLURM_JOB_USER", "SLURM_SUBMIT_DIR",
	"SLURM_SUBMIT_HOST", "SLURM_CLUSTER_NAME", "SLURM_JOB_START_TIME",
	"SLURM_JOB_END_TIME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
	"SLURM_CONF",
};

static bool matches(const char *entry, const char *name)
{
	size_t len = strlen(name);

	if (name[len - 1] == '*')
		return !strncmp(entry, name, len - 1);
	return !strncmp(entry, name, len) && entry[len] == '=';
}

static bool in_list(const char *entry, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (matches(entry, names[i]))
			return true;
	return false;
}

static bool keep(const char *entry)
{
	return !in_list(entry, left_out, tutti_countof(left_out)) ||
	       in_list(entry, kept_anyway, tutti_countof(kept_anyway));
}

static void write_id(char *out, size_t cap, const tuttiUniqueId *id)
{
	size_t used = (size_t)snprintf(out, cap, "TUTTI_UNIQUE_ID=");

	for (size_t i = 0; i < TUTTI_UNIQUE_ID_BYTES; i++)
		used += (size_t)snprintf(out + used, cap - used, "%02x",
					 (unsigned char)id->internal[i]);
}

struct launch_env *launch_env_create(const struct launch *job,
				     const tuttiUniqueId *id)
{
	extern char **environ;
	struct launch_env *env;
	size_t count = 0;

	env = calloc(1, sizeof(*env));
	if (!env)
		return NULL;
	while (environ && environ[count])
		count++;
	env->job = job;
	env->list = calloc(count + VARS + 1, sizeof(*env->list));
	if (!env->list) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (keep(environ[i]))
			env->list[env->kept++] = environ[i];
	write_id(env->id, sizeof(env->id), id);
	return env;
}

static void add(struct launch_env *env, int slot, const char *name, int n)
{
	snprintf(env->var[slot], sizeof(env->var[slot]), "TUTTI_%s=%d", name,
		 n);
	env->list[env->kept + 1 + (size_t)slot] = env->var[slot];
}

char **launch_env_rank(struct launch_env *env, int rank)
{
	const int *node = env->job->node;

	env->list[env->kept] = env->id;
	add(env, 0, "RANK", rank);
	add(env, 1, "SIZE", env->job->nranks);
	add(env, 2, "LOCAL_RANK",
	    node ? tool_placement_local(node, rank) : rank);
	if (node)
		add(env, 3, "NODE", node[rank]);
	return env->list;
}

void launch_env_destroy(struct launch_env *env)
{
	if (!env)
		return;
	free(env->list);
	explicit_bzero(env->id, sizeof(env->id));
	free(env);
}
