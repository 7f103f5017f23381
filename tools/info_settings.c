/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the settings table of lib/base in three forms.  Values of settings
 * that hold a secret are never printed.
 */
#include "config.h"

#include "info.h"
#include "json.h"
#include "options.h"

#include "base/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(enum tutti_setting_type type)
{
	static const char *const names[] = {
		[TUTTI_TYPE_INT] = "integer",
		[TUTTI_TYPE_BOOL] = "bool",
		[TUTTI_TYPE_SECONDS] = "seconds",
		[TUTTI_TYPE_BYTES] = "bytes",
		[TUTTI_TYPE_STRING] = "text",
		[TUTTI_TYPE_CHOICE] = "choice",
	};

	return names[type];
}

static bool is_number(enum tutti_setting_type type)
{
	return type == TUTTI_TYPE_INT || type == TUTTI_TYPE_SECONDS ||
	       type == TUTTI_TYPE_BYTES;
}

/* A bound of the table as a user writes it. */
static const char *bound(char *out, size_t cap, enum tutti_setting_type type,
			 int64_t n)
{
	static const char units[] = "KMG";
	int unit = -1;

	if (type == TUTTI_TYPE_SECONDS) {
		snprintf(out, cap, "%g", (double)n / 1e3);
		return out;
	}
	while (type == TUTTI_TYPE_BYTES && n && n % 1024 == 0 && unit < 2) {
		n /= 1024;
		unit++;
	}
	snprintf(out, cap, unit < 0 ? "%" PRId64 : "%" PRId64 "%c", n,
		 unit < 0 ? 0 : units[unit]);
	return out;
}

/* What a value looks like, in words; of a choice only their beginning. */
static void print_type(const struct tutti_setting_info *info)
{
	static const char *const words[] = {
		[TUTTI_TYPE_INT] = "a whole number",
		[TUTTI_TYPE_BOOL] = "0 or 1",
		[TUTTI_TYPE_SECONDS] = "seconds, with a fraction if wanted",
		[TUTTI_TYPE_BYTES] =
			"bytes, as 64, 4K, 1M or 2G (powers of 1024)",
		[TUTTI_TYPE_STRING] = "text",
		[TUTTI_TYPE_CHOICE] = "one of ",
	};
	char min[32], max[32];

	printf("%s", words[info->type]);
	for (const char *c = info->choices; *c; c++)
		printf(*c == '|' ? ", " : "%c", *c);
	if (!is_number(info->type) || (info->max >= INT32_MAX && info->min < 0))
		return;
	bound(min, sizeof(min), info->type, info->min);
	/* A bound that only a machine would reach is not worth a word. */
	if (info->max >= INT32_MAX)
		printf(", at least %s", min);
	else
		printf(", %s to %s", min,
		       bound(max, sizeof(max), info->type, info->max));
}

/* A negative default stands for "not told". */
static bool has_default(const struct tutti_setting_info *info)
{
	return *info->def && *info->def != '-';
}

/* What the environment says; NULL if nothing. */
static const char *value(enum tutti_setting s)
{
	const char *text = getenv(tutti_setting_info(s)->name);

	if (!text || !*text)
		return NULL;
	if (s == TUTTI_SET_SECRET || s == TUTTI_SET_UNIQUE_ID)
		return "(secret)";
	return text;
}

/* Called for each setting; true if it begins a new area. */
static bool new_area(enum tutti_setting s)
{
	return !s || strcmp(tutti_setting_info(s)->area,
			    tutti_setting_info(s - 1)->area) != 0;
}

void info_settings_text(void)
{
	for (int s = 0; s < TUTTI_SETTINGS; s++) {
		const struct tutti_setting_info *info = tutti_setting_info(s);
		const char *given = value(s);

		if (new_area(s))
			printf("%s%s\n", s ? "\n" : "", info->area);
		printf("%c %-22s ", given ? '*' : ' ', info->name);
		print_type(info);
		if (has_default(info))
			printf("; default %s", info->def);
		printf("\n");
		tool_print_words(stdout, info->help, 6);
		if (given)
			printf("      now \"%s\"%s\n", given,
			       tutti_setting_given(s) ? "" : ": not valid");
	}
	printf("\n* is given by the environment\n");
}

static void json_number(struct tool_json *j, const char *key,
			enum tutti_setting_type type, int64_t n)
{
	if (type == TUTTI_TYPE_SECONDS)
		tool_json_real(j, key, (double)n / 1e3);
	else
		tool_json_int(j, key, n);
}

static void json_choices(struct tool_json *j, const char *choices)
{
	char one[64];

	tool_json_open(j, "choices", '[');
	while (*choices) {
		int len = (int)strcspn(choices, "|");

		snprintf(one, sizeof(one), "%.*s", len, choices);
		tool_json_text(j, NULL, one);
		choices += len + (choices[len] == '|');
	}
	tool_json_close(j, ']');
}

void info_settings_json(void)
{
	struct tool_json j = { .file = stdout };

	tool_json_open(&j, NULL, '{');
	tool_json_open(&j, "settings", '[');
	for (int s = 0; s < TUTTI_SETTINGS; s++) {
		const struct tutti_setting_info *info = tutti_setting_info(s);

		tool_json_open(&j, NULL, '{');
		tool_json_text(&j, "name", info->name);
		tool_json_text(&j, "area", info->area);
		tool_json_text(&j, "type", type_name(info->type));
		tool_json_text(&j, "default", info->def);
		if (is_number(info->type)) {
			json_number(&j, "min", info->type, info->min);
			json_number(&j, "max", info->type, info->max);
		}
		if (info->type == TUTTI_TYPE_CHOICE)
			json_choices(&j, info->choices);
		tool_json_text(&j, "help", info->help);
		if (value(s)) {
			tool_json_text(&j, "value", value(s));
			tool_json_bool(&j, "valid", tutti_setting_given(s));
		}
		tool_json_close(&j, '}');
	}
	tool_json_close(&j, ']');
	tool_json_close(&j, '}');
}

/* Text for roff: a minus that can be copied, no escape. */
static void roff(const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

void info_settings_man(void)
{
	for (int s = 0; s < TUTTI_SETTINGS; s++) {
		const struct tutti_setting_info *info = tutti_setting_info(s);

		if (new_area(s))
			printf(".SS %s\n", info->area);
		printf(".TP\n.B %s\n", info->name);
		/* Help lines begin small, to stand in a list. */
		putchar(toupper((unsigned char)*info->help));
		roff(info->help + 1);
		printf(".\nValue: ");
		print_type(info);
		printf(";\n%s", has_default(info) ? "default " :
				"unset by default");
		if (has_default(info))
			roff(info->def);
		printf(".\n");
	}
}
