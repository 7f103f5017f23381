/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of the tools: command lines, placements of ranks on nodes, and
 * JSON.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "placement.h"

enum { NUMBER, NAMED, FLAG };

static const struct tool_option options[] = {
	[NUMBER] = { "number", 'n', "N", "a number" },
	[NAMED] = { "named", 0, "TEXT", "a text" },
	[FLAG] = { "flag", 'f', NULL, "a switch" },
	{ 0 },
};

#define ARGS(...) \
	{ .tool = "test", .options = options, .next = 1, \
	  .argv = (char *[]){ "test", __VA_ARGS__, NULL }, \
	  .argc = sizeof((char *[]){ "test", __VA_ARGS__ }) / \
		  sizeof(char *) }

/* Mistakes are told on stderr; keep it out of the report. */
static void quiet(void)
{
	if (!freopen("/dev/null", "w", stderr))
		abort();
}

TestSuite(tools_options, .init = quiet, .timeout = 20);

Test(tools_options, forms)
{
	struct tool_args a = ARGS("-n", "4", "-n5", "--number", "6",
				  "--number=7", "-f", "--flag", "--named=",
				  "--named=a=b", "--", "-n", "9");

	for (int n = 4; n <= 7; n++) {
		cr_assert_eq(tool_next(&a), NUMBER);
		cr_assert_eq(atoi(a.value), n);
	}
	cr_assert_eq(tool_next(&a), FLAG);
	cr_assert_eq(tool_next(&a), FLAG);
	cr_assert_eq(tool_next(&a), NAMED);
	cr_assert_str_eq(a.value, "");
	cr_assert_eq(tool_next(&a), NAMED);
	cr_assert_str_eq(a.value, "a=b");
	cr_assert_eq(tool_next(&a), TOOL_END);
	cr_assert_str_eq(a.argv[a.next], "-n");
}

Test(tools_options, operands_stay)
{
	struct tool_args a = ARGS("word", "-f", "-");

	cr_assert_eq(tool_next(&a), TOOL_END);
	cr_assert_eq(a.next, 1);
	a.next++;
	cr_assert_eq(tool_next(&a), FLAG);
	cr_assert_eq(tool_next(&a), TOOL_END);
	cr_assert_str_eq(a.argv[a.next], "-");
	a.next++;
	cr_assert_eq(tool_next(&a), TOOL_END);
	cr_assert_eq(a.next, a.argc);
}

Test(tools_options, mistakes)
{
	char *const wrong[] = {
		"--numbre", "--numberx=3", "-x", "-flag", "--flag=1", "-n",
		"--named", "--num", "---", "--=",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct tool_args a = ARGS(wrong[i]);

		cr_assert_eq(tool_next(&a), TOOL_BAD, "%s", wrong[i]);
	}
}

static bool take_int(char *text, int64_t *n)
{
	struct tool_args a = ARGS("-n", text);

	cr_assert_eq(tool_next(&a), NUMBER);
	return tool_int(&a, -5, 4096, n);
}

static bool take_bytes(char *text, int64_t *n)
{
	struct tool_args a = ARGS("-n", text);

	cr_assert_eq(tool_next(&a), NUMBER);
	return tool_bytes(&a, n);
}

static bool take_seconds(char *text, int64_t *n)
{
	struct tool_args a = ARGS("-n", text);

	cr_assert_eq(tool_next(&a), NUMBER);
	return tool_seconds(&a, n);
}

Test(tools_options, numbers)
{
	char *const wrong[] = {
		"", "x", "4x", "4097", "-6", "99999999999999999999", "1.5",
	};
	int64_t n = 0;

	cr_assert(take_int("4096", &n) && n == 4096);
	cr_assert(take_int("-5", &n) && n == -5);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(!take_int(wrong[i], &n), "%s", wrong[i]);
	cr_assert_eq(n, -5);
}

Test(tools_options, bytes)
{
	char *const wrong[] = {
		"", "x", "4X", "4KB", "-1", "K", "9223372036854775808",
		"9223372036854775807K",
	};
	int64_t n = 0;

	cr_assert(take_bytes("8", &n) && n == 8);
	cr_assert(take_bytes("4k", &n) && n == 4096);
	cr_assert(take_bytes("64M", &n) && n == 64 << 20);
	cr_assert(take_bytes("3T", &n) && n == 3ll << 40);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(!take_bytes(wrong[i], &n), "%s", wrong[i]);
}

Test(tools_options, seconds)
{
	char *const wrong[] = {
		"", "0", "-1", "nan", "inf", "1e300", "5s", "0.0001",
	};
	int64_t n = 0;

	cr_assert(take_seconds("1.5", &n) && n == 1500);
	cr_assert(take_seconds("90", &n) && n == 90000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(!take_seconds(wrong[i], &n), "%s", wrong[i]);
}

Test(tools_options, distance)
{
	char name[200];

	cr_assert_eq(tool_distance("run", "run"), 0);
	cr_assert_eq(tool_distance("rnu", "run"), 2);
	cr_assert_eq(tool_distance("", "run"), 3);
	cr_assert_eq(tool_distance("runs", ""), 4);
	cr_assert_eq(tool_distance("kitten", "sitting"), 3);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	cr_assert_gt(tool_distance(name, "run"), 100);
	cr_assert_gt(tool_distance("run", name), 100);
}

/* K nodes: every rank has one, sizes differ by at most one, larger first. */
Test(tools_placement, equal_blocks)
{
	char text[16], why[160];
	int node[40], size[41];

	for (int n = 1; n <= 40; n++) {
		for (int k = 1; k <= n; k++) {
			memset(size, 0, sizeof(size));
			snprintf(text, sizeof(text), "%d", k);
			cr_assert(tool_placement_parse(text, n, node, why,
						       sizeof(why)));
			for (int r = 0; r < n; r++) {
				cr_assert(node[r] == (r ? node[r - 1] : 0) ||
					  node[r] == node[r - 1] + 1);
				cr_assert_eq(tool_placement_local(node, r),
					     size[node[r]]++);
			}
			cr_assert_eq(node[n - 1], k - 1);
			for (int i = 1; i < k; i++)
				cr_assert(size[i] == size[i - 1] ||
					  size[i] == size[i - 1] - 1);
			cr_assert_leq(size[0] - size[k - 1], 1);
		}
	}
}

/* No text may write beyond the ranks; the sanitizers watch. */
Test(tools_placement, hostile)
{
	char *const wrong[] = {
		"", "+", ",", "1+", "+1", "1,", ",1", "1++1", "0,,1", "-1",
		"1-2", "5+5", "1+1+1+1+1+1", "0,0,0,0,0,0,0", "1000001",
		"0,1000001,0,0", "18446744073709551617", "4+0", "0+4",
		"0,1,2,4", "1,1,1,1", "2+1,1", "0,1+2", " 2", "2 ",
	};
	char why[160];
	int *node = malloc(4 * sizeof(*node));

	cr_assert_not_null(node);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		why[0] = 0;
		cr_assert(!tool_placement_parse(wrong[i], 4, node, why,
						sizeof(why)), "%s", wrong[i]);
		cr_assert_gt(strlen(why), 10);
	}
	free(node);
}

Test(tools_json, nesting_and_escapes)
{
	char *text = NULL;
	size_t size = 0;
	struct tool_json j = { .file = open_memstream(&text, &size) };

	cr_assert_not_null(j.file);
	tool_json_open(&j, NULL, '{');
	tool_json_text(&j, "a\"b", "tab\t \\ \x01");
	tool_json_open(&j, "list", '[');
	tool_json_int(&j, NULL, -7);
	tool_json_open(&j, NULL, '[');
	tool_json_close(&j, ']');
	tool_json_real(&j, NULL, 0.5);
	tool_json_real(&j, NULL, 1.0 / 0.0);
	tool_json_close(&j, ']');
	tool_json_bool(&j, "yes", true);
	tool_json_null(&j, "none");
	tool_json_close(&j, '}');
	fclose(j.file);
	cr_assert_str_eq(text,
			 "{\n"
			 "  \"a\\\"b\": \"tab\\u0009 \\\\ \\u0001\",\n"
			 "  \"list\": [\n"
			 "    -7,\n"
			 "    [],\n"
			 "    0.5,\n"
			 "    null\n"
			 "  ],\n"
			 "  \"yes\": true,\n"
			 "  \"none\": null\n"
			 "}\n");
	free(text);
}
