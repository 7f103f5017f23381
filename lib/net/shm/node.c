/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of a block: bell, board, released counters, confirmed segments, and
 * the lines and slots of every channel from a peer.  Lines, counters and board
 * are touched by their owner at the start, so they lie in its memory; slots
 * are touched when first used, so channels that never carry a long message
 * cost nothing.
 *
 * Footprint per rank, for n local ranks: touched at once (n - 1) * lanes *
 * (lines + 1) * 64 + n * 512 + 4160 bytes; at most (n - 1) * lanes *
 * slots * slot_bytes more.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "net/shm/mem.h"
#include "net/shm/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define MAGIC 0x65646f6e69747475u

struct header {
	uint64_t magic;
	uint64_t bytes;
	uint8_t secret[16];	/* proves that this is the maker's memory */
};

void tutti_node_layout(struct tutti_node *n, int nlocal, int self,
		       const struct tutti_xport_env *env)
{
	size_t chans = (size_t)nlocal * TUTTI_NET_LANES;

	memset(n, 0, sizeof(*n));
	n->fd = -1;
	n->nlocal = nlocal;
	n->self = self;
	n->lines = env->lines;
	n->slots = env->slots;
	n->slot_bytes = env->slot_bytes;
	n->confirm_at = PAGE + TUTTI_BOARD_BYTES +
			chans * sizeof(struct tutti_counter);
	n->lines_at = n->confirm_at +
		      (size_t)nlocal * TUTTI_SEG_SLOTS * sizeof(uint64_t);
	n->slots_at = tutti_round_up(n->lines_at +
				     chans * n->lines *
				     sizeof(struct tutti_line), PAGE);
	n->block_bytes = tutti_round_up(n->slots_at +
					chans * n->slots * n->slot_bytes,
					PAGE);
	n->bytes = PAGE + n->block_bytes * (size_t)nlocal;
}

static char *block(const struct tutti_node *n, int place)
{
	return n->base + PAGE + n->block_bytes * (size_t)place;
}

static size_t chan(int from, int lane)
{
	return (size_t)from * TUTTI_NET_LANES + (size_t)lane;
}

struct tutti_bell *tutti_node_bell(const struct tutti_node *n, int place)
{
	return (struct tutti_bell *)block(n, place);
}

void *tutti_node_board(const struct tutti_node *n, int place)
{
	return block(n, place) + PAGE;
}

_Atomic uint64_t *tutti_node_ack(const struct tutti_node *n, int place,
				 int from, int lane)
{
	struct tutti_counter *c = (struct tutti_counter *)
		(block(n, place) + PAGE + TUTTI_BOARD_BYTES);

	return &c[chan(from, lane)].n;
}

_Atomic uint64_t *tutti_node_confirmed(const struct tutti_node *n, int place,
				       int owner)
{
	return (_Atomic uint64_t *)(block(n, place) + n->confirm_at) +
	       (size_t)owner * TUTTI_SEG_SLOTS;
}

struct tutti_line *tutti_node_lines(const struct tutti_node *n, int place,
				    int from, int lane)
{
	return (struct tutti_line *)(block(n, place) + n->lines_at) +
	       chan(from, lane) * n->lines;
}

char *tutti_node_slots(const struct tutti_node *n, int place, int from,
		       int lane)
{
	return block(n, place) + n->slots_at +
	       chan(from, lane) * n->slots * n->slot_bytes;
}

static int map(struct tutti_node *n, int fd)
{
	void *p = mmap(NULL, n->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		return errno;
	n->base = p;
	return 0;
}

/* Touch this rank's block up to the slots.  A line must not look as if the
 * first message had come, whatever its number. */
static void touch(struct tutti_node *n, const struct tutti_xport_env *env)
{
	memset(block(n, n->self), 0, n->lines_at);
	for (int from = 0; from < n->nlocal; from++) {
		for (int lane = 0; lane < TUTTI_NET_LANES; lane++) {
			struct tutti_line *l =
				tutti_node_lines(n, n->self, from, lane);

			for (uint32_t i = 0; i < n->lines; i++)
				atomic_store(&l[i].word,
					     (uint32_t)env->seq_start);
			atomic_store(tutti_node_ack(n, n->self, from, lane),
				     env->seq_start);
		}
	}
}

/* Under what the segment is offered.  Several nodes may be made in one process
 * under one secret, by ranks that are its threads. */
static void make_key(uint8_t key[TUTTI_FDPASS_KEY], const struct tutti_node *n,
		     const struct tutti_xport_env *env)
{
	memcpy(key, env->secret, TUTTI_FDPASS_KEY);
	for (int i = 0; i < 4; i++)
		key[i] ^= (uint8_t)((unsigned int)n->maker >> 8 * i);
}

tuttiResult_t tutti_node_make(struct tutti_node *n,
			      const struct tutti_xport_env *env)
{
	struct tutti_fdpass_item item = { -1, n->bytes, 0 };
	uint8_t key[TUTTI_FDPASS_KEY];
	struct header *h;
	tuttiResult_t rc;
	int err = 0;

	make_key(key, n, env);
	n->fd = memfd_create("tutti-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (n->fd < 0 || ftruncate(n->fd, (off_t)n->bytes) ||
	    fcntl(n->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		err = errno;
	if (!err)
		err = map(n, n->fd);
	if (err) {
		tutti_close(&n->fd);
		tutti_fdpass_offer(key, &item);
		return tutti_fail_errno(err, "cannot make a shared segment of "
					"%zu bytes for %d local ranks",
					n->bytes, n->nlocal);
	}
	h = (struct header *)n->base;
	h->bytes = n->bytes;
	memcpy(h->secret, env->secret, sizeof(h->secret));
	h->magic = MAGIC;
	touch(n, env);
	item.fd = n->fd;
	rc = tutti_fdpass_offer(key, &item);
	if (rc)
		tutti_node_free(n, env);
	return rc;
}

int tutti_node_attach(struct tutti_node *n,
		      const struct tutti_fdpass_addr *maker,
		      const struct tutti_xport_env *env, int64_t deadline_ns)
{
	struct tutti_fdpass_item item = { .fd = -1 };
	struct timespec pause = { .tv_nsec = 500000 };
	uint8_t key[TUTTI_FDPASS_KEY];
	struct header *h;
	int err;

	make_key(key, n, env);
	/* The maker may still be at work. */
	while ((err = tutti_fdpass_fetch(maker, key, &item,
					 deadline_ns)) == ENOENT) {
		if (tutti_now_ns() > deadline_ns)
			return ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	if (err)
		return err;
	if (item.size != n->bytes) {
		tutti_close(&item.fd);
		return EPROTO;
	}
	err = map(n, item.fd);
	tutti_close(&item.fd);
	if (err)
		return err;
	h = (struct header *)n->base;
	if (h->magic != MAGIC || h->bytes != n->bytes ||
	    memcmp(h->secret, env->secret, sizeof(h->secret))) {
		tutti_node_free(n, env);
		return EPROTO;
	}
	touch(n, env);
	return 0;
}

void tutti_node_free(struct tutti_node *n, const struct tutti_xport_env *env)
{
	uint8_t key[TUTTI_FDPASS_KEY];

	make_key(key, n, env);
	if (n->fd >= 0)
		tutti_fdpass_withdraw(key);
	if (n->base)
		munmap(n->base, n->bytes);
	n->base = NULL;
	tutti_close(&n->fd);
}
