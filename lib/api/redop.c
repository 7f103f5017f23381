/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that the program makes: local calls that wait for nobody. */
#include "config.h"

#include "api/api.h"
#include "base/bits.h"
#include "base/fail.h"
#include "comm/comm.h"

#include <string.h>

static tuttiResult_t check(struct tuttiComm *comm, const char *function)
{
	tuttiResult_t rc = tutti_comm_check(comm, function);

	if (!rc && atomic_load(&comm->finalized))
		return tutti_fail(tuttiInvalidUsage,
				  "%s: the communicator was finalized",
				  function);
	return rc;
}

static tuttiResult_t no_pointer(const char *function, const char *what)
{
	return tutti_fail(tuttiInvalidArgument, "%s: the %s is NULL", function,
			  what);
}

tuttiResult_t ptuttiRedOpCreatePreMulSum(tuttiRedOp_t *op, void *scalar,
					 tuttiDataType_t datatype,
					 tuttiScalarResidence_t residence,
					 tuttiComm_t comm)
{
	const char *name = "tuttiRedOpCreatePreMulSum";
	struct tutti_redop made = { .kind = TUTTI_REDOP_PREMUL,
				    .type = datatype };
	size_t size = tutti_type_size((int)datatype);
	tuttiResult_t rc = check(comm, name);

	if (rc)
		return rc;
	if (!op)
		return no_pointer(name, "place for the operator");
	if (!scalar)
		return no_pointer(name, "factor");
	if (!size)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %d is not a data type", name,
				  (int)datatype);
	if (residence == tuttiScalarHostImmediate)
		memcpy(made.factor, scalar, size);
	else if (residence == tuttiScalarDevice)
		made.factor_at = scalar;
	else
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %d is no residence of a factor", name,
				  (int)residence);
	return tutti_comm_redop_create(comm, &made, op);
}
TUTTI_ALIAS(tuttiResult_t, tuttiRedOpCreatePreMulSum,
	    (tuttiRedOp_t *, void *, tuttiDataType_t, tuttiScalarResidence_t,
	     tuttiComm_t));

tuttiResult_t ptuttiRedOpCreateUser(tuttiRedOp_t *op, tuttiReduceFn fn,
				    void *context, int commutative,
				    tuttiComm_t comm)
{
	const char *name = "tuttiRedOpCreateUser";
	struct tutti_redop made = { .kind = commutative ? TUTTI_REDOP_USER :
							  TUTTI_REDOP_ORDERED,
				    .fn = fn, .context = context };
	tuttiResult_t rc = check(comm, name);

	if (rc)
		return rc;
	if (!op)
		return no_pointer(name, "place for the operator");
	if (!fn)
		return no_pointer(name, "function");
	return tutti_comm_redop_create(comm, &made, op);
}
TUTTI_ALIAS(tuttiResult_t, tuttiRedOpCreateUser,
	    (tuttiRedOp_t *, tuttiReduceFn, void *, int, tuttiComm_t));

tuttiResult_t ptuttiRedOpDestroy(tuttiRedOp_t op, tuttiComm_t comm)
{
	tuttiResult_t rc = tutti_comm_check(comm, "tuttiRedOpDestroy");

	return rc ? rc : tutti_comm_redop_destroy(comm, op);
}
TUTTI_ALIAS(tuttiResult_t, tuttiRedOpDestroy, (tuttiRedOp_t, tuttiComm_t));
