/* SPDX-License-Identifier: BSD-3-Clause */
/* The list sink, shared by tutti_sched_build and tutti_sched_parse. */
#ifndef TUTTI_SCHED_IMPL_H
#define TUTTI_SCHED_IMPL_H

#include "sched/algo.h"

#define TUTTI_ALGO_NAME_MAX 32	/* with the ending 0 */

struct tutti_list {
	struct tutti_sink sink;		/* first */
	struct tutti_sched *sched;	/* NULL before begin and after take */
	uint32_t runs_max, ops_max, refs_max;
	uint32_t times;			/* of the run that is open */
	bool run_open;			/* it has a record */
};

void tutti_list_init(struct tutti_list *l);

/* A header only, for begin's work without a query. */
tuttiResult_t tutti_list_begin(struct tutti_list *l,
			       const struct tutti_sched *header);

/* Check and hand over what was collected; on failure, and for what was never
 * taken, tutti_list_fini frees it. */
tuttiResult_t tutti_list_take(struct tutti_list *l, struct tutti_sched **out);

void tutti_list_fini(struct tutti_list *l);

/* Whether the query makes sense, and the algorithm serves it. */
tuttiResult_t tutti_query_check(const struct tutti_algo *algo,
				const struct tutti_query *q);

#endif
