/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job does with the machine that it finds, or is told of: cases 73 and
 * 75.  The script binds, hides and describes; these look at every thread, and
 * at results.
 */
#include "config.h"

#include "proc/cases.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS 16384
#define FILE_MAX (1 << 20)
#define CUTS 50

static size_t mask_bytes(void)
{
	return CPU_ALLOC_SIZE(CPUS);
}

static cpu_set_t *read_mask(pid_t thread)
{
	cpu_set_t *set = CPU_ALLOC(CPUS);

	CPU_ZERO_S(mask_bytes(), set);
	if (sched_getaffinity(thread, mask_bytes(), set)) {
		CPU_FREE(set);
		return NULL;
	}
	return set;
}

/* Every thread of this process may run where the caller might before, and
 * nowhere else; the number of threads. */
static int check_threads(struct seat *s, const cpu_set_t *before)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	int n = 0;

	while (dir && (d = readdir(dir)) != NULL) {
		cpu_set_t *now;

		if (*d->d_name == '.')
			continue;
		now = read_mask((pid_t)atoi(d->d_name));
		/* A thread may be gone by now. */
		if (!now)
			continue;
		CHECK(CPU_EQUAL_S(mask_bytes(), before, now),
		      "rank %d: thread %s may run on %d CPUs, not the %d of "
		      "before", s->rank, d->d_name,
		      CPU_COUNT_S(mask_bytes(), now),
		      CPU_COUNT_S(mask_bytes(), before));
		CPU_FREE(now);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Sums and blocks of all ranks, small and large. */
static void check_works(struct seat *s, tuttiComm_t comm)
{
	static const size_t counts[] = { 1, 3000 };
	int n = s->ranks, wrong = 0;

	for (int k = 0; k < 2; k++) {
		size_t count = counts[k];
		int *v = calloc(count, sizeof(*v));
		int *all = calloc(count * (size_t)n, sizeof(*all));

		for (size_t i = 0; i < count; i++)
			v[i] = s->rank + (int)i;
		EXPECT(tuttiAllGather(v, all, count, tuttiInt32, comm, NULL),
		       tuttiSuccess, NULL);
		EXPECT(tuttiAllReduce(v, v, count, tuttiInt32, tuttiSum, comm,
				      NULL), tuttiSuccess, NULL);
		for (size_t i = 0; i < count; i++)
			wrong += v[i] != n * (n - 1) / 2 + n * (int)i;
		for (size_t i = 0; i < count * (size_t)n; i++)
			wrong += all[i] != (int)(i / count + i % count);
		free(v);
		free(all);
	}
	CHECK(!wrong, "rank %d: %d wrong", s->rank, wrong);
}

/* Case 73. */
void topo_bound(struct seat *s)
{
	cpu_set_t *before = read_mask(0);
	tuttiComm_t comm = case_join(s);

	CHECK(before, "no affinity: %s", strerror(errno));
	check_works(s, comm);
	check_threads(s, before);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
	check_threads(s, before);
	CPU_FREE(before);
}

/* ---- Case 75 ------------------------------------------------------------- */

static unsigned int below(unsigned int n)
{
	return (unsigned int)rand() % n;
}

/* Bytes changed, taken out, doubled. */
static size_t damage(char *text, size_t n)
{
	static const char *const words[] = {
		"\"", "<", "/>", "0xf...f", "99999999999", "-1", "PU", "<!--",
		"<object type=\"PU\" os_index=\"7\" cpuset=\"0x80\"/>",
	};
	size_t at = below((unsigned int)n), len = 1 + below(60);
	const char *w = words[below(sizeof(words) / sizeof(words[0]))];

	switch (below(4)) {
	case 0:
		text[at] = (char)(text[at] ^ (1 << below(8)));
		return n;
	case 1:
		if (len > n - at)
			len = n - at;
		memmove(text + at, text + at + len, n - at - len);
		return n - len;
	case 2:
		while (at + 1 < n && (text[at] < '0' || text[at] > '9'))
			at++;
		text[at] = (char)('0' + below(10));
		return n;
	default:
		memmove(text + at + strlen(w), text + at, n - at);
		memcpy(text + at, w, strlen(w));
		return n + strlen(w);
	}
}

/* The file of the next turn: cut at CUTS places, then damaged. */
static void write_file(const char *to, const char *text, size_t n, int turn)
{
	static char copy[FILE_MAX + 4096];
	FILE *f = fopen(to, "w");

	memcpy(copy, text, n);
	if (turn < CUTS)
		n = n * (size_t)turn / CUTS;
	else
		for (unsigned int i = 1 + below(4); i && n > 100; i--)
			n = damage(copy, n);
	if (!f || fwrite(copy, 1, n, f) != n || fclose(f))
		exit(99);
}

static size_t read_file(const char *name, char *text)
{
	FILE *f = fopen(name, "r");
	size_t n = f ? fread(text, 1, FILE_MAX, f) : 0;

	if (!n) {
		FAULT("cannot read %s", name);
		exit(99);
	}
	fclose(f);
	return n;
}

static int env_number(const char *name, int otherwise)
{
	const char *v = getenv(name);

	return v ? atoi(v) : otherwise;
}

/* Every communicator is made with another file as HWLOC_XMLFILE, made from the
 * file CASES_XML in the folder CASES_DIR. */
void topo_files(struct seat *s)
{
	int turns = CUTS + env_number("CASES_COUNT", 1000);
	static char text[FILE_MAX];
	const char *from = getenv("CASES_XML"), *dir = getenv("CASES_DIR");
	cpu_set_t *before = read_mask(0);
	tuttiComm_t all = case_join(s);
	size_t n;

	srand((unsigned int)env_number("CASES_SEED", 1));
	n = read_file(from, text);
	for (int turn = 0; turn < turns; turn++) {
		char name[512];
		tuttiComm_t comm;

		snprintf(name, sizeof(name), "%s/%s-%d.xml", dir,
			 turn < CUTS ? "cut" : "changed", turn);
		if (s->rank == 0)
			write_file(name, text, n, turn);
		setenv("HWLOC_XMLFILE", name, 1);
		EXPECT(tuttiBarrier(all, NULL), tuttiSuccess, NULL);
		comm = case_join(s);
		check_works(s, comm);
		check_threads(s, before);
		EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
		if (s->rank == 0)
			unlink(name);
	}
	EXPECT(tuttiCommDestroy(all), tuttiSuccess, NULL);
	CPU_FREE(before);
}
