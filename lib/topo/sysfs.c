/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at what the kernel tells of CPUs and memory before hwloc does.  hwloc
 * prints to stderr where the folder of CPUs is hidden, and ends the process
 * where that of NUMA nodes is empty, as it can be in a container.
 */
#include "config.h"

#include "base/bits.h"
#include "topo/topo_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path as hwloc would open it. */
static const char *path_of(char *out, size_t cap, const char *path)
{
	const char *root = getenv("HWLOC_FSROOT");

	snprintf(out, cap, "%s%s", root ? root : "", path);
	return out;
}

/* Is there a `name` followed by a digit in the folder?  True if there is no
 * folder, which is not what is looked for. */
static bool has_numbered(const char *folder, const char *name)
{
	DIR *dir = opendir(folder);
	size_t len = strlen(name);
	bool found = false;
	struct dirent *d;

	if (!dir)
		return true;
	while (!found && (d = readdir(dir)) != NULL)
		found = !strncmp(d->d_name, name, len) &&
			isdigit((unsigned char)d->d_name[len]);
	closedir(dir);
	return found;
}

/* Of a file that lists numbers: does it hold none?  False without a file. */
static bool lists_nothing(const char *file)
{
	FILE *f = fopen(file, "re");
	int c = 0;

	if (!f)
		return false;
	while (c != EOF && !isdigit(c))
		c = fgetc(f);
	fclose(f);
	return c == EOF;
}

/* What hwloc looks for to know how CPUs are joined. */
static bool cpu_is_told(int cpu)
{
	static const char *const files[] = {
		"package_cpus", "core_cpus", "core_siblings", "thread_siblings",
	};
	char path[512], file[96];

	for (size_t i = 0; i < tutti_countof(files); i++) {
		snprintf(file, sizeof(file),
			 "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
			 files[i]);
		if (!access(path_of(path, sizeof(path), file), R_OK))
			return true;
	}
	return false;
}

/* CPU 0, or one that this process may use if that one is switched off. */
static bool some_cpu_is_told(void)
{
	static const size_t bytes = TOPO_WORDS * sizeof(uint64_t);
	uint64_t mask[TOPO_WORDS] = { 0 };

	if (cpu_is_told(0))
		return true;
	if (sched_getaffinity(0, bytes, (cpu_set_t *)mask))
		return false;
	for (int i = 1; i < TOPO_PUS_MAX; i++)
		if (mask[i / 64] >> (i % 64) & 1)
			return cpu_is_told(i);
	return false;
}

bool topo_check_sysfs(char *why, size_t cap)
{
	char path[512];

	if (!has_numbered(path_of(path, sizeof(path),
				  "/sys/devices/system/node"), "node") ||
	    lists_nothing(path_of(path, sizeof(path),
				  "/sys/devices/system/node/online"))) {
		snprintf(why, cap, "/sys/devices/system/node has no NUMA node "
			 "in it");
		return false;
	}
	if (!some_cpu_is_told()) {
		snprintf(why, cap, "/sys/devices/system/cpu does not tell how "
			 "CPUs are joined");
		return false;
	}
	return true;
}
