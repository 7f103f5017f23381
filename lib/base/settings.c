/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings table and its one reading of the environment.  Values are
 * immutable after the first use, except for tutti_settings_reload(), which
 * only tests and tools call, while nothing else runs.
 */
#include "config.h"

#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "TUTTI_"

static const struct tutti_setting_info table[TUTTI_SETTINGS] = {
#define X(name, type, def, min, max, choices, area, help) \
	{ PREFIX #name, TUTTI_TYPE_##type, def, min, max, choices, area, help },
#include "base/settings.def"
#undef X
};

static struct {
	int64_t number;
	char *text;		/* as given, or NULL */
	bool bad;
} value[TUTTI_SETTINGS];

static pthread_once_t once = PTHREAD_ONCE_INIT;

const struct tutti_setting_info *tutti_setting_info(enum tutti_setting s)
{
	return &table[s];
}

/* A decimal number with up to three places, times 1000. */
static bool parse_seconds(const char *text, int64_t *out)
{
	int64_t whole = 0, part = 0, unit = 100;
	const char *p = text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (whole > INT64_MAX / 100000)
			return false;
		whole = whole * 10 + (*p - '0');
	}
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
			part += (*p - '0') * unit;
	*out = whole * 1000 + part;
	return *p == 0;
}

static bool parse_int(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return end != text && *end == 0 && errno == 0;
}

bool tutti_parse_bytes(const char *text, int64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	int64_t n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (!unit || end[1])
			return false;
		if (__builtin_mul_overflow(
			    n, (int64_t)1 << (10 * (unit - units + 1)), &n))
			return false;
	}
	*out = n;
	return true;
}

/* The index of `text` among choices separated by |, case ignored. */
static bool parse_choice(const char *choices, const char *text, int64_t *out)
{
	size_t len = strlen(text);

	for (int64_t i = 0; *choices; i++) {
		size_t n = strcspn(choices, "|");

		if (n == len && !strncasecmp(choices, text, n)) {
			*out = i;
			return true;
		}
		choices += n + (choices[n] == '|');
	}
	return false;
}

static bool parse(const struct tutti_setting_info *info, const char *text,
		  int64_t *out)
{
	bool ok = false;

	*out = 0;
	switch (info->type) {
	case TUTTI_TYPE_STRING:
		return true;
	case TUTTI_TYPE_CHOICE:
		return parse_choice(info->choices, text, out);
	case TUTTI_TYPE_SECONDS:
		ok = parse_seconds(text, out);
		break;
	case TUTTI_TYPE_BYTES:
		ok = tutti_parse_bytes(text, out);
		break;
	case TUTTI_TYPE_INT:
	case TUTTI_TYPE_BOOL:
		ok = parse_int(text, out);
		break;
	}
	return ok && *out >= info->min && *out <= info->max;
}

/* Edit distance, for names below 64 letters. */
static int distance(const char *a, const char *b)
{
	int row[65], n = (int)strlen(b);

	if (n > 64)
		return 64;
	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diag = row[0];

		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int best = diag + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diag = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

static void warn_unknown(const char *name)
{
	int best = 0, least = 1000;

	for (int i = 0; i < TUTTI_SETTINGS; i++) {
		int d = distance(name, table[i].name);

		if (d < least) {
			least = d;
			best = i;
		}
	}
	tutti_warn("unknown setting %s; did you mean %s? "
		   "`tutti info --settings` lists all",
		   name, table[best].name);
}

static int find(const char *name, size_t len)
{
	for (int i = 0; i < TUTTI_SETTINGS; i++)
		if (strlen(table[i].name) == len &&
		    !memcmp(table[i].name, name, len))
			return i;
	return -1;
}

static void load(void)
{
	for (int i = 0; i < TUTTI_SETTINGS; i++) {
		const char *text = getenv(table[i].name);

		free(value[i].text);
		value[i].text = NULL;
		value[i].bad = false;
		if (text && *text) {
			value[i].text = strdup(text);
			if (parse(&table[i], text, &value[i].number))
				continue;
			value[i].bad = true;
		}
		parse(&table[i], table[i].def, &value[i].number);
	}
}

/* Told after loading, since the log itself asks for settings. */
static void tell_all(void)
{
	extern char **environ;
	char name[65];

	for (int i = 0; i < TUTTI_SETTINGS; i++) {
		bool secret = i == TUTTI_SET_SECRET || i == TUTTI_SET_UNIQUE_ID;

		if (value[i].text)
			tutti_info("setting %s=%s", table[i].name,
				   secret ? "(secret)" : value[i].text);
	}
	for (char **e = environ; e && *e; e++) {
		size_t len = strcspn(*e, "=");

		if (strncmp(*e, PREFIX, strlen(PREFIX)) || find(*e, len) >= 0)
			continue;
		if (len >= sizeof(name))
			len = sizeof(name) - 1;
		memcpy(name, *e, len);
		name[len] = 0;
		warn_unknown(name);
	}
}

int64_t tutti_setting(enum tutti_setting s)
{
	pthread_once(&once, load);
	return value[s].number;
}

const char *tutti_setting_text(enum tutti_setting s)
{
	pthread_once(&once, load);
	return value[s].text && !value[s].bad ? value[s].text : table[s].def;
}

bool tutti_setting_given(enum tutti_setting s)
{
	pthread_once(&once, load);
	return value[s].text && !value[s].bad;
}

static tuttiResult_t fail_bad(int i)
{
	const struct tutti_setting_info *info = &table[i];

	switch (info->type) {
	case TUTTI_TYPE_CHOICE:
		return tutti_fail(tuttiInvalidUsage,
				  "%s is \"%s\", but must be one of %s",
				  info->name, value[i].text, info->choices);
	case TUTTI_TYPE_SECONDS:
		return tutti_fail(tuttiInvalidUsage,
				  "%s is \"%s\", but must be seconds from %g "
				  "to %g",
				  info->name, value[i].text, info->min / 1e3,
				  info->max / 1e3);
	case TUTTI_TYPE_BYTES:
		return tutti_fail(tuttiInvalidUsage,
				  "%s is \"%s\", but must be bytes such as "
				  "4096, 64K or 1M, from %lld to %lld",
				  info->name, value[i].text,
				  (long long)info->min, (long long)info->max);
	default:
		return tutti_fail(tuttiInvalidUsage,
				  "%s is \"%s\", but must be a whole number "
				  "from %lld to %lld",
				  info->name, value[i].text,
				  (long long)info->min, (long long)info->max);
	}
}

tuttiResult_t tutti_settings_check(void)
{
	static pthread_once_t told = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	pthread_once(&told, tell_all);
	for (int i = 0; i < TUTTI_SETTINGS; i++)
		if (value[i].bad)
			return fail_bad(i);
	return tuttiSuccess;
}

void tutti_settings_reload(void)
{
	pthread_once(&once, load);
	load();
}
