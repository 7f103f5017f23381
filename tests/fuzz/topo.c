/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes changed at random in files and descriptions of machines: every one is
 * either a machine that can be walked, or a flat one with a reason.  A plain
 * program: topo [SECONDS [SEED]], 10 by default; the seed is printed.
 */
#include "config.h"

#include "base/bits.h"
#include "base/clock.h"
#include "topo/topo.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX (1 << 16)
#define CHANGES_MAX 6
/* hwloc builds a machine for each description; files are read faster. */
#define FILES_PER_TEXT 40

static const char *const files[] = {
	"1s2c", "1s2d-12c", "1s8c-smt2", "2s16c-nic", "2s16c-odd",
	"2s4n-16c-smt2",
};

static const char *const texts[] = {
	"pack:2 [numa(memory=1GB)] l3:2(size=1MB) core:2 pu:2",
	"numa:4 core:3 pu:1(indexes=0,2,4,1,3,5,6,7,8,9,10,11)",
	"die:2 l2:2 group:2 core:2 pu:2", "8 2 4", "pack:2 core:2 pu:2",
	"pack:2 group:2 [numa] l3:1 core:4 pu:2(indexes=2*16:1*2)",
};

static const char *const words[] = {
	"<object type=\"PU\" os_index=\"3\" cpuset=\"0x8\"/>", "</object>",
	"<object type=\"Group\" cpuset=\"0x3\">", "0xffffffff", "0xf...f",
	"<!--", "-->", "<![CDATA[", "&lt;", "\"", "<", ">", "/>", "=",
	"99999999999999999999", "-1", "NUMANode", "os_index=\"0\"", ",,,,",
	"<?xml", "<!DOCTYPE a [", "(", ")", "[", "]", "indexes=", "pu:2", "1",
	"0", "*", ":",
};

static unsigned int seed;

static size_t below(size_t n)
{
	return n ? (size_t)rand_r(&seed) % n : 0;
}

static size_t insert(char *text, size_t n, size_t at, const char *what,
		     size_t len)
{
	if (n + len >= BYTES_MAX)
		return n;
	memmove(text + at + len, text + at, n - at);
	memcpy(text + at, what, len);
	return n + len;
}

/* Change one thing; the new length. */
static size_t change(char *text, size_t n)
{
	size_t at = below(n + 1), len = below(80);
	const char *word = words[below(tutti_countof(words))];
	char copy[80];

	switch (below(6)) {
	case 0:
		if (at < n)
			text[at] = (char)(text[at] ^ (1 << below(8)));
		return n;
	case 1:
		len = tutti_min(len, n - at);
		memmove(text + at, text + at + len, n - at - len);
		return n - len;
	case 2:
		return insert(text, n, at, word, strlen(word));
	case 3:
		at = below(n > 80 ? n - 80 : 1);
		memcpy(copy, text + at, tutti_min(len, n));
		return insert(text, n, below(n + 1), copy, tutti_min(len, n));
	case 4:
		while (at < n && (text[at] < '0' || text[at] > '9'))
			at++;
		if (at < n)
			text[at] = (char)('0' + below(10));
		return n;
	default:
		return below(50) ? n : at;
	}
}

/* Touch everything that a user of the topology would. */
static bool use(struct tutti_topo *t, size_t *good)
{
	int first, count;

	if (!t || !t->npus || !t->nobjects ||
	    t->flat != (strlen(t->reason) > 0) ||
	    !tutti_topo_allowed(t, 0, t->npus))
		return false;
	for (int i = 0; i < t->nobjects; i++) {
		const struct tutti_topo_object *o = &t->objects[i];

		if (o->parent >= i || o->pu_first < 0 || o->pu_count < 0 ||
		    o->pu_first + o->pu_count > t->npus)
			return false;
	}
	for (int r = 0; r < 5; r++) {
		tutti_topo_seat(t, r, 5, &first, &count);
		if (tutti_topo_allowed(t, first, count) < 1)
			return false;
	}
	*good += !t->flat;
	tutti_topo_free(t);
	return true;
}

static bool try_file(const char *file, char *text, size_t n, size_t *good)
{
	struct tutti_topo_from from = { .xml = file };
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n;

	if (fd >= 0)
		close(fd);
	return ok && use(tutti_topo_load(&from), good);
}

static size_t read_seed_file(const char *name, char *text)
{
	const char *top = getenv("top_srcdir");
	char path[512];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fixtures/%s.xml",
		 top ? top : ".", name);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, BYTES_MAX - 1, f);
		fclose(f);
	}
	return n;
}

/* One of either kind; false if something is wrong. */
static bool once(const char *file, size_t turn, size_t *good)
{
	static char text[BYTES_MAX + 1];
	bool is_text = turn % FILES_PER_TEXT == 0;
	size_t n, changes = below(CHANGES_MAX);

	if (is_text)
		n = (size_t)snprintf(text, sizeof(text), "%s",
				     texts[below(tutti_countof(texts))]);
	else
		n = read_seed_file(files[below(tutti_countof(files))], text);
	if (!n) {
		printf("there are no fixtures; is top_srcdir set?\n");
		return false;
	}
	while (changes--)
		n = change(text, n);
	text[n] = 0;
	if (is_text) {
		struct tutti_topo_from from = { .synthetic = text };

		return use(tutti_topo_load(&from), good);
	}
	return try_file(file, text, n, good);
}

int main(int argc, char **argv)
{
	int64_t end = tutti_now_ns() +
		      (argc > 1 ? atoll(argv[1]) : 10) * 1000000000;
	char file[] = "/tmp/topo-fuzz-XXXXXX";
	size_t turn = 0, good = 0;
	int fd = mkstemp(file);
	bool ok = fd >= 0;

	seed = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) :
			  (unsigned int)time(NULL);
	printf("seed %u\n", seed);
	fflush(stdout);
	/* hwloc tells mistakes of descriptions. */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	if (fd >= 0)
		close(fd);
	while (ok && tutti_now_ns() < end)
		ok = once(file, turn++, &good);
	unlink(file);
	printf("%zu tried, %zu of them machines%s\n", turn, good,
	       ok ? "" : "; the last one went wrong");
	/* Before what sanitizers find at the end, which ends the process. */
	fflush(stdout);
	/* Nothing tried or nothing but one kind would show nothing. */
	return ok && turn > 20 && good && good < turn ? 0 : 1;
}
