/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines to stderr or TUTTI_DEBUG_FILE, by level TUTTI_DEBUG.
 * Safe from any thread; keeps errno; one write per line, so lines of several
 * ranks do not mix; control bytes are escaped.
 */
#ifndef TUTTI_BASE_LOG_H
#define TUTTI_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum tutti_log_level {
	TUTTI_LOG_NONE,
	TUTTI_LOG_WARN,		/* default: what a user should know unasked */
	TUTTI_LOG_INFO,		/* choices made, errors returned */
	TUTTI_LOG_TRACE		/* every operation */
};

/* True if a line of this level would be written; cheap. */
bool tutti_log_on(enum tutti_log_level level);

void tutti_log(enum tutti_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define tutti_warn(...) tutti_log(TUTTI_LOG_WARN, __VA_ARGS__)
#define tutti_info(...) \
	do { \
		if (tutti_log_on(TUTTI_LOG_INFO)) \
			tutti_log(TUTTI_LOG_INFO, __VA_ARGS__); \
	} while (0)

/* The rank shown at the head of this thread's lines; -1: none. */
void tutti_log_set_rank(int rank);

/* This host's name for messages: never looked up in a name service. */
const char *tutti_host_name(void);

/* Copy `in` to `out` (cap bytes, always ended by 0) with control bytes and
 * non-ASCII as \xNN, so that a peer's bytes can be printed. */
void tutti_escape(char *out, size_t cap, const char *in, size_t len);

#endif
