/* SPDX-License-Identifier: BSD-3-Clause */
/* Compositions, proven: every composed algorithm with every level algorithm at
 * each level, on all layouts. */
#include "config.h"

#include "base/bits.h"
#include "sched/compose.h"
#include "t_sched.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#define INDEXES_MAX 64

static int indexes[INDEXES_MAX];

static struct criterion_test_params composed(void)
{
	size_t n = 0;

	for (int i = 0; tutti_algos[i].name && n < INDEXES_MAX; i++)
		if (tutti_algos[i].algo->flags & TUTTI_COMPOSED)
			indexes[n++] = i;
	return cr_make_param_array(int, indexes, n);
}

/* Proves it if it serves. */
static bool prove(const struct tutti_algo_entry *a, const struct tutti_query *q,
		  struct tutti_verify_report *rep)
{
	if (!a->algo->serves(q))
		return false;
	cr_assert_eq(tutti_algo_verify(a, q, rep), tuttiSuccess,
		     "%s %s(%s), %d ranks on %d nodes, %d domains, root %d: %s",
		     tutti_coll_name(q->coll), a->name,
		     q->levels ? q->levels : "", q->shape->ranks,
		     q->shape->nodes, q->shape->domains, q->root, rep->why);
	return true;
}

/* Its own choice of levels: every layout, many ranks and roots. */
ParameterizedTestParameters(sched_levels, own_choice)
{
	return composed();
}

ParameterizedTest(int *index, sched_levels, own_choice)
{
	const struct tutti_algo_entry *a = &tutti_algos[*index];
	static struct t_shape shape;
	struct tutti_verify_report rep;

	for (int n = 1; n <= T_SMALL; n++)
		for (int layout = 0; layout < T_LAYOUTS; layout++) {
			int step = tutti_coll_rooted(a->algo->coll) ?
				   (n <= 9 ? 1 : n / 2 + 1) : n;

			t_shape_init(&shape, n, layout);
			for (int root = 0; root < n; root += step) {
				struct tutti_query q = t_query(a->algo,
					&shape.shape, false, root);
				bool divided = shape.shape.nodes > 1 ?
					shape.shape.nodes < n :
					shape.shape.domains > 1 &&
					shape.shape.domains < n;

				cr_assert_eq(prove(a, &q, &rep), divided,
					     "%s %s, %d ranks, layout %d",
					     tutti_coll_name(q.coll), a->name,
					     n, layout);
			}
		}
}

/* Every level algorithm at each level with two partners. */
ParameterizedTestParameters(sched_levels, partners)
{
	return composed();
}

ParameterizedTest(int *index, sched_levels, partners)
{
	const struct tutti_algo_entry *a = &tutti_algos[*index];
	static struct t_shape shape;
	static const int sizes[] = { 3, 4, 5, 6, 8, 11, 12, 16, 20, 24 };
	char text[TUTTI_LEVELS_MAX];
	int proven = 0;

	for (uint32_t i = 0; tutti_levels_nth(a->algo, i, text); i++) {
		char reason[256];
		int served = 0;

		cr_assert_null(tutti_levels_fault(a->algo, text, reason,
						  sizeof(reason)), "%s: %s",
			       text, reason);
		for (size_t n = 0; n < tutti_countof(sizes); n++)
			for (int layout = 1; layout < T_LAYOUTS; layout++) {
				struct tutti_verify_report rep;
				struct tutti_query q;

				t_shape_init(&shape, sizes[n], layout);
				q = t_query(a->algo, &shape.shape, false,
					    sizes[n] / 3);
				q.levels = text;
				served += prove(a, &q, &rep);
			}
		proven += served;
		if (!served)
			cr_log_info("%s %s(%s) serves nothing",
				    tutti_coll_name(a->algo->coll), a->name,
				    text);
	}
	cr_assert_geq(proven, 100);
}

/* Strict: the tree over rank order on every node map. */
Test(sched_levels, strict)
{
	static const char *const names[] = { "hier", "leader" };
	static struct t_shape shape;
	uint64_t seed = 11;
	int proven = 0;

	for (int i = 0; i < 60 + 2 * 12 * T_LAYOUTS; i++) {
		const struct tutti_algo_entry *a = tutti_algo_find(
			TUTTI_ALL_REDUCE, names[i % 2]);
		int n = i < 60 ? 3 + (int)(t_random(&seed) % 15) :
				 3 + (i - 60) / 2 % 12;
		struct tutti_verify_report rep;
		struct tutti_query q;

		t_shape_init(&shape, n, i < 60 ? T_INTERLEAVED :
			     (enum t_layout)((i - 60) / 24));
		for (int r = 0; i < 60 && r < n; r++)
			shape.node[r] = (int)(t_random(&seed) %
					      (uint32_t)shape.shape.nodes);
		q = t_query(a->algo, &shape.shape, false, 0);
		q.strict = true;
		if (!prove(a, &q, &rep))
			continue;
		cr_assert(rep.strict, "%s of %d ranks", a->name, n);
		proven++;
	}
	cr_assert_geq(proven, 150);
}
