/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A composed all_reduce on rails, parts of the buffer that cross groups side
 * by side: allreduce_hier.c with many, allreduce_leader.c with one.
 */
#ifndef TUTTI_ALGO_RAILS_H
#define TUTTI_ALGO_RAILS_H

#include "sched/compose.h"

/* The functions of a form, for that many rails. */
bool tutti_rails_plan(struct tutti_compose *c, int rails);
void tutti_rails_lay(struct tutti_compose *c);

/* The same without level algorithms, and with the expression of strict. */
bool tutti_rails_strict_plan(struct tutti_compose *c, int rails);
void tutti_rails_strict_lay(struct tutti_compose *c);

#endif
