/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who was split from whom.  One lock for all families: it is taken when a
 * communicator is split, ends or is aborted, never by an operation.  Whoever
 * is in a family can be reached, so its memory is there: it leaves before any
 * of it is freed.
 */
#include "config.h"

#include "comm/comm.h"

#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_child(struct tuttiComm *parent, struct tuttiComm *child)
{
	child->parent = parent;
	child->sibling = parent ? parent->child : NULL;
	if (parent)
		parent->child = child;
}

void tutti_family_join(struct tuttiComm *parent, struct tuttiComm *child)
{
	pthread_mutex_lock(&lock);
	add_child(parent, child);
	pthread_mutex_unlock(&lock);
}

void tutti_family_leave(struct tuttiComm *comm)
{
	struct tuttiComm *parent, *child, **link;

	pthread_mutex_lock(&lock);
	parent = comm->parent;
	if (parent) {
		for (link = &parent->child; *link != comm;
		     link = &(*link)->sibling)
			;
		*link = comm->sibling;
	}
	while ((child = comm->child)) {
		comm->child = child->sibling;
		add_child(parent, child);
	}
	comm->parent = NULL;
	pthread_mutex_unlock(&lock);
}

/* The one after `comm` among all that were split from `top`, parents first;
 * NULL at the end. */
static struct tuttiComm *next_below(const struct tuttiComm *top,
				    const struct tuttiComm *comm)
{
	if (comm->child)
		return comm->child;
	while (comm != top && !comm->sibling)
		comm = comm->parent;
	return comm == top ? NULL : comm->sibling;
}

void tutti_family_abort(struct tuttiComm *comm, int by)
{
	char text[160];

	snprintf(text, sizeof(text), "rank %d aborted a communicator that "
		 "this one was split from", by);
	pthread_mutex_lock(&lock);
	for (struct tuttiComm *c = next_below(comm, comm); c;
	     c = next_below(comm, c))
		tutti_comm_abort_from(c, text);
	pthread_mutex_unlock(&lock);
}
