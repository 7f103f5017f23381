/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of memory: reached in place or copied, mixed between ranks, changed
 * between operations, given back and taken again (case 39).
 */
#include "config.h"

#include "proc/cases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KINDS 5
static const char *const kind_name[KINDS] = {
	"malloc", "tuttiMemAlloc", "registered memfd", "registered file",
	"registered malloc",
};

struct buffer {
	int kind;
	size_t bytes;
	int32_t *p;
	void *handle;
	int fd;
};

/* The descriptor stays open: an unlinked file has no other way to it. */
static void *map_file(size_t bytes, bool named, int *at)
{
	char path[] = "/dev/shm/cases-XXXXXX";
	int fd = named ? mkstemp(path) : memfd_create("cases", MFD_CLOEXEC);
	void *p;

	*at = fd;
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		exit(99);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (named)
		unlink(path);
	if (p == MAP_FAILED)
		exit(99);
	return p;
}

static struct buffer take(int kind, size_t count, tuttiComm_t comm)
{
	struct buffer b = { .kind = kind, .bytes = count * 4, .fd = -1 };

	switch (kind) {
	case 1:
		EXPECT(tuttiMemAlloc((void **)&b.p, b.bytes), tuttiSuccess,
		       NULL);
		break;
	case 2:
	case 3:
		b.p = map_file(b.bytes, kind == 3, &b.fd);
		break;
	default:
		b.p = malloc(b.bytes);
	}
	if (kind >= 2)
		EXPECT(tuttiCommRegister(comm, b.p, b.bytes, &b.handle),
		       tuttiSuccess, NULL);
	return b;
}

static void give(struct buffer *b, tuttiComm_t comm)
{
	if (b->handle)
		EXPECT(tuttiCommDeregister(comm, b->handle), tuttiSuccess,
		       NULL);
	if (b->kind == 1)
		EXPECT(tuttiMemFree(b->p), tuttiSuccess, NULL);
	else if (b->kind == 2 || b->kind == 3)
		munmap(b->p, b->bytes);
	else
		free(b->p);
	if (b->fd >= 0)
		close(b->fd);
}

static void sum_once(struct seat *s, int32_t *in, int32_t *out, size_t count,
		     int salt, const char *what, tuttiComm_t comm)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		in[i] = (int32_t)(i * 5) + s->rank * 1000 + salt;
	EXPECT(tuttiAllReduce(in, out, count, tuttiInt32, tuttiSum, comm,
			      NULL), tuttiSuccess, NULL);
	for (size_t i = 0; i < count; i++)
		wrong += out[i] != ((int32_t)(i * 5) + salt) * s->ranks +
				   1000 * s->ranks * (s->ranks - 1) / 2;
	CHECK(!wrong, "rank %d, %s, %zu elements, salt %d: %zu wrong", s->rank,
	      what, count, salt, wrong);
}

/* Every rank takes every kind in turn, against all others. */
void memory_kinds(struct seat *s)
{
	static const size_t counts[] = { 3, 20000, 300000 };
	tuttiComm_t comm = case_join(s);

	for (size_t c = 0; c < 3; c++)
		for (int k = 0; k < KINDS * KINDS; k++) {
			int mine = s->rank % 2 ? k / KINDS : k % KINDS;
			struct buffer in = take(mine, counts[c], comm);
			struct buffer out = take((mine + k) % KINDS,
						 counts[c], comm);

			for (int again = 0; again < 3; again++)
				sum_once(s, in.p, out.p, counts[c], again,
					 kind_name[mine], comm);
			give(&in, comm);
			give(&out, comm);
		}
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* Registered, not registered, registered again; a part of a mapping; the same
 * buffer twice. */
void memory_register(struct seat *s)
{
	size_t count = 100000, bytes = count * 4;
	tuttiComm_t comm = case_join(s);
	void *a, *b;
	int fd;
	int32_t *p = map_file(4 * bytes, false, &fd), *out = p + 2 * count;

	for (int i = 0; i < 6; i++) {
		EXPECT(tuttiCommRegister(comm, p + 17, bytes, &a),
		       tuttiSuccess, NULL);
		EXPECT(tuttiCommRegister(comm, out, bytes, &b), tuttiSuccess,
		       NULL);
		sum_once(s, p + 17, out, count, i, "registered", comm);
		sum_once(s, p + 17, out, count, i, "in place", comm);
		EXPECT(tuttiCommDeregister(comm, a), tuttiSuccess, NULL);
		sum_once(s, p + 17, out, count, i, "half of it", comm);
		EXPECT(tuttiCommDeregister(comm, b), tuttiSuccess, NULL);
		sum_once(s, p + 17, out, count, i, "not any more", comm);
	}
	munmap(p, 4 * bytes);
	close(fd);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}

/* Freed, and the next allocation lies at the same address: peers must not
 * reach into the old pages. */
void memory_again(struct seat *s)
{
	size_t count = 50000;
	tuttiComm_t comm = case_join(s);
	void *before = NULL, *handle = NULL, *fixed;
	int same = 0, fd;

	for (int i = 0; i < 40; i++) {
		struct buffer b = take(1, count, comm);

		same += b.p == before;
		before = b.p;
		sum_once(s, b.p, b.p, count, i, "allocated again", comm);
		sum_once(s, b.p, b.p, count, i + 1, "and used", comm);
		/* Not all ranks at once, so that mappings are mixed. */
		if ((i + s->rank) % 3 == 0) {
			struct buffer other = take(1, count, comm);

			give(&b, comm);
			b = other;
		}
		give(&b, comm);
	}
	CHECK(same > 0, "no allocation came to lie where one was");
	/* The same with mappings of the caller's at a fixed address. */
	fixed = map_file(count * 4, false, &fd);
	close(fd);
	for (int i = 0; i < 10; i++) {
		fd = memfd_create("cases", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, (off_t)count * 4) ||
		    mmap(fixed, count * 4, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != fixed)
			exit(99);
		EXPECT(tuttiCommRegister(comm, fixed, count * 4, &handle),
		       tuttiSuccess, NULL);
		for (int k = 0; k < 3; k++)
			sum_once(s, fixed, fixed, count, i * 3 + k,
				 "mapped again", comm);
		EXPECT(tuttiCommDeregister(comm, handle), tuttiSuccess, NULL);
		close(fd);
	}
	munmap(fixed, count * 4);
	EXPECT(tuttiCommDestroy(comm), tuttiSuccess, NULL);
}
