/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's two list languages.
 *
 * Nodes: names separated by commas; anywhere in a name, brackets hold numbers
 * and ranges, padded with zeros as wide as the first number is written.
 * Several brackets multiply, the last one fastest; text may follow them:
 * "a[01-03,7]x,b[1-2]c[0-1],d".
 *
 * Tasks per node: numbers separated by commas, each perhaps with a repeat
 * count: "2(x3),1".
 */
#include "config.h"

#include "boot/boot_impl.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 256
#define DIGITS_MAX 18

struct expansion {
	int (*each)(void *arg, const char *name);
	void *arg;
	bool stopped;
	char name[NAME_BYTES];
};

/* A number of decimal digits at *p, which is moved behind it. */
static bool number(const char **p, const char *end, int64_t *value, int *width)
{
	const char *start = *p;

	for (*value = 0; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		if (*p - start >= DIGITS_MAX)
			return false;
		*value = *value * 10 + (**p - '0');
	}
	*width = (int)(*p - start);
	return *width > 0;
}

static bool expand(struct expansion *x, size_t used, const char *p,
		   const char *end);

/* Every number of one range, with all that follows behind it. */
static bool expand_range(struct expansion *x, size_t used, const char **p,
			 const char *end, const char *rest,
			 const char *rest_end)
{
	int64_t first, last;
	int width, ignored;

	if (!number(p, end, &first, &width))
		return false;
	last = first;
	if (*p < end && **p == '-') {
		(*p)++;
		if (!number(p, end, &last, &ignored) || last < first)
			return false;
	}
	for (int64_t i = first; i <= last && !x->stopped; i++) {
		int n = snprintf(x->name + used, NAME_BYTES - used, "%0*lld",
				 width, (long long)i);

		if ((size_t)n >= NAME_BYTES - used ||
		    !expand(x, used + (size_t)n, rest, rest_end))
			return false;
	}
	return true;
}

/* The rest of one item, behind x->name[0..used). */
static bool expand(struct expansion *x, size_t used, const char *p,
		   const char *end)
{
	const char *close;

	for (; p < end && *p != '['; p++) {
		if (*p == ']' || used + 1 >= NAME_BYTES)
			return false;
		x->name[used++] = *p;
	}
	if (p == end) {
		x->name[used] = 0;
		x->stopped = x->each(x->arg, x->name) != 0;
		return used > 0;
	}
	close = memchr(p, ']', (size_t)(end - p));
	if (!close)
		return false;
	for (p++;; p++) {
		if (!expand_range(x, used, &p, close, close + 1, end))
			return false;
		if (p == close || x->stopped)
			return true;
		if (*p != ',')
			return false;
	}
}

/* The end of the item at `p`: a comma outside brackets, or the end. */
static const char *item_end(const char *p)
{
	bool inside = false;

	for (; *p && (inside || *p != ','); p++)
		inside = *p == '[' || (inside && *p != ']');
	return p;
}

bool tutti_slurm_nodes(const char *list, int (*each)(void *arg,
						     const char *name),
		       void *arg)
{
	struct expansion x = { .each = each, .arg = arg };

	for (;;) {
		const char *end = item_end(list);

		if (end == list || !expand(&x, 0, list, end))
			return false;
		if (!*end || x.stopped)
			return true;
		list = end + 1;
	}
}

bool tutti_slurm_tasks(const char *list, int *out, size_t max, size_t *n,
		       int64_t *sum)
{
	const char *end = list + strlen(list);

	*n = 0;
	*sum = 0;
	for (;;) {
		int64_t tasks, times = 1;
		int width;

		if (!number(&list, end, &tasks, &width) || tasks > INT_MAX)
			return false;
		if (list[0] == '(') {
			if (list[1] != 'x')
				return false;
			list += 2;
			if (!number(&list, end, &times, &width) ||
			    *list != ')' || times < 1 || times > INT_MAX)
				return false;
			list++;
		}
		for (int64_t i = 0; i < times && *n + (size_t)i < max; i++)
			out[*n + (size_t)i] = (int)tasks;
		*n += (size_t)times;
		if (__builtin_add_overflow(*sum, tasks * times, sum))
			return false;
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
}
