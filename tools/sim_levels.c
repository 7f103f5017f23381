/* SPDX-License-Identifier: BSD-3-Clause */
/* Compositions to prove: the texts of levels that sched/compose.h lists.  The
 * one place of `tutti sim` that knows of them. */
#include "config.h"

#include "sim.h"

#if __has_include("sched/compose.h")
#include "sched/compose.h"

bool sim_levels_nth(const struct tutti_algo *algo, uint32_t i,
		    char text[SIM_LEVELS_MAX])
{
	_Static_assert(SIM_LEVELS_MAX >= TUTTI_LEVELS_MAX, "text of levels");
	return tutti_levels_nth(algo, i, text);
}

void sim_levels_set(struct tutti_query *q, const char *text)
{
	q->levels = text;
}
#else
bool sim_levels_nth(const struct tutti_algo *algo, uint32_t i,
		    char text[SIM_LEVELS_MAX])
{
	return false;
}

void sim_levels_set(struct tutti_query *q, const char *text)
{
}
#endif
