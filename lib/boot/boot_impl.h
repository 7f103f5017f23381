/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share.  Not for other rooms. */
#ifndef TUTTI_BOOT_BOOT_IMPL_H
#define TUTTI_BOOT_BOOT_IMPL_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/boot.h"
#include "boot/sock.h"
#include "boot/wire.h"

#define TUTTI_HOST_BYTES 16	/* the mark of a host */
#define TUTTI_MS 1000000LL	/* nanoseconds */

/* A milder name for the sentence of a failure that travels. */
struct tutti_told {
	tuttiResult_t code;
	char text[TUTTI_TEXT_BYTES];
};


/* ---- Addresses (address.c) --------------------------------------------- */

struct tutti_addr {
	uint8_t family;		/* 4 or 6 */
	uint8_t bytes[16];
};

/* One line per address, and one with family 0 for an interface. */
struct tutti_ifaddr {
	char name[IF_NAMESIZE];
	unsigned int flags;	/* IFF_UP and others */
	unsigned int index;
	bool default_route;
	struct tutti_addr addr;
};

/* List them; the caller frees *out.  tuttiSystemError. */
tuttiResult_t tutti_address_list(struct tutti_ifaddr **out, size_t *n);

/* Choose what to advertise, best first, by the grammar of TUTTI_IFNAME.
 * Pure.  tuttiInvalidUsage: nothing matches; the sentence lists what there
 * is.  tuttiSystemError: no pattern and nothing usable. */
tuttiResult_t tutti_address_choose(const struct tutti_ifaddr *all, size_t n,
				   const char *pattern, struct tutti_addr *out,
				   size_t max, size_t *count);

/* Both at once, with TUTTI_IFNAME. */
tuttiResult_t tutti_address_own(struct tutti_addr *out, size_t max,
				size_t *count);

bool tutti_address_loopback(const struct tutti_addr *a);
bool tutti_address_link_local(const struct tutti_addr *a);
void tutti_address_fill(union tutti_sockaddr *out, const struct tutti_addr *a,
			uint16_t port);

/* 16 bytes that two processes share only if they reach each other over the
 * loopback interface: same boot, same network namespace.  All zero: unknown,
 * which equals nothing. */
void tutti_address_host_mark(uint8_t mark[TUTTI_HOST_BYTES]);
bool tutti_address_same_host(const uint8_t mark[TUTTI_HOST_BYTES]);


/* ---- The unique id (id.c) ---------------------------------------------- */

#define TUTTI_ID_ADDRS 6

struct tutti_id {
	uint16_t protocol, port;
	uint64_t number;	/* of the process that made it, from 1 */
	uint8_t secret[TUTTI_SECRET_BYTES];
	uint8_t host[TUTTI_HOST_BYTES];
	size_t count;
	struct tutti_addr addr[TUTTI_ID_ADDRS];
};

/* Addresses that do not fit are left out, last first.  tuttiSystemError. */
tuttiResult_t tutti_id_pack(tuttiUniqueId *out, const struct tutti_id *id);
/* tuttiInvalidArgument: damaged, or of a library that is too different. */
tuttiResult_t tutti_id_unpack(struct tutti_id *out, const tuttiUniqueId *in);
/* 2 * 128 hexadecimal digits; false if it is not that. */
bool tutti_id_from_hex(tuttiUniqueId *out, const char *text);
void tutti_id_to_hex(char out[2 * TUTTI_UNIQUE_ID_BYTES + 1],
		     const tuttiUniqueId *id);
/* `len` bytes from exactly 2 * len digits. */
bool tutti_from_hex(uint8_t *out, size_t len, const char *text);


/* ---- The meeting point (root.c) ---------------------------------------- */

/* Own protocol number, byte order and word size. */
struct tutti_build tutti_build_own(void);
/* "protocol 1, little-endian, 64-bit" */
const char *tutti_build_text(struct tutti_build b, char out[64]);

/* 16 random bytes of this process; another after fork.  errno value. */
int tutti_process_mark(uint8_t mark[16]);

/* Listen and admit ranks that know `secret`, generation after generation, for
 * as long as the process lives.  Takes the first free of `ports`; a second
 * call with the same secret finds the first.  tuttiSystemError. */
tuttiResult_t tutti_root_serve(const uint8_t secret[TUTTI_SECRET_BYTES],
			       const uint16_t *ports, size_t n,
			       uint16_t *port);

/* A rank that lives in the root's process tells news, or leaves.  It is passed
 * on before these return, because that process may end at once. */
struct tutti_packet;
void tutti_root_news(uint64_t serial, int rank,
		     struct tutti_packet *take_news);
void tutti_root_rank_left(uint64_t serial, int rank);


/* ---- Joining (join.c) -------------------------------------------------- */

#define TUTTI_TARGETS 64

/* Where to dial and what to say there. */
struct tutti_target {
	uint8_t secret[TUTTI_SECRET_BYTES];
	uint64_t number;
	uint32_t generation;
	/* The root may come later than this rank: being refused is no sign
	 * that it is gone. */
	bool patient;
	size_t count;
	union tutti_sockaddr at[TUTTI_TARGETS];
	const char *note;	/* added to a sentence of failure, or NULL */
};

tuttiResult_t tutti_join(struct tutti_boot **out,
			 const struct tutti_target *to, int nranks, int rank,
			 int64_t deadline_ns);

/* Fill in addresses, secret and number. */
tuttiResult_t tutti_target_from_id(struct tutti_target *to,
				   const struct tutti_id *id);
/* Append one address with each of `ports`; what does not fit is left out. */
void tutti_target_add(struct tutti_target *to, const struct tutti_addr *a,
		      const uint16_t *ports, size_t n);

/* A communicator of one rank, without a meeting point. */
tuttiResult_t tutti_boot_solo(struct tutti_boot **out);


/* ---- After joining (member.c) ------------------------------------------ */

struct tutti_member_start {
	int fd;			/* handed over on success */
	int nranks, rank;
	uint8_t secret[TUTTI_SECRET_BYTES];
	union tutti_sockaddr address;
	uint64_t serial;
	int root_rank;
	bool here;		/* the root is in this process */
	char root_at[TUTTI_SOCKADDR_TEXT];
};

tuttiResult_t tutti_member_create(struct tutti_boot **out,
				  const struct tutti_member_start *s);


/* ---- After fork, in the child ------------------------------------------ */

void tutti_join_after_fork(void);
void tutti_env_after_fork(void);


/* ---- Small helpers ----------------------------------------------------- */

/* The ranks i of n for which absent(arg, i) is true, as "3, 7-9"; cut with
 * "and N more" when `cap` is short. (ranks.c) */
void tutti_ranks_fold(char *out, size_t cap, int n,
		      bool (*absent)(const void *arg, int i),
		      const void *arg);

/* Run fn(arg) in a thread of its own and wait for it until the deadline.
 * `arg` (`size` bytes) is copied there and, if it ended in time, back.  After
 * ETIMEDOUT the thread goes on alone with its copy.  0 or an errno value.
 * (bounded.c) */
int tutti_bounded(void (*fn)(void *arg), void *arg, size_t size,
		  int64_t deadline_ns);


/* ---- Launchers --------------------------------------------------------- */

/* Slurm's lists (slurm.c).  Call `each` with every name of a node list, in
 * order, until it returns non-zero; false if the list is malformed. */
bool tutti_slurm_nodes(const char *list, int (*each)(void *arg,
						     const char *name),
		       void *arg);
/* Tasks of node 0, 1, ... of "2(x3),1".  Stores up to `max`; *n is the number
 * of nodes, *sum of tasks.  False if malformed. */
bool tutti_slurm_tasks(const char *list, int *out, size_t max, size_t *n,
		       int64_t *sum);

/* Give `id` of rank 0 to all ranks of the job (pmix.c, pmi1.c).  PMIx also
 * tells the number of ranks.  tuttiInvalidUsage if the manager cannot be
 * reached, tuttiTimeout, tuttiRemoteError.  *absent is set if there is no
 * library to ask. */
tuttiResult_t tutti_pmix_exchange(tuttiUniqueId *id, int rank, int *nranks,
				  int64_t deadline_ns, bool *absent);
tuttiResult_t tutti_pmi1_exchange(tuttiUniqueId *id, int rank,
				  int64_t deadline_ns);

/* The meeting point of a launcher that passes nothing but its variables:
 * (derive.c).  Fills secret and addresses; rank 0 starts the root. */
tuttiResult_t tutti_derive_slurm(struct tutti_target *to, int rank,
				 int64_t deadline_ns);
tuttiResult_t tutti_derive_torchrun(struct tutti_target *to, int rank,
				    int64_t deadline_ns);

#endif
