/* SPDX-License-Identifier: BSD-3-Clause */
/* TUTTI_ALGO's grammar and its mistakes, and that the rule always finds an
 * algorithm that serves, the same on all ranks. */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "model/model.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(const char *text)
{
	setenv("TUTTI_ALGO", text, 1);
	tutti_settings_reload();
}

static const int two_nodes[64] = { [1] = 1, [3] = 1, [5] = 1, [7] = 1,
				   [9] = 1, [11] = 1 };

static tuttiResult_t choose(struct tutti_choice *c, enum tutti_coll coll,
			    int ranks, int nodes, size_t count,
			    tuttiDataType_t type, tuttiRedOp_t redop)
{
	struct tutti_shape shape = {
		.ranks = ranks, .nodes = nodes,
		.node = nodes > 1 ? two_nodes : NULL,
	};
	struct tutti_query q = { .coll = coll, .shape = &shape };

	if (coll == TUTTI_SENDRECV) {
		q.root = ranks - 1;
		q.sending = true;
	}
	return tutti_choose(c, &q, count, type, redop);
}

/* The name chosen for an all-reduce of so many bytes on 4 ranks. */
static const char *all_reduce(size_t bytes)
{
	struct tutti_choice c;

	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, bytes, tuttiInt8,
			    tuttiSum), tuttiSuccess, "%s", tutti_fail_text());
	cr_assert_gt(strlen(c.reason), 5);
	return c.entry->name;
}

Test(model_choice, ranges)
{
	set("all_reduce:ring:1K-2K,all_reduce:recursive:2K-1M,broadcast:chain");
	cr_assert_str_neq(all_reduce(1023), "ring");
	cr_assert_str_eq(all_reduce(1024), "ring");
	cr_assert_str_eq(all_reduce(2048), "ring");
	cr_assert_str_eq(all_reduce(2049), "recursive");
	cr_assert_str_eq(all_reduce(1 << 20), "recursive");
	cr_assert_str_neq(all_reduce((1 << 20) + 1), "recursive");
	set("all_reduce:ring");
	cr_assert_str_eq(all_reduce(0), "ring");
	cr_assert_str_eq(all_reduce((size_t)1 << 40), "ring");
	set("all_reduce:ring:8-8");
	cr_assert_str_eq(all_reduce(8), "ring");
	cr_assert_str_neq(all_reduce(9), "ring");
}

/* The size is that of the larger whole buffer, as in nccl-tests. */
Test(model_choice, size_is_of_the_larger_buffer)
{
	struct tutti_choice c;

	set("all_gather:ring:4K-4K,reduce_scatter:ring:4K-4K,reduce:binomial:1K-1K");
	cr_assert_eq(choose(&c, TUTTI_ALL_GATHER, 4, 1, 256, tuttiFloat32,
			    tuttiSum), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "ring");
	cr_assert_eq(choose(&c, TUTTI_REDUCE_SCATTER, 4, 1, 256, tuttiFloat32,
			    tuttiSum), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "ring");
	cr_assert_eq(choose(&c, TUTTI_REDUCE, 4, 1, 256, tuttiFloat32,
			    tuttiSum), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "binomial");
	cr_assert_eq(choose(&c, TUTTI_REDUCE, 4, 1, 257, tuttiFloat32,
			    tuttiSum), tuttiSuccess);
	cr_assert_str_neq(c.entry->name, "binomial");
}

static const struct {
	const char *text, *why;
} wrong[] = {
	{ "ring", "\"ring\" cannot be read" },
	{ "all_reduce", "\"all_reduce\" cannot be read" },
	{ "all_reduce:", "\"all_reduce:\" cannot be read" },
	{ ":ring", "\":ring\" cannot be read" },
	{ ",", "\"\" cannot be read" },
	{ "all_reduce:ring,,reduce:direct1", "\"\" cannot be read" },
	{ "all_reduce:ring:", "\"all_reduce:ring:\" cannot be read" },
	{ "all_reduce:ring:4K", "\"all_reduce:ring:4K\" cannot be read" },
	{ "all_reduce:ring:4K-", "\"all_reduce:ring:4K-\" cannot be read" },
	{ "all_reduce:ring:-4K", "\"all_reduce:ring:-4K\" cannot be read" },
	{ "all_reduce:ring:4K-1K", "\"all_reduce:ring:4K-1K\" takes no size: its range ends before it begins" },
	{ "all_reduce:ring,", "\"\" cannot be read" },
	{ "all_reduce:ring,all_reduce:direct1:1-2", "\"all_reduce:direct1:1-2\" would never be used, since item 1 takes" },
	{ "barrier:direct1,all_reduce:ring:1K-4K,all_reduce:direct1:2K-4K", "\"all_reduce:direct1:2K-4K\" would never be used, since item 2" },
	{ "all_reduce:ring:4X-8X", "\"all_reduce:ring:4X-8X\" cannot be read" },
	{ "all_reduce:ring:1-2:3", "\"all_reduce:ring:1-2:3\" cannot be read" },
	{ "all_reduce:ring:1-99999999999G", "cannot be read" },
	{ "allreduce:ring", "names no operation of this library; there are all_reduce, reduce, broadcast, all_gather, " },
	{ "all_reduce:rings", "\"all_reduce:rings\" names no algorithm of all_reduce; there are " },
	{ "all_reduce:ring ", "\"all_reduce:ring \" names no algorithm of all_reduce" },
	{ "all_reduce:RING", "names no algorithm of all_reduce" },
	/* A mistake is told though another item comes first, or none. */
	{ "all_reduce:ring,barrier:ring", "\"barrier:ring\" names no algorithm of barrier; there are direct1" },
	{ "all_reduce:hier(ring", "\"all_reduce:hier(ring\" cannot be read" },
	{ "all_reduce:(ring+ring)", "cannot be read" },
	{ "all_reduce:hier(ring+ring)x", "cannot be read" },
	{ "all_reduce:hier()", "\"all_reduce:hier()\" cannot be read" },
	{ "all_reduce:hier(ring)", "\"ring\" is not INSIDE+ACROSS" },
	{ "all_reduce:hier(ring+ring+ring)", "\"ring+ring+ring\" is not INSIDE+ACROSS" },
	{ "all_reduce:hier(ring)+(ring)", "\"ring)+(ring\" is not INSIDE+ACROSS" },
	{ "all_reduce:hier(+rings)", "no phase across groups has an algorithm \"rings\"; there are " },
	{ "all_reduce:hier(chains+)", "no phase inside groups has an algorithm \"chains\"; there are " },
	{ "all_reduce:hier(hier(no+ring)+ring)", "an algorithm \"no\"; there are " },
	{ "all_reduce:hier((ring)+ring)", "\"(ring)\" is no name" },
	{ "all_reduce:ring(ring+ring)", "cannot be composed: ring has no levels" },
	{ "broadcast:fast", "\"broadcast:fast\" names no algorithm of broadcast" },
};

Test(model_choice, mistakes)
{
	for (size_t i = 0; i < tutti_countof(wrong); i++) {
		struct tutti_choice c;

		set(wrong[i].text);
		cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 8, tuttiInt8,
				    tuttiSum), tuttiInvalidUsage, "%s",
			     wrong[i].text);
		cr_assert_not_null(strstr(tutti_fail_text(), wrong[i].why),
				   "%s: %s", wrong[i].text, tutti_fail_text());
	}
}

/* Levels are kept, and only where there are groups. */
Test(model_choice, levels)
{
	struct tutti_choice c;

	set("all_reduce:hier(ring+recursive):0-1K,all_reduce:hier(hier(direct1+ring)+):1K-1G");
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 12, 2, 8, tuttiInt8,
			    tuttiSum), tuttiSuccess, "%s", tutti_fail_text());
	cr_assert_str_eq(c.entry->name, "hier");
	cr_assert_str_eq(c.levels, "ring+recursive");
	cr_assert_eq(choose(&c, TUTTI_BROADCAST, 12, 2, 8, tuttiInt8,
			    tuttiSum), tuttiSuccess);
	cr_assert_str_eq(c.levels, "");
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 12, 1, 8, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "asks for all_reduce as hier of ring+recursive (levels need groups"));
	set("all_reduce:hier(chain+ring)");
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 12, 2, 8, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
}

Test(model_choice, very_long_items)
{
	struct tutti_choice c;
	char text[3000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	set(text);
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 8, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "cannot be read"));
	memcpy(text, "all_reduce:", 11);
	text[100] = 0;
	set(text);
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 8, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "names no algorithm"));
	text[0] = 0;
	for (int i = 0; i < 65; i++)
		sprintf(text + strlen(text), "%sreduce:direct1:%d-%d",
			i ? "," : "", i, i);
	set(text);
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 8, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "more than 64 items"));
}

/* A v-form says what it is that an algorithm lacks. */
Test(model_choice, forced_for_uneven_blocks)
{
	struct tutti_shape shape = { .ranks = 4, .nodes = 1 };
	struct tutti_query q = { .coll = TUTTI_ALL_GATHER, .shape = &shape,
				 .uneven = true };
	struct tutti_choice c;

	set("all_gather:pat");
	cr_assert_eq(tutti_choose(&c, &q, 8, tuttiInt8, tuttiSum),
		     tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "all_gatherv as pat, which cannot serve this call (blocks have lengths of their own) of 4 ranks on 1 node; those that can are "),
			   "%s", tutti_fail_text());
}

/* What cannot serve is refused, and nothing is taken in its place. */
Test(model_choice, forced_but_unable)
{
	struct tutti_choice c;

	set("all_reduce:ring,all_gather:recursive");
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 100, tuttiInt32,
			    tuttiAvg), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "(integer averages are reduced at once) of 4 ranks on 1 node; those that can are direct1, direct2"),
			   "%s", tutti_fail_text());
	cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, 4, 1, 100, tuttiFloat32,
			    tuttiAvg), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "ring");
	cr_assert_eq(choose(&c, TUTTI_ALL_GATHER, 11, 1, 100, tuttiInt8,
			    tuttiSum), tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "those that can are bruck, circulant, direct1, pat, ring"),
			   "%s", tutti_fail_text());
	cr_assert_eq(choose(&c, TUTTI_ALL_GATHER, 12, 1, 100, tuttiInt8,
			    tuttiSum), tuttiSuccess);
}

/* Without a setting something always serves, with and without an average. */
Test(model_choice, always_something)
{
	static const size_t counts[] = { 0, 1, 100, 1000, 5000, 20000, 50000,
					 1 << 20, 1 << 28 };

	set("");
	for (int coll = 0; coll < TUTTI_COLLS; coll++)
		for (int n = 1 + (coll == TUTTI_SENDRECV); n <= 33; n++)
			for (int nodes = 1; nodes <= 1 + (n > 1); nodes++)
				for (size_t i = 0; i < tutti_countof(counts);
				     i++) {
					struct tutti_choice c;

					cr_assert_eq(choose(&c, coll, n, nodes,
							    counts[i],
							    tuttiInt32,
							    tuttiAvg),
						     tuttiSuccess);
					cr_assert_eq((int)c.entry->algo->coll,
						     coll);
					cr_assert(c.entry->algo->flags &
						  TUTTI_ONE_COMBINE ||
						  coll > TUTTI_REDUCE);
					cr_assert_eq(choose(&c, coll, n, nodes,
							    counts[i],
							    tuttiFloat32,
							    tuttiSum),
						     tuttiSuccess);
					cr_assert_eq((int)c.entry->algo->coll,
						     coll);
				}
}

Test(model_choice, reduce_scatter_averages_at_once)
{
	struct tutti_choice c;

	set("");
	for (size_t count = 1; count < 1 << 24; count *= 7) {
		cr_assert_eq(choose(&c, TUTTI_REDUCE_SCATTER, 9, 2, count,
				    tuttiUint8, tuttiAvg), tuttiSuccess);
		cr_assert(c.entry->algo->flags & TUTTI_ONE_COMBINE);
	}
}

/* One switch on the way from small to large, and no way back. */
Test(model_choice, one_node_switches_once)
{
	set("");
	for (int n = 2; n <= 32; n *= 2) {
		bool large = false;

		for (size_t bytes = 8; bytes < 1 << 26; bytes += bytes / 3) {
			struct tutti_choice c;
			bool two;

			cr_assert_eq(choose(&c, TUTTI_ALL_REDUCE, n, 1, bytes,
					    tuttiInt8, tuttiSum),
				     tuttiSuccess);
			two = !strcmp(c.entry->name, "direct2");
			cr_assert(two || !large, "%d ranks, %zu bytes", n,
				  bytes);
			large = two;
		}
		cr_assert(large);
	}
}

/* Fewer ranks gain from the second step sooner than the many do. */
Test(model_choice, two_ranks_have_their_own_line)
{
	struct tutti_choice c;

	set("");
	choose(&c, TUTTI_ALL_REDUCE, 2, 1, 2048, tuttiInt8, tuttiSum);
	cr_assert_str_eq(c.entry->name, "direct1");
	choose(&c, TUTTI_ALL_REDUCE, 2, 1, 2049, tuttiInt8, tuttiSum);
	cr_assert_str_eq(c.entry->name, "direct2");
}

/* Only the query's rank differs between ranks, and it plays no part. */
Test(model_choice, all_ranks_choose_alike)
{
	struct tutti_shape shape = { .ranks = 12, .nodes = 2,
				     .node = two_nodes };

	set("");
	for (int coll = 0; coll < TUTTI_SENDRECV; coll++)
		for (size_t count = 1; count < 1 << 22; count *= 3) {
			struct tutti_query q = { .coll = coll,
						 .shape = &shape };
			struct tutti_choice first, c;

			cr_assert_eq(tutti_choose(&first, &q, count,
						  tuttiInt8, tuttiSum),
				     tuttiSuccess);
			for (q.rank = 1; q.rank < 12; q.rank++) {
				cr_assert_eq(tutti_choose(&c, &q, count,
							  tuttiInt8,
							  tuttiSum),
					     tuttiSuccess);
				cr_assert_eq(c.entry, first.entry);
			}
		}
}

/* A choice for a query that demands something of the order. */
static tuttiResult_t ordered(struct tutti_choice *c, enum tutti_coll coll,
			     int ranks, size_t count, bool strict)
{
	struct tutti_shape shape = {
		.ranks = ranks, .nodes = count % 2 ? 2 : 1,
		.node = count % 2 ? two_nodes : NULL,
	};
	struct tutti_query q = { .coll = coll, .shape = &shape,
				 .root = ranks - 1, .strict = strict,
				 .in_order = !strict };

	return tutti_choose(c, &q, count, tuttiFloat32, tuttiSum);
}

/* What is chosen serves strict, or keeps rank order, for any shape and size. */
Test(model_choice, order_of_additions)
{
	static const enum tutti_coll colls[] = {
		TUTTI_ALL_REDUCE, TUTTI_REDUCE, TUTTI_REDUCE_SCATTER
	};

	set("");
	for (int c = 0; c < 3; c++)
		for (int n = 1; n <= 64; n++)
			for (size_t count = 1; count < 1 << 25;
			     count = 3 * count + 1) {
				struct tutti_choice got;
				const struct tutti_algo *a;

				cr_assert_eq(ordered(&got, colls[c], n, count,
						     true), tuttiSuccess);
				cr_assert(got.strict);
				cr_assert_str_neq(got.entry->name, "ring");
				cr_assert_eq(ordered(&got, colls[c], n, count,
						     false), tuttiSuccess);
				a = got.entry->algo;
				cr_assert(got.strict ||
					  a->flags & TUTTI_IN_ORDER);
			}
}

/* Others are refused with the reason and the names of those that serve; what
 * keeps the order in its strict form only is built so. */
Test(model_choice, order_of_forced_ones)
{
	struct tutti_choice c;

	set("all_reduce:ring,reduce:binomial,broadcast:chain");
	cr_assert_eq(ordered(&c, TUTTI_ALL_REDUCE, 5, 8, true),
		     tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "as ring, which cannot serve this call (TUTTI_DETERMINISM=strict wants one order of additions for all) of 5 ranks on 1 node; those that can are "));
	cr_assert_not_null(strstr(tutti_fail_text(), "direct2"));
	cr_assert_eq(ordered(&c, TUTTI_ALL_REDUCE, 5, 8, false),
		     tuttiInvalidUsage);
	cr_assert_not_null(strstr(tutti_fail_text(), "(the operator does not commute) of 5 ranks on 1 node; those that can are "));
	cr_assert_eq(ordered(&c, TUTTI_REDUCE, 5, 8, false), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "binomial");
	cr_assert(c.strict);
	/* Only what adds is concerned. */
	cr_assert_eq(ordered(&c, TUTTI_BROADCAST, 5, 8, true), tuttiSuccess);
	cr_assert_str_eq(c.entry->name, "chain");
	cr_assert_not(c.strict);
	set("all_reduce:recursive");
	cr_assert_eq(ordered(&c, TUTTI_ALL_REDUCE, 12, 8, true), tuttiSuccess);
	cr_assert_eq(ordered(&c, TUTTI_ALL_REDUCE, 11, 8, true),
		     tuttiInvalidUsage);
	cr_assert_eq(ordered(&c, TUTTI_ALL_REDUCE, 11, 8, false),
		     tuttiSuccess);
	cr_assert_not(c.strict);
	set("");
}

/* ---- Domains, shared nodes, lone ranks ----------------------------------- */

static int blocks[64];

/* The choice for `ranks` in blocks: of nodes, or of domains of one node. */
static const char *in_blocks(enum tutti_coll coll, int ranks, int nblocks,
			     bool are_nodes, size_t bytes)
{
	struct tutti_shape shape = { .ranks = ranks, .nodes = 1 };
	struct tutti_query q = { .coll = coll, .shape = &shape };
	struct tutti_choice c;
	uint32_t in, out;

	for (int r = 0; r < ranks; r++)
		blocks[r] = r * nblocks / ranks;
	if (are_nodes) {
		shape.nodes = nblocks;
		shape.node = blocks;
	} else {
		shape.domains = nblocks;
		shape.domain = blocks;
	}
	tutti_coll_blocks(coll, ranks, false, &in, &out);
	in = tutti_max(tutti_max(in, out), 1u);
	cr_assert_eq(tutti_choose(&c, &q, bytes / in, tuttiInt8, tuttiSum),
		     tuttiSuccess);
	return c.entry->name;
}

/* A node of two sockets goes by levels where a whole one does not: for little
 * and for much, with enough ranks, and not in between. */
Test(model_choice, two_sockets_go_by_levels)
{
	static const size_t sizes[] = { 64, 4096, 65536, 1 << 20, 16 << 20 };

	set("");
	for (size_t i = 0; i < tutti_countof(sizes); i++) {
		const char *whole = in_blocks(TUTTI_ALL_REDUCE, 16, 1, true,
					      sizes[i]);
		const char *divided = in_blocks(TUTTI_ALL_REDUCE, 16, 2, false,
						sizes[i]);
		bool levels = sizes[i] <= 8192 || sizes[i] > 1 << 20;

		cr_expect_eq(strcmp(whole, divided) != 0, levels,
			     "%zu bytes: %s and %s", sizes[i], whole, divided);
		/* Few ranks stay flat. */
		cr_expect_str_eq(in_blocks(TUTTI_ALL_REDUCE, 8, 2, false,
					   sizes[i]),
				 in_blocks(TUTTI_ALL_REDUCE, 8, 1, true,
					   sizes[i]));
	}
}

/* What each shape of several nodes is served by. */
Test(model_choice, several_nodes)
{
	static const struct {
		enum tutti_coll coll;
		int ranks, nodes;
		size_t bytes;
		const char *name;
	} want[] = {
		{ TUTTI_ALL_REDUCE, 16, 4, 1024, "leader" },
		{ TUTTI_ALL_REDUCE, 16, 4, 1 << 20, "hier" },
		{ TUTTI_ALL_REDUCE, 16, 16, 1024, "recursive" },
		{ TUTTI_ALL_REDUCE, 16, 16, 1 << 20, "circulant" },
		{ TUTTI_ALL_REDUCE, 17, 17, 64 << 20, "circulant" },
		{ TUTTI_ALL_REDUCE, 8, 8, 64 << 20, "ring" },
		{ TUTTI_ALL_REDUCE, 4, 4, 64 << 20, "direct2" },
		{ TUTTI_REDUCE, 32, 32, 64 << 20, "dbtree" },
		{ TUTTI_BROADCAST, 32, 32, 1024, "binomial" },
		{ TUTTI_BROADCAST, 32, 32, 64 << 20, "dbtree" },
		{ TUTTI_BROADCAST, 32, 8, 1 << 20, "hier" },
		{ TUTTI_ALL_GATHER, 17, 17, 1 << 20, "circulant" },
		{ TUTTI_REDUCE_SCATTER, 17, 17, 1 << 20, "circulant" },
		{ TUTTI_ALLTOALL, 16, 16, 4096, "bruck" },
		{ TUTTI_ALLTOALL, 16, 16, 1 << 20, "pairwise" },
		{ TUTTI_GATHER, 16, 16, 4096, "binomial" },
		{ TUTTI_SCATTER, 16, 16, 4096, "binomial" },
		{ TUTTI_GATHER, 16, 16, 1 << 20, "direct1" },
		{ TUTTI_BARRIER, 16, 4, 0, "hier" },
	};

	set("");
	for (size_t i = 0; i < tutti_countof(want); i++) {
		const char *name = in_blocks(want[i].coll, want[i].ranks,
					     want[i].nodes, true,
					     want[i].bytes);

		cr_expect_str_eq(name, want[i].name, "line %zu", i);
	}
}

/* Every shape has something for every operation and size. */
Test(model_choice, always_something_in_blocks)
{
	set("");
	for (int coll = 0; coll < TUTTI_SENDRECV; coll++)
		for (int n = 2; n <= 40; n += 1 + n / 5)
			for (int k = 2; k <= n; k += 1 + k / 2)
				for (size_t b = 1; b < 1 << 28; b *= 16) {
					in_blocks(coll, n, k, true, b);
					in_blocks(coll, n, k, false, b);
				}
}
