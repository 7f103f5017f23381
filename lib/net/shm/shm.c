/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory transport.
 *
 * A message of up to 56 bytes is one cache line in the receiver's block; its
 * last word, stored last, holds number and tag, so the line proves itself and
 * costs one transfer.  A somewhat longer one is several such lines, which
 * travel side by side; its ends work on a copy in one piece.  A long one lies
 * in a slot beside the lines, and its line follows.  The released counter of a
 * channel is written by the receiver alone and read by the sender only when it
 * has run out of credits.
 *
 * Buffers of peers.  The owner of a buffer names its segment in the first
 * message of an operation; a peer that has not mapped it does so then and
 * confirms in its block.  The owner says `direct` once all peers confirmed:
 * one rank decides for its own buffer and everybody reads the same word, so
 * all ranks take the same path.
 */
#include "config.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/log.h"
#include "base/settings.h"
#include "net/chan.h"
#include "net/shm/mem.h"
#include "net/shm/node.h"
#include "net/shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How long an operation waits for a peer to hand out a segment; less once one
 * has not answered, since several may be stopped. */
#define FETCH_NS 1000000000
#define FETCH_AGAIN_NS 50000000
/* Beyond this, the second wait for a slot's first bytes costs less than taking
 * lines apart. */
#define NOTE_LINES 8
#define NOTE_MAX ((size_t)NOTE_LINES * TUTTI_NOTE_BYTES)

/* What other ranks need to know: which kernel this is, and where the
 * descriptor server listens. */
struct shm_addr {
	char boot_id[36];
	uint32_t pid;
	struct tutti_fdpass_addr fdpass;
};

/* A peer's segment as mapped here; ptr NULL: could not be mapped. */
struct mapped {
	uint64_t seg;
	char *ptr;
	size_t size;
	struct mapped *next;
};

/* A message of several lines, in one piece. */
struct bounce {
	char tx[NOTE_MAX], rx[NOTE_MAX];
};

struct peer {
	int place;		/* on the node, -1: not here */
	bool used;		/* has channels */
	struct tutti_fdpass_addr fdpass;
	struct mapped *mapped;
	struct bounce *bounce;	/* one for each lane */
};

struct tutti_xport {
	struct tutti_xport_env env;
	uint8_t secret[16];
	struct shm_addr addr;
	struct tutti_node node;
	struct peer *peers;
	struct tutti_mem_cache cache;
	/* Segments that all peers have confirmed, by number modulo. */
	uint64_t confirmed[TUTTI_SEG_SLOTS];
	bool direct;
	bool unanswered;	/* a peer did not answer the last request */
};

static void read_boot_id(char out[36])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(out, 0, 36);
	if (fd >= 0 && read(fd, out, 36) != 36)
		memset(out, 0, 36);
	tutti_close(&fd);
}

static tuttiResult_t shm_open_xport(struct tutti_xport **out,
				    const struct tutti_xport_env *env)
{
	struct tutti_xport *x = calloc(1, sizeof(*x));
	tuttiResult_t rc;

	if (!x)
		return tutti_fail(tuttiSystemError, "out of memory");
	x->env = *env;
	memcpy(x->secret, env->secret, sizeof(x->secret));
	x->env.secret = x->secret;
	x->node.fd = -1;
	x->direct = tutti_setting(TUTTI_SET_SHM_DIRECT);
	x->peers = calloc((size_t)env->ranks, sizeof(*x->peers));
	if (!x->peers) {
		free(x);
		return tutti_fail(tuttiSystemError, "out of memory");
	}
	for (int r = 0; r < env->ranks; r++)
		x->peers[r].place = -1;
	read_boot_id(x->addr.boot_id);
	x->addr.pid = (uint32_t)getpid();
	rc = tutti_fdpass_open(&x->addr.fdpass);
	if (rc) {
		free(x->peers);
		free(x);
		return rc;
	}
	*out = x;
	return tuttiSuccess;
}

static void shm_local_addr(struct tutti_xport *x, void *addr)
{
	memcpy(addr, &x->addr, sizeof(x->addr));
}

/* Give places to the wanted ranks of the same kernel; returns the lowest. */
static int find_local(struct tutti_xport *x, const bool *want,
		      const struct shm_addr *addrs, int *nlocal)
{
	int first = -1;

	*nlocal = 0;
	for (int r = 0; r < x->env.ranks; r++) {
		if (r != x->env.rank &&
		    (!want[r] || memcmp(addrs[r].boot_id, x->addr.boot_id,
					sizeof(x->addr.boot_id))))
			continue;
		if (first < 0)
			first = r;
		x->peers[r].place = (*nlocal)++;
		x->peers[r].fdpass = addrs[r].fdpass;
	}
	return first;
}

static tuttiResult_t shm_connect(struct tutti_xport *x, const bool *want,
				 const void *addrs, bool *reached,
				 int64_t deadline_ns)
{
	const struct shm_addr *a = addrs;
	int nlocal, self, err = 0;
	int first = find_local(x, want, a, &nlocal);

	for (int r = 0; r < x->env.ranks; r++)
		reached[r] = false;
	if (nlocal < 2)
		return tuttiSuccess;
	self = x->peers[x->env.rank].place;
	tutti_node_layout(&x->node, nlocal, self, &x->env);
	x->node.maker = first;
	if (first == x->env.rank)
		err = tutti_node_make(&x->node, &x->env) ? ENOMEM : 0;
	else
		err = tutti_node_attach(&x->node, &a[first].fdpass, &x->env,
					deadline_ns);
	if (err) {
		char text[64];

		tutti_warn("no shared memory with the other ranks of this "
			   "host (segment of rank %d: %s); taking the next "
			   "transport", first,
			   strerror_r(err, text, sizeof(text)));
		return tuttiSuccess;
	}
	for (int r = 0; r < x->env.ranks; r++)
		reached[r] = r != x->env.rank && x->peers[r].place >= 0;
	return tuttiSuccess;
}

static struct tutti_bell *shm_bell(struct tutti_xport *x)
{
	return x->node.base ? tutti_node_bell(&x->node, x->node.self) : NULL;
}

void *tutti_shm_board(struct tutti_xport *x, int peer)
{
	if (!x || !x->node.base || x->peers[peer].place < 0)
		return NULL;
	return tutti_node_board(&x->node, x->peers[peer].place);
}

static tuttiResult_t shm_chan_init(struct tutti_xport *x, struct tutti_chan *c)
{
	const struct tutti_node *n = &x->node;
	int peer = x->peers[c->peer].place, self = n->self;

	if (!x->peers[c->peer].used)
		x->peers[c->peer].bounce = calloc(
			TUTTI_NET_LANES, sizeof(*x->peers[c->peer].bounce));
	if (!x->peers[c->peer].bounce)
		return tutti_fail(tuttiSystemError, "out of memory");
	x->peers[c->peer].used = true;
	c->note_max = tutti_min(NOTE_MAX, (size_t)c->lines / 4 *
				TUTTI_NOTE_BYTES);
	c->tx_mem = tutti_node_lines(n, peer, self, c->lane);
	c->rx_mem = tutti_node_lines(n, self, peer, c->lane);
	c->tx_ack = tutti_node_ack(n, peer, self, c->lane);
	c->rx_ack = tutti_node_ack(n, self, peer, c->lane);
	c->priv = tutti_node_bell(n, peer);
	return tuttiSuccess;
}

static void free_mapped(struct mapped *m)
{
	if (m->ptr)
		munmap(m->ptr, m->size);
	free(m);
}

static void shm_close(struct tutti_xport *x)
{
	if (!x)
		return;
	for (int r = 0; r < x->env.ranks; r++) {
		struct mapped *m;

		while ((m = x->peers[r].mapped)) {
			x->peers[r].mapped = m->next;
			free_mapped(m);
		}
		free(x->peers[r].bounce);
	}
	tutti_node_free(&x->node, &x->env);
	tutti_fdpass_close();
	free(x->peers);
	free(x);
}

/* Both ends mix the length in, so a message of another length shows another
 * tag. */
static uint32_t wire_tag(size_t len, uint32_t tag)
{
	return tag + (uint32_t)len * 0x9e3779b1u;
}

static char *slot_of(struct tutti_chan *c, int at, int from, uint64_t number)
{
	return tutti_node_slots(&c->x->node, at, from, c->lane) +
	       number % c->slots * c->slot_bytes;
}

static struct tutti_line *line_at(struct tutti_chan *c, void *lines,
				  uint64_t number)
{
	return (struct tutti_line *)lines + (number & (c->lines - 1));
}

static struct bounce *bounce_of(const struct tutti_chan *c)
{
	return &c->x->peers[c->peer].bounce[c->lane];
}

static void *shm_tx(struct tutti_chan *c, size_t len)
{
	if (tutti_chan_in_slot(c, len))
		return slot_of(c, c->x->peers[c->peer].place, c->x->node.self,
			       c->tx_slot);
	if (len > TUTTI_NOTE_BYTES)
		return bounce_of(c)->tx;
	return line_at(c, c->tx_mem, c->tx_msg)->note;
}

/* Partner: the loads in shm_rx. */
static void prove(struct tutti_line *l, uint64_t number, uint32_t tag)
{
	uint64_t word = (uint64_t)tag << 32 | (uint32_t)(number + 1);

	atomic_store_explicit(&l->word, word, memory_order_release);
}

/* Fetch the line of the next message for writing, while there is nothing to
 * wait for yet. */
static void prepare(struct tutti_line *l)
{
#if defined(__x86_64__)
	__asm__ __volatile__("prefetchw %0" : : "m"(*l));
#else
	__builtin_prefetch(l, 1);
#endif
}

static void shm_post(struct tutti_chan *c, size_t len, uint32_t tag)
{
	uint32_t lines = tutti_chan_lines(c, len), wire = wire_tag(len, tag);
	const char *from = bounce_of(c)->tx;

	if (lines == 1) {
		prove(line_at(c, c->tx_mem, c->tx_msg), c->tx_msg, wire);
		prepare(line_at(c, c->tx_mem, c->tx_msg + 1));
		return;
	}
	for (uint32_t i = 0; i < lines; i++) {
		struct tutti_line *l = line_at(c, c->tx_mem, c->tx_msg + i);

		memcpy(l->note, from + i * TUTTI_NOTE_BYTES, TUTTI_NOTE_BYTES);
		prove(l, c->tx_msg + i, wire);
	}
}

/* The lines of a message are looked at together, so that their transfers
 * overlap; then put in one piece. */
static const void *take_lines(struct tutti_chan *c, uint32_t lines)
{
	char *to = bounce_of(c)->rx;
	bool all = true;

	for (uint32_t i = 0; i < lines; i++) {
		struct tutti_line *l = line_at(c, c->rx_mem, c->rx_msg + i);

		all &= (uint32_t)atomic_load_explicit(&l->word,
						      memory_order_acquire) ==
		       (uint32_t)(c->rx_msg + i + 1);
	}
	if (!all)
		return NULL;
	for (uint32_t i = 0; i < lines; i++)
		memcpy(to + i * TUTTI_NOTE_BYTES,
		       line_at(c, c->rx_mem, c->rx_msg + i)->note,
		       TUTTI_NOTE_BYTES);
	return to;
}

static const void *shm_rx(struct tutti_chan *c, size_t len, uint32_t *tag)
{
	struct tutti_line *l = line_at(c, c->rx_mem, c->rx_msg);
	uint32_t lines = tutti_chan_lines(c, len);
	uint32_t want = *tag;
	uint64_t word;

	word = atomic_load_explicit(&l->word, memory_order_acquire);
	if ((uint32_t)word != (uint32_t)(c->rx_msg + 1))
		return NULL;
	*tag = (uint32_t)(word >> 32) - wire_tag(len, 0);
	if (lines > 1 && *tag == want)
		return take_lines(c, lines);
	if (tutti_chan_in_slot(c, len))
		return slot_of(c, c->x->node.self, c->x->peers[c->peer].place,
			       c->rx_slot);
	return l->note;
}

static void shm_release(struct tutti_chan *c, size_t len)
{
	/* Partner: the load in shm_acked; the sender may then overwrite. */
	atomic_store_explicit(c->rx_ack, c->rx_msg + tutti_chan_lines(c, len),
			      memory_order_release);
}

static uint64_t shm_acked(struct tutti_chan *c)
{
	return atomic_load_explicit(c->tx_ack, memory_order_acquire);
}

static void shm_kick(struct tutti_chan *c)
{
	tutti_bell_ring(c->priv);
}

/* ---- Buffers of peers --------------------------------------------------- */

static bool all_confirmed(struct tutti_xport *x, uint64_t seg)
{
	size_t i = seg % TUTTI_SEG_SLOTS;

	if (x->confirmed[i] == seg)
		return true;
	for (int r = 0; r < x->env.ranks; r++) {
		_Atomic uint64_t *c;

		if (!x->peers[r].used)
			continue;
		c = tutti_node_confirmed(&x->node, x->peers[r].place,
					 x->node.self);
		if (atomic_load_explicit(&c[i], memory_order_acquire) != seg)
			return false;
	}
	x->confirmed[i] = seg;
	return true;
}

static struct tutti_region shm_expose(struct tutti_xport *x, const void *ptr,
				      size_t bytes)
{
	struct tutti_region region = { 0 };
	struct tutti_mem_place place;

	if (!x->direct || !x->node.base)
		return region;
	place = tutti_mem_find(&x->cache, ptr, bytes);
	region.seg = place.seg;
	region.offset = place.offset;
	region.direct = place.seg && all_confirmed(x, place.seg);
	return region;
}

/* Unmap those segments of a peer that their owner has given up. */
static void forget_dead(struct peer *p, int64_t deadline_ns)
{
	struct mapped **link = &p->mapped, *m;
	uint8_t key[16];

	while ((m = *link)) {
		tutti_mem_key(key, m->seg);
		if (tutti_fdpass_fetch(&p->fdpass, key, NULL, deadline_ns) !=
		    ENOENT) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		free_mapped(m);
	}
}

/* Map a peer's segment and tell the peer.  A failure is remembered, so it is
 * tried and told once; the buffer then stays on the staged path. */
static struct mapped *map_segment(struct tutti_xport *x, int peer,
				  uint64_t seg)
{
	struct peer *p = &x->peers[peer];
	int64_t deadline_ns = tutti_now_ns() +
			      (x->unanswered ? FETCH_AGAIN_NS : FETCH_NS);
	struct mapped *m = calloc(1, sizeof(*m));
	struct tutti_fdpass_item item = { .fd = -1 };
	uint8_t key[16];
	void *ptr;
	int err;

	if (!m)
		return NULL;
	forget_dead(p, deadline_ns);
	m->seg = seg;
	m->next = p->mapped;
	p->mapped = m;
	tutti_mem_key(key, seg);
	err = tutti_fdpass_fetch(&p->fdpass, key, &item, deadline_ns);
	x->unanswered = err == ETIMEDOUT;
	if (!err) {
		ptr = mmap(NULL, item.size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_POPULATE, item.fd,
			   (off_t)item.offset);
		err = ptr == MAP_FAILED ? errno : 0;
		tutti_close(&item.fd);
	}
	if (err) {
		tutti_info("a buffer of rank %d cannot be mapped (errno %d); "
			   "it will be copied", peer, err);
		return m;
	}
	m->ptr = ptr;
	m->size = item.size;
	atomic_store_explicit(tutti_node_confirmed(&x->node, x->node.self,
						   p->place) +
			      seg % TUTTI_SEG_SLOTS, seg,
			      memory_order_release);
	return m;
}

static void *shm_map(struct tutti_xport *x, int peer,
		     const struct tutti_region *region, size_t bytes)
{
	struct mapped *m;

	if (!region->seg || !x->direct)
		return NULL;
	for (m = x->peers[peer].mapped; m; m = m->next)
		if (m->seg == region->seg)
			break;
	if (!m)
		m = map_segment(x, peer, region->seg);
	if (!region->direct || !m || !m->ptr ||
	    region->offset + bytes > m->size)
		return NULL;
	return m->ptr + region->offset;
}

const struct tutti_xport_ops tutti_xport_shm = {
	.name = "shm",
	.addr_bytes = sizeof(struct shm_addr),
	.open = shm_open_xport,
	.local_addr = shm_local_addr,
	.connect = shm_connect,
	.bell = shm_bell,
	.chan_init = shm_chan_init,
	.close = shm_close,
	.tx = shm_tx,
	.post = shm_post,
	.rx = shm_rx,
	.release = shm_release,
	.acked = shm_acked,
	.kick = shm_kick,
	.fault = tutti_xport_fault_none,
	.expose = shm_expose,
	.map = shm_map,
	.progress = tutti_xport_progress_nothing,
	.arm = tutti_xport_progress_nothing,
	.flushed = tutti_xport_flushed_always,
};
