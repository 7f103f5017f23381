/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that other ranks can reach.
 */
#include "config.h"

#include "api/api.h"
#include "base/fail.h"
#include "comm/comm.h"

tuttiResult_t ptuttiMemAlloc(void **ptr, size_t size)
{
	if (!ptr)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiMemAlloc: the place for the pointer is "
				  "NULL");
	return tutti_comm_mem_alloc(ptr, size);
}
TUTTI_ALIAS(tuttiResult_t, tuttiMemAlloc, (void **, size_t));

tuttiResult_t ptuttiMemFree(void *ptr)
{
	return tutti_comm_mem_free(ptr);
}
TUTTI_ALIAS(tuttiResult_t, tuttiMemFree, (void *));

tuttiResult_t ptuttiCommRegister(tuttiComm_t comm, void *buff, size_t size,
				 void **handle)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommRegister");

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
	return tutti_comm_register(comm, buff, size, handle);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommRegister,
	    (tuttiComm_t, void *, size_t, void **));

tuttiResult_t ptuttiCommDeregister(tuttiComm_t comm, void *handle)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiCommDeregister");

	return rc ? rc : tutti_comm_deregister(comm, handle);
}
TUTTI_ALIAS(tuttiResult_t, tuttiCommDeregister, (tuttiComm_t, void *));
