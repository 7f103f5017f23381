/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combines that one call of a kernel cannot do: sums as a balanced tree, a
 * factor on what is read from IN, a program's own function, and short types
 * that are float32 in messages and scratch.
 *
 * All go block by block, small enough for the first cache, over a stack of
 * operands: of a tree it holds subtrees of 2^k sources with k falling, as the
 * ones of a binary counter; else one sum.  Every source of a block is read
 * before a target of it is written, so a target may be a source.
 */
#include "config.h"

#include "base/bits.h"
#include "exec/job.h"

#include <string.h>

/* One combine under way. */
struct sum {
	struct tutti_job *j;
	const struct tutti_xop *op;
	int type;		/* in which it is computed */
	size_t size;
	int divisor;		/* 0: none */
	size_t at, n;		/* this block */
	const void *operand[TUTTI_OPERANDS_MAX];
};

static bool is_short(int type)
{
	return type >= tuttiFloat16 && tutti_type_size(type) < sizeof(float);
}

bool tutti_type_is_short(tuttiDataType_t type)
{
	return is_short((int)type);
}

uint32_t tutti_combine_levels(uint32_t sources)
{
	uint32_t levels = 3;	/* one to scale in, and one more than log2 */

	for (; sources > 1; sources >>= 1)
		levels++;
	return levels;
}

static bool is_wide(const struct sum *s, int place)
{
	return s->j->r->wide &&
	       (place == TUTTI_MAIL || place == TUTTI_SCRATCH);
}

/* Bytes of an element as it lies in a place. */
static size_t stored(const struct sum *s, int place)
{
	return is_wide(s, place) ? s->j->c->wire : s->j->c->elem;
}

/* Whether a place holds what is computed with. */
static bool as_is(const struct sum *s, int place)
{
	return s->type == (int)s->j->r->type || is_wide(s, place);
}

/* Level 0 is for scaling, and for a result on its way. */
static void *temp(const struct sum *s, uint32_t level)
{
	return s->j->temps + (size_t)level * TUTTI_TEMP_BYTES;
}

static void kernel(const struct sum *s, tuttiRedOp_t op, void *const *dst,
		   int ndst, const struct tutti_reduce_args *in)
{
	struct tutti_reduce_args a = *in;

	a.dst = dst;
	a.ndst = ndst;
	a.count = s->n;
	s->j->exec->kernels->fn[s->type][op](&a);
}

/* to[] = from[] times this rank's factor. */
static void scale(const struct sum *s, void *to, const void *from)
{
	const void *factor = s->j->factor;
	const struct tutti_reduce_args a = {
		.src = &from, .nsrc = 1, .scale = &factor
	};

	kernel(s, tuttiSum, &to, 1, &a);
}

/* Source k of this block, ready to compute with. */
static const void *take(const struct sum *s, uint32_t k, uint32_t level)
{
	const struct tutti_kernels *kern = s->j->exec->kernels;
	int place = s->op->src[k].place, type = (int)s->j->r->type;
	const char *p = (const char *)s->j->src[k] + s->at * stored(s, place);
	bool scaled = s->j->scaled && place == TUTTI_IN;
	void *to = temp(s, level + 1);

	if (as_is(s, place)) {
		if (scaled)
			scale(s, to, p);
		return scaled ? to : p;
	}
	kern->to_f32[type](to, p, s->n);
	if (!scaled)
		return to;
	scale(s, to, to);
	/* A message could not carry more than the type has. */
	if (!s->j->r->wide) {
		kern->from_f32[type](temp(s, 0), to, s->n);
		kern->to_f32[type](to, temp(s, 0), s->n);
	}
	return to;
}

/* Where targets of the type that is computed in are, or a place on the way to
 * the others; how many. */
static int plain_targets(const struct sum *s)
{
	const struct tutti_job *j = s->j;
	int n = 0;

	for (uint32_t k = 0; k < s->op->ndst; k++) {
		int place = s->op->dst[k].place;

		if (as_is(s, place))
			j->plain[n++] = (char *)j->dst[k] +
					s->at * stored(s, place);
	}
	if (!n)
		j->plain[n++] = temp(s, 0);
	return n;
}

/* The result stands in all of j->plain: bring it to the targets of the short
 * type. */
static void round_targets(const struct sum *s)
{
	const struct tutti_job *j = s->j;
	const char *first = NULL;

	for (uint32_t k = 0; k < s->op->ndst; k++) {
		int place = s->op->dst[k].place;
		char *to = (char *)j->dst[k] + s->at * j->c->elem;

		if (as_is(s, place))
			continue;
		if (first)
			memcpy(to, first, s->n * j->c->elem);
		else
			j->exec->kernels->from_f32[j->r->type](to, j->plain[0],
							       s->n);
		first = to;
	}
}

static void call_user(const struct sum *s, void *const *dst, int ndst,
		      const void *left, const void *right)
{
	const struct tutti_redop *made = &s->j->r->made;

	made->fn(left, right, dst[0], s->n, (tuttiDataType_t)s->type,
		 made->context);
	if (ndst > 1)
		s->j->exec->kernels->copy(dst + 1, ndst - 1, dst[0],
					  s->n * s->size, false);
}

/* Combine the operands at level - 1 and level; `last`: into the targets. */
static void merge(struct sum *s, uint32_t level, bool last)
{
	const struct tutti_reduce_args a = {
		.src = &s->operand[level - 1], .nsrc = 2,
		.divisor = last ? s->divisor : 0
	};
	void *to = temp(s, level), *const *dst = &to;
	int ndst = 1;

	if (last) {
		ndst = plain_targets(s);
		dst = s->j->plain;
	}
	if (s->j->r->made.fn)
		call_user(s, dst, ndst, s->operand[level - 1],
			  s->operand[level]);
	else
		kernel(s, s->j->r->redop, dst, ndst, &a);
	if (last)
		round_targets(s);
	else
		s->operand[level - 1] = to;
}

/* Nothing to combine with: convert, scale or divide only. */
static void finish_one(struct sum *s)
{
	const struct tutti_reduce_args a = {
		.src = s->operand, .nsrc = 1, .divisor = s->divisor
	};
	int ndst = plain_targets(s);

	if (s->divisor)
		kernel(s, tuttiAvg, s->j->plain, ndst, &a);
	else if (ndst > 1 || s->j->plain[0] != s->operand[0])
		s->j->exec->kernels->copy(s->j->plain, ndst, s->operand[0],
					  s->n * s->size, false);
	round_targets(s);
}

static void do_block(struct sum *s)
{
	bool tree = s->op->flags & TUTTI_TREE;
	uint32_t nsrc = s->op->nsrc, depth = 0;

	for (uint32_t k = 1; k <= nsrc; k++) {
		s->operand[depth] = take(s, k - 1, depth);
		depth++;
		for (uint32_t n = k; tree ? !(n & 1) : depth > 1; n >>= 1) {
			depth--;
			merge(s, depth, k == nsrc && depth == 1);
		}
	}
	while (depth > 1) {
		depth--;
		merge(s, depth, depth == 1);
	}
	if (nsrc == 1)
		finish_one(s);
}

/* One source that goes to targets as it is. */
static bool is_copy(const struct sum *s)
{
	int place = s->op->src[0].place;

	if (s->op->nsrc > 1 || s->divisor ||
	    (s->j->scaled && place == TUTTI_IN))
		return false;
	for (uint32_t k = 0; k < s->op->ndst; k++)
		if (is_wide(s, s->op->dst[k].place) != is_wide(s, place))
			return false;
	return true;
}

void tutti_combine(struct tutti_job *j, const struct tutti_xop *op,
		   size_t elems)
{
	bool average = j->r->redop == tuttiAvg && op->flags & TUTTI_FINAL;
	struct sum s = {
		.j = j, .op = op, .type = (int)j->r->type,
		.divisor = average ? j->c->p->ranks : 0
	};
	size_t block;

	if (is_copy(&s)) {
		size_t bytes = elems * stored(&s, op->src[0].place);

		if (op->ndst > 1 || j->dst[0] != j->src[0])
			j->exec->kernels->copy(j->dst, (int)op->ndst,
					       j->src[0], bytes, false);
		return;
	}
	if (is_short(s.type) && !j->r->made.fn)
		s.type = tuttiFloat32;
	s.size = tutti_type_size(s.type);
	block = TUTTI_TEMP_BYTES / s.size;
	for (; s.at < elems; s.at += s.n) {
		s.n = tutti_min(elems - s.at, block);
		do_block(&s);
	}
}

void tutti_move(struct tutti_job *j, const struct tutti_spot *from,
		const struct tutti_spot *to, const void *src, void *dst,
		size_t elems)
{
	const struct tutti_xop op = {
		.kind = TUTTI_COMBINE, .nsrc = 1, .ndst = 1, .src = from,
		.dst = to
	};

	j->src[0] = src;
	j->dst[0] = dst;
	tutti_combine(j, &op, elems);
}
