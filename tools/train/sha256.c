/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHA-256 (FIPS 180-4): the checksum of checkpoints, and the short name of a
 * set of parameters by which ranks, runs and machines are compared.
 */
#include <string.h>

#include "train.h"

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void mix_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], s[8];
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		       (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
			w[i - 15] >> 3) +
		       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^
			w[i - 2] >> 10);

	memcpy(s, state, sizeof(s));
	for (i = 0; i < 64; i++) {
		uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^
			     rotate(s[4], 25);
		uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^
			     rotate(s[0], 22);
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t t = s[7] + e + choice + k[i] + w[i];

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t;
		s[0] = t + a + most;
	}
	for (i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};

	memcpy(s->state, start, sizeof(start));
	s->length = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	const uint8_t *in = data;

	while (len > 0) {
		size_t used = s->length % 64;
		size_t n = len < 64 - used ? len : 64 - used;

		if (n == 64) {
			mix_block(s->state, in);
		} else {
			memcpy(s->block + used, in, n);
			if (used + n == 64)
				mix_block(s->state, s->block);
		}
		s->length += n;
		in += n;
		len -= n;
	}
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
	uint64_t bits = s->length * 8;
	uint8_t tail[72] = { 0x80 };
	size_t pad = (119 - s->length % 64) % 64 + 1;
	int i;

	for (i = 0; i < 8; i++)
		tail[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, tail, pad + 8);
	for (i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_text(const uint8_t digest[SHA256_BYTES], char text[SHA256_TEXT])
{
	int i;

	for (i = 0; i < SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
