/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that other ranks can reach.
 */
#include "config.h"

#include "api/api.h"
#include "base/fail.h"
#include "base/log.h"
#include "comm/comm.h"
#include "net/shm/mem.h"

#include <stdlib.h>

tuttiResult_t ptuttiMemAlloc(void **ptr, size_t size)
{
	if (!ptr)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiMemAlloc: the place for the pointer is "
				  "NULL");
	return tutti_mem_alloc(ptr, size);
}
TUTTI_ALIAS(tuttiResult_t, tuttiMemAlloc, (void **, size_t));

tuttiResult_t ptuttiMemFree(void *ptr)
{
	return tutti_mem_free(ptr);
}
TUTTI_ALIAS(tuttiResult_t, tuttiMemFree, (void *));

/* What a handle points to. */
struct registration {
	struct tuttiComm *comm;
	uint64_t seg;		/* 0: staged */
};

tuttiResult_t ptuttiCommRegister(tuttiComm_t comm, void *buff, size_t size,
				 void **handle)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommRegister");
	struct registration *r;

	if (rc)
		return rc;
	if (!buff || !size || !handle)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommRegister: the buffer, its size or "
				  "the place for the handle is missing");
	if ((uintptr_t)buff + size < (uintptr_t)buff)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommRegister: %zu bytes at %p pass the "
				  "end of memory", size, buff);
	r = calloc(1, sizeof(*r));
	if (!r)
		return tutti_fail(tuttiSystemError, "out of memory");
	r->comm = comm;
	rc = tutti_mem_register(buff, size, &r->seg);
	if (rc) {
		free(r);
		return rc;
	}
	if (!r->seg)
		tutti_info("%zu bytes at %p are not a shareable mapping; they "
			   "will be copied", size, buff);
	*handle = r;
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommRegister,
	    (tuttiComm_t, void *, size_t, void **));

tuttiResult_t ptuttiCommDeregister(tuttiComm_t comm, void *handle)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommDeregister");
	struct registration *r = handle;

	if (rc)
		return rc;
	if (!r || r->comm != comm)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommDeregister: the handle is not of "
				  "this communicator");
	tutti_mem_deregister(r->seg);
	r->comm = NULL;
	free(r);
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommDeregister, (tuttiComm_t, void *));
