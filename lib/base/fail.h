/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an error is told.  Whoever first sees a fault calls tutti_fail() once,
 * with a full sentence and the numbers in it; everyone above passes the code
 * on.  The sentence is kept per thread for tuttiGetLastError().
 */
#ifndef TUTTI_BASE_FAIL_H
#define TUTTI_BASE_FAIL_H

#include "tutti.h"

/* Record the sentence for this thread, log it at info level, return `rc`.
 * errno is kept.  Bytes that are not printable are escaped. */
tuttiResult_t tutti_fail(tuttiResult_t rc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for a failed system call: appends ": " and the text of `err` (an
 * errno value).  Returns tuttiSystemError. */
tuttiResult_t tutti_fail_errno(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* This thread's last sentence, "" if none; valid until its next failure. */
const char *tutti_fail_text(void);

/* Make `text` this thread's last sentence without logging it again: for an
 * error that another thread or rank recorded. */
void tutti_fail_set(const char *text);

#endif
