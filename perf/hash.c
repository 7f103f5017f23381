/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digests of results (--hash).  The input is random-like and the same in every
 * run, so two digests that agree say that two runs gave the same bits: with
 * another number of nodes, another algorithm, another day.
 */
#include <openssl/evp.h>

#include "perf.h"

#define BYTES 32		/* of a sha256 */
#define SEED 20240229		/* any will do, as long as it stays */

static tuttiResult_t digest(const void *data, size_t bytes, unsigned char *to)
{
	if (EVP_Digest(data, bytes, to, NULL, EVP_sha256(), NULL) == 1)
		return tuttiSuccess;
	return tuttiSystemError;
}

/* Digest what this rank holds, or, of blocks, what all hold together. */
static tuttiResult_t digest_result(struct perf_run *run, unsigned char *to)
{
	size_t bytes = run->recv_count * run->type->bytes;
	tuttiResult_t rc;

	if (run->op->result != PERF_RESULT_BLOCKS)
		return digest(run->recv, bytes, to);
	/* The send buffer has room for all blocks, and in place the block
	 * stands there already. */
	rc = tuttiAllGather(run->recv, run->send, run->count, run->type->type,
			    run->comm, NULL);
	if (rc)
		return rc;
	return digest(run->send, bytes * (size_t)run->info.count, to);
}

static void to_hex(const unsigned char *from, char hex[65])
{
	int i;

	for (i = 0; i < BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", from[i]);
}

/* From the digests of all ranks: do they fit, and which one is the row's. */
static tuttiResult_t judge(const struct perf_run *run, char hex[65],
			   bool *same)
{
	unsigned char whole[BYTES];
	const unsigned char *all = run->digests;
	tuttiResult_t rc;
	int rank;

	*same = true;
	if (run->op->result == PERF_RESULT_ROOT) {
		to_hex(all + BYTES * run->root, hex);
		return tuttiSuccess;
	}
	if (run->op->result == PERF_RESULT_OWN) {
		rc = digest(all, BYTES * (size_t)run->info.count, whole);
		if (!rc)
			to_hex(whole, hex);
		return rc;
	}
	for (rank = 1; rank < run->info.count; rank++) {
		if (!memcmp(all, all + BYTES * rank, BYTES))
			continue;
		if (*same && run->info.rank == 0)
			fprintf(stderr, "tutti-perf: %s, %zu bytes%s: the "
				"result of rank %d is not that of rank 0, bit "
				"by bit\n", run->op->name, perf_row_bytes(run),
				run->inplace ? " in place" : "", rank);
		*same = false;
	}
	to_hex(all, hex);
	return tuttiSuccess;
}

tuttiResult_t perf_hash(struct perf_run *run, char hex[65], bool *same)
{
	unsigned char *mine = run->digests + BYTES * run->info.rank;
	tuttiResult_t rc;

	run->seed = SEED;
	perf_fill_random(run, run->send, run->send_count);
	rc = run->op->call(run);
	if (!rc)
		rc = digest_result(run, mine);
	if (!rc)
		rc = tuttiAllGather(mine, run->digests, BYTES, tuttiUint8,
				    run->comm, NULL);
	return rc ? rc : judge(run, hex, same);
}
