/* SPDX-License-Identifier: BSD-3-Clause */
/* Which address is told others, on machines that are made up: cases 3 to 5. */
#include "config.h"

#include "base/fail.h"
#include "boot/boot_impl.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UP (IFF_UP | IFF_RUNNING)

/* "name flags address": flags of u (up), r (running), d (default route);
 * address - for none. */
static size_t make(struct tutti_ifaddr *out, const char *const *lines)
{
	size_t n = 0;

	for (; lines[n]; n++) {
		char flags[16], address[64];
		struct tutti_ifaddr *a = &out[n];

		memset(a, 0, sizeof(*a));
		cr_assert_eq(sscanf(lines[n], "%15s %15s %63s", a->name, flags,
				    address), 3);
		a->flags = (strchr(flags, 'u') ? IFF_UP : 0) |
			   (strchr(flags, 'r') ? IFF_RUNNING : 0);
		a->default_route = strchr(flags, 'd') != NULL;
		if (inet_pton(AF_INET, address, a->addr.bytes) == 1)
			a->addr.family = 4;
		else if (inet_pton(AF_INET6, address, a->addr.bytes) == 1)
			a->addr.family = 6;
	}
	return n;
}

/* The addresses chosen, with spaces; NULL: expect `rc` instead. */
static void check(const char *const *lines, const char *pattern,
		  const char *expected, tuttiResult_t rc)
{
	struct tutti_ifaddr all[16];
	struct tutti_addr out[TUTTI_ID_ADDRS];
	size_t n = make(all, lines), count;
	char text[512] = "", one[64];

	cr_assert_eq(tutti_address_choose(all, n, pattern, out,
					  TUTTI_ID_ADDRS, &count), rc,
		     "%s", tutti_fail_text());
	if (rc)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);

		inet_ntop(out[i].family == 4 ? AF_INET : AF_INET6,
			  out[i].bytes, one, sizeof(one));
		snprintf(text + used, sizeof(text) - used, "%s%s",
			 used ? " " : "", one);
	}
	cr_assert_str_eq(text, expected, "chose %s", text);
}

static const char *const usual[] = {
	"lo ur 127.0.0.1", "lo ur ::1", "docker0 u 172.17.0.1",
	"eth1 ur 10.0.0.5", "eth0 urd 192.0.2.2", "eth0 urd fd00::2",
	"eth0 urd fe80::1", "eth2 - 10.9.9.9", "eth3 ur -", NULL
};

Test(boot_address, order_case_3)
{
	static const char *const alone[] = { "lo ur 127.0.0.1", "lo ur ::1",
					     NULL };

	/* Loopback is never told beside a better one. */
	check(usual, "", "192.0.2.2 fd00::2 10.0.0.5 172.17.0.1", 0);
	check(alone, "", "127.0.0.1 ::1", 0);
}

Test(boot_address, patterns_case_4)
{
	check(usual, "eth", "192.0.2.2 fd00::2 10.0.0.5", 0);
	check(usual, "eth1", "10.0.0.5", 0);
	check(usual, "eth1,eth0", "10.0.0.5 192.0.2.2 fd00::2", 0);
	check(usual, "docker,eth", "172.17.0.1 192.0.2.2 fd00::2 10.0.0.5",
	      0);
	check(usual, "=eth0", "192.0.2.2 fd00::2", 0);
	check(usual, "=eth0,docker0", "192.0.2.2 fd00::2 172.17.0.1", 0);
	check(usual, "^docker,eth0", "10.0.0.5", 0);
	check(usual, "^=eth", "192.0.2.2 fd00::2 10.0.0.5 172.17.0.1", 0);
	check(usual, "lo", "127.0.0.1 ::1", 0);
	check(usual, "^eth,docker", "127.0.0.1 ::1", 0);
}

static void check_nothing(const char *pattern)
{
	check(usual, pattern, NULL, tuttiInvalidUsage);
	/* The pattern and what there is. */
	cr_assert(strstr(tutti_fail_text(), pattern), "%s",
		  tutti_fail_text());
	cr_assert(strstr(tutti_fail_text(), "eth0 (192.0.2.2, fd00::2, "
			 "fe80::1)"), "%s", tutti_fail_text());
	cr_assert(strstr(tutti_fail_text(), "eth2 (down, 10.9.9.9)"), "%s",
		  tutti_fail_text());
	cr_assert(strstr(tutti_fail_text(), "eth3 (no address)"), "%s",
		  tutti_fail_text());
}

Test(boot_address, no_match_case_4)
{
	check_nothing("ib");		/* missing */
	check_nothing("=eth");		/* a prefix only */
	check_nothing("eth2");		/* down */
	check_nothing("eth3");		/* without an address */
	check_nothing("^eth,lo,docker"); /* all excluded */
}

Test(boot_address, malformed_pattern_case_4)
{
	static const char *const bad[] = { ",", "eth0,", ",eth0", "^", "=",
					   "^=", "eth0,,eth1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check(usual, bad[i], NULL, tuttiInvalidUsage);
}

Test(boot_address, link_local_case_5)
{
	static const char *const ula[] = { "lo ur ::1", "eth0 ur fe80::1",
					   "eth0 ur fd12::1", NULL };
	static const char *const four[] = { "eth0 ur fe80::1",
					    "eth1 ur 169.254.1.2",
					    "eth2 ur 10.0.0.1", NULL };
	static const char *const only[] = { "lo ur ::1", "lo ur 127.0.0.1",
					    "eth0 ur fe80::1", NULL };

	check(ula, "", "fd12::1", 0);
	check(four, "", "10.0.0.1", 0);
	check(only, "", "fe80::1", 0);
}

Test(boot_address, nothing_up)
{
	static const char *const none[] = { "lo - 127.0.0.1", NULL };

	check(none, "", NULL, tuttiSystemError);
	cr_assert(strstr(tutti_fail_text(), "lo (down, 127.0.0.1)"));
}

/* The list of a machine with very many interfaces is cut, not overrun. */
Test(boot_address, long_list)
{
	enum { MANY = 200 };
	struct tutti_ifaddr *all = calloc(MANY, sizeof(*all));
	struct tutti_addr out[1];
	size_t count;

	for (int i = 0; i < MANY; i++) {
		snprintf(all[i].name, sizeof(all[i].name), "interface%03hhu",
			 (unsigned char)i);
		all[i].flags = UP;
	}
	cr_assert_eq(tutti_address_choose(all, MANY, "eth", out, 1, &count),
		     tuttiInvalidUsage);
	free(all);
}

Test(boot_address, this_host)
{
	struct tutti_addr out[TUTTI_ID_ADDRS];
	uint8_t mark[TUTTI_HOST_BYTES];
	size_t count;

	cr_assert_eq(tutti_address_own(out, TUTTI_ID_ADDRS, &count),
		     tuttiSuccess);
	cr_assert_gt(count, 0);
	tutti_address_host_mark(mark);
	cr_assert(tutti_address_same_host(mark));
	mark[3] ^= 1;
	cr_assert_not(tutti_address_same_host(mark));
}
