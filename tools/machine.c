/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc and /sys.  A file that is not there leaves "not told", never an
 * error: containers hide many.  Limits of a cgroup are the least of those of
 * the group and all groups above it.
 */
#include "config.h"

#include "machine.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

/* The first line of a file; false if there is none. */
static bool read_line(const char *name, char *line, int cap)
{
	FILE *f = fopen(name, "re");
	bool ok = f && fgets(line, cap, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

/* True if the comma-separated `list` holds `name`. */
static bool lists(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, name, n))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

/* The group's path for a controller of version 1, or of version 2 if
 * `controller` is "".  False if there is none. */
static bool group_path(const char *controller, char *path, size_t cap)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	bool found = false;
	char line[1024];

	/* 4:cpu,cpuacct:/path; version 2 has no controller: 0::/path */
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *list = strchr(line, ':');
		char *at = list ? strchr(list + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = 0;
		at[strcspn(at, "\n")] = 0;
		found = lists(list + 1, controller);
		if (found)
			snprintf(path, cap, "%s", at);
	}
	if (f)
		fclose(f);
	return found;
}

/* Call `fn` with the folder of the group and of all above it. */
static void each_group(const char *mount, char *path,
		       void (*fn)(struct tool_machine *m, const char *folder),
		       struct tool_machine *m)
{
	char folder[1200];
	char *slash;

	do {
		snprintf(folder, sizeof(folder), "%s%s", mount, path);
		fn(m, folder);
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
	} while (slash);
}

static bool read_in(const char *folder, const char *file, char *line, int cap)
{
	char name[1300];

	snprintf(name, sizeof(name), "%s/%s", folder, file);
	return read_line(name, line, cap);
}

static void take_quota(struct tool_machine *m, double used, double period)
{
	double quota = used / period;

	if (used > 0 && period > 0 && (!m->cpu_quota || quota < m->cpu_quota))
		m->cpu_quota = quota;
}

static void take_limit(struct tool_machine *m, const char *text)
{
	long long n = atoll(text);

	/* Version 1 says "none" by a number near the largest. */
	if (n > 0 && n < 1ll << 60 &&
	    (m->memory_limit_bytes < 0 || n < m->memory_limit_bytes))
		m->memory_limit_bytes = n;
}

static void version_2(struct tool_machine *m, const char *folder)
{
	double used, period;
	char line[128];

	if (read_in(folder, "cpu.max", line, sizeof(line)) &&
	    sscanf(line, "%lf %lf", &used, &period) == 2)
		take_quota(m, used, period);
	if (read_in(folder, "memory.max", line, sizeof(line)))
		take_limit(m, line);
}

static void version_1_cpu(struct tool_machine *m, const char *folder)
{
	char used[64], period[64];

	if (read_in(folder, "cpu.cfs_quota_us", used, sizeof(used)) &&
	    read_in(folder, "cpu.cfs_period_us", period, sizeof(period)))
		take_quota(m, atof(used), atof(period));
}

static void version_1_memory(struct tool_machine *m, const char *folder)
{
	char line[64];

	if (read_in(folder, "memory.limit_in_bytes", line, sizeof(line)))
		take_limit(m, line);
}

static void read_groups(struct tool_machine *m)
{
	char path[1024];

	if (group_path("", path, sizeof(path)))
		each_group(ROOT, path, version_2, m);
	if (group_path("cpu", path, sizeof(path)))
		each_group(ROOT "/cpu", path, version_1_cpu, m);
	if (group_path("memory", path, sizeof(path)))
		each_group(ROOT "/memory", path, version_1_memory, m);
}

static void read_cpus(struct tool_machine *m)
{
	size_t bytes = CPU_ALLOC_SIZE(1 << 16);
	cpu_set_t *set = CPU_ALLOC(1 << 16);

	m->cpus_online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	m->cpus_allowed = m->cpus_online;
	if (set && !sched_getaffinity(0, bytes, set))
		m->cpus_allowed = CPU_COUNT_S(bytes, set);
	CPU_FREE(set);
	m->cpus_usable = m->cpus_allowed;
	if (m->cpu_quota && m->cpu_quota < m->cpus_usable)
		m->cpus_usable = (int)ceil(m->cpu_quota);
	if (m->cpus_usable < 1)
		m->cpus_usable = 1;
}

static void read_memory(struct tool_machine *m)
{
	const struct {
		const char *key;
		int64_t *out;
		int64_t unit;
	} wanted[] = {
		{ "MemTotal:", &m->memory_bytes, 1024 },
		{ "MemAvailable:", &m->memory_available_bytes, 1024 },
		{ "HugePages_Total:", &m->huge_pages, 1 },
		{ "HugePages_Free:", &m->huge_pages_free, 1 },
		{ "Hugepagesize:", &m->huge_page_bytes, 1024 },
	};
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			size_t len = strlen(wanted[i].key);

			if (!strncmp(line, wanted[i].key, len))
				*wanted[i].out = atoll(line + len) *
						 wanted[i].unit;
		}
	if (f)
		fclose(f);
}

/* The word in [brackets] of a file of choices. */
static void read_choice(const char *name, char *out, size_t cap)
{
	char line[128];
	char *from, *to;

	if (!read_line(name, line, sizeof(line)))
		return;
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (to)
		snprintf(out, cap, "%.*s", (int)(to - from - 1), from + 1);
}

void tool_machine_read(struct tool_machine *m)
{
	*m = (struct tool_machine){
		.memory_bytes = -1, .memory_available_bytes = -1,
		.memory_limit_bytes = -1, .huge_page_bytes = -1,
		.huge_pages = -1, .huge_pages_free = -1,
	};
	read_groups(m);
	read_cpus(m);
	read_memory(m);
	read_choice("/sys/kernel/mm/transparent_hugepage/enabled", m->thp,
		    sizeof(m->thp));
	read_choice("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
		    m->thp_shmem, sizeof(m->thp_shmem));
}

const char *tool_amount(char *out, size_t cap, int64_t bytes)
{
	static const char *const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB",
	};
	double x = (double)bytes;
	int u = 0;

	while (x >= 1024 && u < 5) {
		x /= 1024;
		u++;
	}
	if (bytes < 0)
		snprintf(out, cap, "unknown");
	else
		snprintf(out, cap, "%.3g %s", x, units[u]);
	return out;
}
