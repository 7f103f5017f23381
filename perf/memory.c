/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers, and how much may be asked for.  Memory that is promised and not
 * there ends a process without a word, so what is free is looked up first.
 */
#include "perf.h"

/* The number behind `key` in a file of "key number" lines; a file that is
 * one number has the key "".  SIZE_MAX if there is none. */
static size_t number_in(const char *path, const char *key)
{
	size_t length = strlen(key), found = SIZE_MAX;
	unsigned long long n;
	char line[256];
	FILE *file = fopen(path, "re");

	if (!file)
		return SIZE_MAX;
	while (found == SIZE_MAX && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, length) &&
		    sscanf(line + length, "%llu", &n) == 1)
			found = (size_t)n;
	fclose(file);
	return found;
}

/* What the control group still allows; its page cache can be given up. */
static size_t group_available(void)
{
	size_t limit, used, cache;

	limit = number_in("/sys/fs/cgroup/memory.max", "");
	used = number_in("/sys/fs/cgroup/memory.current", "");
	cache = number_in("/sys/fs/cgroup/memory.stat", "file ");
	if (limit == SIZE_MAX || used == SIZE_MAX)
		return SIZE_MAX;
	if (cache != SIZE_MAX)
		used -= cache < used ? cache : used;
	return used < limit ? limit - used : 0;
}

/* Bytes that this machine can still give; SIZE_MAX if nobody says. */
size_t perf_memory_available(void)
{
	size_t machine = number_in("/proc/meminfo", "MemAvailable:");
	size_t group = group_available();

	if (machine != SIZE_MAX)
		machine *= 1024;
	return machine < group ? machine : group;
}

static char *get(const struct perf_run *run, size_t bytes)
{
	void *memory = NULL;

	if (!run->opt->alloc_tutti)
		return measure_alloc(bytes, 0);
	if (tuttiMemAlloc(&memory, bytes))
		return NULL;
	memset(memory, 0, bytes);
	return memory;
}

static void put(const struct perf_run *run, char *memory)
{
	if (run->opt->alloc_tutti)
		tuttiMemFree(memory);
	else
		free(memory);
}

/* A size of 0 gets no buffer: it is not used. */
bool perf_memory_get(struct perf_run *run, size_t send, size_t recv)
{
	run->base_send = send ? get(run, send) : NULL;
	if (send && !run->base_send)
		return false;
	run->base_recv = recv ? get(run, recv) : NULL;
	return !recv || run->base_recv;
}

void perf_memory_free(struct perf_run *run)
{
	put(run, run->base_send);
	put(run, run->base_recv);
	run->base_send = run->base_recv = NULL;
}
