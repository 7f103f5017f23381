/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of calls that differ share: each difference has a communicator
 * of its own, and is timed on every rank.
 */
#ifndef TESTS_PROC_CASES_DIFFER_H
#define TESTS_PROC_CASES_DIFFER_H

#include "proc/cases.h"

#define GUARD 4096

struct differ {
	struct seat *seat;
	tuttiComm_t control;	/* where ranks agree how long it took */
	int longest, again;	/* ms; trials that were done twice */
	char what[128];		/* the longest */
};

void differ_begin(struct differ *d, struct seat *s);
/* Tells the longest time of any rank. */
void differ_end(struct differ *d, const char *name);

/* Do a trial, which returns the ms that this rank took: within a second on the
 * slowest rank, or the second time if the machine was busy. */
void differ_try(struct differ *d, const char *what,
		int (*trial)(struct seat *s, const void *arg, int odd),
		const void *arg, int odd);

/* Barriers after the call at hand, until this rank hears. */
tuttiResult_t differ_hear(tuttiComm_t comm, tuttiResult_t rc);

/* Write a guard behind `bytes` bytes, and look whether it is still there. */
void differ_guard(char *p, size_t bytes);
void differ_check(const char *p, size_t bytes, const char *which);

#endif
