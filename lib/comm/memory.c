/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that peers may reach, for the public calls.
 */
#include "config.h"

#include "base/fail.h"
#include "base/log.h"
#include "comm/comm.h"
#include "net/shm/mem.h"

#include <stdlib.h>

tuttiResult_t tutti_comm_mem_alloc(void **ptr, size_t size)
{
	return tutti_mem_alloc(ptr, size);
}

tuttiResult_t tutti_comm_mem_free(void *ptr)
{
	return tutti_mem_free(ptr);
}

/* What a handle points to. */
struct registration {
	struct tuttiComm *comm;
	uint64_t seg;		/* 0: staged */
};

tuttiResult_t tutti_comm_register(struct tuttiComm *comm, void *buff,
				  size_t size, void **handle)
{
	struct registration *r = calloc(1, sizeof(*r));
	tuttiResult_t rc;

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

tuttiResult_t tutti_comm_deregister(struct tuttiComm *comm, void *handle)
{
	struct registration *r = handle;

	if (!r || r->comm != comm)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommDeregister: the handle is not of "
				  "this communicator");
	tutti_mem_deregister(r->seg);
	r->comm = NULL;
	free(r);
	return tuttiSuccess;
}
