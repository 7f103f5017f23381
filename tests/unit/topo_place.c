/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks sit, and how they are grouped. */
#include "config.h"

#include "base/bits.h"
#include "topo/topo.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 64

TestSuite(topo_place, .timeout = 60);

static struct tutti_topo *load(const char *name)
{
	struct tutti_topo_from from = { 0 };
	const char *top = getenv("top_srcdir");
	struct tutti_topo *t;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/fixtures/%s.xml",
		 top ? top : ".", name);
	from.xml = path;
	t = tutti_topo_load(&from);
	cr_assert(t && !t->flat, "%s", t ? t->reason : name);
	return t;
}

/* Seats of so many ranks, and their domains as text, "0 0 1 1"; "" if they
 * are not divided. */
static const char *domains(const char *name, int ranks)
{
	static char out[256];
	struct tutti_topo_place place[RANKS];
	struct tutti_topo *t = load(name);
	int domain[RANKS], first, count, n;
	size_t used = 0;
	char why[256];

	for (int r = 0; r < ranks; r++)
		place[r] = tutti_topo_seat(t, r, ranks, &first, &count);
	tutti_topo_free(t);
	n = tutti_topo_group(place, NULL, ranks, 0, domain, why, sizeof(why));
	cr_assert_gt(strlen(why), 10);
	cr_assert_eq(n > 0, strstr(why, "not divided") == NULL, "%s", why);
	out[0] = 0;
	for (int r = 0; n && r < ranks; r++)
		used += (size_t)snprintf(out + used, sizeof(out) - used,
					 "%s%d", r ? " " : "", domain[r]);
	return out;
}

Test(topo_place, domains_of_seats)
{
	cr_expect_str_eq(domains("2s16c", 1), "");
	/* Everybody alone. */
	cr_expect_str_eq(domains("2s16c", 2), "");
	cr_expect_str_eq(domains("2s16c", 3), "0 0 1");
	cr_expect_str_eq(domains("2s16c", 4), "0 0 1 1");
	cr_expect_str_eq(domains("2s16c", 16),
			 "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1");
	/* More ranks than cores. */
	cr_expect_str_eq(domains("2s8c-uneven", 20),
			 "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1");
	cr_expect_str_eq(domains("2s8c-uneven", 8), "0 0 0 0 0 0 1 1");
	cr_expect_str_eq(domains("2s16c-odd", 8), "0 0 0 1 1 1 1 1");
	/* One socket: by cache if there are several, and not by an L2. */
	cr_expect_str_eq(domains("1s8c-smt2", 8), "");
	cr_expect_str_eq(domains("0s8l2-16c", 16), "");
	cr_expect_str_eq(domains("1s4l3-16c", 8), "0 0 1 1 2 2 3 3");
	cr_expect_str_eq(domains("1s2d-12c", 6), "0 0 0 1 1 1");
	/* Two sockets of four caches: eight domains of two are as good as two
	 * of eight, and then the wider counts; with four of four there is
	 * something better. */
	cr_expect_str_eq(domains("2s8l3-32c", 8), "0 0 0 0 1 1 1 1");
	cr_expect_str_eq(domains("2s8l3-32c", 16),
			 "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1");
	cr_expect_str_eq(domains("2s8l3-32c", 32),
			 "0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3 "
			 "4 4 4 4 5 5 5 5 6 6 6 6 7 7 7 7");
	cr_expect_str_eq(domains("2s4n-16c-smt2", 16),
			 "0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3");
	cr_expect_str_eq(domains("8s32c", 8), "");
	cr_expect_str_eq(domains("8s32c", 16),
			 "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7");
}

/* Seats hold allowed CPUs, do not overlap while cores suffice, and lie in one
 * package. */
Test(topo_place, seats)
{
	static const char *const names[] = {
		"1s2c", "2s16c-odd", "2s8c-uneven", "2s4n-16c-smt2", "8s32c",
	};

	for (size_t i = 0; i < tutti_countof(names); i++) {
		struct tutti_topo *t = load(names[i]);
		int cores = tutti_topo_count(t, TUTTI_TOPO_CORE, 0);

		for (int n = 1; n <= 2 * cores; n++) {
			int last = -1;

			for (int r = 0; r < n; r++) {
				int first, count;
				struct tutti_topo_place p = tutti_topo_seat(
					t, r, n, &first, &count);

				cr_assert_gt(tutti_topo_allowed(t, first,
								count), 0);
				cr_assert_geq(p.package, 0);
				cr_assert(n > cores ? first >= last - 1 :
						      first > last,
					  "%s, rank %d of %d", names[i], r,
					  n);
				last = first + count - 1;
				cr_assert_lt(last, t->npus);
			}
		}
		tutti_topo_free(t);
	}
}

Test(topo_place, masks)
{
	struct tutti_topo *t = load("2s4n-16c-smt2");
	struct tutti_topo_place p;
	uint64_t mask[2] = { 0 };

	/* CPU n and n + 16 are one core; a NUMA domain has four cores. */
	mask[0] = 1 | 1 << 16;
	p = tutti_topo_place_of(t, mask, 1);
	cr_expect(p.package == 0 && p.numa == 0 && p.llc == 0);
	mask[0] = 0x30;
	p = tutti_topo_place_of(t, mask, 1);
	cr_expect(p.package == 0 && p.numa == 4 && p.llc == 4);
	mask[0] = 0x18;
	p = tutti_topo_place_of(t, mask, 1);
	cr_expect(p.package == 0 && p.numa == -1 && p.llc == -1);
	mask[0] = 0x180;
	p = tutti_topo_place_of(t, mask, 1);
	cr_expect(p.package == -1 && p.numa == -1 && p.llc == -1);
	mask[0] = 0x8000;
	p = tutti_topo_place_of(t, mask, 1);
	cr_expect(p.package == 8 && p.numa == 12 && p.llc == 12);
	/* CPUs that the machine does not have, and none at all. */
	mask[0] = 0;
	mask[1] = 1;
	p = tutti_topo_place_of(t, mask, 2);
	cr_expect(p.package == -1 && p.numa == -1 && p.llc == -1);
	p = tutti_topo_place_of(t, mask, 0);
	cr_expect(p.package == -1 && p.numa == -1 && p.llc == -1);
	tutti_topo_free(t);
}

/* ---- Grouping by what was told ------------------------------------------- */

/* Ranks at places "a" to "z" ('?' nowhere) on nodes "0" to "9"; the domains as
 * text. */
static const char *group(const char *places, const char *nodes)
{
	static char out[256];
	struct tutti_topo_place place[RANKS] = { { 0 } };
	int node[RANKS] = { 0 }, domain[RANKS], n;
	int ranks = (int)strlen(places);
	size_t used = 0;
	char why[256];

	for (int r = 0; r < ranks; r++) {
		int32_t id = places[r] == '?' ? -1 : places[r] - 'a';

		place[r] = (struct tutti_topo_place){ id, id, id };
		node[r] = nodes[r] - '0';
	}
	n = tutti_topo_group(place, node, ranks, ranks - 1, domain, why,
			     sizeof(why));
	snprintf(out, sizeof(out), "%d:", n);
	used = strlen(out);
	for (int r = 0; n && r < ranks; r++)
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%d",
					 domain[r]);
	return out;
}

Test(topo_place, grouping)
{
	cr_expect_str_eq(group("aabb", "0000"), "2:0011");
	cr_expect_str_eq(group("abab", "0000"), "2:0101");
	cr_expect_str_eq(group("abcd", "0000"), "0:");
	cr_expect_str_eq(group("aaaa", "0000"), "0:");
	cr_expect_str_eq(group("abb", "000"), "2:011");
	/* Equal places of two nodes are two domains; numbers go through. */
	cr_expect_str_eq(group("aabbaabb", "00001111"), "4:00112233");
	cr_expect_str_eq(group("aabbaabb", "01010101"), "4:01230123");
	/* A node that is not divided is one domain. */
	cr_expect_str_eq(group("aabbaaaa", "00001111"), "3:00112222");
	cr_expect_str_eq(group("aabbabcd", "00001111"), "3:00112222");
	cr_expect_str_eq(group("aabba", "00001"), "3:00112");
	/* A rank that does not know leaves its node whole, and no other. */
	cr_expect_str_eq(group("aab?aabb", "00001111"), "3:00001122");
	cr_expect_str_eq(group("aab?", "0000"), "0:");
	cr_expect_str_eq(group("a", "0"), "0:");
}

Test(topo_place, every_rank_finds_the_same)
{
	struct tutti_topo_place place[RANKS];
	int node[RANKS], first[RANKS], domain[RANKS], n = 0;
	unsigned int seed = 7;
	char why[256];

	for (int trial = 0; trial < 500; trial++) {
		int ranks = 1 + rand_r(&seed) % RANKS;

		for (int r = 0; r < ranks; r++) {
			int32_t id = rand_r(&seed) % 5;

			place[r] = (struct tutti_topo_place){ id / 2, id, id };
			node[r] = rand_r(&seed) % 3;
		}
		for (int self = 0; self < ranks; self++) {
			int m = tutti_topo_group(place, node, ranks, self,
						 domain, why, sizeof(why));

			if (!self) {
				n = m;
				memcpy(first, domain, sizeof(first));
			}
			cr_assert_eq(m, n);
			cr_assert(!n || !memcmp(first, domain,
						(size_t)ranks * sizeof(int)));
			for (int r = 0; n && r < ranks; r++)
				cr_assert(domain[r] >= 0 && domain[r] < n);
			for (int r = 0; n && r < ranks; r++)
				cr_assert(domain[r] != domain[self] ||
					  node[r] == node[self]);
		}
	}
}
