/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining the other ranks, and failing together with them.
 *
 * When one rank meets trouble of its own (no data, no disk space), the others
 * must not wait for it in the next collective.  So wherever a rank may fail
 * alone, all of them meet in ranks_agree() and go on or give up as one, and
 * the user reads one sentence instead of one per rank.
 */
#include <stdlib.h>

#include "train.h"

int ranks_join(struct ranks *ranks, char *why)
{
	static const tuttiCommInfo_t empty = TUTTI_COMM_INFO_INITIALIZER;

	ranks->info = empty;
	ranks->lost = false;
	if (tuttiCommInitEnv(&ranks->comm, NULL))
		return fail(why, "cannot join the other ranks: %s",
			    tuttiGetLastError(NULL));
	if (tuttiCommQuery(ranks->comm, &ranks->info)) {
		fail(why, "cannot query the communicator: %s",
		     tuttiGetLastError(ranks->comm));
		tuttiCommAbort(ranks->comm);
		return -1;
	}
	return 0;
}

int ranks_lost(struct ranks *ranks, const char *doing)
{
	ranks->lost = true;
	fprintf(stderr, "tutti-train: rank %d failed while %s: %s\n",
		ranks->info.rank, doing, tuttiGetLastError(ranks->comm));
	return -1;
}

int ranks_agree(struct ranks *ranks, int outcome, const char *why)
{
	/* The lowest rank with trouble; their number if there is none. */
	int32_t first = outcome ? ranks->info.rank : ranks->info.count;

	if (tuttiAllReduce(&first, &first, 1, tuttiInt32, tuttiMin,
			   ranks->comm, NULL))
		return ranks_lost(ranks, "agreeing on how to go on");
	if (first == ranks->info.count)
		return 0;
	if (first == ranks->info.rank)
		fprintf(stderr, "tutti-train: %s\n", why);
	return -1;
}

int ranks_same(struct ranks *ranks, uint64_t number, const char *what,
	       char *why)
{
	uint64_t *all = calloc((size_t)ranks->info.count, sizeof(*all));
	int outcome = all ? 0 : fail(why, "no memory to compare the ranks");
	int i;

	if (ranks_agree(ranks, outcome, why)) {
		outcome = -1;
		goto out;
	}
	if (tuttiAllGather(&number, all, 1, tuttiUint64, ranks->comm, NULL)) {
		outcome = ranks_lost(ranks, "comparing the ranks' set-up");
		goto out;
	}
	for (i = 0; i < ranks->info.count && !outcome; i++)
		if (all[i] != all[0])
			outcome = fail(why, "rank %d has %s than rank 0; "
				       "start all ranks alike", i, what);
	outcome = ranks_agree(ranks, outcome, why);
out:
	free(all);
	return outcome;
}
