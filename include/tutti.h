/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tutti: collective communication between ranks in host memory.
 *
 * The calls have the shape of NCCL's, with the prefix `tutti`, and the
 * numeric values of result codes, data types and operators are NCCL's, so a
 * program written for NCCL is ported by changing the prefix.
 *
 * Words used below.  A *communicator* joins `nranks` ranks, numbered from 0.
 * A rank is a process or a thread.  A *node* is a set of ranks that share
 * memory.  Counts are in elements of the data type, never in bytes, unless a
 * name ends in `size` or `bytes`.  Times are in milliseconds unless a name
 * says otherwise.
 *
 * Every function returns a tuttiResult_t.  After anything but tuttiSuccess,
 * tuttiGetLastError() gives a full sentence: what failed, on which rank and
 * host, and what to do.  Output values are written only on success.
 *
 * One communicator may be used by one thread at a time, except that
 * tuttiCommAbort, tuttiCommGetAsyncError and tuttiGetLastError may be called
 * from any thread at any time.  Different communicators may be used from
 * different threads at once; they never block one another.  After fork(),
 * every call on an inherited communicator in the child is invalid usage.
 *
 * Each function tuttiX is a weak alias of ptuttiX, so that a profiler may
 * define tuttiX itself and call ptuttiX.
 */
#ifndef TUTTI_H
#define TUTTI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_MAJOR 0
#define TUTTI_MINOR 1
#define TUTTI_PATCH 0
/* One number for comparisons: 10000 * major + 100 * minor + patch. */
#define TUTTI_VERSION_CODE \
	(TUTTI_MAJOR * 10000 + TUTTI_MINOR * 100 + TUTTI_PATCH)

/* ---- Types ------------------------------------------------------------- */

/* A communicator; made by a tuttiCommInit* call or tuttiCommSplit, ended by tuttiCommDestroy
 * or tuttiCommAbort. */
typedef struct tuttiComm *tuttiComm_t;

/* The order in which asynchronous calls run.  NULL, the only stream so far,
 * means: run now, and return when this rank's buffers may be used again. */
typedef struct tuttiStream *tuttiStream_t;

#define TUTTI_UNIQUE_ID_BYTES 128
/* Opaque bytes that name one communicator to be.  Hand them to every rank.
 * They contain the secret that admits a rank, so keep them from strangers. */
typedef struct {
	char internal[TUTTI_UNIQUE_ID_BYTES];
} tuttiUniqueId;

typedef enum {
	tuttiSuccess = 0,
	/* 1 is NCCL's device error and is never returned. */
	tuttiUnhandledDeviceError = 1,
	/* A system call failed: no memory, no descriptors, no permission. */
	tuttiSystemError = 2,
	/* A fault of the library itself. */
	tuttiInternalError = 3,
	/* An argument of this call is wrong. */
	tuttiInvalidArgument = 4,
	/* The call is wrong at this point, or differs between ranks. */
	tuttiInvalidUsage = 5,
	/* Another rank died, left, aborted or could not be reached. */
	tuttiRemoteError = 6,
	/* The operation has not finished yet; not an error. */
	tuttiInProgress = 7,
	/* A deadline passed. */
	tuttiTimeout = 8,
	tuttiNumResults = 9
} tuttiResult_t;

typedef enum {
	tuttiInt8 = 0,
	tuttiChar = 0,
	tuttiUint8 = 1,
	tuttiInt32 = 2,
	tuttiInt = 2,
	tuttiUint32 = 3,
	tuttiInt64 = 4,
	tuttiUint64 = 5,
	tuttiFloat16 = 6,
	tuttiHalf = 6,
	tuttiFloat32 = 7,
	tuttiFloat = 7,
	tuttiFloat64 = 8,
	tuttiDouble = 8,
	tuttiBfloat16 = 9,
	tuttiFloat8e4m3 = 10,
	tuttiFloat8e5m2 = 11,
	tuttiNumTypes = 12
} tuttiDataType_t;

/*
 * Reduction operators.  Integer sums and products wrap.  A NaN in max or min
 * gives NaN.  Types of 16 and 8 bits are widened to float32 inside one
 * reduction step and rounded once, to nearest even.  The average of integers
 * is the exact sum divided by the number of ranks, truncated toward zero.
 */
typedef enum {
	tuttiSum = 0,
	tuttiProd = 1,
	tuttiMax = 2,
	tuttiMin = 3,
	tuttiAvg = 4,
	tuttiNumOps = 5,
	/* Those that tuttiRedOpCreate* makes are numbered from here on. */
	tuttiMaxRedOp = 0x7fffffff
} tuttiRedOp_t;

/* When the factor of tuttiRedOpCreatePreMulSum is read. */
typedef enum {
	tuttiScalarDevice = 0,		/* at each call that uses the operator */
	tuttiScalarHostImmediate = 1	/* once, before it returns */
} tuttiScalarResidence_t;

/* result[i] = left[i] combined with right[i], for `count` elements of
 * `datatype`.  `result` may be `left` or `right`; the operands must not be
 * changed otherwise.  Called in the thread that called the collective, for
 * parts of the buffers of any size; must not call this library. */
typedef void (*tuttiReduceFn)(const void *left, const void *right,
			      void *result, size_t count,
			      tuttiDataType_t datatype, void *context);

#pragma GCC visibility push(default)

/* ---- Version and errors ------------------------------------------------ */

/* Store TUTTI_VERSION_CODE of the library that is loaded.
 * Errors: tuttiInvalidArgument if `version` is NULL. */
tuttiResult_t tuttiGetVersion(int *version);

/* A fixed sentence for a result code; never NULL, also for unknown codes. */
const char *tuttiGetErrorString(tuttiResult_t result);

/* The last detailed error of `comm`, or, if `comm` is NULL, of the calling
 * thread; an empty string if there was none.  The string stays valid until
 * the next failing call in this thread. */
const char *tuttiGetLastError(tuttiComm_t comm);

/* ---- Life of a communicator -------------------------------------------- */

#define TUTTI_CONFIG_MAGIC 0x54545469u
#define TUTTI_CONFIG_UNDEF (-0x7fffffff - 1)

/* Options of one communicator.  Start from TUTTI_CONFIG_INITIALIZER; a field
 * left alone takes its value from the environment or the default. */
typedef struct {
	size_t size;		/* sizeof(tuttiConfig_t) as compiled */
	unsigned int magic;	/* TUTTI_CONFIG_MAGIC */
	unsigned int version;	/* TUTTI_VERSION_CODE as compiled */
	const char *commName;	/* used in messages; NULL: none */
	int initTimeoutMs;	/* deadline of initialisation; over 0 */
	int timeoutMs;		/* deadline of every operation; over 0 */
} tuttiConfig_t;

#define TUTTI_CONFIG_INITIALIZER \
	{ sizeof(tuttiConfig_t), TUTTI_CONFIG_MAGIC, TUTTI_VERSION_CODE, \
	  NULL, TUTTI_CONFIG_UNDEF, TUTTI_CONFIG_UNDEF }

/* Make an id for a new communicator and listen, in this process, for its
 * ranks.  Call it once, on any one process that outlives the start, and give
 * the bytes to all ranks.  An id serves one communicator, once.
 * Errors: tuttiInvalidArgument (NULL), tuttiInvalidUsage (TUTTI_IFNAME
 * matches no usable interface), tuttiSystemError. */
tuttiResult_t tuttiGetUniqueId(tuttiUniqueId *uniqueId);

/* Join a communicator of `nranks` as `rank` (0 to nranks - 1).  Returns when
 * all ranks have joined, or by the deadline (TUTTI_INIT_TIMEOUT).
 * Errors: tuttiInvalidArgument (range, NULL, damaged id), tuttiInvalidUsage
 * (id used before, a rank claimed twice, sizes or versions that differ),
 * tuttiRemoteError or tuttiTimeout (a rank never came: the sentence lists the
 * missing ones), tuttiSystemError. */
tuttiResult_t tuttiCommInitRank(tuttiComm_t *comm, int nranks,
				tuttiUniqueId uniqueId, int rank);

/* The same with options; `config` may be NULL. */
tuttiResult_t tuttiCommInitRankConfig(tuttiComm_t *comm, int nranks,
				      tuttiUniqueId uniqueId, int rank,
				      const tuttiConfig_t *config);

/* Join with rank, size and meeting point from the environment of the
 * launcher: `tutti run`, Slurm, PMIx, Open MPI, MPICH or torchrun.  With no
 * sign of a launcher: a communicator of one rank.
 * Errors: as tuttiCommInitRank; signs that contradict each other, or a
 * launcher that cannot be reached, are tuttiInvalidUsage. */
tuttiResult_t tuttiCommInitEnv(tuttiComm_t *comm, const tuttiConfig_t *config);

/* Gather `bytes` bytes at `send` of every rank into `recv`, in rank order
 * (nranks * bytes).  Returns 0, or another value if it failed. */
typedef int (*tuttiAllGatherFn)(const void *send, void *recv, size_t bytes,
				void *context);

/* Join with the caller's own way to exchange bytes, such as an MPI
 * communicator or a key-value store.  `allgather` is called by every rank,
 * only during this call.
 * Errors: as tuttiCommInitRank; tuttiRemoteError if `allgather` fails. */
tuttiResult_t tuttiCommInitUser(tuttiComm_t *comm, int nranks, int rank,
				tuttiAllGatherFn allgather, void *context,
				const tuttiConfig_t *config);

/* A color that asks for no communicator. */
#define TUTTI_SPLIT_NOCOLOR (-1)

/*
 * Make a communicator for each color (0 or above) that ranks of `comm` give,
 * of the ranks that give it, numbered by `key`, then by rank in `comm`.  All
 * ranks of `comm` call it.  *newcomm is NULL with TUTTI_SPLIT_NOCOLOR.  What
 * `config` leaves open, or all if it is NULL, is as in `comm`.
 *
 * If one rank fails, for want of memory or descriptors say, so does the split
 * on all ranks of its color, and `comm` stays sound.  Both communicators may
 * be destroyed in any order.  Aborting `comm` also aborts those that were
 * split from it, and from these, but not the other way round: their calls
 * fail, and each is still to be destroyed.
 * Errors: as tuttiCommInitRankConfig and the collectives; tuttiInvalidUsage
 * also in a group.
 */
tuttiResult_t tuttiCommSplit(tuttiComm_t comm, int color, int key,
			     tuttiComm_t *newcomm,
			     const tuttiConfig_t *config);

/* Complete everything that was started on `comm`.  Only error query, destroy
 * and abort are allowed afterwards.
 * Errors: tuttiInvalidArgument, tuttiInvalidUsage (second call), and the
 * communicator's own error if it has failed. */
tuttiResult_t tuttiCommFinalize(tuttiComm_t comm);

/* Finalize if that was not done, and free.  `comm` is gone afterwards,
 * whatever is returned.  Waits for no other rank. */
tuttiResult_t tuttiCommDestroy(tuttiComm_t comm);

/* Cancel everything, tell the other ranks, and free.  May be called from any
 * thread while another is blocked in a call on `comm`; that call returns an
 * error.  Returns within 2 s without help from any other rank. */
tuttiResult_t tuttiCommAbort(tuttiComm_t comm);

/* Store the error that the communicator has met so far: tuttiSuccess while
 * it is sound.  An error stays; nothing but query, abort and destroy works
 * on the communicator afterwards. */
tuttiResult_t tuttiCommGetAsyncError(tuttiComm_t comm,
				     tuttiResult_t *asyncError);

/* Store the number of ranks. */
tuttiResult_t tuttiCommCount(tuttiComm_t comm, int *count);

/* Store this rank's number. */
tuttiResult_t tuttiCommUserRank(tuttiComm_t comm, int *rank);

/* What a communicator is like, for programs that report or place work.
 * Start from TUTTI_COMM_INFO_INITIALIZER. */
typedef struct {
	size_t size;		/* sizeof(tuttiCommInfo_t) as compiled */
	int rank;		/* this rank */
	int count;		/* ranks in all */
	int localRank;		/* this rank's place on its node */
	int localCount;		/* ranks on this node */
	int node;		/* this rank's node, from 0 */
	int nodeCount;		/* nodes in all */
	char transports[32];	/* in use by any rank pair: "shm", "shm,tcp" */
	char algorithm[32];	/* of this rank's last operation, or "" */
} tuttiCommInfo_t;

#define TUTTI_COMM_INFO_INITIALIZER \
	{ sizeof(tuttiCommInfo_t), 0, 0, 0, 0, 0, 0, "", "" }

/* Fill `info`.
 * Errors: tuttiInvalidArgument (NULL, or a size this library does not
 * know). */
tuttiResult_t tuttiCommQuery(tuttiComm_t comm, tuttiCommInfo_t *info);

/* ---- Memory ------------------------------------------------------------ */

/* Allocate `size` bytes that other ranks of the node can reach, so that
 * operations on them need no copy.  Page-aligned, zeroed.  Size 0 gives NULL.
 * Errors: tuttiInvalidArgument, tuttiSystemError (no memory). */
tuttiResult_t tuttiMemAlloc(void **ptr, size_t size);

/* Free memory from tuttiMemAlloc; NULL is allowed.
 * Errors: tuttiInvalidArgument if `ptr` did not come from tuttiMemAlloc. */
tuttiResult_t tuttiMemFree(void *ptr);

/* Tell the library about a buffer that will be used often.  If it is a
 * shareable mapping (MAP_SHARED of a file or memfd) peers will reach it in
 * place; otherwise it stays correct and is staged.  The buffer must stay
 * mapped until tuttiCommDeregister.
 * Errors: tuttiInvalidArgument, tuttiSystemError. */
tuttiResult_t tuttiCommRegister(tuttiComm_t comm, void *buff, size_t size,
				void **handle);

/* Undo tuttiCommRegister. */
tuttiResult_t tuttiCommDeregister(tuttiComm_t comm, void *handle);

/* ---- Operators that a program makes ------------------------------------- */
/*
 * For use as `op` of tuttiAllReduce, tuttiReduce and tuttiReduceScatter on the
 * communicator they were made for.  All ranks give operators of the same kind
 * to one call; numbers, factors and functions are each rank's own.
 */

/* Make an operator that multiplies this rank's contribution by *scalar, one
 * element of `datatype`, and sums the products.  Integers wrap; float16,
 * bfloat16 and fp8 are multiplied in float32, and the product is rounded to
 * the type before it is added (with TUTTI_DETERMINISM=strict, only the result
 * is).  `scalar` is host memory in both residences.
 * Errors: tuttiInvalidArgument, tuttiInvalidUsage (finalized),
 * tuttiSystemError. */
tuttiResult_t tuttiRedOpCreatePreMulSum(tuttiRedOp_t *op, void *scalar,
					tuttiDataType_t datatype,
					tuttiScalarResidence_t residence,
					tuttiComm_t comm);

/* Make an operator of a function, which must be associative as far as the
 * program cares.  With `commutative` 0, the left operand is always of lower
 * ranks than the right one.  Results between ranks are of the type of the
 * call.
 * Errors: as above. */
tuttiResult_t tuttiRedOpCreateUser(tuttiRedOp_t *op, tuttiReduceFn fn,
				   void *context, int commutative,
				   tuttiComm_t comm);

/* Forget an operator; calls that were given it have returned.
 * Errors: tuttiInvalidArgument if it is not one that was made for `comm` and
 * still is there. */
tuttiResult_t tuttiRedOpDestroy(tuttiRedOp_t op, tuttiComm_t comm);

/* ---- Collectives ------------------------------------------------------- */
/*
 * Rules for all of them.  Every rank calls the same operations in the same
 * order with the same count, type, operator and root; a difference is
 * tuttiInvalidUsage on every rank, naming two ranks and both values; a rank
 * whose part in it waits for nobody may learn it at its next call.  A count
 * of 0 is legal and touches no memory; buffers may then be NULL.  A send
 * buffer is never written.  Send and receive buffers may be the same where
 * "in place" says so; any other overlap is tuttiInvalidArgument.  A count
 * whose bytes overflow size_t is tuttiInvalidArgument.  The result has the
 * same bits on every rank.
 *
 * Errors of all: tuttiInvalidArgument, tuttiInvalidUsage, tuttiRemoteError (a
 * rank died or aborted), tuttiTimeout (TUTTI_TIMEOUT passed: the sentence
 * says whom this rank waits for), tuttiSystemError.  After any but the first,
 * and after invalid usage that other ranks saw, the communicator has failed.
 */

/* recvbuff[i] = op over ranks of sendbuff[i], on every rank.
 * In place: sendbuff == recvbuff. */
tuttiResult_t tuttiAllReduce(const void *sendbuff, void *recvbuff,
			     size_t count, tuttiDataType_t datatype,
			     tuttiRedOp_t op, tuttiComm_t comm,
			     tuttiStream_t stream);

/* The same, on rank `root` only; recvbuff of other ranks is not touched and
 * may be NULL.  In place: sendbuff == recvbuff on the root. */
tuttiResult_t tuttiReduce(const void *sendbuff, void *recvbuff, size_t count,
			  tuttiDataType_t datatype, tuttiRedOp_t op, int root,
			  tuttiComm_t comm, tuttiStream_t stream);

/* recvbuff of every rank = sendbuff of `root`; sendbuff of other ranks is not
 * read and may be NULL.  In place: sendbuff == recvbuff on the root. */
tuttiResult_t tuttiBroadcast(const void *sendbuff, void *recvbuff,
			     size_t count, tuttiDataType_t datatype, int root,
			     tuttiComm_t comm, tuttiStream_t stream);

/* recvbuff (nranks * sendcount elements) = sendbuff of rank 0, 1, ...
 * In place: sendbuff == recvbuff + rank * sendcount. */
tuttiResult_t tuttiAllGather(const void *sendbuff, void *recvbuff,
			     size_t sendcount, tuttiDataType_t datatype,
			     tuttiComm_t comm, tuttiStream_t stream);

/* recvbuff (recvcount elements) = this rank's block of the reduction of
 * sendbuff (nranks * recvcount elements).
 * In place: recvbuff == sendbuff + rank * recvcount. */
tuttiResult_t tuttiReduceScatter(const void *sendbuff, void *recvbuff,
				 size_t recvcount, tuttiDataType_t datatype,
				 tuttiRedOp_t op, tuttiComm_t comm,
				 tuttiStream_t stream);

/* Block i of recvbuff = block `rank` of rank i's sendbuff, for every i; both
 * buffers have nranks blocks of `count` elements.
 * In place: sendbuff == recvbuff. */
tuttiResult_t tuttiAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
			    tuttiDataType_t datatype, tuttiComm_t comm,
			    tuttiStream_t stream);

/* On rank `root`, recvbuff (nranks * sendcount elements) = sendbuff of rank 0,
 * 1, ...; recvbuff of other ranks is not touched and may be NULL.
 * In place: sendbuff == recvbuff + root * sendcount on the root. */
tuttiResult_t tuttiGather(const void *sendbuff, void *recvbuff,
			  size_t sendcount, tuttiDataType_t datatype, int root,
			  tuttiComm_t comm, tuttiStream_t stream);

/* recvbuff (recvcount elements) = block `rank` of rank `root`'s sendbuff (nranks
 * * recvcount elements); sendbuff of other ranks is not read and may be NULL.
 * In place: recvbuff == sendbuff + root * recvcount on the root. */
tuttiResult_t tuttiScatter(const void *sendbuff, void *recvbuff,
			   size_t recvcount, tuttiDataType_t datatype,
			   int root, tuttiComm_t comm, tuttiStream_t stream);

/* Return when every rank has called it. */
tuttiResult_t tuttiBarrier(tuttiComm_t comm, tuttiStream_t stream);

/*
 * The v-forms: blocks have counts of their own, in elements.  `displs` are the
 * elements before each block, NULL if blocks stand one after another; blocks
 * of a receive buffer that overlap are tuttiInvalidArgument.  The arrays have
 * nranks elements and are the caller's again on return.  Any count may be 0.
 * Two ranks that disagree about the length of a block are told so as for
 * other differences.
 */

/* As tuttiAllGather; rank i gives recvcounts[i] elements, and all ranks give the
 * same recvcounts.  In place: sendbuff == recvbuff + displs[rank]. */
tuttiResult_t tuttiAllGatherv(const void *sendbuff, void *recvbuff,
			      const size_t *recvcounts, const size_t *displs,
			      tuttiDataType_t datatype, tuttiComm_t comm,
			      tuttiStream_t stream);

/* As tuttiReduceScatter; rank i gets recvcounts[i] elements, all ranks give the
 * same recvcounts, and the blocks of sendbuff stand one after another.
 * In place: recvbuff is this rank's block of sendbuff. */
tuttiResult_t tuttiReduceScatterv(const void *sendbuff, void *recvbuff,
				  const size_t *recvcounts,
				  tuttiDataType_t datatype, tuttiRedOp_t op,
				  tuttiComm_t comm, tuttiStream_t stream);

/* As tuttiAlltoAll; sendcounts[i] elements go to rank i, recvcounts[i] come from
 * it.  In place: sendbuff == recvbuff, with the same counts and displacements
 * on both sides. */
tuttiResult_t tuttiAlltoAllv(const void *sendbuff, const size_t *sendcounts,
			     const size_t *sdispls, void *recvbuff,
			     const size_t *recvcounts, const size_t *rdispls,
			     tuttiDataType_t datatype, tuttiComm_t comm,
			     tuttiStream_t stream);

/* As tuttiGather; rank i gives recvcounts[i] elements.  The arrays are read on
 * the root only.  In place: sendbuff == recvbuff + displs[root] on the root. */
tuttiResult_t tuttiGatherv(const void *sendbuff, size_t sendcount,
			   void *recvbuff, const size_t *recvcounts,
			   const size_t *displs, tuttiDataType_t datatype,
			   int root, tuttiComm_t comm, tuttiStream_t stream);

/* As tuttiScatter; rank i gets sendcounts[i] elements.  The arrays are read on
 * the root only.  In place: recvbuff == sendbuff + displs[root] on the
 * root. */
tuttiResult_t tuttiScatterv(const void *sendbuff, const size_t *sendcounts,
			    const size_t *displs, void *recvbuff,
			    size_t recvcount, tuttiDataType_t datatype,
			    int root, tuttiComm_t comm, tuttiStream_t stream);

/* Send `count` elements to rank `peer`, which must call tuttiRecv with the
 * same count and type.  Calls between two ranks match in order.  Without a
 * group, two ranks that both send first may wait for each other until the
 * deadline if the message is large, and to oneself is tuttiInvalidUsage; in a
 * group (tuttiGroupStart) neither is so. */
tuttiResult_t tuttiSend(const void *sendbuff, size_t count,
			tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			tuttiStream_t stream);

/* Receive what rank `peer` sends. */
tuttiResult_t tuttiRecv(void *recvbuff, size_t count,
			tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			tuttiStream_t stream);

/* ---- Groups ------------------------------------------------------------ */

/*
 * Begin a group in this thread.  Until its end, every collective, send and
 * receive of this thread, on any communicators, only checks its arguments and
 * is remembered; buffers stay the library's until the end, arrays of counts
 * and displacements are copied.  Groups nest: only the end of the outermost
 * one acts.  Never fails.
 */
tuttiResult_t tuttiGroupStart(void);

/*
 * End a group, and run what it holds.  Collectives of one communicator run in
 * the order of their calls; sends and receives run beside them, and their
 * order matters only between the same two ranks in the same direction.  A
 * send to oneself meets a receive from oneself of the same group, in order,
 * of the same count and type.  Several communicators may be in one group, in
 * different orders on different ranks.  Returns when all is done and the
 * buffers may be used again, or the first error.
 * A call that was refused because of its arguments has returned its error
 * already; the end returns it again and runs nothing.
 * Between start and end, no communicator can be made or split, and one that
 * has calls in the group can be neither finalized nor destroyed; abort drops
 * its calls.
 * Errors: as all collectives; tuttiInvalidUsage also without a start, and for
 * messages to oneself that do not match (nothing is run then).
 */
tuttiResult_t tuttiGroupEnd(void);

/* ---- The same functions under the names that are never replaced -------- */

tuttiResult_t ptuttiGetVersion(int *version);
const char *ptuttiGetErrorString(tuttiResult_t result);
const char *ptuttiGetLastError(tuttiComm_t comm);
tuttiResult_t ptuttiGetUniqueId(tuttiUniqueId *uniqueId);
tuttiResult_t ptuttiCommInitRank(tuttiComm_t *comm, int nranks,
				 tuttiUniqueId uniqueId, int rank);
tuttiResult_t ptuttiCommInitRankConfig(tuttiComm_t *comm, int nranks,
				       tuttiUniqueId uniqueId, int rank,
				       const tuttiConfig_t *config);
tuttiResult_t ptuttiCommInitEnv(tuttiComm_t *comm,
				const tuttiConfig_t *config);
tuttiResult_t ptuttiCommInitUser(tuttiComm_t *comm, int nranks, int rank,
				 tuttiAllGatherFn allgather, void *context,
				 const tuttiConfig_t *config);
tuttiResult_t ptuttiCommSplit(tuttiComm_t comm, int color, int key,
			      tuttiComm_t *newcomm,
			      const tuttiConfig_t *config);
tuttiResult_t ptuttiCommFinalize(tuttiComm_t comm);
tuttiResult_t ptuttiCommDestroy(tuttiComm_t comm);
tuttiResult_t ptuttiCommAbort(tuttiComm_t comm);
tuttiResult_t ptuttiCommGetAsyncError(tuttiComm_t comm,
				      tuttiResult_t *asyncError);
tuttiResult_t ptuttiCommCount(tuttiComm_t comm, int *count);
tuttiResult_t ptuttiCommUserRank(tuttiComm_t comm, int *rank);
tuttiResult_t ptuttiCommQuery(tuttiComm_t comm, tuttiCommInfo_t *info);
tuttiResult_t ptuttiMemAlloc(void **ptr, size_t size);
tuttiResult_t ptuttiMemFree(void *ptr);
tuttiResult_t ptuttiCommRegister(tuttiComm_t comm, void *buff, size_t size,
				 void **handle);
tuttiResult_t ptuttiCommDeregister(tuttiComm_t comm, void *handle);
tuttiResult_t ptuttiRedOpCreatePreMulSum(tuttiRedOp_t *op, void *scalar,
					 tuttiDataType_t datatype,
					 tuttiScalarResidence_t residence,
					 tuttiComm_t comm);
tuttiResult_t ptuttiRedOpCreateUser(tuttiRedOp_t *op, tuttiReduceFn fn,
				    void *context, int commutative,
				    tuttiComm_t comm);
tuttiResult_t ptuttiRedOpDestroy(tuttiRedOp_t op, tuttiComm_t comm);
tuttiResult_t ptuttiAllReduce(const void *sendbuff, void *recvbuff,
			      size_t count, tuttiDataType_t datatype,
			      tuttiRedOp_t op, tuttiComm_t comm,
			      tuttiStream_t stream);
tuttiResult_t ptuttiReduce(const void *sendbuff, void *recvbuff, size_t count,
			   tuttiDataType_t datatype, tuttiRedOp_t op, int root,
			   tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiBroadcast(const void *sendbuff, void *recvbuff,
			      size_t count, tuttiDataType_t datatype, int root,
			      tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiAllGather(const void *sendbuff, void *recvbuff,
			      size_t sendcount, tuttiDataType_t datatype,
			      tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiReduceScatter(const void *sendbuff, void *recvbuff,
				  size_t recvcount, tuttiDataType_t datatype,
				  tuttiRedOp_t op, tuttiComm_t comm,
				  tuttiStream_t stream);
tuttiResult_t ptuttiAlltoAll(const void *sendbuff, void *recvbuff,
			     size_t count, tuttiDataType_t datatype,
			     tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiGather(const void *sendbuff, void *recvbuff,
			   size_t sendcount, tuttiDataType_t datatype,
			   int root, tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiScatter(const void *sendbuff, void *recvbuff,
			    size_t recvcount, tuttiDataType_t datatype,
			    int root, tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiAllGatherv(const void *sendbuff, void *recvbuff,
			       const size_t *recvcounts, const size_t *displs,
			       tuttiDataType_t datatype, tuttiComm_t comm,
			       tuttiStream_t stream);
tuttiResult_t ptuttiReduceScatterv(const void *sendbuff, void *recvbuff,
				   const size_t *recvcounts,
				   tuttiDataType_t datatype, tuttiRedOp_t op,
				   tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiAlltoAllv(const void *sendbuff, const size_t *sendcounts,
			      const size_t *sdispls, void *recvbuff,
			      const size_t *recvcounts, const size_t *rdispls,
			      tuttiDataType_t datatype, tuttiComm_t comm,
			      tuttiStream_t stream);
tuttiResult_t ptuttiGatherv(const void *sendbuff, size_t sendcount,
			    void *recvbuff, const size_t *recvcounts,
			    const size_t *displs, tuttiDataType_t datatype,
			    int root, tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiScatterv(const void *sendbuff, const size_t *sendcounts,
			     const size_t *displs, void *recvbuff,
			     size_t recvcount, tuttiDataType_t datatype,
			     int root, tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiBarrier(tuttiComm_t comm, tuttiStream_t stream);
tuttiResult_t ptuttiSend(const void *sendbuff, size_t count,
			 tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			 tuttiStream_t stream);
tuttiResult_t ptuttiRecv(void *recvbuff, size_t count,
			 tuttiDataType_t datatype, int peer, tuttiComm_t comm,
			 tuttiStream_t stream);
tuttiResult_t ptuttiGroupStart(void);
tuttiResult_t ptuttiGroupEnd(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_H */
