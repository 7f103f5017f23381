/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cases_load LIBRARY: load the library, use it, and unload it, many times
 * (case 66), and see that no signal's handling changes (case 65).  Not linked
 * with it.
 */
#include "config.h"

#include "tutti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define TIMES 60

/* Blocked, ignored and caught; without those that the C library keeps for its
 * threads. */
static void read_signals(char *out, size_t cap)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long mask;
	char line[256], kind[4];
	size_t used = 0;

	out[0] = 0;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Sig%3[BIC]%*[a-z]: %llx", kind, &mask) == 2)
			used += (size_t)snprintf(out + used, cap - used,
						 "%s %llx ", kind,
						 mask & ~0x180000000ull);
	if (f)
		fclose(f);
}

/* Only the functions' types are the header's. */
struct calls {
	tuttiResult_t (*id)(tuttiUniqueId *id);
	tuttiResult_t (*init)(tuttiComm_t *comm, int ranks, tuttiUniqueId id,
			      int rank);
	tuttiResult_t (*barrier)(tuttiComm_t comm, tuttiStream_t stream);
	tuttiResult_t (*destroy)(tuttiComm_t comm);
};

static int find(void *lib, const char *name, void *fn)
{
	void *p = dlsym(lib, name);

	memcpy(fn, &p, sizeof(p));
	return !p;
}

static int use(void *lib)
{
	struct calls c;
	tuttiUniqueId id;
	tuttiComm_t comm = NULL;

	if (find(lib, "tuttiGetUniqueId", &c.id) ||
	    find(lib, "tuttiCommInitRank", &c.init) ||
	    find(lib, "tuttiBarrier", &c.barrier) ||
	    find(lib, "tuttiCommDestroy", &c.destroy))
		return 1;
	return c.id(&id) || c.init(&comm, 1, id, 0) ||
	       c.barrier(comm, NULL) || c.destroy(comm);
}

int main(int argc, char **argv)
{
	char before[512], now[512];

	if (argc != 2)
		return 2;
	read_signals(before, sizeof(before));
	for (int i = 0; i < TIMES; i++) {
		void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

		read_signals(now, sizeof(now));
		if (!lib || strcmp(before, now)) {
			fprintf(stderr, "FAULT: load %d: %s\n", i,
				lib ? now : dlerror());
			return 1;
		}
		if (use(lib)) {
			fprintf(stderr, "FAULT: use %d failed\n", i);
			return 1;
		}
		dlclose(lib);
		read_signals(now, sizeof(now));
		if (strcmp(before, now)) {
			fprintf(stderr, "FAULT: signals were %s, now %s\n",
				before, now);
			return 1;
		}
	}
	return 0;
}
