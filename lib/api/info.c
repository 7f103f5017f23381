/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version, errors and queries.
 */
#include "config.h"

#include "api/api.h"
#include "base/fail.h"
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>

tuttiResult_t ptuttiGetVersion(int *version)
{
	if (!version)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiGetVersion: the place for the version "
				  "is NULL");
	*version = TUTTI_VERSION_CODE;
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiGetVersion, (int *));

const char *ptuttiGetErrorString(tuttiResult_t result)
{
	static const char *const text[tuttiNumResults] = {
		[tuttiSuccess] = "The call succeeded.",
		[tuttiUnhandledDeviceError] = "A device call failed.",
		[tuttiSystemError] =
			"A system call failed; tuttiGetLastError names it.",
		[tuttiInternalError] =
			"The library has a fault; please report it.",
		[tuttiInvalidArgument] = "An argument of the call is wrong.",
		[tuttiInvalidUsage] =
			"The call is wrong at this point, or differs between "
			"ranks.",
		[tuttiRemoteError] =
			"Another rank died, left, aborted or cannot be "
			"reached.",
		[tuttiInProgress] = "The operation has not finished yet.",
		[tuttiTimeout] = "A deadline passed.",
	};

	if ((int)result < 0 || result >= tuttiNumResults)
		return "This is not a result code of Tutti.";
	return text[result];
}
TUTTI_ALIAS(const char *, tuttiGetErrorString, (tuttiResult_t));

const char *ptuttiGetLastError(tuttiComm_t comm)
{
	if (comm && !tutti_comm_check(comm, "tuttiGetLastError"))
		tutti_comm_error(comm);
	return tutti_fail_text();
}
TUTTI_ALIAS(const char *, tuttiGetLastError, (tuttiComm_t));

tuttiResult_t ptuttiCommGetAsyncError(tuttiComm_t comm,
				      tuttiResult_t *asyncError)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommGetAsyncError");

	if (!rc && !asyncError)
		rc = tutti_fail(tuttiInvalidArgument,
				"tuttiCommGetAsyncError: the place for the "
				"error is NULL");
	if (!rc)
		*asyncError = tutti_comm_heed(comm, -1);
	return rc;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommGetAsyncError,
	    (tuttiComm_t, tuttiResult_t *));

static tuttiResult_t query_int(tuttiComm_t comm, const char *name, int *out,
			       bool rank)
{
	tuttiResult_t rc = tutti_comm_check(comm, name);

	if (!rc && !out)
		rc = tutti_fail(tuttiInvalidArgument,
				"%s: the place for the answer is NULL", name);
	if (!rc)
		*out = rank ? comm->rank : comm->ranks;
	return rc;
}

tuttiResult_t ptuttiCommCount(tuttiComm_t comm, int *count)
{
	return query_int(comm, "tuttiCommCount", count, false);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommCount, (tuttiComm_t, int *));

tuttiResult_t ptuttiCommUserRank(tuttiComm_t comm, int *rank)
{
	return query_int(comm, "tuttiCommUserRank", rank, true);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommUserRank, (tuttiComm_t, int *));

static void list_transports(const struct tuttiComm *comm, char *out,
			    size_t cap)
{
	size_t used = 0;

	snprintf(out, cap, "self");
	for (int i = 0; i < comm->nxports && used < cap; i++)
		used += (size_t)snprintf(out + used, cap - used, "%s%s",
					 i ? "," : "", comm->ops[i]->name);
}

tuttiResult_t ptuttiCommQuery(tuttiComm_t comm, tuttiCommInfo_t *info)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommQuery");

	if (rc)
		return rc;
	if (!info || info->size != sizeof(*info))
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommQuery: the structure does not "
				  "begin with TUTTI_COMM_INFO_INITIALIZER of "
				  "this version");
	info->rank = comm->rank;
	info->count = comm->ranks;
	info->localRank = comm->local_rank;
	info->localCount = comm->local_count;
	info->node = comm->node[comm->rank];
	info->nodeCount = comm->nodes;
	list_transports(comm, info->transports, sizeof(info->transports));
	snprintf(info->algorithm, sizeof(info->algorithm), "%s",
		 comm->algo_name);
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommQuery, (tuttiComm_t, tuttiCommInfo_t *));
