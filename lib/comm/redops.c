/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators that the program makes.  Each belongs to one communicator.  A
 * number is given once in a process, so a stale one, and one of another
 * communicator, is known for that.  Other ranks compare only the kind: numbers,
 * factors and functions are each rank's own.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	int number;
	struct tutti_redop op;
};

struct tutti_redops {
	size_t n, max;
	struct entry *entry;		/* by number, going up */
};

static _Atomic int last = tuttiNumOps - 1;

static struct entry *find(const struct tutti_redops *t, int number)
{
	size_t low = 0, high = t ? t->n : 0;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->entry[mid].number == number)
			return &t->entry[mid];
		if (t->entry[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Room for one more. */
static bool grow(struct tuttiComm *comm)
{
	struct tutti_redops *t = comm->redops;
	struct entry *e;

	if (!t)
		t = comm->redops = calloc(1, sizeof(*t));
	if (!t || t->n < t->max)
		return t != NULL;
	e = realloc(t->entry, (2 * t->max + 8) * sizeof(*e));
	if (!e)
		return false;
	t->entry = e;
	t->max = 2 * t->max + 8;
	return true;
}

/* The next number, or -1 when all were given. */
static int next_number(void)
{
	int n = atomic_load(&last);

	do {
		if (n == tuttiMaxRedOp - 1)
			return -1;
	} while (!atomic_compare_exchange_weak(&last, &n, n + 1));
	return n + 1;
}

tuttiResult_t tutti_comm_redop_create(struct tuttiComm *comm,
				      const struct tutti_redop *made,
				      tuttiRedOp_t *op)
{
	struct tutti_redops *t;
	int number;

	if (!grow(comm))
		return tutti_fail(tuttiSystemError, "out of memory");
	number = next_number();
	if (number < 0)
		return tutti_fail(tuttiSystemError,
				  "this process has made all the operators "
				  "that can be numbered; make one and keep it");
	t = comm->redops;
	t->entry[t->n++] = (struct entry){ number, *made };
	*op = (tuttiRedOp_t)number;
	return tuttiSuccess;
}

/* Why a number is no operator that a program made for `comm`. */
static tuttiResult_t unknown(const char *function, int number)
{
	if (number < tuttiNumOps || number > atomic_load(&last))
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %d is not a reduction operator",
				  function, number);
	return tutti_fail(tuttiInvalidArgument,
			  "%s: operator %d was destroyed, or made for another "
			  "communicator; make one for this", function, number);
}

tuttiResult_t tutti_comm_redop_destroy(struct tuttiComm *comm, tuttiRedOp_t op)
{
	struct tutti_redops *t = comm->redops;
	struct entry *e = find(t, (int)op);

	if (op >= 0 && op < tuttiNumOps)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiRedOpDestroy: %s is there always and "
				  "cannot be destroyed",
				  tutti_redop_name((int)op));
	if (!e)
		return unknown("tuttiRedOpDestroy", (int)op);
	t->n--;
	memmove(e, e + 1, (size_t)(t->entry + t->n - e) * sizeof(*e));
	return tuttiSuccess;
}

tuttiResult_t tutti_comm_redop_find(struct tuttiComm *comm,
				    const char *function,
				    struct tutti_call *call)
{
	const struct entry *e;

	call->made = 0;
	if (call->redop >= 0 && call->redop < tuttiNumOps)
		return tuttiSuccess;
	e = find(comm->redops, (int)call->redop);
	if (!e)
		return unknown(function, (int)call->redop);
	if (e->op.kind == TUTTI_REDOP_PREMUL && e->op.type != call->type)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: operator %d has a factor of type %s, "
				  "but the call is of %s; make one for this "
				  "type", function, (int)call->redop,
				  tutti_type_name((int)e->op.type),
				  tutti_type_name((int)call->type));
	call->made = e->op.kind;
	return tuttiSuccess;
}

const struct tutti_redop *tutti_comm_redop(const struct tuttiComm *comm,
					   tuttiRedOp_t op)
{
	return &find(comm->redops, (int)op)->op;
}

void tutti_redops_free(struct tuttiComm *comm)
{
	if (comm->redops)
		free(comm->redops->entry);
	free(comm->redops);
	comm->redops = NULL;
}
