/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The greeting of two ranks; see hello.h.  Five messages in turn, each with a
 * fixed length, so the state is the number of messages done and the place in
 * the one in hand.
 */
#include "config.h"

#include "base/bits.h"
#include "base/io.h"
#include "net/tcp/hello.h"

#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <string.h>

#define NONCE_AT 48
#define NONCE_BYTES 16
#define SECRET_BYTES 16

static const char magic[8] = "tuttitcp";

enum step { HELLO, REPLY, PROOF, READY, GO, STEPS };

static const struct {
	const char *name;	/* mixed into the proof */
	size_t fixed, trial;
} messages[STEPS] = {
	[HELLO] = { "hello", TUTTI_HELLO_BYTES, 0 },
	[REPLY] = { "reply", TUTTI_HELLO_BYTES + TUTTI_HELLO_PROOF, 0 },
	[PROOF] = { "proof", TUTTI_HELLO_PROOF, 0 },
	[READY] = { "ready", TUTTI_HELLO_PROOF, TUTTI_HELLO_TRIAL },
	[GO] = { "go", TUTTI_HELLO_PROOF, TUTTI_HELLO_TRIAL },
};

static uint8_t trial[TUTTI_HELLO_TRIAL];
static pthread_once_t trial_once = PTHREAD_ONCE_INIT;

static void fill_trial(void)
{
	for (size_t i = 0; i < sizeof(trial); i++)
		trial[i] = (uint8_t)(tutti_mix(i, 1) >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/*
 * HELLO and the head of REPLY: magic, protocol, from, to, ranks, lines, slots
 * (32 bits each), bytes of a slot, first message number (64 bits each), nonce.
 */
static int make_hello(uint8_t *p, const struct tutti_xport_env *env, int peer)
{
	uint64_t slot_bytes = htole64(env->slot_bytes);
	uint64_t seq_start = htole64(env->seq_start);

	memcpy(p, magic, sizeof(magic));
	put32(p + 8, TUTTI_HELLO_PROTOCOL);
	put32(p + 12, (uint32_t)env->rank);
	put32(p + 16, (uint32_t)peer);
	put32(p + 20, (uint32_t)env->ranks);
	put32(p + 24, env->lines);
	put32(p + 28, env->slots);
	memcpy(p + 32, &slot_bytes, sizeof(slot_bytes));
	memcpy(p + 40, &seq_start, sizeof(seq_start));
	return tutti_random(p + NONCE_AT, NONCE_BYTES);
}

/* The numbers that must be the same on both ends. */
static bool same_numbers(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a + 8, b + 8, 4) &&
	       !memcmp(a + 20, b + 20, NONCE_AT - 20);
}

static bool make_proof(const struct tutti_hello *h, int step, uint8_t *out)
{
	uint8_t text[8 + 2 * TUTTI_HELLO_BYTES] = { 0 };
	unsigned int len = 0;

	strcpy((char *)text, messages[step].name);
	memcpy(text + 8, h->hello, TUTTI_HELLO_BYTES);
	memcpy(text + 8 + TUTTI_HELLO_BYTES, h->reply, TUTTI_HELLO_BYTES);
	return HMAC(EVP_sha256(), h->env->secret, SECRET_BYTES, text,
		    sizeof(text), out, &len) && len == TUTTI_HELLO_PROOF;
}

static enum tutti_hello_state stranger(struct tutti_hello *h, const char *why)
{
	h->why = why;
	h->state = TUTTI_HELLO_STRANGER;
	return h->state;
}

/* HELLO has come: is it for us? */
static bool judge_hello(struct tutti_hello *h)
{
	uint32_t from = get32(h->message + 12), to = get32(h->message + 16);

	if (memcmp(h->message, magic, sizeof(magic)) ||
	    to != (uint32_t)h->env->rank || from >= (uint32_t)h->env->ranks ||
	    from >= to)
		return false;
	h->peer = (int)from;
	memcpy(h->hello, h->message, TUTTI_HELLO_BYTES);
	return true;
}

/* REPLY has come: is it from whom we called? */
static bool judge_reply(struct tutti_hello *h)
{
	if (memcmp(h->message, magic, sizeof(magic)) ||
	    get32(h->message + 12) != (uint32_t)h->peer ||
	    get32(h->message + 16) != (uint32_t)h->env->rank)
		return false;
	memcpy(h->reply, h->message, TUTTI_HELLO_BYTES);
	return true;
}

bool tutti_hello_writes(const struct tutti_hello *h)
{
	bool dialers_turn = h->step == HELLO || h->step == PROOF ||
			    h->step == GO;

	return h->dials == dialers_turn;
}

/* Set up the message of the present step. */
static enum tutti_hello_state next(struct tutti_hello *h)
{
	bool ok = true;

	h->at = 0;
	h->fixed = messages[h->step].fixed;
	h->total = h->fixed + messages[h->step].trial;
	if (!tutti_hello_writes(h))
		return h->state;
	if (h->step == HELLO)
		memcpy(h->message, h->hello, TUTTI_HELLO_BYTES);
	else if (h->step == REPLY)
		memcpy(h->message, h->reply, TUTTI_HELLO_BYTES);
	if (h->step != HELLO)
		ok = make_proof(h, h->step, h->message + h->fixed -
				TUTTI_HELLO_PROOF);
	return ok ? h->state : stranger(h, "no proof could be computed");
}

int tutti_hello_begin(struct tutti_hello *h, const struct tutti_xport_env *env,
		      bool dials, int peer)
{
	int err;

	pthread_once(&trial_once, fill_trial);
	memset(h, 0, sizeof(*h));
	h->env = env;
	h->dials = dials;
	h->peer = peer;
	err = make_hello(dials ? h->hello : h->reply, env, peer);
	if (!err)
		next(h);
	return err;
}

void *tutti_hello_bytes(struct tutti_hello *h, size_t *bytes)
{
	size_t done = h->at - h->fixed;

	if (h->at < h->fixed) {
		*bytes = h->fixed - h->at;
		return h->message + h->at;
	}
	*bytes = h->total - h->at;
	if (tutti_hello_writes(h))
		return trial + done;
	*bytes = tutti_min(*bytes, sizeof(h->trial));
	return h->trial;
}

/* The fixed part of a message has come. */
static enum tutti_hello_state judge(struct tutti_hello *h)
{
	uint8_t proof[TUTTI_HELLO_PROOF];

	if (h->step == HELLO)
		return judge_hello(h) ? h->state :
		       stranger(h, "the greeting is not for this rank");
	if (h->step == REPLY && !judge_reply(h))
		return stranger(h, "the answer is not from that rank");
	if (!make_proof(h, h->step, proof) ||
	    CRYPTO_memcmp(proof, h->message + h->fixed - TUTTI_HELLO_PROOF,
			  TUTTI_HELLO_PROOF))
		return stranger(h, "it does not know this job's secret");
	return h->state;
}

/* A message is complete, in either direction. */
static enum tutti_hello_state finish(struct tutti_hello *h)
{
	/* Now the acceptor knows who asks, it can tell so. */
	if (h->step == HELLO && !h->dials)
		put32(h->reply + 16, (uint32_t)h->peer);
	/* Both ends know the other's numbers to be true once PROOF has gone
	 * or come. */
	if (h->step == PROOF && !same_numbers(h->hello, h->reply)) {
		h->why = "it runs another protocol or with other numbers of ranks, "
			 "lines, slots or messages";
		h->state = TUTTI_HELLO_MISMATCH;
		return h->state;
	}
	if (++h->step == STEPS) {
		h->state = TUTTI_HELLO_SURE;
		return h->state;
	}
	return next(h);
}

enum tutti_hello_state tutti_hello_moved(struct tutti_hello *h, size_t bytes)
{
	size_t before = h->at;

	if (h->state != TUTTI_HELLO_GOING || !bytes)
		return h->state;
	h->at += bytes;
	if (!tutti_hello_writes(h)) {
		if (before < h->fixed && h->at == h->fixed && judge(h))
			return h->state;
		if (before >= h->fixed &&
		    memcmp(h->trial, trial + (before - h->fixed), bytes))
			return stranger(h, "the trial bytes came out wrong");
	}
	return h->at == h->total ? finish(h) : h->state;
}
