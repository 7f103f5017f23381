/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered expressions for the verifier, each stored once, so equal expressions
 * are equal numbers.  A leaf is one chunk of one rank's IN; add is a + b in
 * this order (b + a is another); step ends a combine of several sources, where
 * a short type is rounded; final is the finished result.
 */
#ifndef TUTTI_SCHED_EXPR_H
#define TUTTI_SCHED_EXPR_H

#include <stdbool.h>
#include <stdint.h>

enum tutti_expr_kind {
	TUTTI_EXPR_LEAF,
	TUTTI_EXPR_ADD,
	TUTTI_EXPR_STEP,
	TUTTI_EXPR_FINAL
};

struct tutti_expr {
	uint64_t hash;		/* of the structure, not of numbers */
	uint32_t a, b;		/* parts; of a leaf: rank */
	uint32_t leaves;	/* contributions, counted */
	uint32_t chunk;		/* of IN; that of the first leaf */
	uint8_t kind;
	uint8_t complete;	/* 0: not known yet, 1: yes, 2: no */
};

#define TUTTI_EXPR_FIXED UINT32_MAX

struct tutti_exprs {
	/* If expressions turn: number = 1 + node * ranks + how far it is
	 * turned, and nodes are kept unturned, that is, as they are when the
	 * first part is not turned; the first `chunks` nodes are leaves. */
	bool turns;
	uint32_t stride;	/* chunks of IN, from one rank to the next */
	uint32_t ranks, chunks;	/* ranks, and chunks of each one's IN */
	uint32_t nleaves;	/* numbers 1 to nleaves are leaves */
	struct tutti_expr *nodes; /* the others; number is index + nleaves + 1,
				   * if they do not turn */
	uint32_t nnodes, nodes_max;
	uint64_t *table;	/* open hash: index + 1 below, hash above */
	uint32_t mask;
	uint32_t *seen, stamp;	/* by rank, for walks */
	uint32_t *stack;
};

/* False without memory, or for more leaves than can be numbered.  `room`: about
 * so many others are expected.  `stride`:
 * expressions can be turned, and chunks of IN turn by this from one rank to
 * the next; TUTTI_EXPR_FIXED: they cannot. */
bool tutti_exprs_init(struct tutti_exprs *x, uint32_t ranks, uint32_t chunks,
		      uint32_t stride, uint64_t room);
void tutti_exprs_fini(struct tutti_exprs *x);

/* Numbers of expressions; 0 without memory. */
uint32_t tutti_expr_leaf(const struct tutti_exprs *x, uint32_t rank,
			 uint32_t chunk);
uint32_t tutti_expr_add(struct tutti_exprs *x, uint32_t a, uint32_t b);
uint32_t tutti_expr_step(struct tutti_exprs *x, uint32_t a);
uint32_t tutti_expr_final(struct tutti_exprs *x, uint32_t a);

/* The same expression of the ranks `by` further, -ranks < by < ranks; as it is
 * if expressions do not turn. */
uint32_t tutti_expr_turn(const struct tutti_exprs *x, uint32_t e, int by);

struct tutti_expr tutti_expr_get(const struct tutti_exprs *x, uint32_t e);

/* Every rank's contribution exactly once, all of the same chunk. */
bool tutti_expr_complete(struct tutti_exprs *x, uint32_t e);
/* The balanced binary tree over rank order, rounding left aside. */
bool tutti_expr_strict(struct tutti_exprs *x, uint32_t e);
/* All ranks in order, under whatever association; and in one combine. */
bool tutti_expr_in_order(struct tutti_exprs *x, uint32_t e);
bool tutti_expr_one_combine(struct tutti_exprs *x, uint32_t e);

#endif
