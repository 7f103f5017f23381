/* SPDX-License-Identifier: BSD-3-Clause */
/* A few schedules as text, compared exactly with files that people have read.
 * The file says what to build: the header of a schedule is a query, and
 * "strict" in the file's name makes it a strict one. */
#include "config.h"

#include "t_sched.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 65536);
	size_t n;

	cr_assert(f && text, "%s cannot be read", path);
	n = fread(text, 1, 65535, f);
	cr_assert_gt(n, 0, "%s is empty", path);
	fclose(f);
	return text;
}

static void compare(const char *path)
{
	char *text = read_file(path), *built;
	const struct tutti_algo_entry *a;
	struct tutti_sched *s, *t;
	struct tutti_shape shape = { .nodes = 1 };
	struct tutti_query q = { .shape = &shape };

	cr_assert_eq(tutti_sched_parse(&s, text), tuttiSuccess, "%s", path);
	shape.ranks = s->ranks;
	q.coll = s->coll;
	q.rank = s->rank;
	q.root = s->root;
	q.mapped = s->mapped;
	q.sending = s->blocks_in > 0;
	q.strict = strstr(path, "-strict") != NULL;
	a = tutti_algo_find(s->coll, s->algo);
	cr_assert_not_null(a, "%s: no such algorithm", path);
	cr_assert_eq(tutti_sched_build(&t, a->algo, &q), tuttiSuccess);
	built = tutti_sched_print(t);
	cr_assert_not_null(built);
	cr_assert_str_eq(built, text, "%s is not what is built now", path);
	tutti_sched_free(s);
	tutti_sched_free(t);
	free(built);
	free(text);
}

Test(sched_golden, files)
{
	const char *top = getenv("top_srcdir");
	char dir[512], path[1024];
	int files = 0;
	struct dirent *d;
	DIR *list;

	snprintf(dir, sizeof(dir), "%s/tests/sched/golden", top ? top : ".");
	list = opendir(dir);
	cr_assert_not_null(list, "%s cannot be read", dir);
	while ((d = readdir(list))) {
		size_t n = strlen(d->d_name);

		if (n < 4 || strcmp(d->d_name + n - 4, ".txt"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		compare(path);
		files++;
	}
	closedir(list);
	cr_assert_geq(files, 12);
}
