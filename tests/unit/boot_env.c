/* SPDX-License-Identifier: BSD-3-Clause */
/* What launchers' variables say: tables of environments (cases 77, 78). */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/settings.h"
#include "boot/boot_impl.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set "A=1 B=2", nothing else that a launcher sets. */
static void set_env(const char *text)
{
	static const char *const prefixes[] = { "TUTTI_", "SLURM", "PMI",
						"OMPI_", "MPI_", "RANK=",
						"WORLD_SIZE=", "LOCAL_RANK=",
						"MASTER_" };
	extern char **environ;
	char name[256], copy[1024];
	char **e = environ;

	while (e && *e) {
		bool drop = false;

		for (size_t i = 0; i < sizeof(prefixes) / sizeof(char *); i++)
			drop |= !strncmp(*e, prefixes[i], strlen(prefixes[i]));
		if (drop) {
			snprintf(name, sizeof(name), "%.*s",
				 (int)strcspn(*e, "="), *e);
			unsetenv(name);
			e = environ;
		} else {
			e++;
		}
	}
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *s = strtok(copy, " "); s; s = strtok(NULL, " ")) {
		char *value = strchr(s, '=');

		*value++ = 0;
		setenv(s, value, 1);
	}
	tutti_settings_reload();
}

static void good(const char *env, const char *launcher, int rank, int size,
		 int local)
{
	struct tutti_boot_env got;

	set_env(env);
	cr_assert_eq(tutti_boot_env_read(&got), tuttiSuccess, "%s: %s", env,
		     tutti_fail_text());
	cr_assert_str_eq(got.launcher, launcher, "%s: %s", env, got.launcher);
	cr_assert_eq(got.rank, rank, "%s: rank %d", env, got.rank);
	cr_assert_eq(got.size, size, "%s: size %d", env, got.size);
	cr_assert_eq(got.local_rank, local, "%s: local %d", env,
		     got.local_rank);
}

/* Invalid usage whose sentence has all of `parts` (separated by |). */
static void bad(const char *env, const char *parts)
{
	struct tutti_boot_env got;
	char copy[256];

	set_env(env);
	cr_assert_eq(tutti_boot_env_read(&got), tuttiInvalidUsage, "%s", env);
	snprintf(copy, sizeof(copy), "%s", parts);
	for (char *s = strtok(copy, "|"); s; s = strtok(NULL, "|"))
		cr_assert(strstr(tutti_fail_text(), s), "%s: %s", env,
			  tutti_fail_text());
}

Test(boot_env, every_launcher)
{
	good("", "none", 0, 1, -1);
	good("TUTTI_RANK=2 TUTTI_SIZE=4 TUTTI_LOCAL_RANK=1", "tutti run", 2, 4,
	     1);
	good("TUTTI_RANK=0 TUTTI_SIZE=1", "tutti run", 0, 1, -1);
	good("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
	     "OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_RANK=1 PMIX_NAMESPACE=x",
	     "Open MPI", 1, 2, 1);
	good("PMIX_RANK=3 PMIX_NAMESPACE=x", "PMIx", 3, -1, -1);
	good("PMIX_RANK=3 PMIX_NAMESPACE=x SLURM_PROCID=3 SLURM_NTASKS=5 "
	     "SLURM_LOCALID=0", "PMIx", 3, 5, 0);
	good("PMI_RANK=1 PMI_SIZE=3 PMI_FD=6 MPI_LOCALRANKID=1", "MPICH", 1, 3,
	     1);
	good("SLURM_PROCID=5 SLURM_NTASKS=7 SLURM_LOCALID=2", "Slurm", 5, 7,
	     2);
	good("RANK=1 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=h MASTER_PORT=1",
	     "torchrun", 1, 2, 0);
}

Test(boot_env, slurm_sizes_case_77)
{
	good("SLURM_PROCID=5 SLURM_STEP_TASKS_PER_NODE=2(x3),1", "Slurm", 5, 7,
	     -1);
	good("SLURM_PROCID=1 SLURM_TASKS_PER_NODE=1(x2)", "Slurm", 1, 2, -1);
	good("SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2", "Slurm",
	     1, 2, -1);
	good("SLURM_PROCID=1 SLURM_NPROCS=2", "Slurm", 1, 2, -1);
	/* The job's list may speak of more than the step. */
	good("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_TASKS_PER_NODE=4(x2)",
	     "Slurm", 1, 2, -1);
	bad("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_TASKS_PER_NODE=2(x3)",
	    "SLURM_STEP_TASKS_PER_NODE=2(x3)|6 tasks|SLURM_NTASKS=2");
	bad("SLURM_PROCID=1 SLURM_STEP_TASKS_PER_NODE=2(x3",
	    "SLURM_STEP_TASKS_PER_NODE=2(x3|not a list");
}

Test(boot_env, contradictions)
{
	bad("RANK=1 WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=4",
	    "RANK=1|SLURM_PROCID=0");
	bad("RANK=1 SLURM_PROCID=0 SLURM_NTASKS=4", "RANK=1|SLURM_PROCID=0");
	bad("RANK=1 WORLD_SIZE=4 SLURM_PROCID=1 SLURM_NTASKS=2",
	    "WORLD_SIZE=4|SLURM_NTASKS=2");
	bad("PMI_RANK=1 PMI_SIZE=4 OMPI_COMM_WORLD_RANK=2 "
	    "OMPI_COMM_WORLD_SIZE=4", "PMI_RANK=1|OMPI_COMM_WORLD_RANK=2");
	bad("PMIX_RANK=0 PMI_RANK=1 PMI_SIZE=2", "PMIX_RANK=0|PMI_RANK=1");
	bad("RANK=4 WORLD_SIZE=4", "RANK=4|WORLD_SIZE=4");
	bad("TUTTI_RANK=2 TUTTI_SIZE=2", "TUTTI_RANK=2|TUTTI_SIZE=2");
	bad("TUTTI_RANK=2", "TUTTI_RANK|TUTTI_SIZE");
	bad("TUTTI_SIZE=2", "TUTTI_SIZE|TUTTI_RANK");
	bad("TUTTI_UNIQUE_ID=00", "TUTTI_UNIQUE_ID|TUTTI_RANK");
	bad("TUTTI_RANK=x TUTTI_SIZE=2", "TUTTI_RANK");
	bad("RANK=one WORLD_SIZE=2", "RANK=one");
	bad("SLURM_PROCID=-1 SLURM_NTASKS=2", "SLURM_PROCID=-1");
	bad("RANK=99999999999 WORLD_SIZE=2", "RANK=99999999999");
}

/* Half a sign of several ranks is no reason to run alone. */
Test(boot_env, no_silent_singletons_case_78)
{
	bad("SLURM_NTASKS=4", "SLURM_NTASKS=4|SLURM_PROCID|srun");
	bad("WORLD_SIZE=2", "WORLD_SIZE=2|RANK");
	bad("RANK=3", "RANK=3|WORLD_SIZE");
	bad("PMI_SIZE=2", "PMI_SIZE=2|PMI_RANK");
	bad("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_RANK=1");
	good("SLURM_NTASKS=1", "none", 0, 1, -1);
	good("SLURM_JOB_ID=7 SLURM_TASKS_PER_NODE=8", "none", 0, 1, -1);
	good("WORLD_SIZE=1", "none", 0, 1, -1);
	good("TUTTI_RANK=0 TUTTI_SIZE=1 SLURM_NTASKS=4", "tutti run", 0, 1,
	     -1);
}

/* A launcher inside a task of another: the inner one is believed. */
Test(boot_env, nested_launchers)
{
	char env[512];

	good("TUTTI_RANK=1 TUTTI_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=1",
	     "tutti run", 1, 2, -1);
	good("RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=1 SLURM_NTASKS=2 "
	     "SLURM_LOCALID=0 SLURM_TASK_PID=1", "torchrun", 5, 8, 1);
	good("RANK=5 WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=2 PMIX_RANK=1 "
	     "PMIX_NAMESPACE=s SLURM_TASK_PID=1", "torchrun", 5, 8, -1);
	good("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=0 "
	     "SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_TASK_PID=1", "Open MPI", 0,
	     4, -1);
	good("PMI_RANK=2 PMI_SIZE=4 PMI_FD=9 SLURM_PROCID=0 SLURM_NTASKS=4 "
	     "SLURM_TASK_PID=1", "MPICH", 2, 4, -1);
	/* This very process is the task: then nothing is nested. */
	snprintf(env, sizeof(env), "RANK=5 WORLD_SIZE=8 SLURM_PROCID=1 "
		 "SLURM_NTASKS=2 SLURM_TASK_PID=%d", (int)getpid());
	bad(env, "RANK=5|SLURM_PROCID=1");
}

Test(boot_env, alone_without_network)
{
	struct tutti_boot *b;
	int size, rank, in = 42, out = 0;

	set_env("");
	cr_assert_eq(tutti_boot_join_env(&b, &size, &rank, 1), tuttiSuccess);
	cr_assert_eq(size, 1);
	cr_assert_eq(rank, 0);
	cr_assert_eq(tutti_boot_allgather(b, &in, &out, sizeof(in), 1),
		     tuttiSuccess);
	cr_assert_eq(out, 42);
	tutti_boot_leave(b);
	tutti_boot_leave(NULL);
	set_env("TUTTI_IFNAME=nosuch");
	cr_assert_eq(tutti_boot_join_env(&b, &size, &rank, 1),
		     tuttiInvalidUsage);
}

Test(boot_env, bad_values)
{
	struct tutti_boot *b;
	int size, rank;

	set_env("TUTTI_RANK=0 TUTTI_SIZE=2 TUTTI_UNIQUE_ID=1234");
	cr_assert_eq(tutti_boot_join_env(&b, &size, &rank, 1),
		     tuttiInvalidUsage);
	set_env("RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1 "
		"TUTTI_SECRET=geheim");
	cr_assert_eq(tutti_boot_join_env(&b, &size, &rank, 1),
		     tuttiInvalidUsage);
	cr_assert_null(strstr(tutti_fail_text(), "geheim"));
	set_env("RANK=0 WORLD_SIZE=2");
	cr_assert_eq(tutti_boot_join_env(&b, &size, &rank, 1),
		     tuttiInvalidUsage);
	cr_assert(strstr(tutti_fail_text(), "MASTER_ADDR"));
	set_env("RANK=1 WORLD_SIZE=2 MASTER_ADDR=no.such.host.invalid "
		"MASTER_PORT=1");
	cr_assert_neq(tutti_boot_join_env(&b, &size, &rank,
					  tutti_now_ns() + 5000 * TUTTI_MS),
		      tuttiSuccess);
	cr_assert(strstr(tutti_fail_text(), "no.such.host.invalid"));
}
