/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting.  Sleeping costs a system call here and one at whoever wakes us, so
 * yielding comes first for a while, when others want the CPU: they are the
 * ones we wait for.
 */
#include "config.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/io.h"
#include "base/settings.h"
#include "comm/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* About how long one round of looking lasts.  A yield costs about 1 us, a
 * sleep with its wake-up 50. */
#define LOOK_NS 300
#define YIELDS_CROWDED 1000
#define YIELDS_FREE 50
/* Learning: yields that count as quick, and how often to try spinning again
 * once it was given up, and for how many rounds. */
#define YIELDS_REWARDED 4
#define TRIAL_EVERY 64
#define TRIAL_SPINS 4

enum { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_SLEEP };

/* The quota of the cgroup in whole CPUs, rounded up, or 0. */
static int read_quota(void)
{
	char text[64];
	long long quota, period;
	int fd = open("/sys/fs/cgroup/cpu.max", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	tutti_close(&fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	if (sscanf(text, "%lld %lld", &quota, &period) != 2 || period <= 0)
		return 0;
	return (int)((quota + period - 1) / period);
}

void tutti_cpus_read(struct tutti_cpus *c)
{
	cpu_set_t set;

	memset(c, 0, sizeof(*c));
	c->quota = read_quota();
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int i = 0; i < CPU_SETSIZE && i < 1024; i++)
		if (CPU_ISSET(i, &set))
			c->mask[i / 64] |= 1ull << (i % 64);
}

static int count_cpus(const uint64_t mask[16])
{
	int n = 0;

	for (int i = 0; i < 16; i++)
		n += __builtin_popcountll(mask[i]);
	return n;
}

/* More ranks than CPUs: among those whose CPUs all lie within this rank's, or
 * on the whole node, or by the quota. */
static bool crowded(const struct tutti_cpus *cpus, int n, int self)
{
	uint64_t all[16] = { 0 };
	int within = 0, own = count_cpus(cpus[self].mask);

	for (int r = 0; r < n; r++) {
		bool inside = true;

		for (int i = 0; i < 16; i++) {
			all[i] |= cpus[r].mask[i];
			if (cpus[r].mask[i] & ~cpus[self].mask[i])
				inside = false;
		}
		within += inside;
	}
	if (own && within > own)
		return true;
	if (count_cpus(all) && n > count_cpus(all))
		return true;
	return cpus[self].quota && n > cpus[self].quota;
}

void tutti_waiter_init(struct tutti_waiter *w, struct tutti_bell *bell,
		       const struct tutti_cpus *cpus, int n, int self)
{
	int64_t spin_ns = tutti_setting(TUTTI_SET_SPIN_US) * 1000;

	memset(w, 0, sizeof(*w));
	w->bell = bell;
	w->spins_max = (int)(spin_ns / LOOK_NS);
	w->yields = YIELDS_FREE;
	switch (tutti_setting(TUTTI_SET_WAIT)) {
	case WAIT_AUTO:
		if (crowded(cpus, n, self)) {
			w->spins_max = 0;
			w->yields = YIELDS_CROWDED;
		}
		break;
	case WAIT_SPIN:
		w->spins_max = INT32_MAX;
		break;
	case WAIT_YIELD:
		w->spins_max = 0;
		w->yields = INT32_MAX;
		break;
	case WAIT_SLEEP:
		w->spins_max = 0;
		w->yields = 0;
		break;
	}
	w->spins = w->spins_max;
}

/*
 * CPUs may suffice and two ranks still share one, until the kernel moves one
 * away.  Then spinning only keeps the other from running: what we wait for
 * comes with the first yields.  So spin less when that happens, more when
 * spinning was rewarded, and try again now and then.
 */
void tutti_waiter_learn(struct tutti_waiter *w)
{
	if (w->spins_max == INT32_MAX)
		return;
	if (w->round <= w->spins)
		w->spins = tutti_min(w->spins_max, w->spins * 2);
	else if (w->round - w->spins <= YIELDS_REWARDED)
		w->spins /= 4;
	if (!w->spins && ++w->waits >= TRIAL_EVERY) {
		w->waits = 0;
		w->spins = tutti_min(w->spins_max, TRIAL_SPINS);
	}
}

bool tutti_waiter_pause(struct tutti_waiter *w)
{
	int round = w->round;

	if (round < w->spins) {
		w->round++;
		tutti_relax();
		/* Now and then the caller looks at the clock. */
		return round % 512 == 511;
	}
	if (round - w->spins < w->yields) {
		w->round++;
		sched_yield();
		return (round - w->spins) % 64 == 63;
	}
	return true;
}

uint32_t tutti_waiter_announce(struct tutti_waiter *w)
{
	uint32_t rung = atomic_load_explicit(&w->bell->rung,
					     memory_order_relaxed);

	/* Partner: the fence in tutti_bell_ring. */
	atomic_store_explicit(&w->bell->sleeping, 1, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	return rung;
}

void tutti_waiter_sleep(struct tutti_waiter *w, uint32_t rung, int64_t ns)
{
	tutti_futex_wait(&w->bell->rung, rung, ns);
}

void tutti_waiter_awake(struct tutti_waiter *w)
{
	atomic_store_explicit(&w->bell->sleeping, 0, memory_order_relaxed);
}
