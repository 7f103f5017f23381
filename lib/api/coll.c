/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives: arguments are checked before anything is sent, so a wrong
 * one leaves the communicator as it was.
 */
#include "config.h"

#include "api/api.h"
#include "api/coll.h"
#include "base/bits.h"
#include "base/fail.h"
#include "base/log.h"

#include <string.h>

static tuttiResult_t check_kind(struct check *k)
{
	const struct tutti_call *c = &k->call;

	k->size = tutti_type_size((int)c->type);
	if (!k->size)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %d is not a data type", k->name,
				  (int)c->type);
	if (k->rooted && (c->root < 0 || c->root >= k->comm->ranks))
		return tutti_fail(tuttiInvalidArgument,
				  "%s: rank %d does not exist, there are %d "
				  "ranks", k->name, c->root, k->comm->ranks);
	return tuttiSuccess;
}

static tuttiResult_t check_count(const struct check *k, size_t *block)
{
	size_t all;

	*block = 0;
	if (!tutti_mul(k->call.count, k->size, block) ||
	    !tutti_mul(*block, tutti_max(k->in_blocks, k->out_blocks), &all) ||
	    all > SIZE_MAX / 2)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: %zu elements of %zu bytes are more "
				  "than memory can hold", k->name,
				  k->call.count, k->size);
	return tuttiSuccess;
}

static tuttiResult_t check_buffers(const struct check *k, size_t block)
{
	const char *in = k->call.in, *out = k->call.out;
	uintptr_t a = (uintptr_t)in, b = (uintptr_t)out;

	if (k->needs_in && !in)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: the send buffer is NULL", k->name);
	if (k->needs_out && !out)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: the receive buffer is NULL", k->name);
	if (!k->needs_in || !k->needs_out ||
	    a + k->in_offset * block == b + k->out_offset * block)
		return tuttiSuccess;
	if (a < b + k->out_blocks * block && b < a + k->in_blocks * block)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: send buffer %p and receive buffer %p "
				  "overlap, but not as in place allows",
				  k->name, k->call.in, k->call.out);
	return tuttiSuccess;
}

static tuttiResult_t check_state(const struct check *k)
{
	tuttiResult_t rc = tutti_comm_check(k->comm, k->name);

	if (rc)
		return rc;
	if (k->stream)
		return tutti_fail(tuttiInvalidArgument,
				  "%s: the only stream so far is NULL",
				  k->name);
	if (atomic_load_explicit(&k->comm->finalized, memory_order_relaxed))
		return tutti_fail(tuttiInvalidUsage,
				  "%s: the communicator was finalized",
				  k->name);
	return tuttiSuccess;
}

tuttiResult_t tutti_check_call(struct check *k)
{
	tuttiResult_t rc = check_state(k);

	if (!rc)
		rc = check_kind(k);
	if (!rc && k->reduces)
		rc = tutti_comm_redop_find(k->comm, k->name, &k->call);
	return rc;
}

tuttiResult_t tutti_checked_run(struct check *k, tuttiResult_t rc)
{
	if (tutti_group_open())
		return tutti_group_add(k->comm, &k->call, rc);
	return rc ? rc : tutti_comm_run(k->comm, &k->call);
}

static tuttiResult_t check_all(struct check *k)
{
	tuttiResult_t rc = tutti_check_call(k);
	size_t block = 0;

	if (!rc)
		rc = check_count(k, &block);
	if (!rc && block)
		rc = check_buffers(k, block);
	return rc;
}

static tuttiResult_t checked_run(struct check *k)
{
	return tutti_checked_run(k, check_all(k));
}

tuttiResult_t ptuttiAllReduce(const void *sendbuff, void *recvbuff,
			      size_t count, tuttiDataType_t datatype,
			      tuttiRedOp_t op, tuttiComm_t comm,
			      tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiAllReduce", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_ALL_REDUCE, .count = count,
			  .type = datatype, .redop = op,
			  .in = sendbuff, .out = recvbuff },
		.reduces = true, .in_blocks = 1, .out_blocks = 1,
		.needs_in = true, .needs_out = true,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiAllReduce,
	    (const void *, void *, size_t, tuttiDataType_t, tuttiRedOp_t,
	     tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiReduce(const void *sendbuff, void *recvbuff, size_t count,
			   tuttiDataType_t datatype, tuttiRedOp_t op, int root,
			   tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiReduce", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_REDUCE, .count = count,
			  .type = datatype, .redop = op, .root = root,
			  .in = sendbuff, .out = recvbuff },
		.reduces = true, .rooted = true, .in_blocks = 1,
		.out_blocks = 1, .needs_in = true,
		.needs_out = comm && comm->rank == root,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiReduce,
	    (const void *, void *, size_t, tuttiDataType_t, tuttiRedOp_t, int,
	     tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiBroadcast(const void *sendbuff, void *recvbuff,
			      size_t count, tuttiDataType_t datatype, int root,
			      tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiBroadcast", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_BROADCAST, .count = count,
			  .type = datatype, .root = root,
			  .in = sendbuff, .out = recvbuff },
		.rooted = true, .in_blocks = 1, .out_blocks = 1,
		.needs_in = comm && comm->rank == root, .needs_out = true,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiBroadcast,
	    (const void *, void *, size_t, tuttiDataType_t, int, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiAllGather(const void *sendbuff, void *recvbuff,
			      size_t sendcount, tuttiDataType_t datatype,
			      tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiAllGather", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_ALL_GATHER, .count = sendcount,
			  .type = datatype, .in = sendbuff, .out = recvbuff },
		.in_blocks = 1, .out_blocks = comm ? (size_t)comm->ranks : 1,
		.needs_in = true, .needs_out = true,
		.out_offset = comm ? (size_t)comm->rank : 0,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiAllGather,
	    (const void *, void *, size_t, tuttiDataType_t, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiReduceScatter(const void *sendbuff, void *recvbuff,
				  size_t recvcount, tuttiDataType_t datatype,
				  tuttiRedOp_t op, tuttiComm_t comm,
				  tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiReduceScatter", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_REDUCE_SCATTER, .count = recvcount,
			  .type = datatype, .redop = op,
			  .in = sendbuff, .out = recvbuff },
		.reduces = true, .in_blocks = comm ? (size_t)comm->ranks : 1,
		.out_blocks = 1, .needs_in = true, .needs_out = true,
		.in_offset = comm ? (size_t)comm->rank : 0,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiReduceScatter,
	    (const void *, void *, size_t, tuttiDataType_t, tuttiRedOp_t,
	     tuttiComm_t, tuttiStream_t));

tuttiResult_t ptuttiAlltoAll(const void *sendbuff, void *recvbuff,
			     size_t count, tuttiDataType_t datatype,
			     tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiAlltoAll", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_ALLTOALL, .count = count,
			  .type = datatype, .in = sendbuff, .out = recvbuff },
		.in_blocks = comm ? (size_t)comm->ranks : 1,
		.out_blocks = comm ? (size_t)comm->ranks : 1,
		.needs_in = true, .needs_out = true,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiAlltoAll,
	    (const void *, void *, size_t, tuttiDataType_t, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiGather(const void *sendbuff, void *recvbuff,
			   size_t sendcount, tuttiDataType_t datatype,
			   int root, tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiGather", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_GATHER, .count = sendcount,
			  .type = datatype, .root = root,
			  .in = sendbuff, .out = recvbuff },
		.rooted = true, .in_blocks = 1,
		.out_blocks = comm ? (size_t)comm->ranks : 1,
		.needs_in = true, .needs_out = comm && comm->rank == root,
		.out_offset = comm ? (size_t)comm->rank : 0,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiGather,
	    (const void *, void *, size_t, tuttiDataType_t, int, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiScatter(const void *sendbuff, void *recvbuff,
			    size_t recvcount, tuttiDataType_t datatype,
			    int root, tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiScatter", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_SCATTER, .count = recvcount,
			  .type = datatype, .root = root,
			  .in = sendbuff, .out = recvbuff },
		.rooted = true, .in_blocks = comm ? (size_t)comm->ranks : 1,
		.out_blocks = 1, .needs_in = comm && comm->rank == root,
		.needs_out = true,
		.in_offset = comm ? (size_t)comm->rank : 0,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiScatter,
	    (const void *, void *, size_t, tuttiDataType_t, int, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiBarrier(tuttiComm_t comm, tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiBarrier", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_BARRIER, .type = tuttiInt8 },
		.in_blocks = 1, .out_blocks = 1,
	};

	return checked_run(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiBarrier, (tuttiComm_t, tuttiStream_t));

/* To or from oneself, only another call of a group can do the other half. */
static tuttiResult_t check_self(struct check *k)
{
	if (k->comm && k->call.root == k->comm->rank && !tutti_group_open())
		return tutti_fail(tuttiInvalidUsage,
				  "%s: rank %d cannot exchange messages with "
				  "itself one call at a time; put send and "
				  "receive between tuttiGroupStart and "
				  "tuttiGroupEnd", k->name, k->call.root);
	return checked_run(k);
}

tuttiResult_t ptuttiSend(const void *sendbuff, size_t count,
			 tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			 tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiSend", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_SENDRECV, .count = count,
			  .type = datatype, .root = peer, .sending = true,
			  .in = sendbuff },
		.rooted = true, .in_blocks = 1, .out_blocks = 1,
		.needs_in = true,
	};

	return check_self(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiSend,
	    (const void *, size_t, tuttiDataType_t, int, tuttiComm_t,
	     tuttiStream_t));

tuttiResult_t ptuttiRecv(void *recvbuff, size_t count,
			 tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			 tuttiStream_t stream)
{
	struct check k = {
		.name = "tuttiRecv", .comm = comm, .stream = stream,
		.call = { .coll = TUTTI_SENDRECV, .count = count,
			  .type = datatype, .root = peer, .out = recvbuff },
		.rooted = true, .in_blocks = 1, .out_blocks = 1,
		.needs_out = true,
	};

	return check_self(&k);
}
TUTTI_ALIAS(tuttiResult_t, tuttiRecv,
	    (void *, size_t, tuttiDataType_t, int, tuttiComm_t,
	     tuttiStream_t));
