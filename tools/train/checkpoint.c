/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saving and restoring a run.  A checkpoint is one file: a header, the
 * parameters, the velocities, and the SHA-256 of all that.
 *
 * A file is written under a temporary name, made durable, renamed, and the
 * directory made durable too, so that at any moment, power loss included,
 * either the old checkpoint or the new one is there as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train.h"

#define FORMAT 1
#define BYTE_ORDER_MARK 0x01020304u

static const char magic[8] = "tuttickp";

struct header {
	char magic[8];
	uint32_t format, byte_order;
	uint64_t params;
	uint32_t layers;
	uint32_t width[LAYERS_MAX + 1];
	struct progress progress;
};

static int temporary_name(char *name, const char *path, char *why)
{
	int len = snprintf(name, PATH_MAX, "%s.tmp", path);

	if (len < 0 || len >= PATH_MAX)
		return fail(why, "the file name %.100s... is too long", path);
	return 0;
}

/* Make the directory's entry of `path` durable. */
static int sync_directory(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd, rc;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

FILE *replace_open(const char *path, char *why)
{
	char name[PATH_MAX];
	struct stat st;
	FILE *file;
	int fd;

	if (temporary_name(name, path, why))
		return NULL;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fail(why, "cannot write %s: it is not a regular file", path);
		return NULL;
	}
	/* One left by a run that was killed is of no use to anyone. */
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file) {
		fail(why, "cannot write %s: cannot create %s: %s", path, name,
		     strerror(errno));
		if (fd >= 0) {
			close(fd);
			unlink(name);
		}
	}
	return file;
}

int replace_close(FILE *file, const char *path, bool keep, char *why)
{
	char name[PATH_MAX];
	int outcome = 0;

	if (temporary_name(name, path, why)) {
		fclose(file);
		return -1;
	}
	if (keep && (fflush(file) || ferror(file) || fsync(fileno(file))))
		outcome = fail(why, "cannot write %s: %s; what stood there "
			       "before is untouched", path, strerror(errno));
	if (fclose(file) && keep && !outcome)
		outcome = fail(why, "cannot write %s: %s; what stood there "
			       "before is untouched", path, strerror(errno));
	if (keep && !outcome && rename(name, path))
		outcome = fail(why, "cannot rename %s to %s: %s", name, path,
			       strerror(errno));
	if (!keep || outcome) {
		unlink(name);
		return outcome;
	}
	if (sync_directory(path))
		return fail(why, "cannot make the directory of %s durable: %s",
			    path, strerror(errno));
	return 0;
}

int checkpoint_probe(const char *path, char *why)
{
	FILE *file = replace_open(path, why);

	if (!file)
		return -1;
	return replace_close(file, path, false, why);
}

static void put(FILE *file, struct sha256 *sum, const void *data, size_t len)
{
	sha256_add(sum, data, len);
	/* A failure stays in the FILE and is met when it is closed. */
	fwrite(data, 1, len, file);
}

int checkpoint_write(const char *path, const struct progress *progress,
		     const struct model *m, char *why)
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 sum;
	struct header h;
	FILE *file;
	int l;

	/* Padding is written too, so it must not be left to chance. */
	memset(&h, 0, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.format = FORMAT;
	h.byte_order = BYTE_ORDER_MARK;
	h.params = m->params;
	h.layers = (uint32_t)m->layers;
	for (l = 0; l <= m->layers; l++)
		h.width[l] = (uint32_t)m->width[l];
	h.progress = *progress;

	file = replace_open(path, why);
	if (!file)
		return -1;
	sha256_init(&sum);
	put(file, &sum, &h, sizeof(h));
	put(file, &sum, m->param, m->params * sizeof(float));
	put(file, &sum, m->velocity, m->params * sizeof(float));
	sha256_end(&sum, digest);
	fwrite(digest, 1, sizeof(digest), file);
	return replace_close(file, path, true, why);
}

/* Read the whole file and prove that it is undamaged; NULL if it is not. */
static uint8_t *read_proven(const char *path, size_t *size, char *why)
{
	const size_t least = sizeof(struct header) + SHA256_BYTES;
	uint8_t digest[SHA256_BYTES], *bytes = NULL;
	struct sha256 sum;
	struct stat st = { 0 };
	FILE *file;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fail(why, "the checkpoint %s is not a regular file", path);
		return NULL;
	}
	file = fopen(path, "rbe");
	if (!file) {
		fail(why, "cannot read the checkpoint %s: %s", path,
		     strerror(errno));
		return NULL;
	}
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	if (!bytes) {
		fail(why, "no memory for the checkpoint %s", path);
		goto err_close;
	}
	if (fread(bytes, 1, *size, file) != *size) {
		fail(why, "cannot read the checkpoint %s: %s", path,
		     ferror(file) ? strerror(errno) : "it became shorter");
		goto err_close;
	}
	if (*size < sizeof(magic) || memcmp(bytes, magic, sizeof(magic))) {
		fail(why, "%s is not a checkpoint of tutti-train", path);
		goto err_close;
	}
	if (*size < least) {
		fail(why, "the checkpoint %s is damaged: it is cut off after "
		     "%zu bytes", path, *size);
		goto err_close;
	}
	sha256_init(&sum);
	sha256_add(&sum, bytes, *size - SHA256_BYTES);
	sha256_end(&sum, digest);
	if (memcmp(digest, bytes + *size - SHA256_BYTES, SHA256_BYTES)) {
		fail(why, "the checkpoint %s is damaged: its checksum is wrong",
		     path);
		goto err_close;
	}
	fclose(file);
	return bytes;

err_close:
	free(bytes);
	fclose(file);
	return NULL;
}

static void shape_text(char *text, size_t cap, const uint32_t *width,
		       uint32_t layers)
{
	size_t len = 0;
	uint32_t l;

	text[0] = '\0';
	for (l = 0; l <= layers && len < cap; l++)
		len += (size_t)snprintf(text + len, cap - len, "%s%u",
					l ? "-" : "", width[l]);
}

static int check_shape(const char *path, const struct header *h,
		       const struct model *m, size_t size, char *why)
{
	uint32_t width[LAYERS_MAX + 1] = { 0 };
	char there[256], here[256];
	int l;

	if (h->byte_order != BYTE_ORDER_MARK || h->format != FORMAT)
		return fail(why, "the checkpoint %s has format %u or the byte "
			    "order of another kind of machine; this version "
			    "reads format %d", path, h->format, FORMAT);
	if (h->layers < 1 || h->layers > LAYERS_MAX)
		return fail(why, "the checkpoint %s has %u layers", path,
			    h->layers);
	for (l = 0; l <= m->layers; l++)
		width[l] = (uint32_t)m->width[l];
	shape_text(there, sizeof(there), h->width, h->layers);
	shape_text(here, sizeof(here), width, (uint32_t)m->layers);
	if (strcmp(there, here) || h->params != m->params)
		return fail(why, "the checkpoint %s is of another model: its "
			    "layers are %s, but --model and the data ask for "
			    "%s", path, there, here);
	if (size != sizeof(*h) + 2 * m->params * sizeof(float) + SHA256_BYTES)
		return fail(why, "the checkpoint %s has the wrong size", path);
	return 0;
}

static int check_progress(const char *path, const struct progress *there,
			  const struct progress *here, char *why)
{
	if (there->seed != here->seed)
		return fail(why, "the checkpoint %s was made with --seed %llu, "
			    "not %llu", path, (unsigned long long)there->seed,
			    (unsigned long long)here->seed);
	if (there->batch != here->batch)
		return fail(why, "the checkpoint %s was made with --batch "
			    "%llu, not %llu", path,
			    (unsigned long long)there->batch,
			    (unsigned long long)here->batch);
	if (there->samples != here->samples)
		return fail(why, "the checkpoint %s was made with %llu "
			    "training images, not %llu", path,
			    (unsigned long long)there->samples,
			    (unsigned long long)here->samples);
	return 0;
}

int checkpoint_read(const char *path, struct progress *progress,
		    struct model *m, char *why)
{
	struct header h;
	size_t size, flat = m->params * sizeof(float);
	uint8_t *bytes = read_proven(path, &size, why);

	if (!bytes)
		return -1;
	memcpy(&h, bytes, sizeof(h));
	if (check_shape(path, &h, m, size, why) ||
	    check_progress(path, &h.progress, progress, why)) {
		free(bytes);
		return -1;
	}
	*progress = h.progress;
	memcpy(m->param, bytes + sizeof(h), flat);
	memcpy(m->velocity, bytes + sizeof(h) + flat, flat);
	free(bytes);
	return 0;
}
