/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process may use of the machine: CPUs, memory, huge pages. */
#ifndef TUTTI_TOOLS_MACHINE_H
#define TUTTI_TOOLS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct tool_machine {
	int cpus_online;
	int cpus_allowed;	/* by affinity */
	double cpu_quota;	/* CPUs' worth of time by cgroup; 0: no limit */
	int cpus_usable;	/* what ranks can keep busy; at least 1 */
	int64_t memory_bytes;	/* -1 where the kernel does not tell */
	int64_t memory_available_bytes;
	int64_t memory_limit_bytes;	/* by cgroup; -1: none */
	int64_t huge_page_bytes;
	int64_t huge_pages, huge_pages_free;
	char thp[16];		/* transparent huge pages: "madvise"; "" */
	char thp_shmem[16];	/* the same for shared memory */
};

void tool_machine_read(struct tool_machine *m);

/* "7.8 GiB", "unknown" of what is not told. */
const char *tool_amount(char *out, size_t cap, int64_t bytes);

#endif
