/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of the bootstrap: Slurm's two languages (case 77), folded ranks. */
#include "config.h"

#include "boot/boot_impl.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct collected {
	char text[512];
	int count, most;
};

static int collect(void *arg, const char *name)
{
	struct collected *c = arg;
	size_t used = strlen(c->text);

	snprintf(c->text + used, sizeof(c->text) - used, "%s%s",
		 used ? " " : "", name);
	return ++c->count == c->most;
}

/* `expected`: the names with spaces, or NULL if the list is malformed. */
static void check_nodes(const char *list, const char *expected)
{
	struct collected c = { .most = -1 };
	bool ok = tutti_slurm_nodes(list, collect, &c);

	cr_assert_eq(ok, expected != NULL, "%s: %d", list, ok);
	if (expected)
		cr_assert_str_eq(c.text, expected, "%s gives %s", list,
				 c.text);
}

Test(boot_lists, slurm_nodes_case_77)
{
	check_nodes("n[1,2]", "n1 n2");
	check_nodes("n[006,011]", "n006 n011");
	check_nodes("a[01-03,7],b2", "a01 a02 a03 a7 b2");
	check_nodes("host", "host");
	check_nodes("a,b,c-1,d.e", "a b c-1 d.e");
	check_nodes("n[8-11]", "n8 n9 n10 n11");
	check_nodes("n[08-11]", "n08 n09 n10 n11");
	check_nodes("n[098-101]", "n098 n099 n100 n101");
	check_nodes("r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1");
	check_nodes("r[1-2]n[0,3]x,z", "r1n0x r1n3x r2n0x r2n3x z");
	check_nodes("[1-3]", "1 2 3");
	check_nodes("n[5]-ib", "n5-ib");
	check_nodes("a[1][2][3-4]b", "a123b a124b");
	check_nodes("linux[1-2,4],login", "linux1 linux2 linux4 login");
}

Test(boot_lists, slurm_nodes_malformed)
{
	static const char *const bad[] = {
		"", ",", "a,", ",a", "a,,b", "n[", "n[1", "n[1,2", "n]1[",
		"n[]", "n[1-]", "n[-1]", "n[2-1]", "n[a]", "n[1,]", "n[1;2]",
		"n[1-2-3]", "n[1]]", "n[9999999999999999999]", "n[1,[2]]",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_nodes(bad[i], NULL);
}

/* A list may name more nodes than anybody wants to see. */
Test(boot_lists, slurm_nodes_stop)
{
	struct collected c = { .most = 3 };

	cr_assert(tutti_slurm_nodes("n[1-999999999999]m[1-9],o", collect,
				    &c));
	cr_assert_str_eq(c.text, "n1m1 n1m2 n1m3");
}

Test(boot_lists, slurm_nodes_long_name)
{
	struct collected c = { .most = -1 };
	char list[400];

	memset(list, 'x', sizeof(list));
	memcpy(list + 300, "[1-2]", 6);
	cr_assert_not(tutti_slurm_nodes(list, collect, &c));
	memset(list, 'x', sizeof(list));
	memcpy(list + 250, "[1234567-1234568]", 18);
	cr_assert_not(tutti_slurm_nodes(list, collect, &c));
}

static void check_tasks(const char *list, const char *expected)
{
	char text[256] = "";
	int tasks[16];
	int64_t sum, real = 0;
	size_t n;

	if (!tutti_slurm_tasks(list, tasks, 16, &n, &sum)) {
		cr_assert_null(expected, "%s is malformed", list);
		return;
	}
	for (size_t i = 0; i < n && i < 16; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%d",
			 used ? " " : "", tasks[i]);
		real += tasks[i];
	}
	cr_assert_not_null(expected, "%s gives %s", list, text);
	cr_assert_str_eq(text, expected, "%s gives %s", list, text);
	cr_assert_eq(sum, real);
}

Test(boot_lists, slurm_tasks_case_77)
{
	check_tasks("2(x3),1", "2 2 2 1");
	check_tasks("1(x2)", "1 1");
	check_tasks("4", "4");
	check_tasks("16,8(x2),0", "16 8 8 0");
	check_tasks("", NULL);
	check_tasks("2(x3", NULL);
	check_tasks("2(3)", NULL);
	check_tasks("2(x)", NULL);
	check_tasks("2(x0)", NULL);
	check_tasks("(x2)", NULL);
	check_tasks("2,", NULL);
	check_tasks("2(x3)1", NULL);
	check_tasks("-2", NULL);
	check_tasks("99999999999", NULL);
	check_tasks("2147483647(x2147483648)", NULL);
}

Test(boot_lists, slurm_tasks_many)
{
	int64_t sum;
	size_t n;

	cr_assert(tutti_slurm_tasks("2147483647(x2000000000)", NULL, 0, &n,
				    &sum));
	cr_assert_eq(n, 2000000000u);
	cr_assert_eq(sum, 2147483647ll * 2000000000ll);
}

/* ---- Folded ranks ------------------------------------------------------ */

static bool listed(const void *arg, int i)
{
	const char *set = arg;

	return set[i] == 'x';
}

static void check_fold(const char *set, const char *expected)
{
	char text[256];

	tutti_ranks_fold(text, sizeof(text), (int)strlen(set), listed, set);
	cr_assert_str_eq(text, expected, "%s gives %s", set, text);
}

Test(boot_lists, fold_case_11)
{
	check_fold("...x...xxx", "3, 7-9");
	check_fold("xxxx", "0-3");
	check_fold("xx.x", "0, 1, 3");
	check_fold("....", "");
	check_fold("x", "0");
	check_fold(".x.x.x", "1, 3, 5");
}

Test(boot_lists, fold_no_room)
{
	char set[2001] = "", text[64];

	for (int i = 0; i < 2000; i++)
		set[i] = i % 2 ? 'x' : '.';
	tutti_ranks_fold(text, sizeof(text), 2000, listed, set);
	cr_assert_lt(strlen(text), sizeof(text));
	cr_assert_str_eq(text, "1, 3, 5, 7, 9, 11, 13, 15, 17 and 991 more",
			 "%s", text);
}
