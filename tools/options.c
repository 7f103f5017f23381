/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines: see options.h.  getopt_long() is not used, since it tells
 * mistakes in its own words, takes abbreviations that a later option may
 * break, and looks past the program that a launcher starts.
 */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LETTERS 63
#define LINE_WIDTH 79

int tool_distance(const char *a, const char *b)
{
	int row[NAME_MAX_LETTERS + 1];
	size_t n = strlen(b);

	if (n > NAME_MAX_LETTERS)
		return (int)n;
	for (size_t j = 0; j <= n; j++)
		row[j] = (int)j;
	for (; *a; a++) {
		int diag = row[0]++;

		for (size_t j = 1; j <= n; j++) {
			int best = diag + (*a != b[j - 1]);

			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			diag = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

int tool_usage(const struct tool_args *a, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", a->tool);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n`%s --help` lists what there is.\n", a->tool);
	return TOOL_EXIT_USAGE;
}

/* The option whose name is nearest to `word` (without dashes); NULL if none
 * is near enough to have been meant. */
static const struct tool_option *nearest(const struct tool_args *a,
					 const char *word)
{
	const struct tool_option *found = NULL;
	int least = (int)strlen(word) / 2 + 1;

	for (const struct tool_option *o = a->options; o->help; o++) {
		int d = o->name ? tool_distance(word, o->name) : least;

		if (d < least) {
			least = d;
			found = o;
		}
	}
	return found;
}

static int unknown(const struct tool_args *a, const char *arg, size_t len)
{
	const struct tool_option *o;
	char word[NAME_MAX_LETTERS + 1];

	while (*arg == '-' && len) {
		arg++;
		len--;
	}
	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, arg, len);
	word[len] = 0;
	o = nearest(a, word);
	if (o)
		tool_usage(a, "unknown option \"%s\"; did you mean --%s?",
			   a->argv[a->next], o->name);
	else
		tool_usage(a, "unknown option \"%s\"", a->argv[a->next]);
	return TOOL_BAD;
}

/* `attached` is the text after = or after the letter; NULL: none. */
static int take(struct tool_args *a, int index, const char *attached)
{
	const struct tool_option *o = &a->options[index];

	a->value = NULL;
	a->next++;
	if (!o->value) {
		if (!attached)
			return index;
		tool_usage(a, "%s takes no value", a->shown);
		return TOOL_BAD;
	}
	if (attached) {
		a->value = attached;
		return index;
	}
	if (a->next >= a->argc) {
		tool_usage(a, "%s needs a value: %s %s", a->shown, a->shown,
			   o->value);
		return TOOL_BAD;
	}
	a->value = a->argv[a->next++];
	return index;
}

static int take_name(struct tool_args *a, const char *arg)
{
	size_t len = strcspn(arg + 2, "=");

	for (int i = 0; a->options[i].help; i++) {
		const char *name = a->options[i].name;

		if (!name || strlen(name) != len || memcmp(name, arg + 2, len))
			continue;
		snprintf(a->shown, sizeof(a->shown), "--%s", name);
		return take(a, i, arg[2 + len] ? arg + 3 + len : NULL);
	}
	return unknown(a, arg, len + 2);
}

static int take_letter(struct tool_args *a, const char *arg)
{
	for (int i = 0; a->options[i].help; i++) {
		if (a->options[i].letter != arg[1])
			continue;
		/* -help is a name with a dash missing, not -h with "elp". */
		if (arg[2] && !a->options[i].value)
			break;
		snprintf(a->shown, sizeof(a->shown), "-%c", arg[1]);
		return take(a, i, arg[2] ? arg + 2 : NULL);
	}
	return unknown(a, arg, strlen(arg));
}

int tool_next(struct tool_args *a)
{
	const char *arg;

	if (a->next >= a->argc)
		return TOOL_END;
	arg = a->argv[a->next];
	if (arg[0] != '-' || !arg[1])
		return TOOL_END;
	if (arg[1] != '-')
		return take_letter(a, arg);
	if (arg[2])
		return take_name(a, arg);
	a->next++;
	return TOOL_END;
}

bool tool_int(const struct tool_args *a, int64_t min, int64_t max,
	      int64_t *out)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(a->value, &end, 10);
	if (end == a->value || *end || errno || n < min || n > max) {
		tool_usage(a, "%s is \"%s\", but must be a whole number from "
			   "%lld to %lld", a->shown, a->value,
			   (long long)min, (long long)max);
		return false;
	}
	*out = n;
	return true;
}

bool tool_seconds(const struct tool_args *a, int64_t *out_ms)
{
	char *end;
	double s;

	s = strtod(a->value, &end);
	/* Written so that a NaN is refused too. */
	if (end == a->value || *end || !(s >= 0.001 && s <= 1e9)) {
		tool_usage(a, "%s is \"%s\", but must be seconds over 0, such "
			   "as 90 or 1.5", a->shown, a->value);
		return false;
	}
	*out_ms = (int64_t)(s * 1e3);
	return true;
}

bool tool_bytes(const struct tool_args *a, int64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	long long n;
	bool ok;

	errno = 0;
	n = strtoll(a->value, &end, 10);
	ok = end != a->value && !errno && n >= 0;
	if (ok && *end) {
		unit = strchr(units, *end & ~0x20);
		ok = unit && !end[1] &&
		     !__builtin_mul_overflow(
			     n, 1ll << (10 * (unit - units + 1)), &n);
	}
	if (!ok) {
		tool_usage(a, "%s is \"%s\", but must be bytes, such as 8, 4K "
			   "or 1M", a->shown, a->value);
		return false;
	}
	*out = n;
	return true;
}

void tool_print_options(FILE *f, const struct tool_option *options)
{
	for (const struct tool_option *o = options; o->help; o++) {
		char left[40] = "";
		const char *gap = o->value ? " " : "";
		const char *value = o->value ? o->value : "";

		if (o->letter && o->name)
			snprintf(left, sizeof(left), "-%c, --%s%s%s",
				 o->letter, o->name, gap, value);
		else if (o->name)
			snprintf(left, sizeof(left), "    --%s%s%s", o->name,
				 gap, value);
		else
			snprintf(left, sizeof(left), "-%c%s%s", o->letter, gap,
				 value);
		fprintf(f, "  %-22s %s\n", left, o->help);
	}
}

void tool_print_words(FILE *f, const char *text, int indent)
{
	int at = 0;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (!at || at + 1 + len > LINE_WIDTH) {
			fprintf(f, "%s%*s", at ? "\n" : "", indent, "");
			at = indent;
		} else {
			putc(' ', f);
			at++;
		}
		fprintf(f, "%.*s", len, text);
		at += len;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', f);
}
