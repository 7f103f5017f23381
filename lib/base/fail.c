/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sentence of the last error, per thread, and its line in the log.
 */
#include "config.h"

#include "base/fail.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 1024

static __thread char last_text[TEXT_MAX];

static void record(const char *raw)
{
	tutti_escape(last_text, sizeof(last_text), raw, strlen(raw));
	tutti_info("%s", last_text);
}

tuttiResult_t tutti_fail(tuttiResult_t rc, const char *fmt, ...)
{
	char raw[TEXT_MAX];
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	record(raw);
	errno = saved;
	return rc;
}

tuttiResult_t tutti_fail_errno(int err, const char *fmt, ...)
{
	char raw[TEXT_MAX], reason[128];
	int saved = errno;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(raw))
		snprintf(raw + n, sizeof(raw) - n, ": %s",
			 strerror_r(err, reason, sizeof(reason)));
	record(raw);
	errno = saved;
	return tuttiSystemError;
}

const char *tutti_fail_text(void)
{
	return last_text;
}

void tutti_fail_set(const char *text)
{
	tutti_escape(last_text, sizeof(last_text), text, strlen(text));
}
