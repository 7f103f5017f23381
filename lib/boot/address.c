/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of this host's addresses to tell others.  They come from the kernel's
 * list of interfaces; a host name is never looked up, since on many hosts it
 * leads to a loopback address.
 *
 * Order: global before link-local before loopback, and the latter two only if
 * there is nothing better; then the order of the user's list; then
 * interfaces with a carrier, with the default route, and those that are not
 * bridges for virtual machines and containers; IPv4 before IPv6.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/settings.h"
#include "boot/auth.h"
#include "boot/boot_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ipv6_route.h>
#include <linux/route.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SEEN_BYTES 640	/* of the list of interfaces in a sentence */

/* ---- The list ---------------------------------------------------------- */

static bool convert(struct tutti_addr *out, const struct sockaddr *sa)
{
	const union tutti_sockaddr *a = (const void *)sa;

	memset(out, 0, sizeof(*out));
	if (!sa)
		return false;
	if (sa->sa_family == AF_INET) {
		out->family = 4;
		memcpy(out->bytes, &a->in.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		out->family = 6;
		memcpy(out->bytes, &a->in6.sin6_addr, 16);
	}
	return out->family != 0;
}

static void mark_default(struct tutti_ifaddr *all, size_t n, const char *name,
			 uint8_t family)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, name) && all[i].addr.family == family)
			all[i].default_route = true;
}

/* Missing files only mean that no interface is preferred. */
static void find_default_routes(struct tutti_ifaddr *all, size_t n)
{
	char line[512], name[IF_NAMESIZE];
	unsigned int dest, flags, len;
	FILE *f = fopen("/proc/net/route", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%15s %x %*x %x", name, &dest, &flags) == 3 &&
		    dest == 0 && flags & RTF_UP)
			mark_default(all, n, name, 4);
	if (f)
		fclose(f);
	f = fopen("/proc/net/ipv6_route", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %x %*s %*x %*s %*x %*x %*x %x %15s",
			   &len, &flags, name) == 3 &&
		    len == 0 && flags & RTF_UP && !(flags & RTF_REJECT))
			mark_default(all, n, name, 6);
	if (f)
		fclose(f);
}

tuttiResult_t tutti_address_list(struct tutti_ifaddr **out, size_t *n)
{
	struct ifaddrs *list, *i;
	struct tutti_ifaddr *all;
	size_t count = 0;

	if (getifaddrs(&list))
		return tutti_fail_errno(errno,
					"cannot list the network interfaces");
	for (i = list; i; i = i->ifa_next)
		count++;
	all = calloc(count + 1, sizeof(*all));
	if (!all) {
		freeifaddrs(list);
		return tutti_fail(tuttiSystemError, "out of memory");
	}
	count = 0;
	for (i = list; i; i = i->ifa_next) {
		struct tutti_ifaddr *a = &all[count++];

		snprintf(a->name, sizeof(a->name), "%s", i->ifa_name);
		a->flags = i->ifa_flags;
		a->index = if_nametoindex(i->ifa_name);
		convert(&a->addr, i->ifa_addr);
	}
	freeifaddrs(list);
	find_default_routes(all, count);
	*out = all;
	*n = count;
	return tuttiSuccess;
}

/* ---- Kinds of address -------------------------------------------------- */

bool tutti_address_loopback(const struct tutti_addr *a)
{
	static const uint8_t one[16] = { [15] = 1 };

	return a->family == 4 ? a->bytes[0] == 127 :
				!memcmp(a->bytes, one, sizeof(one));
}

bool tutti_address_link_local(const struct tutti_addr *a)
{
	return a->family == 4 ?
		a->bytes[0] == 169 && a->bytes[1] == 254 :
		a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

void tutti_address_fill(union tutti_sockaddr *out, const struct tutti_addr *a,
			uint16_t port)
{
	memset(out, 0, sizeof(*out));
	if (a->family == 4) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(port);
		memcpy(&out->in.sin_addr, a->bytes, 4);
	} else {
		out->in6.sin6_family = AF_INET6;
		out->in6.sin6_port = htons(port);
		memcpy(&out->in6.sin6_addr, a->bytes, 16);
	}
}

static void addr_text(char *out, size_t cap, const struct tutti_addr *a)
{
	if (!inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->bytes, out,
		       (socklen_t)cap))
		snprintf(out, cap, "?");
}

/* ---- The pattern ------------------------------------------------------- */

struct pattern {
	bool exclude, exact;
	const char *items;
};

static tuttiResult_t parse_pattern(struct pattern *p, const char *text)
{
	p->items = text;
	p->exclude = *p->items == '^';
	p->items += p->exclude;
	p->exact = *p->items == '=';
	p->items += p->exact;
	for (const char *s = p->items;; s++) {
		size_t len = strcspn(s, ",");

		/* An empty name would be a prefix of every other. */
		if (!len)
			return tutti_fail(tuttiInvalidUsage,
					  "TUTTI_IFNAME=%s has an empty name: "
					  "it is names separated by commas, "
					  "after ^ to exclude them, after = "
					  "for whole names", text);
		s += len;
		if (!*s)
			return tuttiSuccess;
	}
}

/* Place of `name` in the list, or -1. */
static int item_of(const struct pattern *p, const char *name)
{
	const char *s = p->items;

	for (int i = 0;; i++) {
		size_t len = strcspn(s, ",");

		if (!strncmp(s, name, len) && (!p->exact || !name[len]))
			return i;
		if (!s[len])
			return -1;
		s += len + 1;
	}
}

/* ---- The choice -------------------------------------------------------- */

static bool for_machines(const char *name)
{
	static const char *const prefix[] = {
		"docker", "virbr", "br-", "veth", "cni", "flannel", "cali",
		"lxc", "lxd", "podman", "vnet", "vmnet", "kube",
	};

	for (size_t i = 0; i < tutti_countof(prefix); i++)
		if (!strncmp(name, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

enum { BEST, LINK_LOCAL, LOOPBACK };

static int class_of(const struct tutti_addr *a)
{
	return tutti_address_loopback(a) ? LOOPBACK :
	       tutti_address_link_local(a) ? LINK_LOCAL : BEST;
}

/* Less is better. */
static int rate(const struct tutti_ifaddr *a, int item)
{
	return class_of(&a->addr) * 10000 + tutti_min(item, 99) * 100 +
	       !(a->flags & IFF_RUNNING) * 16 + for_machines(a->name) * 8 +
	       !a->default_route * 4 + (a->addr.family == 6);
}

/* What `all` holds, for a sentence. */
static void seen(char *out, size_t cap, const struct tutti_ifaddr *all,
		 size_t n)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < n && used < cap; i++) {
		char text[INET6_ADDRSTRLEN];
		bool first = true, any = false;

		for (size_t j = 0; j < i; j++)
			first &= strcmp(all[j].name, all[i].name) != 0;
		if (!first)
			continue;
		used += (size_t)snprintf(out + used, cap - used, "%s%s (%s",
					 used ? ", " : "", all[i].name,
					 all[i].flags & IFF_UP ? "" : "down");
		for (size_t j = i; j < n && used < cap; j++) {
			if (strcmp(all[j].name, all[i].name) ||
			    !all[j].addr.family)
				continue;
			addr_text(text, sizeof(text), &all[j].addr);
			used += (size_t)snprintf(
				out + used, cap - used, "%s%s",
				any || !(all[i].flags & IFF_UP) ? ", " : "",
				text);
			any = true;
		}
		if (used < cap)
			used += (size_t)snprintf(
				out + used, cap - used, "%s)",
				any ? "" : all[i].flags & IFF_UP ?
				"no address" : ", no address");
	}
}

struct rated {
	int rate;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct rated *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Rate what the pattern and the interface's state allow. */
static size_t collect(struct rated *out, const struct tutti_ifaddr *all,
		      size_t n, const struct pattern *p)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		int item = 0;

		if (!all[i].addr.family || !(all[i].flags & IFF_UP))
			continue;
		if (p) {
			item = item_of(p, all[i].name);
			if ((item >= 0) == p->exclude)
				continue;
			if (p->exclude)
				item = 0;
		}
		out[count++] = (struct rated){ rate(&all[i], item), i };
	}
	qsort(out, count, sizeof(*out), compare);
	return count;
}

static tuttiResult_t nothing(const struct tutti_ifaddr *all, size_t n,
			     const char *pattern)
{
	char list[SEEN_BYTES];

	seen(list, sizeof(list), all, n);
	if (*pattern)
		return tutti_fail(tuttiInvalidUsage,
				  "TUTTI_IFNAME=%s matches no interface that "
				  "is up and has an address; seen: %s",
				  pattern, list);
	return tutti_fail(tuttiSystemError,
			  "no network interface is up and has an address, "
			  "not even the loopback one (ip link set lo up); "
			  "seen: %s", list);
}

tuttiResult_t tutti_address_choose(const struct tutti_ifaddr *all, size_t n,
				   const char *pattern, struct tutti_addr *out,
				   size_t max, size_t *count)
{
	struct rated *list = calloc(n + 1, sizeof(*list));
	struct pattern p;
	size_t found = 0;
	tuttiResult_t rc = tuttiSuccess;

	if (!list)
		return tutti_fail(tuttiSystemError, "out of memory");
	if (*pattern)
		rc = parse_pattern(&p, pattern);
	if (!rc) {
		found = collect(list, all, n, *pattern ? &p : NULL);
		if (!found)
			rc = nothing(all, n, pattern);
	}
	*count = 0;
	for (size_t i = 0; i < found && *count < max; i++) {
		const struct tutti_addr *a = &all[list[i].index].addr;

		/* Never a worse kind beside a better one. */
		if (class_of(a) != class_of(&all[list[0].index].addr))
			break;
		out[(*count)++] = *a;
	}
	free(list);
	return rc;
}

tuttiResult_t tutti_address_own(struct tutti_addr *out, size_t max,
				size_t *count)
{
	struct tutti_ifaddr *all;
	tuttiResult_t rc;
	size_t n;

	rc = tutti_address_list(&all, &n);
	if (rc)
		return rc;
	rc = tutti_address_choose(all, n, tutti_setting_text(TUTTI_SET_IFNAME),
				  out, max, count);
	free(all);
	return rc;
}

/* ---- The host ---------------------------------------------------------- */

static pthread_once_t mark_once = PTHREAD_ONCE_INIT;
static uint8_t own_mark[TUTTI_HOST_BYTES];

static void find_mark(void)
{
	struct {
		char boot[40];
		uint64_t dev, ino;
	} id;
	uint8_t digest[TUTTI_MAC_BYTES];
	struct stat st;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool ok = f != NULL;

	memset(&id, 0, sizeof(id));
	ok = ok && fgets(id.boot, sizeof(id.boot), f);
	if (f)
		fclose(f);
	if (!ok || stat("/proc/self/ns/net", &st))
		return;
	id.dev = st.st_dev;
	id.ino = st.st_ino;
	if (tutti_auth_digest(digest, &id, sizeof(id)))
		memcpy(own_mark, digest, sizeof(own_mark));
}

void tutti_address_host_mark(uint8_t mark[TUTTI_HOST_BYTES])
{
	pthread_once(&mark_once, find_mark);
	memcpy(mark, own_mark, TUTTI_HOST_BYTES);
}

bool tutti_address_same_host(const uint8_t mark[TUTTI_HOST_BYTES])
{
	static const uint8_t unknown[TUTTI_HOST_BYTES];
	uint8_t own[TUTTI_HOST_BYTES];

	tutti_address_host_mark(own);
	return memcmp(own, unknown, sizeof(own)) &&
	       !memcmp(own, mark, sizeof(own));
}
