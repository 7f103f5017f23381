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

/* What a handle points to.  A handle is looked for in the list before it is
 * believed. */
struct tutti_registration {
	uint64_t seg;		/* 0: staged */
	struct tutti_registration *next;
};

tuttiResult_t tutti_comm_register(struct tuttiComm *comm, void *buff,
				  size_t size, void **handle)
{
	struct tutti_registration *r = calloc(1, sizeof(*r));
	tuttiResult_t rc;

	if (!r)
		return tutti_fail(tuttiSystemError, "out of memory");
	rc = tutti_mem_register(buff, size, &r->seg);
	if (rc) {
		free(r);
		return rc;
	}
	if (!r->seg)
		tutti_info("%zu bytes at %p are not a shareable mapping; they "
			   "will be copied", size, buff);
	r->next = comm->registrations;
	comm->registrations = r;
	*handle = r;
	return tuttiSuccess;
}

tuttiResult_t tutti_comm_deregister(struct tuttiComm *comm, void *handle)
{
	struct tutti_registration **link = &comm->registrations, *r;

	while ((r = *link) && r != handle)
		link = &r->next;
	if (!r)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiCommDeregister: %p is not a handle of "
				  "this communicator, or was given back "
				  "before", handle);
	*link = r->next;
	tutti_mem_deregister(r->seg);
	free(r);
	return tuttiSuccess;
}

void tutti_registrations_free(struct tuttiComm *comm)
{
	while (comm->registrations)
		tutti_comm_deregister(comm, comm->registrations);
}
