/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of segments.  Look-ups of hot buffers go through the caller's
 * cache, which is good as long as the list's generation has not changed, so
 * the lock is taken only for a buffer not seen before.
 */
#include "config.h"

#include "base/bits.h"
#include "base/fail.h"
#include "base/io.h"
#include "net/shm/fdpass.h"
#include "net/shm/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* From here on it is worth asking how much is left. */
#define LARGE ((size_t)64 << 20)

struct segment {
	uint64_t seg;
	char *base;
	size_t size;		/* as asked for */
	size_t mapped;		/* whole pages; 0: registered, not ours */
	/* What is offered: whole pages of the file from `offset` on, in which
	 * base lies `lead` bytes behind the beginning. */
	uint64_t offset, lead;
	bool inherited;		/* made by the process this was forked from */
	int fd;
	struct segment *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment *segments;
static uint64_t last_seg;
/* Changed, with release, by every change of the list; starts above a zeroed
 * cache's. */
static _Atomic uint64_t generation = 1;

void tutti_mem_key(uint8_t key[16], uint64_t seg)
{
	memset(key, 0, 16);
	memcpy(key, &seg, sizeof(seg));
}

/* A number behind `key` in a small text file, or SIZE_MAX. */
static size_t read_number(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[128];
	size_t n = SIZE_MAX;

	while (f && n == SIZE_MAX && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) &&
		    sscanf(line + strlen(key), "%zu", &n) != 1)
			n = SIZE_MAX;
	if (f)
		fclose(f);
	return n;
}

/* What this process may still take: the kernel would grant more and end some
 * process later. */
static size_t memory_left(void)
{
	size_t kb = read_number("/proc/meminfo", "MemAvailable:");
	size_t left = kb > SIZE_MAX / 1024 ? SIZE_MAX : kb * 1024;
	size_t max = read_number("/sys/fs/cgroup/memory.max", "");
	size_t used = read_number("/sys/fs/cgroup/memory.current", "");

	if (max != SIZE_MAX && used != SIZE_MAX)
		left = tutti_min(left, max > used ? max - used : 0);
	return left;
}

/* fallocate in pieces: a signal makes it start over. */
static int allocate(int fd, size_t bytes)
{
	const size_t piece = 8 << 20;

	for (size_t at = 0; at < bytes; at += piece) {
		size_t n = tutti_min(piece, bytes - at);
		int tries = 0;

		while (fallocate(fd, 0, (off_t)at, (off_t)n))
			if (errno != EINTR || ++tries > 1000)
				return errno;
	}
	return 0;
}

tuttiResult_t tutti_memfd_map(const char *name, size_t bytes, int *fd,
			      void **ptr)
{
	size_t left = bytes >= LARGE ? memory_left() : SIZE_MAX;
	int err;

	if (bytes > left)
		return tutti_fail(tuttiSystemError,
				  "cannot allocate %zu bytes of shared memory: "
				  "%zu bytes are left", bytes, left);
	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return tutti_fail_errno(errno, "cannot make a shared memory "
					"segment of %zu bytes", bytes);
	err = ftruncate(*fd, (off_t)bytes) ? errno : 0;
	/* Nobody may take memory away from under a peer. */
	if (!err && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		err = errno;
	if (!err)
		err = allocate(*fd, bytes);
	if (!err) {
		*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, *fd, 0);
		err = *ptr == MAP_FAILED ? errno : 0;
	}
	if (!err)
		return tuttiSuccess;
	tutti_close(fd);
	return tutti_fail_errno(err, "cannot allocate %zu bytes of shared "
				"memory", bytes);
}

static size_t page_up(size_t n)
{
	return tutti_round_up(n, (size_t)sysconf(_SC_PAGESIZE));
}

/* In the child of a fork: the parent's segments are not the child's to give or
 * to take back. */
static void forget_parent(void)
{
	pthread_mutex_init(&lock, NULL);
	for (struct segment *s = segments; s; s = s->next)
		s->inherited = true;
	atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

static void prepare_forks(void)
{
	/* Fails only without memory, and then so will what follows. */
	pthread_atfork(NULL, NULL, forget_parent);
}

/* Add to the list and offer to peers.  Takes the fields of `s`. */
static tuttiResult_t publish(struct segment *s)
{
	struct tutti_fdpass_item item = { s->fd, page_up(s->lead + s->size),
					  s->offset };
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint8_t key[16];
	tuttiResult_t rc;

	pthread_once(&once, prepare_forks);
	pthread_mutex_lock(&lock);
	s->seg = ++last_seg;
	tutti_mem_key(key, s->seg);
	rc = tutti_fdpass_offer(key, &item);
	if (!rc) {
		s->next = segments;
		segments = s;
		atomic_fetch_add_explicit(&generation, 1,
					  memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

/* Take out of the list the segment that `match` describes. */
static struct segment *unpublish(const void *base, uint64_t seg)
{
	struct segment **p, *s;
	uint8_t key[16];

	pthread_mutex_lock(&lock);
	for (p = &segments; (s = *p); p = &s->next)
		if (!s->inherited &&
		    (seg ? s->seg == seg : s->base == base && s->mapped))
			break;
	if (s) {
		*p = s->next;
		tutti_mem_key(key, s->seg);
		tutti_fdpass_withdraw(key);
		atomic_fetch_add_explicit(&generation, 1,
					  memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return s;
}

tuttiResult_t tutti_mem_alloc(void **ptr, size_t size)
{
	struct segment *s;
	void *base;
	tuttiResult_t rc;

	if (!size) {
		*ptr = NULL;
		return tuttiSuccess;
	}
	if (size > SIZE_MAX / 2)
		return tutti_fail(tuttiSystemError,
				  "cannot allocate %zu bytes", size);
	s = calloc(1, sizeof(*s));
	if (!s)
		return tutti_fail(tuttiSystemError, "out of memory");
	s->size = size;
	s->mapped = page_up(size);
	rc = tutti_memfd_map("tutti-mem", s->mapped, &s->fd, &base);
	if (rc)
		goto err_free;
	s->base = base;
	rc = publish(s);
	if (rc)
		goto err_unmap;
	*ptr = base;
	return tuttiSuccess;

err_unmap:
	munmap(base, s->mapped);
	tutti_close(&s->fd);
err_free:
	free(s);
	return rc;
}

tuttiResult_t tutti_mem_free(void *ptr)
{
	struct segment *s;

	if (!ptr)
		return tuttiSuccess;
	s = unpublish(ptr, 0);
	if (!s)
		return tutti_fail(tuttiInvalidArgument,
				  "tuttiMemFree was given %p, which "
				  "tuttiMemAlloc did not return in this process "
				  "or which was freed before", ptr);
	/* Peers may keep their mappings for a while; the pages go now. */
	fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		  (off_t)s->mapped);
	munmap(s->base, s->mapped);
	tutti_close(&s->fd);
	free(s);
	return tuttiSuccess;
}

/* One line of /proc/self/maps. */
struct mapping {
	uintptr_t start, end;
	bool shared;
	uint64_t offset;
	dev_t dev;
	ino_t inode;
	char path[256];
};

/* The mapping that holds all of [at, at + size); false if none does. */
static bool find_mapping(struct mapping *m, uintptr_t at, size_t size)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], perms[5];
	unsigned int major, minor;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		uint64_t inode;

		m->path[0] = 0;
		if (sscanf(line,
			   "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64
			   " %x:%x %" SCNu64 " %255[^\n]",
			   &m->start, &m->end, perms, &m->offset, &major,
			   &minor, &inode, m->path) < 7)
			continue;
		m->shared = perms[3] == 's' && perms[0] == 'r' &&
			    perms[1] == 'w';
		m->dev = makedev(major, minor);
		m->inode = (ino_t)inode;
		found = m->start <= at && at + size <= m->end;
	}
	if (f)
		fclose(f);
	return found;
}

static bool is_file_of(int fd, const struct mapping *m)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == m->inode &&
	       st.st_dev == m->dev;
}

/* Whether an entry of /proc/self/fd seems to be the mapped file.  Another
 * thread may close it and open something else at any time. */
static bool seems_file_of(DIR *d, const struct dirent *e,
			  const struct mapping *m)
{
	struct stat st;

	return e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0) &&
	       st.st_ino == m->inode && st.st_dev == m->dev;
}

/* A descriptor of our own for the mapped file, or -1. */
static int open_mapping(const struct mapping *m)
{
	int fd = open(m->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct dirent *e;
	DIR *d;

	if (is_file_of(fd, m))
		return fd;
	tutti_close(&fd);
	d = opendir("/proc/self/fd");
	while (d && fd < 0 && (e = readdir(d))) {
		if (!seems_file_of(d, e, m))
			continue;
		fd = fcntl(atoi(e->d_name), F_DUPFD_CLOEXEC, 3);
		if (!is_file_of(fd, m))
			tutti_close(&fd);
	}
	if (d)
		closedir(d);
	return fd;
}

tuttiResult_t tutti_mem_register(void *ptr, size_t size, uint64_t *seg)
{
	struct mapping m;
	struct segment *s;
	tuttiResult_t rc;
	int fd;

	*seg = 0;
	if (!find_mapping(&m, (uintptr_t)ptr, size) || !m.shared || !m.inode)
		return tuttiSuccess;
	fd = open_mapping(&m);
	if (fd < 0)
		return tuttiSuccess;
	s = calloc(1, sizeof(*s));
	if (!s) {
		tutti_close(&fd);
		return tutti_fail(tuttiSystemError, "out of memory");
	}
	/* Only what was registered: the rest of the mapping may change. */
	s->base = ptr;
	s->size = size;
	s->offset = m.offset + ((uintptr_t)ptr - m.start);
	s->lead = s->offset % (uint64_t)sysconf(_SC_PAGESIZE);
	s->offset -= s->lead;
	s->fd = fd;
	rc = publish(s);
	if (rc) {
		tutti_close(&fd);
		free(s);
		return rc;
	}
	*seg = s->seg;
	return tuttiSuccess;
}

void tutti_mem_deregister(uint64_t seg)
{
	struct segment *s = seg ? unpublish(NULL, seg) : NULL;

	if (!s)
		return;
	tutti_close(&s->fd);
	free(s);
}

static struct segment *search(uintptr_t at, size_t bytes)
{
	for (struct segment *s = segments; s; s = s->next)
		if (!s->inherited && (uintptr_t)s->base <= at &&
		    at + bytes <= (uintptr_t)s->base + s->size)
			return s;
	return NULL;
}

struct tutti_mem_place tutti_mem_find(struct tutti_mem_cache *cache,
				      const void *ptr, size_t bytes)
{
	uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
	struct tutti_mem_place place = { 0, 0 };
	uintptr_t at = (uintptr_t)ptr;
	struct segment *s;
	unsigned int i;

	if (cache->generation != now) {
		memset(cache, 0, sizeof(*cache));
		cache->generation = now;
	}
	for (i = 0; i < tutti_countof(cache->entry); i++) {
		if (cache->entry[i].base > at ||
		    at + bytes > cache->entry[i].base + cache->entry[i].size)
			continue;
		place.seg = cache->entry[i].seg;
		place.offset = at - cache->entry[i].base +
			       cache->entry[i].lead;
		return place;
	}
	pthread_mutex_lock(&lock);
	s = search(at, bytes);
	i = cache->next++ % tutti_countof(cache->entry);
	/* Remember misses too, exactly as asked. */
	cache->entry[i].base = s ? (uintptr_t)s->base : at;
	cache->entry[i].size = s ? s->size : bytes;
	cache->entry[i].seg = s ? s->seg : 0;
	cache->entry[i].lead = s ? s->lead : 0;
	if (s) {
		place.seg = s->seg;
		place.offset = at - (uintptr_t)s->base + s->lead;
	}
	pthread_mutex_unlock(&lock);
	return place;
}
