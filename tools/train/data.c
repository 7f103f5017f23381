/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data set: four IDX files, compressed by gzip or not.  An IDX file is a
 * big-endian header (a magic number that tells the type and the number of
 * dimensions, then the dimensions) and the bytes.  Nothing in a file is
 * believed before it is checked: a damaged one is refused with its name and
 * what is wrong.
 *
 * Every rank holds the whole set and picks its samples from it, so that the
 * order of the samples does not depend on the number of ranks.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "train.h"

#define MAGIC_IMAGES 0x803u	/* unsigned bytes, three dimensions */
#define MAGIC_LABELS 0x801u	/* unsigned bytes, one dimension */
#define SET_BYTES_MAX ((uint64_t)1 << 31)

static const char package[] = "dataset-fashion-mnist";

/* Mean and deviation of a Fashion-MNIST pixel between 0 and 1. */
static const double pixel_mean = 0.2860, pixel_deviation = 0.3530;

struct idx {
	gzFile file;
	char path[PATH_MAX];
};

static int idx_open(struct idx *idx, const char *dir, const char *name,
		    char *why)
{
	snprintf(idx->path, sizeof(idx->path), "%s/%s.gz", dir, name);
	if (access(idx->path, F_OK))
		idx->path[strlen(idx->path) - 3] = '\0';
	idx->file = gzopen(idx->path, "rb");
	if (idx->file) {
		gzbuffer(idx->file, 1 << 18);
		return 0;
	}
	if (errno == ENOENT)
		return fail(why, "there is no data file %s.gz; install the "
			    "Debian package %s, or name the directory of its "
			    "files with --data", idx->path, package);
	return fail(why, "cannot open the data file %s: %s", idx->path,
		    strerror(errno ? errno : ENOMEM));
}

static int idx_read(struct idx *idx, void *to, size_t bytes, char *why)
{
	char *at = to;

	while (bytes > 0) {
		unsigned int want = bytes < 1 << 30 ? (unsigned int)bytes :
				    1 << 30;
		int got = gzread(idx->file, at, want);
		int code;

		if (got < 0)
			return fail(why, "the data file %s is damaged: %s",
				    idx->path, gzerror(idx->file, &code));
		if (got == 0)
			return fail(why, "the data file %s is cut off: %zu "
				    "bytes are missing", idx->path, bytes);
		at += got;
		bytes -= (size_t)got;
	}
	return 0;
}

/* Check that the file ends here.  Reading on to the end also makes zlib
 * compare its checksum. */
static int idx_end(struct idx *idx, char *why)
{
	char more;
	int code;
	int got = gzread(idx->file, &more, 1);
	const char *text = gzerror(idx->file, &code);

	/* A file cut off within the checksum is told by the code alone. */
	if (got < 0 || (got == 0 && code != Z_OK))
		return fail(why, "the data file %s is damaged: %s", idx->path,
			    text);
	if (got > 0)
		return fail(why, "the data file %s is damaged: bytes follow "
			    "after the last item", idx->path);
	return 0;
}

/* Read the header: `dims` numbers after the magic one. */
static int idx_header(struct idx *idx, uint32_t magic, uint32_t *dim,
		      int dims, char *why)
{
	uint8_t raw[16];
	uint32_t number[4];
	uint64_t total = 1;
	int i;

	if (idx_read(idx, raw, 4 * (size_t)(dims + 1), why))
		return -1;
	for (i = 0; i <= dims; i++)
		number[i] = (uint32_t)raw[4 * i] << 24 |
			    (uint32_t)raw[4 * i + 1] << 16 |
			    (uint32_t)raw[4 * i + 2] << 8 | raw[4 * i + 3];
	if (number[0] != magic)
		return fail(why, "the data file %s is not an IDX file of %s: "
			    "it begins with 0x%08x, not 0x%08x", idx->path,
			    magic == MAGIC_IMAGES ? "images" : "labels",
			    number[0], magic);
	for (i = 0; i < dims; i++) {
		dim[i] = number[i + 1];
		if (dim[i] == 0 || dim[i] > SET_BYTES_MAX / total)
			return fail(why, "the data file %s is damaged: its "
				    "dimension %d is %u", idx->path, i + 1,
				    dim[i]);
		total *= dim[i];
	}
	return 0;
}

static int read_images(struct images *set, const char *dir, const char *name,
		       char *why)
{
	struct idx idx;
	uint32_t dim[3];
	size_t bytes;
	int outcome;

	if (idx_open(&idx, dir, name, why))
		return -1;
	outcome = idx_header(&idx, MAGIC_IMAGES, dim, 3, why);
	if (!outcome) {
		set->count = dim[0];
		set->rows = dim[1];
		set->columns = dim[2];
		bytes = set->count * set->rows * set->columns;
		set->pixel = malloc(bytes);
		if (!set->pixel)
			outcome = fail(why, "no memory for the %zu bytes of "
				       "%s", bytes, idx.path);
		else if (idx_read(&idx, set->pixel, bytes, why) ||
			 idx_end(&idx, why))
			outcome = -1;
	}
	gzclose(idx.file);
	return outcome;
}

static int check_labels(const struct images *set, const char *path, char *why)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->label[i] >= CLASSES)
			return fail(why, "the data file %s is damaged: label "
				    "%zu is %d, but there are %d classes",
				    path, i, set->label[i], CLASSES);
	return 0;
}

static int read_labels(struct images *set, const char *dir, const char *name,
		       char *why)
{
	struct idx idx;
	uint32_t count;
	int outcome;

	if (idx_open(&idx, dir, name, why))
		return -1;
	outcome = idx_header(&idx, MAGIC_LABELS, &count, 1, why);
	if (!outcome && count != set->count)
		outcome = fail(why, "the data file %s has %u labels for %zu "
			       "images", idx.path, count, set->count);
	if (!outcome) {
		set->label = malloc(set->count);
		if (!set->label)
			outcome = fail(why, "no memory for %s", idx.path);
		else if (idx_read(&idx, set->label, set->count, why) ||
			 idx_end(&idx, why) ||
			 check_labels(set, idx.path, why))
			outcome = -1;
	}
	gzclose(idx.file);
	return outcome;
}

/* The first of the usual places that has the first file. */
static void find_set(char *dir, size_t cap)
{
	static const char *const places[] = {
		"/usr/share/datasets/fashion-mnist",
		"/usr/local/share/datasets/fashion-mnist",
		"/usr/share/dataset-fashion-mnist",
		"/usr/share/fashion-mnist",
		"data/fashion-mnist",
	};
	char path[PATH_MAX];
	size_t i;
	int gz;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (gz = 0; gz < 2; gz++) {
			snprintf(path, sizeof(path),
				 "%s/train-images-idx3-ubyte%s", places[i],
				 gz ? "" : ".gz");
			snprintf(dir, cap, "%s", places[i]);
			if (!access(path, F_OK))
				return;
		}
	}
	snprintf(dir, cap, "%s", places[0]);
}

int data_load(struct data *data, const char *dir, char *why)
{
	memset(data, 0, sizeof(*data));
	if (dir && strlen(dir) >= sizeof(data->dir))
		return fail(why, "the name of the --data directory is longer "
			    "than %zu bytes", sizeof(data->dir) - 1);
	if (dir)
		snprintf(data->dir, sizeof(data->dir), "%s", dir);
	else
		find_set(data->dir, sizeof(data->dir));
	if (access(data->dir, X_OK))
		return fail(why, "cannot use the data directory %s: %s; "
			    "install the Debian package %s, or name the "
			    "directory of its files with --data", data->dir,
			    strerror(errno), package);

	dir = data->dir;
	if (read_images(&data->train, dir, "train-images-idx3-ubyte", why) ||
	    read_labels(&data->train, dir, "train-labels-idx1-ubyte", why) ||
	    read_images(&data->test, dir, "t10k-images-idx3-ubyte", why) ||
	    read_labels(&data->test, dir, "t10k-labels-idx1-ubyte", why))
		goto err_free;
	if (data->train.rows != data->test.rows ||
	    data->train.columns != data->test.columns) {
		fail(why, "the training images in %s have %zu x %zu pixels, "
		     "but the test images %zu x %zu", dir, data->train.rows,
		     data->train.columns, data->test.rows, data->test.columns);
		goto err_free;
	}
	return 0;

err_free:
	data_free(data);
	return -1;
}

void data_free(struct data *data)
{
	free(data->train.pixel);
	free(data->train.label);
	free(data->test.pixel);
	free(data->test.label);
	memset(data, 0, sizeof(*data));
}

static uint64_t set_checksum(const struct images *set)
{
	size_t bytes = set->count * set->rows * set->columns;

	return (uint64_t)crc32_z(0, set->pixel, bytes) << 32 |
	       crc32_z(0, set->label, set->count);
}

uint64_t data_checksum(const struct data *data)
{
	return set_checksum(&data->train) * 31 + set_checksum(&data->test);
}

void data_shuffle(uint32_t *order, size_t count, uint64_t seed,
		  uint64_t epoch)
{
	uint64_t state = seed;
	size_t i, j;

	/* Mix the two, so that epoch 1 of seed 0 is not epoch 0 of seed 1. */
	state = random_next(&state) ^ (epoch + 1) * 0xd1342543de82ef95u;
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (i = count; i > 1; i--) {
		uint32_t last = order[i - 1];

		/* The bias of the remainder is below 2^-32. */
		j = random_next(&state) % i;
		order[i - 1] = order[j];
		order[j] = last;
	}
}

void data_fill(const struct images *set, const uint32_t *order, size_t first,
	       size_t count, float *input, uint8_t *label)
{
	size_t pixels = set->rows * set->columns, i, p;
	float value[256];

	for (i = 0; i < 256; i++)
		value[i] = (float)(((double)i / 255 - pixel_mean) /
				   pixel_deviation);
	for (i = 0; i < count; i++) {
		size_t which = order ? order[first + i] : first + i;
		const uint8_t *pixel = set->pixel + which * pixels;

		for (p = 0; p < pixels; p++)
			input[i * pixels + p] = value[pixel[p]];
		label[i] = set->label[which];
	}
}

void share(size_t count, int index, int parts, size_t *first, size_t *size)
{
	size_t each = count / (size_t)parts, over = count % (size_t)parts;
	size_t i = (size_t)index;

	*first = i * each + (i < over ? i : over);
	*size = each + (i < over);
}
