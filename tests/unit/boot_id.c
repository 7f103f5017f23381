/* SPDX-License-Identifier: BSD-3-Clause */
/* The unique id: nothing is lost in it, and no damage is overlooked. */
#include "config.h"

#include "base/fail.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tutti_id example(void)
{
	struct tutti_id id = {
		.protocol = 3, .port = 54321, .number = 0x123456789abcull,
		.count = 3,
		.addr = { { 4, { 192, 0, 2, 7 } },
			  { 6, { 0xfd, 0, 0, 1, [15] = 9 } },
			  { 4, { 10, 1, 2, 3 } } },
	};

	for (int i = 0; i < 16; i++) {
		id.secret[i] = (uint8_t)(200 + i);
		id.host[i] = (uint8_t)(3 * i);
	}
	return id;
}

Test(boot_id, round_trip)
{
	struct tutti_id in = example(), out;
	char hex[2 * TUTTI_UNIQUE_ID_BYTES + 1];
	tuttiUniqueId packed, again;

	cr_assert_eq(tutti_id_pack(&packed, &in), tuttiSuccess);
	tutti_id_to_hex(hex, &packed);
	cr_assert(tutti_id_from_hex(&again, hex));
	cr_assert_eq(memcmp(&packed, &again, sizeof(packed)), 0);
	cr_assert_eq(tutti_id_unpack(&out, &again), tuttiSuccess);
	cr_assert_eq(memcmp(&in, &out, sizeof(in)), 0);
}

/* What does not fit is left out, the first are kept. */
Test(boot_id, too_many_addresses)
{
	struct tutti_id in = example(), out;
	tuttiUniqueId packed;

	in.count = TUTTI_ID_ADDRS;
	for (size_t i = 0; i < in.count; i++) {
		in.addr[i].family = 6;
		memset(in.addr[i].bytes, (int)i + 1, 16);
	}
	cr_assert_eq(tutti_id_pack(&packed, &in), tuttiSuccess);
	cr_assert_eq(tutti_id_unpack(&out, &packed), tuttiSuccess);
	cr_assert_eq(out.count, 3);
	cr_assert_eq(out.addr[2].bytes[7], 3);
}

/* Every single bit is checked. */
Test(boot_id, every_damage_is_seen)
{
	struct tutti_id in = example(), out;
	tuttiUniqueId packed, bad;

	cr_assert_eq(tutti_id_pack(&packed, &in), tuttiSuccess);
	for (size_t i = 0; i < 8 * sizeof(packed); i++) {
		bad = packed;
		bad.internal[i / 8] ^= (char)(1 << i % 8);
		cr_assert_eq(tutti_id_unpack(&out, &bad),
			     tuttiInvalidArgument, "bit %zu", i);
	}
	cr_assert(strstr(tutti_fail_text(), "damaged"));
	memset(&bad, 0, sizeof(bad));
	cr_assert_eq(tutti_id_unpack(&out, &bad), tuttiInvalidArgument);
}

/* Contents that no library of ours makes, with right check bytes. */
Test(boot_id, strange_contents)
{
	static const struct {
		int at;
		uint8_t value;
		tuttiResult_t rc;
	} strange[] = {
		{ 4, 9, tuttiInvalidUsage },	/* another format */
		{ 5, 0, tuttiInvalidArgument },	/* no address */
		{ 5, 7, tuttiInvalidArgument },	/* more than there are */
		{ 5, 255, tuttiInvalidArgument },
		{ 56, 5, tuttiInvalidArgument }, /* no such family */
	};
	struct tutti_id in = example(), out;
	uint8_t digest[TUTTI_MAC_BYTES];
	tuttiUniqueId packed, bad;

	cr_assert_eq(tutti_id_pack(&packed, &in), tuttiSuccess);
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		bad = packed;
		bad.internal[strange[i].at] = (char)strange[i].value;
		cr_assert(tutti_auth_digest(digest, &bad, 120));
		memcpy(bad.internal + 120, digest, 8);
		cr_assert_eq(tutti_id_unpack(&out, &bad), strange[i].rc,
			     "%zu", i);
	}
}

Test(boot_id, hex)
{
	uint8_t b[2];

	cr_assert(tutti_from_hex(b, 2, "0aFf"));
	cr_assert_eq(b[0], 10);
	cr_assert_eq(b[1], 255);
	cr_assert_not(tutti_from_hex(b, 2, "0aF"));
	cr_assert_not(tutti_from_hex(b, 2, "0aFf0"));
	cr_assert_not(tutti_from_hex(b, 2, "0aFg"));
	cr_assert_not(tutti_from_hex(b, 2, "0a F"));
	cr_assert_not(tutti_from_hex(b, 2, ""));
}

Test(boot_id, null_and_ids_differ)
{
	struct tutti_id a, b;
	tuttiUniqueId one, two;

	cr_assert_eq(tutti_boot_unique_id(NULL), tuttiInvalidArgument);
	cr_assert_eq(tutti_boot_unique_id(&one), tuttiSuccess);
	cr_assert_eq(tutti_boot_unique_id(&two), tuttiSuccess);
	cr_assert_eq(tutti_id_unpack(&a, &one), tuttiSuccess);
	cr_assert_eq(tutti_id_unpack(&b, &two), tuttiSuccess);
	cr_assert_neq(memcmp(a.secret, b.secret, sizeof(a.secret)), 0);
	cr_assert_neq(a.number, b.number);
	/* One listener serves all ids of a process. */
	cr_assert_eq(a.port, b.port);
}

/* A proof is of one message sequence and one secret. */
Test(boot_id, proofs_depend_on_everything)
{
	uint8_t hello[HELLO_BYTES] = { 1 }, challenge[CHALLENGE_BYTES] = { 2 };
	uint8_t claim[CLAIM_BYTES] = { 3 }, secret[TUTTI_SECRET_BYTES] = { 4 };
	uint8_t first[TUTTI_MAC_BYTES], other[TUTTI_MAC_BYTES];
	uint8_t *const parts[] = { hello, challenge, claim, secret };
	const size_t size[] = { HELLO_BYTES, CHALLENGE_BYTES, CLAIM_MAC,
				TUTTI_SECRET_BYTES };

	cr_assert(tutti_auth_rank(first, secret, hello, challenge, claim));
	cr_assert(tutti_auth_root(other, secret, hello, challenge));
	cr_assert_not(tutti_auth_equal(first, other, sizeof(first)));
	for (int p = 0; p < 4; p++)
		for (size_t i = 0; i < size[p]; i++) {
			parts[p][i] ^= 0x10;
			cr_assert(tutti_auth_rank(other, secret, hello,
						  challenge, claim));
			cr_assert_not(tutti_auth_equal(first, other,
						       sizeof(first)),
				      "part %d byte %zu", p, i);
			parts[p][i] ^= 0x10;
		}
	cr_assert(tutti_auth_rank(other, secret, hello, challenge, claim));
	cr_assert(tutti_auth_equal(first, other, sizeof(first)));
}

/* The example of FIPS 180-2. */
Test(boot_id, digest_known_answer)
{
	static const uint8_t abc[] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41,
		0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3,
		0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00,
		0x15, 0xad,
	};
	uint8_t digest[TUTTI_MAC_BYTES];

	cr_assert(tutti_auth_digest(digest, "abc", 3));
	cr_assert_eq(memcmp(digest, abc, sizeof(abc)), 0);
}

/* Case 87: an address that was never set still has a text. */
Test(boot_id, address_text_case_87)
{
	char text[TUTTI_SOCKADDR_TEXT];
	union tutti_sockaddr a;
	struct tutti_addr four = { 4, { 10, 0, 0, 1 } };
	struct tutti_addr six = { 6, { 0xfe, 0x80, [15] = 1 } };
	struct tutti_addr mapped = { 6, { [10] = 0xff, [11] = 0xff,
					  [12] = 1, 2, 3, 4 } };

	memset(&a, 0, sizeof(a));
	cr_assert_str_eq(tutti_sock_text(&a, text), "(no address)");
	tutti_address_fill(&a, &four, 80);
	cr_assert_str_eq(tutti_sock_text(&a, text), "10.0.0.1:80");
	tutti_address_fill(&a, &six, 80);
	a.in6.sin6_scope_id = 3;
	cr_assert_str_eq(tutti_sock_text(&a, text), "[fe80::1%3]:80");
	tutti_address_fill(&a, &mapped, 80);
	cr_assert_str_eq(tutti_sock_text(&a, text), "1.2.3.4:80");
}
