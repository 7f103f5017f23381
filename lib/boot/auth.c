/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMAC-SHA256 by libcrypto.
 *
 * The helper thread may still be greeting a stranger while the process runs
 * its exit handlers, and libcrypto frees its globals in one of them.  So ours,
 * registered after libcrypto's and therefore run before it, closes the door:
 * who is inside is waited for, and nobody enters any more.
 */
#include "config.h"

#include "base/clock.h"
#include "boot/auth.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CLOSED 0x40000000
#define EXIT_WAIT_NS 100000000

static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_MAC *hmac;
static _Atomic int inside;	/* callers, plus CLOSED at exit */

static void close_door(void)
{
	int64_t until = tutti_now_ns() + EXIT_WAIT_NS;

	atomic_fetch_add(&inside, CLOSED);
	/* Bounded: exit may have been called inside libcrypto's caller, by a
	 * signal handler of the program. */
	while (atomic_load(&inside) != CLOSED && tutti_now_ns() < until)
		sched_yield();
}

static void start(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_ADD_ALL_DIGESTS, NULL);
	hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	atexit(close_door);
}

static bool enter(void)
{
	if (atomic_fetch_add(&inside, 1) >= CLOSED) {
		atomic_fetch_sub(&inside, 1);
		return false;
	}
	pthread_once(&once, start);
	return true;
}

static void leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

static bool mac_parts(EVP_MAC_CTX *ctx, uint8_t *mac, const char *label,
		      const struct tutti_part *parts, int n)
{
	size_t got;

	/* With its ending zero, so that no label is the start of another. */
	if (!EVP_MAC_update(ctx, (const uint8_t *)label, strlen(label) + 1))
		return false;
	for (int i = 0; i < n; i++)
		if (!EVP_MAC_update(ctx, parts[i].data, parts[i].len))
			return false;
	return EVP_MAC_final(ctx, mac, &got, TUTTI_MAC_BYTES) &&
	       got == TUTTI_MAC_BYTES;
}

bool tutti_auth_mac(uint8_t mac[TUTTI_MAC_BYTES], const uint8_t *key,
		    size_t key_len, const char *label,
		    const struct tutti_part *parts, int n)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[2];
	EVP_MAC_CTX *ctx = NULL;
	bool ok = false;

	if (!enter())
		return false;
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
						     digest, 0);
	params[1] = OSSL_PARAM_construct_end();
	if (hmac)
		ctx = EVP_MAC_CTX_new(hmac);
	if (ctx && EVP_MAC_init(ctx, key, key_len, params))
		ok = mac_parts(ctx, mac, label, parts, n);
	EVP_MAC_CTX_free(ctx);
	leave();
	return ok;
}

bool tutti_auth_digest(uint8_t out[TUTTI_MAC_BYTES], const void *data,
		       size_t len)
{
	unsigned int got = 0;
	bool ok;

	if (!enter())
		return false;
	ok = EVP_Digest(data, len, out, &got, EVP_sha256(), NULL) &&
	     got == TUTTI_MAC_BYTES;
	leave();
	return ok;
}

void tutti_auth_after_fork(void)
{
	atomic_store(&inside, 0);
}

bool tutti_auth_equal(const void *a, const void *b, size_t len)
{
	return CRYPTO_memcmp(a, b, len) == 0;
}

void tutti_auth_forget(void *data, size_t len)
{
	OPENSSL_cleanse(data, len);
}

bool tutti_auth_tag(uint8_t tag[TUTTI_TAG_BYTES],
		    const uint8_t secret[TUTTI_SECRET_BYTES])
{
	uint8_t mac[TUTTI_MAC_BYTES];

	if (!tutti_auth_mac(mac, secret, TUTTI_SECRET_BYTES, "tutti tag", NULL,
			    0))
		return false;
	memcpy(tag, mac, TUTTI_TAG_BYTES);
	return true;
}

bool tutti_auth_session(uint8_t out[TUTTI_SECRET_BYTES],
			const uint8_t secret[TUTTI_SECRET_BYTES],
			const uint8_t nonce[TUTTI_NONCE_BYTES])
{
	const struct tutti_part part = { nonce, TUTTI_NONCE_BYTES };
	uint8_t mac[TUTTI_MAC_BYTES];

	if (!tutti_auth_mac(mac, secret, TUTTI_SECRET_BYTES,
			    "tutti communicator", &part, 1))
		return false;
	memcpy(out, mac, TUTTI_SECRET_BYTES);
	tutti_auth_forget(mac, sizeof(mac));
	return true;
}

bool tutti_auth_root(uint8_t mac[TUTTI_MAC_BYTES],
		     const uint8_t secret[TUTTI_SECRET_BYTES],
		     const uint8_t *hello, const uint8_t *challenge)
{
	const struct tutti_part parts[] = {
		{ hello, HELLO_BYTES },
		{ challenge, CHALLENGE_MAC },
	};

	return tutti_auth_mac(mac, secret, TUTTI_SECRET_BYTES,
			      "tutti meeting point", parts, 2);
}

bool tutti_auth_rank(uint8_t mac[TUTTI_MAC_BYTES],
		     const uint8_t secret[TUTTI_SECRET_BYTES],
		     const uint8_t *hello, const uint8_t *challenge,
		     const uint8_t *claim)
{
	const struct tutti_part parts[] = {
		{ hello, HELLO_BYTES },
		{ challenge, CHALLENGE_BYTES },
		{ claim, CLAIM_MAC },
	};

	return tutti_auth_mac(mac, secret, TUTTI_SECRET_BYTES, "tutti rank",
			      parts, 3);
}
