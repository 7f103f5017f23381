/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to join a communicator: each finds the other ranks in its own
 * manner, then all go on alike.
 */
#include "config.h"

#include "base/clock.h"
#include "base/settings.h"
#include "comm/comm.h"

tuttiResult_t tutti_comm_unique_id(tuttiUniqueId *id)
{
	return tutti_boot_unique_id(id);
}

static int64_t join_deadline(const tuttiConfig_t *c)
{
	int64_t ms = tutti_setting(TUTTI_SET_INIT_TIMEOUT);

	if (c && c->initTimeoutMs != TUTTI_CONFIG_UNDEF)
		ms = c->initTimeoutMs;
	return tutti_now_ns() + ms * 1000000;
}

static tuttiResult_t finish(struct tuttiComm **comm, struct tutti_boot *boot,
			    int nranks, int rank, const tuttiConfig_t *config,
			    int64_t deadline)
{
	tuttiResult_t rc = tutti_comm_create(comm, boot, nranks, rank, config,
					     deadline);

	if (rc)
		tutti_boot_leave(boot);
	return rc;
}

tuttiResult_t tutti_comm_join(struct tuttiComm **comm, const tuttiUniqueId *id,
			      int nranks, int rank,
			      const tuttiConfig_t *config)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	tuttiResult_t rc = tutti_boot_join(&boot, id, nranks, rank, deadline);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline);
}

tuttiResult_t tutti_comm_join_env(struct tuttiComm **comm,
				  const tuttiConfig_t *config)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	int nranks, rank;
	tuttiResult_t rc = tutti_boot_join_env(&boot, &nranks, &rank, deadline);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline);
}

tuttiResult_t tutti_comm_join_user(struct tuttiComm **comm, int nranks,
				   int rank, tuttiAllGatherFn allgather,
				   void *context, const tuttiConfig_t *config)
{
	int64_t deadline = join_deadline(config);
	struct tutti_boot *boot;
	tuttiResult_t rc = tutti_boot_join_user(&boot, nranks, rank, allgather,
						context, deadline);

	return rc ? rc : finish(comm, boot, nranks, rank, config, deadline);
}
