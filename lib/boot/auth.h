/* SPDX-License-Identifier: BSD-3-Clause */
/* Proofs of knowing a secret.  Any thread. */
#ifndef TUTTI_BOOT_AUTH_H
#define TUTTI_BOOT_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/wire.h"

/* Some bytes of a message. */
struct tutti_part {
	const void *data;
	size_t len;
};

/* HMAC-SHA256 of label and parts under `key`.  The label keeps uses of one
 * key apart.  False if libcrypto cannot (no memory, or the process ends). */
bool tutti_auth_mac(uint8_t mac[TUTTI_MAC_BYTES], const uint8_t *key,
		    size_t key_len, const char *label,
		    const struct tutti_part *parts, int n);

/* SHA-256 of `data`; false as above. */
bool tutti_auth_digest(uint8_t out[TUTTI_MAC_BYTES], const void *data,
		       size_t len);

/* In a child: callers of the parent's other threads do not exist. */
void tutti_auth_after_fork(void);

/* Compare in a time that does not depend on the contents. */
bool tutti_auth_equal(const void *a, const void *b, size_t len);

/* Overwrite a secret for good. */
void tutti_auth_forget(void *data, size_t len);

/* The name of a secret, told in the open. */
bool tutti_auth_tag(uint8_t tag[TUTTI_TAG_BYTES],
		    const uint8_t secret[TUTTI_SECRET_BYTES]);

/* A secret of its own for every communicator. */
bool tutti_auth_session(uint8_t out[TUTTI_SECRET_BYTES],
			const uint8_t secret[TUTTI_SECRET_BYTES],
			const uint8_t nonce[TUTTI_NONCE_BYTES]);

/* Proofs of the two ends; `claim` without its own proof. */
bool tutti_auth_root(uint8_t mac[TUTTI_MAC_BYTES],
		     const uint8_t secret[TUTTI_SECRET_BYTES],
		     const uint8_t *hello, const uint8_t *challenge);
bool tutti_auth_rank(uint8_t mac[TUTTI_MAC_BYTES],
		     const uint8_t secret[TUTTI_SECRET_BYTES],
		     const uint8_t *hello, const uint8_t *challenge,
		     const uint8_t *claim);

#endif
