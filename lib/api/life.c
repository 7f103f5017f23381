/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and ending communicators.
 */
#include "config.h"

#include "api/api.h"
#include "base/fail.h"
#include "base/settings.h"
#include "comm/comm.h"

#include <stdbool.h>
tuttiResult_t ptuttiGetUniqueId(tuttiUniqueId *uniqueId)
{
	tuttiResult_t rc;

	if (!uniqueId)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiGetUniqueId: the id is NULL");
	rc = tutti_settings_check();
	return rc ? rc : tutti_comm_unique_id(uniqueId);
}
TUTTI_ALIAS(tuttiResult_t, tuttiGetUniqueId, (tuttiUniqueId *));

static bool is_deadline(int ms)
{
	return ms == TUTTI_CONFIG_UNDEF || ms > 0;
}

static tuttiResult_t check_config(const tuttiConfig_t *c)
{
	if (!c)
		return tuttiSuccess;
	if (c->magic != TUTTI_CONFIG_MAGIC ||
	    c->size < sizeof(*c))
		return tutti_fail(tuttiInvalidArgument,
				  "the configuration does not begin with "
				  "TUTTI_CONFIG_INITIALIZER");
	if (c->size > sizeof(*c))
		return tutti_fail(tuttiInvalidArgument,
				  "the configuration was compiled for version "
				  "%u, which is newer than this library (%u)",
				  c->version, TUTTI_VERSION_CODE);
	if (!is_deadline(c->initTimeoutMs))
		return tutti_fail(tuttiInvalidArgument,
				  "the configuration's initTimeoutMs is %d; a "
				  "deadline is above 0", c->initTimeoutMs);
	if (!is_deadline(c->timeoutMs))
		return tutti_fail(tuttiInvalidArgument,
				  "the configuration's timeoutMs is %d; a "
				  "deadline is above 0", c->timeoutMs);
	return tuttiSuccess;
}

/* What every kind of init begins with. */
static tuttiResult_t check_init(tuttiComm_t *comm, const tuttiConfig_t *config)
{
	tuttiResult_t rc;

	if (!comm)
		return tutti_fail(tuttiInvalidArgument,
				  "the place for the communicator is NULL");
	if (tutti_group_open())
		return tutti_fail(tuttiInvalidUsage,
				  "a communicator cannot be made or split between "
				  "tuttiGroupStart and tuttiGroupEnd; end the "
				  "group first");
	rc = tutti_settings_check();
	return rc ? rc : check_config(config);
}

static tuttiResult_t check_rank(int nranks, int rank)
{
	if (nranks < 1)
		return tutti_fail(tuttiInvalidArgument,
				  "a communicator of %d ranks is not possible",
				  nranks);
	if (rank < 0 || rank >= nranks)
		return tutti_fail(tuttiInvalidArgument,
				  "rank %d is not within 0 to %d", rank,
				  nranks - 1);
	return tuttiSuccess;
}

tuttiResult_t ptuttiCommInitRankConfig(tuttiComm_t *comm, int nranks,
				       tuttiUniqueId uniqueId, int rank,
				       const tuttiConfig_t *config)
{
	tuttiResult_t rc = check_init(comm, config);

	/* Rank and size are checked where all ranks meet, so that a wrong one
	 * ends the others' waiting too. */
	return rc ? rc : tutti_comm_join(comm, &uniqueId, nranks, rank,
					 config);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommInitRankConfig,
	    (tuttiComm_t *, int, tuttiUniqueId, int, const tuttiConfig_t *));

tuttiResult_t ptuttiCommInitRank(tuttiComm_t *comm, int nranks,
				 tuttiUniqueId uniqueId, int rank)
{
	return ptuttiCommInitRankConfig(comm, nranks, uniqueId, rank, NULL);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommInitRank,
	    (tuttiComm_t *, int, tuttiUniqueId, int));

tuttiResult_t ptuttiCommInitEnv(tuttiComm_t *comm, const tuttiConfig_t *config)
{
	tuttiResult_t rc = check_init(comm, config);

	return rc ? rc : tutti_comm_join_env(comm, config);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommInitEnv,
	    (tuttiComm_t *, const tuttiConfig_t *));

tuttiResult_t ptuttiCommInitUser(tuttiComm_t *comm, int nranks, int rank,
				 tuttiAllGatherFn allgather, void *context,
				 const tuttiConfig_t *config)
{
	tuttiResult_t rc = check_init(comm, config);

	if (!rc)
		rc = check_rank(nranks, rank);
	if (!rc && !allgather)
		rc = tutti_fail(tuttiInvalidArgument,
				"tuttiCommInitUser: the all-gather function "
				"is NULL");
	return rc ? rc : tutti_comm_join_user(comm, nranks, rank, allgather,
					      context, config);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommInitUser,
	    (tuttiComm_t *, int, int, tuttiAllGatherFn, void *,
	     const tuttiConfig_t *));

tuttiResult_t ptuttiCommSplit(tuttiComm_t comm, int color, int key,
			      tuttiComm_t *newcomm,
			      const tuttiConfig_t *config)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommSplit");

	if (!rc)
		rc = check_init(newcomm, config);
	if (!rc)
		rc = tutti_group_none(comm, "tuttiCommSplit");
	if (!rc && color < TUTTI_SPLIT_NOCOLOR)
		rc = tutti_fail(tuttiInvalidArgument,
				"tuttiCommSplit: %d is not a color; those are "
				"0 and above, or TUTTI_SPLIT_NOCOLOR", color);
	if (!rc && atomic_load(&comm->finalized))
		rc = tutti_fail(tuttiInvalidUsage,
				"tuttiCommSplit: the communicator was "
				"finalized");
	return rc ? rc : tutti_comm_split(comm, color, key, newcomm, config);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommSplit,
	    (tuttiComm_t, int, int, tuttiComm_t *, const tuttiConfig_t *));

tuttiResult_t ptuttiCommFinalize(tuttiComm_t comm)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommFinalize");

	if (!rc)
		rc = tutti_group_none(comm, "tuttiCommFinalize");
	return rc ? rc : tutti_comm_finalize(comm);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommFinalize, (tuttiComm_t));

/* Another thread was first. */
static tuttiResult_t gone(const char *function)
{
	return tutti_fail(tuttiInvalidArgument,
			  "%s: another thread is ending this communicator",
			  function);
}

tuttiResult_t ptuttiCommDestroy(tuttiComm_t comm)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommDestroy");

	if (!rc)
		rc = tutti_group_none(comm, "tuttiCommDestroy");
	if (rc)
		return rc;
	if (atomic_load(&comm->inside))
		return tutti_fail(tuttiInvalidUsage,
				  "tuttiCommDestroy: another thread is inside "
				  "a call on this communicator; abort it");
	if (!tutti_comm_claim(comm))
		return gone("tuttiCommDestroy");
	if (!atomic_load(&comm->finalized))
		rc = tutti_comm_finalize(comm);
	tutti_comm_destroy(comm);
	return rc;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommDestroy, (tuttiComm_t));

tuttiResult_t ptuttiCommAbort(tuttiComm_t comm)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommAbort");

	if (rc)
		return rc;
	if (!tutti_comm_claim(comm))
		return gone("tuttiCommAbort");
	tutti_comm_abort(comm);
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommAbort, (tuttiComm_t));
