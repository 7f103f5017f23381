/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of calls.
 */
#include "config.h"

#include "api/api.h"
#include "comm/comm.h"

tuttiResult_t ptuttiGroupStart(void)
{
	tutti_group_start();
	return tuttiSuccess;
}
TUTTI_ALIAS(tuttiResult_t, tuttiGroupStart, (void));

tuttiResult_t ptuttiGroupEnd(void)
{
	return tutti_group_end();
}
TUTTI_ALIAS(tuttiResult_t, tuttiGroupEnd, (void));
