/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tutti-perf with an all-reduce of float32 that goes wrong on the last rank,
 * as PERF_FAULT says.  It takes the library's place as a profiler would: the
 * public names are weak, and ptutti* are the real ones.
 */
#include <stdlib.h>
#include <string.h>

#include "tutti.h"

static tuttiResult_t real(const void *sendbuff, void *recvbuff, size_t count,
			  tuttiDataType_t datatype, tuttiRedOp_t op,
			  tuttiComm_t comm)
{
	return ptuttiAllReduce(sendbuff, recvbuff, count, datatype, op, comm,
			       NULL);
}

/* All is done, and the result goes elsewhere. */
static tuttiResult_t lost(const void *sendbuff, size_t count,
			  tuttiDataType_t datatype, tuttiRedOp_t op,
			  tuttiComm_t comm)
{
	void *elsewhere = malloc(count * 4 + 1);
	tuttiResult_t rc = real(sendbuff, elsewhere, count, datatype, op,
				comm);

	free(elsewhere);
	return rc;
}

static void spoil(const char *fault, const char *sendbuff, char *recvbuff,
		  size_t bytes)
{
	if (!strcmp(fault, "value"))
		recvbuff[bytes - 1] ^= 1;
	if (!strcmp(fault, "moved"))
		memmove(recvbuff + 4, recvbuff, bytes - 4);
	if (!strcmp(fault, "behind"))
		recvbuff[bytes] ^= 1;
	if (!strcmp(fault, "send"))
		*(char *)(uintptr_t)sendbuff ^= 1;
}

tuttiResult_t tuttiAllReduce(const void *sendbuff, void *recvbuff,
			     size_t count, tuttiDataType_t datatype,
			     tuttiRedOp_t op, tuttiComm_t comm,
			     tuttiStream_t stream)
{
	const char *fault = getenv("PERF_FAULT");
	int rank = 0, ranks = 1;
	tuttiResult_t rc;

	ptuttiCommUserRank(comm, &rank);
	ptuttiCommCount(comm, &ranks);
	if (!fault || datatype != tuttiFloat32 || count < 2 ||
	    rank != ranks - 1)
		return real(sendbuff, recvbuff, count, datatype, op, comm);
	if (!strcmp(fault, "lost"))
		return lost(sendbuff, count, datatype, op, comm);
	rc = real(sendbuff, recvbuff, count, datatype, op, comm);
	if (!rc)
		spoil(fault, sendbuff, recvbuff, count * 4);
	return rc;
}
