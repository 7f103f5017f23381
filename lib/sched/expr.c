/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of expressions.  Leaves need no memory, their number says all.
 * Walks use a stack of fixed size: an expression that could be larger than the
 * stack has too many leaves and is refused by its count first.
 */
#include "config.h"

#include "base/bits.h"
#include "sched/expr.h"

#include <stdlib.h>

#define NODES_MIN 512u
#define NODES_ROOM (1u << 22)	/* at most from the start */

bool tutti_exprs_init(struct tutti_exprs *x, uint32_t ranks, uint32_t chunks,
		      uint32_t stride, uint64_t room)
{
	uint64_t leaves = (uint64_t)ranks * chunks;

	*x = (struct tutti_exprs){ .ranks = ranks, .chunks = chunks };
	x->turns = stride != TUTTI_EXPR_FIXED;
	x->stride = x->turns ? stride : 0;
	if (leaves > UINT32_MAX / 2)
		return false;
	x->nleaves = (uint32_t)leaves;
	x->nodes_max = NODES_MIN;
	while (x->nodes_max < room && x->nodes_max < NODES_ROOM)
		x->nodes_max *= 2;
	x->mask = 2 * x->nodes_max - 1;
	x->table = calloc((size_t)x->mask + 1, sizeof(*x->table));
	x->nodes = malloc(x->nodes_max * sizeof(*x->nodes));
	x->seen = calloc(ranks, sizeof(*x->seen));
	x->stack = malloc(3 * ((size_t)ranks + 4) * sizeof(*x->stack));
	return x->table && x->nodes && x->seen && x->stack;
}

void tutti_exprs_fini(struct tutti_exprs *x)
{
	free(x->table);
	free(x->nodes);
	free(x->seen);
	free(x->stack);
}

/* Chunk of IN, turned. */
static uint32_t turn_chunk(const struct tutti_exprs *x, uint32_t chunk,
			   uint32_t by)
{
	return (uint32_t)((chunk + (uint64_t)by * x->stride) % x->chunks);
}

uint32_t tutti_expr_leaf(const struct tutti_exprs *x, uint32_t rank,
			 uint32_t chunk)
{
	if (!x->turns)
		return 1 + rank * x->chunks + chunk;
	return 1 + turn_chunk(x, chunk, x->ranks - rank) * x->ranks + rank;
}

static uint32_t turns_of(const struct tutti_exprs *x, uint32_t e)
{
	return x->turns ? (e - 1) % x->ranks : 0;
}

uint32_t tutti_expr_turn(const struct tutti_exprs *x, uint32_t e, int by)
{
	uint32_t was;

	if (!x->turns || !e || !by)
		return e;
	was = turns_of(x, e);
	return e - was + (was + x->ranks + (uint32_t)by) % x->ranks;
}

/* Index in nodes of what is no leaf. */
static uint32_t node_of(const struct tutti_exprs *x, uint32_t e)
{
	return x->turns ? (e - 1) / x->ranks - x->chunks : e - x->nleaves - 1;
}

/* The number of a node; it turns with its first part. */
static uint32_t number_of(const struct tutti_exprs *x, uint32_t node,
			  uint32_t turns)
{
	return x->turns ? 1 + (x->chunks + node) * x->ranks + turns :
			  x->nleaves + 1 + node;
}

static struct tutti_expr get_turned(const struct tutti_exprs *x, uint32_t e)
{
	struct tutti_expr n = x->nodes[node_of(x, e)];
	uint32_t by = turns_of(x, e);

	n.a = tutti_expr_turn(x, n.a, (int)by);
	n.b = tutti_expr_turn(x, n.b, (int)by);
	n.chunk = turn_chunk(x, n.chunk, by);
	n.hash = tutti_mix(n.hash, by);
	return n;
}

struct tutti_expr tutti_expr_get(const struct tutti_exprs *x, uint32_t e)
{
	struct tutti_expr leaf = { .kind = TUTTI_EXPR_LEAF, .leaves = 1 };

	if (e > x->nleaves)
		return x->turns ? get_turned(x, e) :
				  x->nodes[e - x->nleaves - 1];
	if (x->turns) {
		leaf.a = turns_of(x, e);
		leaf.chunk = turn_chunk(x, (e - 1) / x->ranks, leaf.a);
	} else {
		leaf.a = (e - 1) / x->chunks;
		leaf.chunk = (e - 1) % x->chunks;
	}
	leaf.hash = tutti_mix(leaf.a, leaf.chunk);
	return leaf;
}

static uint64_t hash_of(uint8_t kind, uint32_t a, uint32_t b)
{
	return tutti_mix(kind, (uint64_t)a << 32 | b);
}

/* What the table holds for node i: a part of the hash spares a look at most
 * other nodes. */
static uint64_t entry(uint64_t hash, uint32_t i)
{
	return (hash & ~(uint64_t)UINT32_MAX) | (i + 1);
}

static void put(struct tutti_exprs *x, uint64_t hash, uint32_t i)
{
	uint32_t s = (uint32_t)hash & x->mask;

	while (x->table[s])
		s = (s + 1) & x->mask;
	x->table[s] = entry(hash, i);
}

/* Twice the nodes, and a table of twice their number. */
static bool grow(struct tutti_exprs *x)
{
	uint32_t max = 2 * x->nodes_max;
	struct tutti_expr *nodes = realloc(x->nodes, max * sizeof(*nodes));
	uint64_t *table;

	if (!nodes)
		return false;
	x->nodes = nodes;
	x->nodes_max = max;
	table = calloc(2 * (size_t)max, sizeof(*table));
	if (!table)
		return false;
	free(x->table);
	x->table = table;
	x->mask = 2 * max - 1;
	for (uint32_t i = 0; i < x->nnodes; i++)
		put(x, hash_of(nodes[i].kind, nodes[i].a, nodes[i].b), i);
	return true;
}

/* The node of these, if there is one; otherwise the number after the last. */
static uint32_t find(const struct tutti_exprs *x, uint64_t hash,
		     enum tutti_expr_kind kind, uint32_t a, uint32_t b)
{
	uint32_t s = (uint32_t)hash & x->mask;

	for (; x->table[s]; s = (s + 1) & x->mask) {
		uint32_t i = (uint32_t)x->table[s] - 1;
		const struct tutti_expr *n = &x->nodes[i];

		if (x->table[s] == entry(hash, i) && n->kind == kind &&
		    n->a == a && n->b == b)
			return i;
	}
	return x->nnodes;
}

static uint32_t intern(struct tutti_exprs *x, enum tutti_expr_kind kind,
		       uint32_t a, uint32_t b)
{
	struct tutti_expr left, right = { 0 };
	uint32_t turns = turns_of(x, a), i;
	uint64_t hash;

	if (x->nnodes == x->nodes_max &&
	    (x->nnodes >= UINT32_MAX / 4 || !grow(x)))
		return 0;
	if (x->turns &&
	    (uint64_t)x->nnodes + x->chunks + 2 > UINT32_MAX / x->ranks)
		return 0;
	a = tutti_expr_turn(x, a, -(int)turns);
	b = tutti_expr_turn(x, b, -(int)turns);
	hash = hash_of((uint8_t)kind, a, b);
	i = find(x, hash, kind, a, b);
	if (i < x->nnodes)
		return number_of(x, i, turns);
	left = tutti_expr_get(x, a);
	if (b)
		right = tutti_expr_get(x, b);
	x->nodes[i] = (struct tutti_expr){
		.hash = tutti_mix(tutti_mix(left.hash, right.hash), kind),
		.kind = (uint8_t)kind,
		.a = a,
		.b = b,
		.leaves = left.leaves + right.leaves,
		.chunk = left.chunk,
	};
	x->nnodes++;
	put(x, hash, i);
	return number_of(x, i, turns);
}

uint32_t tutti_expr_add(struct tutti_exprs *x, uint32_t a, uint32_t b)
{
	return intern(x, TUTTI_EXPR_ADD, a, b);
}

uint32_t tutti_expr_step(struct tutti_exprs *x, uint32_t a)
{
	return intern(x, TUTTI_EXPR_STEP, a, 0);
}

uint32_t tutti_expr_final(struct tutti_exprs *x, uint32_t a)
{
	return intern(x, TUTTI_EXPR_FINAL, a, 0);
}

static bool walk_complete(struct tutti_exprs *x, uint32_t e)
{
	struct tutti_expr n = tutti_expr_get(x, e);
	uint32_t chunk = n.chunk, depth = 0;

	if (n.leaves != x->ranks)
		return false;
	x->stamp++;
	x->stack[depth++] = e;
	while (depth) {
		n = tutti_expr_get(x, x->stack[--depth]);
		if (n.kind == TUTTI_EXPR_LEAF) {
			if (n.chunk != chunk || x->seen[n.a] == x->stamp)
				return false;
			x->seen[n.a] = x->stamp;
			continue;
		}
		if (n.b)
			x->stack[depth++] = n.b;
		x->stack[depth++] = n.a;
	}
	return true;
}

bool tutti_expr_complete(struct tutti_exprs *x, uint32_t e)
{
	struct tutti_expr *n;

	if (e <= x->nleaves)
		return walk_complete(x, e);
	n = &x->nodes[node_of(x, e)];
	if (!n->complete)
		n->complete = walk_complete(x, e) ? 1 : 2;
	return n->complete == 1;
}

/* The same without the marks of rounding and finishing. */
static struct tutti_expr bare(const struct tutti_exprs *x, uint32_t e)
{
	struct tutti_expr n = tutti_expr_get(x, e);

	while (n.kind == TUTTI_EXPR_STEP || n.kind == TUTTI_EXPR_FINAL)
		n = tutti_expr_get(x, n.a);
	return n;
}

bool tutti_expr_strict(struct tutti_exprs *x, uint32_t e)
{
	uint32_t *top = x->stack;

	if (tutti_expr_get(x, e).leaves != x->ranks)
		return false;
	*top++ = e;
	*top++ = 0;
	*top++ = x->ranks;
	while (top != x->stack) {
		uint32_t count = *--top, first = *--top, half = 1;
		struct tutti_expr n = bare(x, *--top);

		if (n.leaves != count)
			return false;
		if (count == 1) {
			if (n.a != first)
				return false;
			continue;
		}
		while (2 * half < count)
			half *= 2;
		*top++ = n.b;
		*top++ = first + half;
		*top++ = count - half;
		*top++ = n.a;
		*top++ = first;
		*top++ = half;
	}
	return true;
}

/* Leaves of rank 0, 1, ... from left to right; `one`: with no rounding but the
 * last. */
static bool walk_order(struct tutti_exprs *x, uint32_t e, bool one)
{
	uint32_t depth = 0, next = 0;
	struct tutti_expr n = bare(x, e);

	if (n.leaves != x->ranks)
		return false;
	if (n.kind == TUTTI_EXPR_LEAF)
		return n.a == 0;
	x->stack[depth++] = n.b;
	x->stack[depth++] = n.a;
	while (depth) {
		n = tutti_expr_get(x, x->stack[--depth]);
		switch (n.kind) {
		case TUTTI_EXPR_LEAF:
			if (n.a != next++)
				return false;
			break;
		case TUTTI_EXPR_ADD:
			x->stack[depth++] = n.b;
			x->stack[depth++] = n.a;
			break;
		default:
			if (one)
				return false;
			x->stack[depth++] = n.a;
		}
	}
	return true;
}

bool tutti_expr_in_order(struct tutti_exprs *x, uint32_t e)
{
	return walk_order(x, e, false);
}

bool tutti_expr_one_combine(struct tutti_exprs *x, uint32_t e)
{
	return walk_order(x, e, true);
}
