/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trainer's data set: a small one is read as it was written, a damaged
 * one is refused with a sentence, and every sample is used once an epoch
 * whatever the number of ranks.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "train.h"

#define TRAIN 7
#define TEST 3
#define ROWS 2
#define COLUMNS 3
#define PIXELS (ROWS * COLUMNS)

static const char train_images[] = "train-images-idx3-ubyte";
static const char train_labels[] = "train-labels-idx1-ubyte";
static const char test_images[] = "t10k-images-idx3-ubyte";
static const char test_labels[] = "t10k-labels-idx1-ubyte";

static char dir[64], why[WHY_MAX];
static struct data data;

static void path_of(char *path, const char *name, const char *end)
{
	snprintf(path, 256, "%s/%s%s", dir, name, end);
}

/* The header of an IDX file; `pixels` 0: one of labels. */
static size_t head(uint8_t *raw, uint32_t magic, uint32_t count,
		   uint32_t rows, uint32_t columns)
{
	uint32_t number[4] = { magic, count, rows, columns };
	size_t numbers = rows ? 4 : 2, i;

	for (i = 0; i < numbers * 4; i++)
		raw[i] = (uint8_t)(number[i / 4] >> (24 - 8 * (i % 4)));
	return numbers * 4;
}

static void write_gz(const char *name, const uint8_t *raw, size_t len)
{
	char path[256];
	gzFile file;

	path_of(path, name, ".gz");
	file = gzopen(path, "wb");
	cr_assert(file);
	cr_assert(gzwrite(file, raw, (unsigned int)len) == (int)len);
	cr_assert(gzclose(file) == Z_OK);
}

static void write_images(const char *name, uint32_t magic, uint32_t count,
			 size_t pixels)
{
	uint8_t raw[256];
	size_t len = head(raw, magic, count, ROWS, COLUMNS), i;

	for (i = 0; i < pixels; i++)
		raw[len++] = (uint8_t)(i * 5);
	write_gz(name, raw, len);
}

static void write_labels(const char *name, uint32_t magic, uint32_t count,
			 size_t labels, int step)
{
	uint8_t raw[256];
	size_t len = head(raw, magic, count, 0, 0), i;

	for (i = 0; i < labels; i++)
		raw[len++] = (uint8_t)((int)i * step);
	write_gz(name, raw, len);
}

static void make_set(void)
{
	strcpy(dir, "/tmp/train-data-XXXXXX");
	cr_assert(mkdtemp(dir));
	write_images(train_images, 0x803, TRAIN, TRAIN * PIXELS);
	write_labels(train_labels, 0x801, TRAIN, TRAIN, 1);
	write_images(test_images, 0x803, TEST, TEST * PIXELS);
	write_labels(test_labels, 0x801, TEST, TEST, 3);
}

static void remove_set(void)
{
	static const char *const names[] = {
		train_images, train_labels, test_images, test_labels
	};
	char path[256];
	int i;

	for (i = 0; i < 4; i++) {
		path_of(path, names[i], ".gz");
		unlink(path);
		path_of(path, names[i], "");
		unlink(path);
	}
	rmdir(dir);
	data_free(&data);
}

TestSuite(train_data, .init = make_set, .fini = remove_set, .timeout = 30);

/* The set is refused, and the sentence names the file and holds `text`. */
static void refused(const char *name, const char *text)
{
	cr_assert_eq(data_load(&data, dir, why), -1);
	cr_expect(strstr(why, name), "no %s in: %s", name, why);
	cr_expect(strstr(why, text), "no \"%s\" in: %s", text, why);
	cr_expect(!data.train.pixel && !data.test.label);
}

Test(train_data, reads_what_was_written)
{
	size_t i;

	cr_assert_eq(data_load(&data, dir, why), 0, "%s", why);
	cr_expect_eq(data.train.count, TRAIN);
	cr_expect_eq(data.test.count, TEST);
	cr_expect_eq(data.train.rows, ROWS);
	cr_expect_eq(data.train.columns, COLUMNS);
	for (i = 0; i < TRAIN * PIXELS; i++)
		cr_expect_eq(data.train.pixel[i], (uint8_t)(i * 5));
	for (i = 0; i < TEST; i++)
		cr_expect_eq(data.test.label[i], 3 * i);
}

Test(train_data, reads_uncompressed_files_too)
{
	uint8_t raw[64];
	size_t len = head(raw, 0x801, TEST, 0, 0);
	char path[256];
	FILE *file;

	path_of(path, test_labels, ".gz");
	cr_assert_eq(unlink(path), 0);
	path_of(path, test_labels, "");
	memset(raw + len, 4, TEST);
	file = fopen(path, "wb");
	cr_assert_eq(fwrite(raw, 1, len + TEST, file), len + TEST);
	fclose(file);
	cr_assert_eq(data_load(&data, dir, why), 0, "%s", why);
	cr_expect_eq(data.test.label[TEST - 1], 4);
}

Test(train_data, checksum_tells_sets_apart)
{
	uint64_t sum;

	cr_assert_eq(data_load(&data, dir, why), 0, "%s", why);
	sum = data_checksum(&data);
	cr_expect_eq(sum, data_checksum(&data));
	data.train.pixel[5] ^= 1;
	cr_expect_neq(sum, data_checksum(&data));
	data.train.pixel[5] ^= 1;
	data.test.label[0] ^= 1;
	cr_expect_neq(sum, data_checksum(&data));
}

Test(train_data, missing_folder_names_the_package)
{
	cr_assert_eq(data_load(&data, "/nonexistent/set", why), -1);
	cr_expect(strstr(why, "/nonexistent/set"), "%s", why);
	cr_expect(strstr(why, "dataset-fashion-mnist"), "%s", why);
}

Test(train_data, missing_file_names_the_package)
{
	char path[256];

	path_of(path, test_images, ".gz");
	cr_assert_eq(unlink(path), 0);
	refused(test_images, "dataset-fashion-mnist");
}

Test(train_data, wrong_magic)
{
	write_images(train_images, 0x801, TRAIN, TRAIN * PIXELS);
	refused(train_images, "0x00000801");
	write_images(train_images, 0x803, TRAIN, TRAIN * PIXELS);
	write_labels(test_labels, 0x803, TEST, TEST, 1);
	refused(test_labels, "0x00000803");
}

Test(train_data, short_file)
{
	write_images(train_images, 0x803, TRAIN, TRAIN * PIXELS - 1);
	refused(train_images, "1 bytes are missing");
	write_images(train_images, 0x803, TRAIN, 0);
	refused(train_images, "cut off");
	write_gz(train_images, (const uint8_t *)"\0\0", 2);
	refused(train_images, "cut off");
	write_gz(train_images, (const uint8_t *)"", 0);
	refused(train_images, "cut off");
}

Test(train_data, bytes_after_the_end)
{
	write_images(test_images, 0x803, TEST, TEST * PIXELS + 1);
	refused(test_images, "follow");
	write_images(test_images, 0x803, TEST, TEST * PIXELS);
	write_labels(test_labels, 0x801, TEST, TEST + 1, 1);
	refused(test_labels, "follow");
}

Test(train_data, header_that_asks_for_too_much)
{
	uint8_t raw[16];
	size_t len = head(raw, 0x803, 0xffffffff, 0xffffffff, 0xffffffff);

	write_gz(train_images, raw, len);
	refused(train_images, "dimension");
	len = head(raw, 0x803, 0, 28, 28);
	write_gz(train_images, raw, len);
	refused(train_images, "dimension 1 is 0");
}

Test(train_data, labels_that_do_not_fit)
{
	write_labels(train_labels, 0x801, TRAIN - 1, TRAIN - 1, 1);
	refused(train_labels, "6 labels for 7 images");
	write_labels(train_labels, 0x801, TRAIN, TRAIN, 2);
	refused(train_labels, "label 5 is 10");
}

Test(train_data, damaged_compression)
{
	uint8_t raw[512];
	char path[256];
	size_t len, at;
	FILE *file;

	path_of(path, train_images, ".gz");
	file = fopen(path, "rb");
	len = fread(raw, 1, sizeof(raw), file);
	fclose(file);
	/* Each byte of body and checksum; the first ten are gzip's header,
	 * most of which means nothing to a reader. */
	for (at = 10; at < len; at++) {
		raw[at] ^= 0x55;
		file = fopen(path, "wb");
		fwrite(raw, 1, len, file);
		fclose(file);
		raw[at] ^= 0x55;
		refused(train_images, "");
	}
	/* And each way to cut it off. */
	for (at = 0; at < len; at++) {
		file = fopen(path, "wb");
		fwrite(raw, 1, at, file);
		fclose(file);
		refused(train_images, "");
	}
}

Test(train_data, sets_of_different_size)
{
	uint8_t raw[64];
	size_t len = head(raw, 0x803, TEST, 1, PIXELS);

	memset(raw + len, 0, TEST * PIXELS);
	write_gz(test_images, raw, len + TEST * PIXELS);
	cr_assert_eq(data_load(&data, dir, why), -1);
	cr_expect(strstr(why, "2 x 3") && strstr(why, "1 x 6"), "%s", why);
}

Test(train_order, every_sample_once_and_by_seed_and_epoch)
{
	enum { N = 1000 };
	static uint32_t a[N], b[N];
	static bool seen[N];
	int i, equal = 0;

	data_shuffle(a, N, 1, 0);
	for (i = 0; i < N; i++) {
		cr_assert_lt(a[i], N);
		cr_assert(!seen[a[i]]);
		seen[a[i]] = true;
		equal += a[i] == (uint32_t)i;
	}
	cr_expect_lt(equal, 20);
	data_shuffle(b, N, 1, 0);
	cr_expect(!memcmp(a, b, sizeof(a)));
	data_shuffle(b, N, 1, 1);
	cr_expect(memcmp(a, b, sizeof(a)));
	data_shuffle(b, N, 0, 1);
	cr_expect(memcmp(a, b, sizeof(a)));
	data_shuffle(b, 1, 1, 0);
	cr_expect_eq(b[0], 0);
}

/* case 84: data that the ranks do not divide. */
Test(train_order, shares_cover_everything_once)
{
	size_t count, first, size, next;
	int parts, i;

	for (count = 0; count < 40; count++) {
		for (parts = 1; parts < 10; parts++) {
			next = 0;
			for (i = 0; i < parts; i++) {
				share(count, i, parts, &first, &size);
				cr_assert_eq(first, next);
				cr_assert_leq(size, count / parts + 1);
				cr_assert_geq(size, count / parts);
				next += size;
			}
			cr_assert_eq(next, count);
		}
	}
}

Test(train_order, filling_follows_the_order)
{
	uint8_t pixel[] = { 0, 255, 10, 20, 30, 40 }, label[] = { 1, 2, 3 };
	struct images set = { 3, 1, 2, pixel, label };
	uint32_t order[] = { 2, 0, 1 };
	float in[4];
	uint8_t got[2];

	data_fill(&set, order, 1, 2, in, got);
	cr_expect_eq(got[0], 1);
	cr_expect_eq(got[1], 2);
	cr_expect_float_eq(in[0], -0.2860f / 0.3530f, 1e-6);
	cr_expect_float_eq(in[1], (1 - 0.2860f) / 0.3530f, 1e-6);
	data_fill(&set, NULL, 2, 1, in, got);
	cr_expect_eq(got[0], 3);
	cr_expect_float_eq(in[1], (40 / 255.f - 0.2860f) / 0.3530f, 1e-6);
}
