/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a composed all_reduce that adds every element as the balanced
 * binary tree over rank order, whatever the nodes; see rails.h.
 *
 * The tree is cut into *units*: the largest of its subtrees whose ranks all
 * are in one group.  Only a unit's sum has to leave its group.  Rail r of the
 * buffer has a chunk for each group, and member r mod size of a group carries
 * it:
 *	1 members send the rail to the carrier, which adds up its group's units;
 *	2 the carrier in group g, owner of the rail's chunk g, gets all units'
 *	  sums of it from the other carriers, adds them by the tree, and gives
 *	  the result to these;
 *	3 carriers give the rail to their groups.
 * With nodes of consecutive ranks units are few; where ranks of the nodes
 * alternate, each rank is a unit, and nothing is saved across.
 *
 * Ranks 0, 1, 2 on one node, 3 on another: the units are 0+1, 2 and 3, and the
 * result is (0+1)+(2+3).
 */
#include "config.h"

#include "algo/rails.h"
#include "base/bits.h"

/* Sources of one combine at most; more are added in parts. */
#define TREE_MAX 32
/* Sums under way in the tree; it is no deeper. */
#define TEMPS 32
/* Ranks that one operation sends to at most. */
#define TARGETS_MAX 64

/* Where the tree of so many ranks splits. */
static int half_of(int count)
{
	return 1 << tutti_log2_floor((uint32_t)count - 1);
}

/* ---- Units --------------------------------------------------------------- */

/* c->g.work has the first rank of each unit, and the number of ranks. */
static int unit_group(const struct tutti_compose *c, int unit)
{
	return c->g.group[c->g.work[unit]];
}

static int unit_size(const struct tutti_compose *c, int unit)
{
	return c->g.work[unit + 1] - c->g.work[unit];
}

static bool one_group(const struct tutti_compose *c, int first, int count)
{
	for (int r = first + 1; r < first + count; r++)
		if (c->g.group[r] != c->g.group[first])
			return false;
	return true;
}

/* Add the units of a subtree after the `n` there are; how many then. */
static int find_units(struct tutti_compose *c, int first, int count, int n)
{
	int half;

	if (one_group(c, first, count)) {
		c->g.work[n] = first;
		return n + 1;
	}
	half = half_of(count);
	n = find_units(c, first, half, n);
	return find_units(c, first + half, count - half, n);
}

static int units(const struct tutti_compose *c)
{
	int n = 0;

	while (c->g.work[n] < c->q->shape->ranks)
		n++;
	return n;
}

/* The unit of a group after `unit` (-1: the first); -1 if there is none. */
static int next_of(const struct tutti_compose *c, int group, int unit)
{
	while (c->g.work[++unit] < c->q->shape->ranks)
		if (unit_group(c, unit) == group)
			return unit;
	return -1;
}

/* ---- Where things are --------------------------------------------------- */

/* Scratch: what came from other groups, one chunk a unit; sums under way; and
 * for each rail carried, of each unit of this group, a chunk for each group. */
static int came(int unit)
{
	return unit;
}

static int temp(const struct tutti_compose *c, int depth)
{
	return units(c) + depth;
}

static int own_sum(const struct tutti_compose *c, int rail, int unit)
{
	int n = 0, number = 0;

	for (int u = next_of(c, c->mine, -1); u >= 0;
	     u = next_of(c, c->mine, u)) {
		number += u < unit;
		n++;
	}
	return temp(c, TEMPS) +
	       (rail / c->size * n + number) * c->g.groups;
}

static bool carries(const struct tutti_compose *c, int rail)
{
	return tutti_rail_index(c, rail) == c->index;
}

static int carrier(const struct tutti_compose *c, int rail, int group)
{
	return c->g.member[c->g.first[group] +
			   rail % tutti_group_size(c, group)];
}

/* The chunk that group `group` owns of a rail. */
static int chunk_of(const struct tutti_compose *c, int rail, int group)
{
	return rail * c->g.groups + group;
}

/* A unit's sum of one chunk, at a carrier: its own contribution, if that is
 * all. */
static struct tutti_ref sum_of(const struct tutti_compose *c, int rail,
			       int unit, int group)
{
	int me = c->q->rank;

	if (unit_group(c, unit) != c->mine)
		return tutti_chunk(TUTTI_SCRATCH, me, came(unit));
	if (unit_size(c, unit) == 1 && c->g.work[unit] == me)
		return tutti_chunk(TUTTI_IN, me, chunk_of(c, rail, group));
	return tutti_chunk(TUTTI_SCRATCH, me, own_sum(c, rail, unit) + group);
}

/* ---- 1: inside ----------------------------------------------------------- */

static void add_unit(struct tutti_compose *c, int rail, int unit)
{
	struct tutti_emit *e = &c->e;
	int first = c->g.work[unit], me = c->q->rank;
	int end = first + unit_size(c, unit);

	if (end - first == 1 && first == me)
		return;
	if (me >= first && me < end) {
		tutti_emit_src(e, tutti_ranks(TUTTI_MAIL, first, 0, 0,
					      me - first));
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me,
					      chunk_of(c, rail, 0)));
		first = me + 1;
	}
	tutti_emit_src(e, tutti_ranks(TUTTI_MAIL, first, 0, 0, end - first));
	tutti_emit_dst(e, tutti_chunk(TUTTI_SCRATCH, me,
				      own_sum(c, rail, unit)));
	tutti_emit_piece(e, chunk_of(c, rail, 0), 0);
	tutti_emit_combine(e, unit_size(c, unit) > 1 ? TUTTI_TREE : 0,
			   (uint32_t)c->g.groups);
}

static void inside(struct tutti_compose *c, int rail)
{
	struct tutti_emit *e = &c->e;
	int me = c->q->rank;

	if (!carries(c, rail)) {
		tutti_emit_src(e, tutti_chunk(TUTTI_IN, me,
					      chunk_of(c, rail, 0)));
		tutti_emit_dst(e, tutti_mail(carrier(c, rail, c->mine)));
		tutti_emit_combine(e, 0, (uint32_t)c->g.groups);
		return;
	}
	for (int u = next_of(c, c->mine, -1); u >= 0;
	     u = next_of(c, c->mine, u))
		add_unit(c, rail, u);
}

/* ---- 2: across ----------------------------------------------------------- */

static void send_sum(struct tutti_compose *c, int rail, int unit, int to)
{
	tutti_emit_src(&c->e, sum_of(c, rail, unit, to));
	tutti_emit_dst(&c->e, tutti_mail(carrier(c, rail, to)));
	tutti_emit_piece(&c->e, chunk_of(c, rail, to), 0);
	tutti_emit_combine(&c->e, 0, 1);
}

static void take_sum(struct tutti_compose *c, int rail, int unit, int from)
{
	tutti_emit_src(&c->e, tutti_mail(carrier(c, rail, from)));
	tutti_emit_dst(&c->e, tutti_chunk(TUTTI_SCRATCH, c->q->rank,
					  came(unit)));
	tutti_emit_piece(&c->e, chunk_of(c, rail, c->mine), 0);
	tutti_emit_combine(&c->e, 0, 1);
}

/* By turns, so that no one sends more than is taken from it. */
static void exchange(struct tutti_compose *c, int rail)
{
	int n = c->g.groups;

	for (int t = 1; t < n; t++) {
		int to = (c->mine + t) % n, from = (c->mine + n - t) % n;
		int out = next_of(c, c->mine, -1), in = next_of(c, from, -1);

		while (out >= 0 || in >= 0) {
			if (out >= 0) {
				send_sum(c, rail, out, to);
				out = next_of(c, c->mine, out);
			}
			if (in >= 0) {
				take_sum(c, rail, in, from);
				in = next_of(c, from, in);
			}
		}
	}
}

/* Whether units [from, to) have one size, a power of two, but for the last,
 * which may have less: then the tree over them is the tree over their ranks. */
static bool regular(const struct tutti_compose *c, int from, int to)
{
	int size = unit_size(c, from);

	if (to - from > TREE_MAX || (size & (size - 1)))
		return false;
	for (int u = from; u < to; u++)
		if (unit_size(c, u) > size ||
		    (u < to - 1 && unit_size(c, u) != size))
			return false;
	return true;
}

/* The carrier of the same rail in the t-th group from here. */
static struct tutti_ref to_group(const struct tutti_compose *c, int rail, int t)
{
	return tutti_mail(carrier(c, rail, (c->mine + t) % c->g.groups));
}

/* Where the sum of all goes: the result, to the owner and the carriers, of
 * which the last may have to be sent to apart. */
static void add_result(struct tutti_compose *c, int rail)
{
	tutti_emit_dst(&c->e, tutti_chunk(TUTTI_OUT, c->q->rank,
					  chunk_of(c, rail, c->mine)));
	for (int t = 1; t < c->g.groups && t <= TARGETS_MAX; t++)
		tutti_emit_dst(&c->e, to_group(c, rail, t));
}

/* Send chunks of OUT to those that `to` gives for i from `first` to n - 1. */
static void send_out(struct tutti_compose *c, int rail, int first, int n,
		     int chunk, int nchunks,
		     struct tutti_ref (*to)(const struct tutti_compose *c,
					    int rail, int i))
{
	while (first < n) {
		int end = tutti_min(n, first + TARGETS_MAX);

		tutti_emit_src(&c->e, tutti_chunk(TUTTI_OUT, c->q->rank,
						  chunk));
		while (first < end)
			tutti_emit_dst(&c->e, to(c, rail, first++));
		tutti_emit_combine(&c->e, 0, (uint32_t)nchunks);
	}
}

/* Add units [from, to), a subtree; where its sum is then.  At depth 0 it is
 * the tree. */
static struct tutti_ref add_tree(struct tutti_compose *c, int rail, int from,
				 int to, int depth)
{
	struct tutti_ref sum = tutti_chunk(TUTTI_SCRATCH, c->q->rank,
					   temp(c, depth));
	int first = c->g.work[from], half, middle = from;

	if (to - from == 1)
		return sum_of(c, rail, from, c->mine);
	if (regular(c, from, to)) {
		for (int u = from; u < to; u++)
			tutti_emit_src(&c->e, sum_of(c, rail, u, c->mine));
	} else {
		struct tutti_ref left, right;

		half = half_of(c->g.work[to] - first);
		while (c->g.work[middle] < first + half)
			middle++;
		left = add_tree(c, rail, from, middle, depth + 1);
		right = add_tree(c, rail, middle, to, depth + 2);
		tutti_emit_src(&c->e, left);
		tutti_emit_src(&c->e, right);
	}
	if (depth)
		tutti_emit_dst(&c->e, sum);
	else
		add_result(c, rail);
	tutti_emit_piece(&c->e, chunk_of(c, rail, c->mine), 0);
	tutti_emit_combine(&c->e, TUTTI_TREE | (depth ? 0 : TUTTI_FINAL), 1);
	return sum;
}

static void across(struct tutti_compose *c, int rail)
{
	exchange(c, rail);
	add_tree(c, rail, 0, units(c), 0);
	send_out(c, rail, 1 + TARGETS_MAX, c->g.groups,
		 chunk_of(c, rail, c->mine), 1, to_group);
	for (int t = 1; t < c->g.groups; t++) {
		int from = (c->mine + c->g.groups - t) % c->g.groups;

		tutti_emit_src(&c->e, tutti_mail(carrier(c, rail, from)));
		tutti_emit_dst(&c->e, tutti_chunk(TUTTI_OUT, c->q->rank,
						  chunk_of(c, rail, from)));
		tutti_emit_combine(&c->e, 0, 1);
	}
}

/* ---- 3: inside ----------------------------------------------------------- */

/* The carrier of the i-th rail from here, of the same group. */
static struct tutti_ref to_member(const struct tutti_compose *c, int rail,
				  int i)
{
	return tutti_mail(carrier(c, rail + i, c->mine));
}

static void give(struct tutti_compose *c, int rail)
{
	int chunk = chunk_of(c, rail, 0);

	if (carries(c, rail)) {
		send_out(c, rail, 1, c->size, chunk, c->g.groups, to_member);
		return;
	}
	tutti_emit_src(&c->e, tutti_mail(carrier(c, rail, c->mine)));
	tutti_emit_dst(&c->e, tutti_chunk(TUTTI_OUT, c->q->rank, chunk));
	tutti_emit_combine(&c->e, 0, (uint32_t)c->g.groups);
}

/* ---- The form ------------------------------------------------------------ */

bool tutti_rails_strict_plan(struct tutti_compose *c, int rails)
{
	int n = c->q->shape->ranks, carried = 0;

	c->rails = rails;
	c->g.work[find_units(c, 0, n, 0)] = n;
	for (int r = 0; r < rails; r++)
		carried += carries(c, r);
	c->pieces = (uint32_t)rails * (uint32_t)c->g.groups;
	c->wide_num = (uint32_t)c->g.groups;
	if (carried)
		c->scratch_own = (uint32_t)(own_sum(c, carried * c->size, 0));
	return true;
}

void tutti_rails_strict_lay(struct tutti_compose *c)
{
	if (c->measuring)
		return;
	for (int r = 0; r < c->rails; r++)
		inside(c, r);
	for (int r = 0; r < c->rails; r++)
		if (carries(c, r))
			across(c, r);
	for (int r = 0; r < c->rails && c->size > 1; r++)
		give(c, r);
}
