/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings table: every type and its limits, wrong values, unknown names,
 * what is told and what is kept secret.  Every test runs in a process of its
 * own, so each may read the environment for the first time.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the environment leads to. */
static void given(const char *name, const char *value)
{
	cr_assert(!setenv(name, value, 1));
	tutti_settings_reload();
}

/* Run the check with messages going to a file; returns what was written. */
static const char *told(tuttiResult_t *rc)
{
	static char text[16384];
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	*rc = tutti_settings_check();
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static int count(const char *text, const char *word)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
		n++;
	return n;
}

Test(base_settings, defaults_are_valid)
{
	tuttiResult_t rc;

	for (int i = 0; i < TUTTI_SETTINGS; i++)
		unsetenv(tutti_setting_info(i)->name);
	cr_assert(!strcmp(told(&rc), ""));
	cr_assert(!rc);
	for (int i = 0; i < TUTTI_SETTINGS; i++) {
		const struct tutti_setting_info *info = tutti_setting_info(i);

		cr_assert(!strncmp(info->name, "TUTTI_", 6));
		cr_assert(!tutti_setting_given(i));
		cr_assert(!strcmp(tutti_setting_text(i), info->def));
		/* A default that cannot be parsed would be refused if it were
		 * given, too. */
		if (info->def[0])
			given(info->name, info->def);
		cr_assert(!info->def[0] || tutti_setting_given(i), "%s",
			  info->name);
	}
	cr_assert(tutti_setting(TUTTI_SET_TIMEOUT) == 600000);
	cr_assert(tutti_setting(TUTTI_SET_SLOTS) == 8);
	cr_assert(tutti_setting(TUTTI_SET_RANK) == -1);
}

Test(base_settings, numbers)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} t[] = {
		{ "2", true, 2 }, { "64", true, 64 }, { "+8", true, 8 },
		{ "1", false, 0 }, { "65", false, 0 }, { "-3", false, 0 },
		{ "x", false, 0 }, { "4x", false, 0 }, { "4 ", false, 0 },
		{ "", true, 8 }, { "0x10", false, 0 },
		{ "9223372036854775808", false, 0 },
		{ "99999999999999999999999", false, 0 },
	};

	for (size_t i = 0; i < tutti_countof(t); i++) {
		given("TUTTI_SLOTS", t[i].text);
		cr_assert(tutti_settings_check() ==
			  (t[i].ok ? tuttiSuccess : tuttiInvalidUsage), "%s",
			  t[i].text);
		cr_assert(tutti_setting(TUTTI_SET_SLOTS) ==
			  (t[i].ok ? t[i].value : 8));
		cr_assert(tutti_setting_given(TUTTI_SET_SLOTS) ==
			  (t[i].ok && t[i].text[0]));
	}
	given("TUTTI_SLOTS", "8");
	given("TUTTI_DEBUG_SEQ_START", "9223372036854775807");
	cr_assert(tutti_setting(TUTTI_SET_DEBUG_SEQ_START) == INT64_MAX);
}

Test(base_settings, seconds)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t ms;
	} t[] = {
		{ "5", true, 5000 }, { "0.5", true, 500 },
		{ "1.25", true, 1250 }, { "0.001", true, 1 },
		{ "2.", true, 2000 }, { "1.2345", true, 1234 },
		{ "2147483.647", true, 2147483647 },
		{ "2147483.648", false, 0 }, { "0", false, 0 },
		{ "0.0001", false, 0 }, { ".5", false, 0 },
		{ "-1", false, 0 }, { "1s", false, 0 }, { "1.5.2", false, 0 },
		{ "1e3", false, 0 }, { "99999999999999999999", false, 0 },
		{ "inf", false, 0 }, { "nan", false, 0 },
	};

	for (size_t i = 0; i < tutti_countof(t); i++) {
		given("TUTTI_TIMEOUT", t[i].text);
		cr_assert(tutti_settings_check() ==
			  (t[i].ok ? tuttiSuccess : tuttiInvalidUsage), "%s",
			  t[i].text);
		cr_assert(tutti_setting(TUTTI_SET_TIMEOUT) ==
			  (t[i].ok ? t[i].ms : 600000), "%s", t[i].text);
	}
}

Test(base_settings, bytes)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} t[] = {
		{ "0", true, 0 }, { "64", true, 64 }, { "4K", true, 4096 },
		{ "4k", true, 4096 }, { "1M", true, 1 << 20 },
		{ "2G", true, INT64_C(2) << 30 },
		{ "3T", true, INT64_C(3) << 40 },
		{ "9007199254740991K", true, INT64_MAX - 1023 },
		{ "9007199254740992K", false, 0 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "", false, 0 }, { "K", false, 0 }, { "-1", false, 0 },
		{ "+1", false, 0 }, { " 1", false, 0 }, { "1KB", false, 0 },
		{ "1P", false, 0 }, { "1.5K", false, 0 }, { "4 K", false, 0 },
	};

	for (size_t i = 0; i < tutti_countof(t); i++) {
		int64_t value = -7;

		cr_assert(tutti_parse_bytes(t[i].text, &value) == t[i].ok,
			  "%s", t[i].text);
		cr_assert(!t[i].ok || value == t[i].value, "%s", t[i].text);
	}
	given("TUTTI_SLOT_BYTES", "16M");
	cr_assert(tutti_setting(TUTTI_SET_SLOT_BYTES) == 16 << 20);
	given("TUTTI_SLOT_BYTES", "17M");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
}

Test(base_settings, choices_and_bools)
{
	given("TUTTI_WAIT", "yield");
	cr_assert(tutti_setting(TUTTI_SET_WAIT) == 2);
	given("TUTTI_WAIT", "SLEEP");
	cr_assert(tutti_setting(TUTTI_SET_WAIT) == 3);
	for (int i = 0; i < 4; i++) {
		static const char *const bad[] = { "yiel", "yields", "|",
						   "auto|spin" };

		given("TUTTI_WAIT", bad[i]);
		cr_assert(tutti_settings_check() == tuttiInvalidUsage);
		cr_assert(strstr(tutti_fail_text(), "auto|spin|yield|sleep"));
		cr_assert(tutti_setting(TUTTI_SET_WAIT) == 0);
	}
	given("TUTTI_WAIT", "");
	given("TUTTI_SHM_DIRECT", "0");
	cr_assert(tutti_setting(TUTTI_SET_SHM_DIRECT) == 0);
	given("TUTTI_SHM_DIRECT", "2");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
	given("TUTTI_SHM_DIRECT", "yes");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
	cr_assert(tutti_setting(TUTTI_SET_SHM_DIRECT) == 1);
}

/* The sentence names the variable, the value and what is allowed. */
Test(base_settings, sentences)
{
	given("TUTTI_SLOTS", "many\n");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
	cr_assert(strstr(tutti_fail_text(), "TUTTI_SLOTS"));
	cr_assert(strstr(tutti_fail_text(), "many\\x0a"));
	cr_assert(strstr(tutti_fail_text(), "from 2 to 64"));
	given("TUTTI_SLOTS", "");
	given("TUTTI_TIMEOUT", "soon");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
	cr_assert(strstr(tutti_fail_text(), "seconds"));
	given("TUTTI_TIMEOUT", "");
	given("TUTTI_SLICE", "big");
	cr_assert(tutti_settings_check() == tuttiInvalidUsage);
	cr_assert(strstr(tutti_fail_text(), "64K"));
}

/* case 82: a typo gets one line with the nearest name, however many
 * communicators there are; a known name gets none. */
Test(base_settings, unknown_names)
{
	const char *text;
	tuttiResult_t rc;

	setenv("TUTTI_TIMOUT", "5", 1);
	setenv("TUTTI_SLOT_BYTE", "4K", 1);
	setenv("TUTTI_SLOTS", "4", 1);
	setenv("TUTTIFRUTTI", "1", 1);
	given("TUTTI_", "1");
	text = told(&rc);
	cr_assert(!rc);
	cr_assert(count(text, "\n") == 3, "%s", text);
	cr_assert(count(text, "TUTTI_TIMOUT; did you mean TUTTI_TIMEOUT?") ==
		  1);
	cr_assert(count(text, "TUTTI_SLOT_BYTE; did you mean "
			"TUTTI_SLOT_BYTES?") == 1);
	cr_assert(count(text, "TUTTI_SLOTS;") == 0);
	cr_assert(count(text, "FRUTTI") == 0);
	cr_assert(!strcmp(told(&rc), ""));
}

Test(base_settings, long_unknown_name)
{
	char name[300] = "TUTTI_";
	tuttiResult_t rc;

	memset(name + 6, 'A', sizeof(name) - 7);
	given(name, "1");
	cr_assert(count(told(&rc), "unknown setting TUTTI_AAA") == 1);
}

/* case 82: values in use are shown at info level; case 86: secrets are not. */
Test(base_settings, used_values)
{
	const char *text;
	tuttiResult_t rc;

	setenv("TUTTI_SECRET", "00112233445566778899aabbccddeeff", 1);
	setenv("TUTTI_UNIQUE_ID", "beefcafe", 1);
	setenv("TUTTI_SLOTS", "4", 1);
	given("TUTTI_DEBUG", "INFO");
	text = told(&rc);
	cr_assert(!rc);
	cr_assert(strstr(text, "TUTTI_SLOTS=4"), "%s", text);
	cr_assert(strstr(text, "TUTTI_SECRET="));
	cr_assert(!strstr(text, "0011223344"));
	cr_assert(!strstr(text, "beefcafe"));
}

/* case 86: a secret that cannot be used is not shown either. */
Test(base_settings, secrets_in_no_message)
{
	tuttiResult_t rc;

	setenv("TUTTI_DEBUG", "TRACE", 1);
	setenv("TUTTI_SECRE", "0011223344", 1);
	given("TUTTI_SLOTS", "x");
	cr_assert(!strstr(told(&rc), "0011223344"));
	cr_assert(rc == tuttiInvalidUsage);
}

Test(base_settings, reload)
{
	given("TUTTI_SLOTS", "4");
	cr_assert(tutti_setting(TUTTI_SET_SLOTS) == 4);
	setenv("TUTTI_SLOTS", "5", 1);
	cr_assert(tutti_setting(TUTTI_SET_SLOTS) == 4);
	tutti_settings_reload();
	cr_assert(tutti_setting(TUTTI_SET_SLOTS) == 5);
	unsetenv("TUTTI_SLOTS");
	tutti_settings_reload();
	cr_assert(tutti_setting(TUTTI_SET_SLOTS) == 8);
	cr_assert(!tutti_setting_given(TUTTI_SET_SLOTS));
}
