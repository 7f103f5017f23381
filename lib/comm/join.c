/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to join a communicator: each finds the other ranks in its own
 * manner, then all go on alike.
 */
#include "config.h"

#include "base/clock.h"
#include "base/settings.h"
#include "comm/comm.h"

static const struct tutti_stop never = { NULL, NULL };

tuttiResult_t tutti_comm_unique_id(tuttiUniqueId *id)
{
	return tutti_boot_unique_id(id);
}

int64_t tutti_comm_init_ns(const tuttiConfig_t *c)
{
	int64_t ms = tutti_setting(TUTTI_SET_INIT_TIMEOUT);

	if (c && c->initTimeoutMs != TUTTI_CONFIG_UNDEF)
		ms = c->initTimeoutMs;
	return ms * 1000000;
}

static int64_t join_deadline(const tuttiConfig_t *c)
{
	return tutti_now_ns() + tutti_comm_init_ns(c);
}

static tuttiResult_t finish(struct tuttiComm **comm, struct tutti_boot *boot,
			    int nranks, int rank, const tuttiConfig_t *config,
			    int64_t deadline, const struct tutti_stop *stop)
{
	tuttiResult_t rc = tutti_comm_create(comm, boot, nranks, rank, config,
					     deadline, stop);

	if (rc)
		tutti_boot_leave(boot);
	return rc;
}

tuttiResult_t tutti_comm_join(struct tuttiComm **comm, const tuttiUniqueId *id,
			      int nranks, int rank,
			      const tuttiConfig_t *config)
{
	return tutti_comm_join_unless(comm, id, nranks, rank, config, &never);
}

tuttiResult_t tutti_comm_join_unless(struct tuttiComm **comm,
				     const tuttiUniqueId *id, int nranks,
				     int rank, const tuttiConfig_t *config,
				     const struct tutti_stop *stop)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	tuttiResult_t rc = tutti_boot_join_unless(&boot, id, nranks, rank,
						  deadline, stop->fn,
						  stop->arg);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline,
				stop);
}

tuttiResult_t tutti_comm_join_env(struct tuttiComm **comm,
				  const tuttiConfig_t *config)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	int nranks, rank;
	tuttiResult_t rc = tutti_boot_join_env(&boot, &nranks, &rank, deadline);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline,
				&never);
}

tuttiResult_t tutti_comm_join_user(struct tuttiComm **comm, int nranks,
				   int rank, tuttiAllGatherFn allgather,
				   void *context, const tuttiConfig_t *config)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	tuttiResult_t rc = tutti_boot_join_user(&boot, nranks, rank, allgather,
						context, deadline);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline,
				&never);
}
