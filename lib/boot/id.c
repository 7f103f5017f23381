/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 128 bytes of a unique id: where the meeting point listens, which id of
 * its process this is, and the secret.  The last 8 bytes check the others, so
 * that a damaged id is an argument error and not a search for a wrong host.
 *
 *	0 magic 4 | 4 format 1 | 5 addresses 1 | 6 protocol 2 | 8 port 2
 *	10 zero 6 | 16 number 8 | 24 secret 16 | 40 host 16
 *	56 addresses 64: family 1 (4 or 6), then 4 or 16 bytes each
 *	120 check 8
 */
#include "config.h"

#include "base/fail.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <string.h>

#define FORMAT 1
#define AT_ADDRS 56
#define AT_CHECK 120

static const uint8_t magic[4] = { 0x89, 'T', 'U', 'I' };

static size_t addr_len(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

static bool check_bytes(uint8_t out[8], const uint8_t *p)
{
	uint8_t digest[TUTTI_MAC_BYTES];

	if (!tutti_auth_digest(digest, p, AT_CHECK))
		return false;
	memcpy(out, digest, 8);
	return true;
}

tuttiResult_t tutti_id_pack(tuttiUniqueId *out, const struct tutti_id *id)
{
	uint8_t p[TUTTI_UNIQUE_ID_BYTES] = { 0 };
	size_t at = AT_ADDRS;

	memcpy(p, magic, sizeof(magic));
	p[4] = FORMAT;
	tutti_put16(p + 6, id->protocol);
	tutti_put16(p + 8, id->port);
	tutti_put64(p + 16, id->number);
	memcpy(p + 24, id->secret, TUTTI_SECRET_BYTES);
	memcpy(p + 40, id->host, TUTTI_HOST_BYTES);
	for (size_t i = 0; i < id->count; i++) {
		size_t len = addr_len(id->addr[i].family);

		if (at + 1 + len > AT_CHECK)
			break;
		p[at] = id->addr[i].family;
		memcpy(p + at + 1, id->addr[i].bytes, len);
		at += 1 + len;
		p[5]++;
	}
	if (!check_bytes(p + AT_CHECK, p))
		return tutti_fail(tuttiSystemError, "libcrypto cannot make a "
				  "SHA-256 digest for the unique id");
	memcpy(out->internal, p, sizeof(p));
	tutti_auth_forget(p, sizeof(p));
	return tuttiSuccess;
}

static bool unpack_addrs(struct tutti_id *out, const uint8_t *p)
{
	size_t at = AT_ADDRS;

	for (out->count = 0; out->count < p[5]; out->count++) {
		struct tutti_addr *a = &out->addr[out->count];
		size_t len;

		if (at >= AT_CHECK || out->count == TUTTI_ID_ADDRS ||
		    (p[at] != 4 && p[at] != 6))
			return false;
		len = addr_len(p[at]);
		if (at + 1 + len > AT_CHECK)
			return false;
		a->family = p[at];
		memcpy(a->bytes, p + at + 1, len);
		at += 1 + len;
	}
	return out->count > 0;
}

tuttiResult_t tutti_id_unpack(struct tutti_id *out, const tuttiUniqueId *in)
{
	const uint8_t *p = (const uint8_t *)in->internal;
	uint8_t check[8];

	memset(out, 0, sizeof(*out));
	if (memcmp(p, magic, sizeof(magic)))
		return tutti_fail(tuttiInvalidArgument,
				  "these 128 bytes are not a unique id: pass "
				  "all bytes of tuttiGetUniqueId unchanged");
	if (!check_bytes(check, p))
		return tutti_fail(tuttiSystemError, "libcrypto cannot make a "
				  "SHA-256 digest to check the unique id");
	if (!tutti_auth_equal(check, p + AT_CHECK, sizeof(check)))
		return tutti_fail(tuttiInvalidArgument,
				  "the unique id is damaged: its check bytes "
				  "do not fit; pass all 128 bytes unchanged");
	if (p[4] != FORMAT)
		return tutti_fail(tuttiInvalidUsage,
				  "the unique id has format %d and this "
				  "library reads format %d: use one version "
				  "of the library on all ranks", p[4], FORMAT);
	out->protocol = tutti_get16(p + 6);
	out->port = tutti_get16(p + 8);
	out->number = tutti_get64(p + 16);
	memcpy(out->secret, p + 24, TUTTI_SECRET_BYTES);
	memcpy(out->host, p + 40, TUTTI_HOST_BYTES);
	if (!unpack_addrs(out, p) || !out->port || !out->number)
		return tutti_fail(tuttiInvalidArgument,
				  "the unique id names no address");
	return tuttiSuccess;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool tutti_from_hex(uint8_t *out, size_t len, const char *text)
{
	if (strlen(text) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int hi = digit(text[2 * i]), lo = digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		out[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

bool tutti_id_from_hex(tuttiUniqueId *out, const char *text)
{
	return tutti_from_hex((uint8_t *)out->internal, sizeof(out->internal),
			      text);
}

void tutti_id_to_hex(char out[2 * TUTTI_UNIQUE_ID_BYTES + 1],
		     const tuttiUniqueId *id)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < sizeof(id->internal); i++) {
		uint8_t c = (uint8_t)id->internal[i];

		out[2 * i] = hex[c >> 4];
		out[2 * i + 1] = hex[c & 15];
	}
	out[2 * sizeof(id->internal)] = 0;
}
