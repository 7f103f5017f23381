/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same work on MPI.  Compiled twice, with Open MPI's and with MPICH's
 * compiler wrapper.  MPI ends the program at any error by itself.
 */
#include <limits.h>
#include <mpi.h>

#include "peer.h"

static int prepare(struct peer *p)
{
	if (p->count <= INT_MAX)
		return 0;
	fprintf(stderr, "peer-%s: %zu elements are more than MPI's int\n",
		p->name, p->count);
	return 1;
}

static int reduce_max(void *peer, double *values, int count)
{
	return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX,
			     MPI_COMM_WORLD);
}

static int barrier(void *peer)
{
	return MPI_Barrier(MPI_COMM_WORLD);
}

static int reduce(const struct peer *p)
{
	const void *from = p->inplace && p->rank == 0 ? MPI_IN_PLACE : p->send;

	return MPI_Reduce(from, p->recv, (int)p->count, MPI_FLOAT, MPI_SUM, 0,
			  MPI_COMM_WORLD);
}

/* In place, MPI takes the whole input where the first block's result goes,
 * and Tutti leaves each rank's result in its own block; a copy of the block
 * is part of the work then. */
static int reduce_scatter(const struct peer *p)
{
	int rc;

	if (!p->inplace)
		return MPI_Reduce_scatter_block(p->send, p->recv,
						(int)p->count, MPI_FLOAT,
						MPI_SUM, MPI_COMM_WORLD);
	rc = MPI_Reduce_scatter_block(MPI_IN_PLACE, p->send, (int)p->count,
				      MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	if (p->rank)
		memcpy(p->recv, p->send, p->count * sizeof(float));
	return rc;
}

static int broadcast(const struct peer *p)
{
	if (p->rank == 0 && !p->inplace)
		memcpy(p->recv, p->send, p->count * sizeof(float));
	return MPI_Bcast(p->recv, (int)p->count, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static int sendrecv(const struct peer *p)
{
	int next = (p->rank + 1) % p->ranks;
	int before = (p->rank + p->ranks - 1) % p->ranks;

	return MPI_Sendrecv(p->send, (int)p->count, MPI_FLOAT, next, 0,
			    p->recv, (int)p->count, MPI_FLOAT, before, 0,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int call(void *peer)
{
	struct peer *p = peer;
	const void *from = p->inplace ? MPI_IN_PLACE : p->send;

	switch (p->op) {
	case PEER_ALL_REDUCE:
		return MPI_Allreduce(from, p->recv, (int)p->count, MPI_FLOAT,
				     MPI_SUM, MPI_COMM_WORLD);
	case PEER_REDUCE_SCATTER:
		return reduce_scatter(p);
	case PEER_ALL_GATHER:
		return MPI_Allgather(from, (int)p->count, MPI_FLOAT, p->recv,
				     (int)p->count, MPI_FLOAT, MPI_COMM_WORLD);
	case PEER_BROADCAST:
		return broadcast(p);
	case PEER_REDUCE:
		return reduce(p);
	case PEER_SENDRECV:
		return sendrecv(p);
	default:
		return MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct peer p = {
		.name = PEER_NAME,
		.prepare = prepare,
		.call = call,
		.barrier = barrier,
		.reduce_max = reduce_max,
	};
	int rc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
	rc = peer_main(&p, argc, argv);
	MPI_Finalize();
	return rc;
}
