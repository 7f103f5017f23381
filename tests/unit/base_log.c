/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines and error sentences: levels, escaping, bounds, errno, the file and
 * its name.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[128];

/* Log to a file at this level. */
static void log_to_file(const char *level)
{
	snprintf(file, sizeof(file), "/tmp/tutti-log-%d", (int)getpid());
	setenv("TUTTI_DEBUG_FILE", "/tmp/tutti-log-%p", 1);
	setenv("TUTTI_DEBUG", level, 1);
	tutti_settings_reload();
}

static void remove_file(void)
{
	if (file[0])
		unlink(file);
}

TestSuite(base_log, .fini = remove_file);
TestSuite(base_fail, .fini = remove_file);

/* What the file holds; it is emptied. */
static const char *logged(void)
{
	static char text[1 << 20];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	cr_assert(!f || !truncate(file, 0));
	text[n] = 0;
	return text;
}

static int lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

Test(base_log, escape)
{
	static const struct {
		const char *in;
		size_t len, cap;
		const char *out;
	} t[] = {
		{ "plain ~!", 8, 64, "plain ~!" },
		{ "a\nb\tc\x1b[1m", 9, 64, "a\\x0ab\\x09c\\x1b[1m" },
		{ "\x7f\x80\xff", 3, 64, "\\x7f\\x80\\xff" },
		{ "stops\0here", 10, 64, "stops" },
		{ "longer", 3, 64, "lon" },
		{ "abcdef", 6, 4, "abc" },
		{ "ab\n", 3, 6, "ab" },		/* whole escapes or none */
		{ "ab\n", 3, 7, "ab\\x0a" },
		{ "x", 1, 1, "" },
		{ "", 0, 8, "" },
	};
	char out[64];

	for (size_t i = 0; i < tutti_countof(t); i++) {
		memset(out, '#', sizeof(out));
		tutti_escape(out, t[i].cap, t[i].in, t[i].len);
		cr_assert(!strcmp(out, t[i].out), "%zu: %s", i, out);
		for (size_t k = t[i].cap; k < sizeof(out); k++)
			cr_assert(out[k] == '#');
	}
	out[0] = '#';
	tutti_escape(out, 0, "abc", 3);
	cr_assert(out[0] == '#');
}

Test(base_log, levels)
{
	static const char *const names[] = { "NONE", "WARN", "INFO", "TRACE" };

	for (int level = 0; level < 4; level++) {
		const char *text;

		log_to_file(names[level]);
		cr_assert(tutti_log_on(TUTTI_LOG_WARN) == (level >= 1));
		cr_assert(tutti_log_on(TUTTI_LOG_TRACE) == (level >= 3));
		tutti_warn("one %d", 1);
		tutti_info("two");
		tutti_log(TUTTI_LOG_TRACE, "three");
		tutti_log(TUTTI_LOG_NONE, "never");
		if (level == 0) {
			/* The file comes with the first line. */
			cr_assert(access(file, F_OK));
			continue;
		}
		text = logged();
		cr_assert(lines(text) == level, "%s", text);
		cr_assert(strstr(text, " warning: one 1\n"));
		cr_assert(!strstr(text, " info: two\n") == (level < 2));
		cr_assert(!strstr(text, " trace: three\n") == (level < 3));
	}
}

Test(base_log, heads)
{
	char head[200];
	const char *text;

	log_to_file("INFO");
	tutti_warn("nobody");
	tutti_log_set_rank(17);
	tutti_info("somebody");
	text = logged();
	snprintf(head, sizeof(head), "tutti %s:%d warning: nobody\n",
		 tutti_host_name(), (int)getpid());
	cr_assert(!strncmp(text, head, strlen(head)), "%s", text);
	snprintf(head, sizeof(head), "tutti %s:%d rank 17 info: somebody\n",
		 tutti_host_name(), (int)getpid());
	cr_assert(strstr(text, head), "%s", text);
}

/* case 87: what a peer sends cannot forge a line, nor break the terminal. */
Test(base_log, escaped_lines)
{
	const char *text;

	log_to_file("WARN");
	tutti_warn("host %s", "evil\ntutti fake warning: \x1b]0;x\a");
	text = logged();
	cr_assert(lines(text) == 1, "%s", text);
	cr_assert(strstr(text, "evil\\x0atutti fake warning: \\x1b]0;x\\x07\n"));
}

/* case 87: long text is cut, the line still ends. */
Test(base_log, long_lines)
{
	static char big[100000];
	const char *text;

	log_to_file("WARN");
	memset(big, 'x', sizeof(big) - 1);
	tutti_warn("%s", big);
	memset(big, '\n', sizeof(big) - 1);
	tutti_warn("%s", big);
	text = logged();
	cr_assert(lines(text) == 2);
	cr_assert(strlen(text) < 2 * 2048 + 1);
	cr_assert(text[strlen(text) - 1] == '\n');
}

Test(base_log, errno_is_kept)
{
	log_to_file("TRACE");
	errno = EXFULL;
	tutti_warn("warn");
	cr_assert(errno == EXFULL);
	tutti_info("info");
	cr_assert(errno == EXFULL);
	tutti_fail(tuttiSystemError, "fail");
	cr_assert(errno == EXFULL);
	tutti_fail_errno(ENOENT, "fail");
	cr_assert(errno == EXFULL);
	cr_assert(tutti_host_name()[0]);
	cr_assert(errno == EXFULL);
	logged();
}

static void *write_lines(void *arg)
{
	for (int i = 0; i < 500; i++)
		tutti_warn("thread %d writes %s", *(int *)arg,
			   "a line that is long enough to be torn");
	return NULL;
}

/* Lines of several threads do not mix. */
Test(base_log, whole_lines)
{
	pthread_t threads[4];
	int numbers[4], n = 0;
	char *text, *line;

	log_to_file("WARN");
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, write_lines, &numbers[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	text = (char *)logged();
	while ((line = strsep(&text, "\n")) && *line) {
		cr_assert(!strncmp(line, "tutti ", 6), "%s", line);
		cr_assert(strstr(line, "long enough to be torn"), "%s", line);
		n++;
	}
	cr_assert(n == 2000);
}

Test(base_log, file_names)
{
	char want[256];

	tutti_log_set_rank(3);
	setenv("TUTTI_DEBUG_FILE", "/tmp/tutti-%h-%r-%p-%%-%z", 1);
	tutti_settings_reload();
	tutti_warn("hello");
	snprintf(want, sizeof(want), "/tmp/tutti-%s-3-%d-%%-z",
		 tutti_host_name(), (int)getpid());
	cr_assert(!access(want, R_OK), "%s", want);
	cr_assert(!unlink(want));
}

/* A file that cannot be made is told on stderr, where the lines go then. */
Test(base_log, no_such_file)
{
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	char text[1000];
	size_t n;

	setenv("TUTTI_DEBUG_FILE", "/nowhere/at/all", 1);
	tutti_settings_reload();
	dup2(fileno(f), STDERR_FILENO);
	tutti_warn("still seen");
	tutti_warn("and again");
	dup2(saved, STDERR_FILENO);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	cr_assert(lines(text) == 3, "%s", text);
	cr_assert(strstr(text, "/nowhere/at/all"));
	cr_assert(strstr(text, "still seen") && strstr(text, "and again"));
	fclose(f);
	close(saved);
}

/* ---- The last error ----------------------------------------------------- */

static void *fail_elsewhere(void *arg)
{
	cr_assert(!strcmp(tutti_fail_text(), ""));
	tutti_fail(tuttiRemoteError, "elsewhere");
	return NULL;
}

Test(base_fail, sentences)
{
	pthread_t thread;

	cr_assert(!strcmp(tutti_fail_text(), ""));
	cr_assert(tutti_fail(tuttiInvalidUsage, "rank %d of %d", 5, 4) ==
		  tuttiInvalidUsage);
	cr_assert(!strcmp(tutti_fail_text(), "rank 5 of 4"));
	pthread_create(&thread, NULL, fail_elsewhere, NULL);
	pthread_join(thread, NULL);
	cr_assert(!strcmp(tutti_fail_text(), "rank 5 of 4"));
	cr_assert(tutti_fail_errno(ENOENT, "cannot open %s", "a\nb") ==
		  tuttiSystemError);
	cr_assert(!strcmp(tutti_fail_text(),
			  "cannot open a\\x0ab: No such file or directory"));
	tutti_fail_set("from \x01 afar");
	cr_assert(!strcmp(tutti_fail_text(), "from \\x01 afar"));
}

Test(base_fail, long_sentences)
{
	static char big[5000];

	memset(big, 'y', sizeof(big) - 1);
	tutti_fail(tuttiSystemError, "%s", big);
	cr_assert(strlen(tutti_fail_text()) > 500);
	cr_assert(strlen(tutti_fail_text()) < 1024);
	tutti_fail_errno(ENOENT, "%s", big);
	cr_assert(strlen(tutti_fail_text()) < 1024);
	memset(big, 1, sizeof(big) - 1);
	tutti_fail_set(big);
	cr_assert(strlen(tutti_fail_text()) < 1024);
}

Test(base_fail, logged_at_info)
{
	const char *text;

	log_to_file("INFO");
	tutti_fail(tuttiSystemError, "told once");
	tutti_fail_set("told by somebody else");
	text = logged();
	cr_assert(lines(text) == 1);
	cr_assert(strstr(text, "told once"));
}
