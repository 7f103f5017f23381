/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a small data set for the trainer's process tests:
 *
 *	train_dataset DIR TRAIN TEST SEED
 *
 * Ten classes of 12 x 12 images: a pattern of each class under noise, so that
 * there is something to learn.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define CLASSES 10
#define SIDE 12
#define PIXELS (SIDE * SIDE)

static uint64_t state;
static uint8_t pattern[CLASSES][PIXELS];

static uint32_t next(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

static void put_number(gzFile file, uint32_t n)
{
	uint8_t raw[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16),
			   (uint8_t)(n >> 8), (uint8_t)n };

	gzwrite(file, raw, 4);
}

static gzFile create(const char *dir, const char *set, const char *what)
{
	char path[4096];
	gzFile file;

	snprintf(path, sizeof(path), "%s/%s-%s-ubyte.gz", dir, set, what);
	file = gzopen(path, "wb1");
	if (!file) {
		fprintf(stderr, "train_dataset: cannot write %s\n", path);
		exit(1);
	}
	return file;
}

static int make(const char *dir, const char *set, uint32_t count)
{
	gzFile images = create(dir, set, "images-idx3");
	gzFile labels = create(dir, set, "labels-idx1");
	int failed;

	put_number(images, 0x803);
	put_number(images, count);
	put_number(images, SIDE);
	put_number(images, SIDE);
	put_number(labels, 0x801);
	put_number(labels, count);
	while (count-- > 0) {
		uint8_t label = (uint8_t)next(CLASSES), pixel[PIXELS];
		int p;

		for (p = 0; p < PIXELS; p++)
			pixel[p] = (uint8_t)(pattern[label][p] + next(160));
		gzwrite(images, pixel, PIXELS);
		gzwrite(labels, &label, 1);
	}
	failed = gzclose(images) != Z_OK;
	return gzclose(labels) != Z_OK || failed;
}

int main(int argc, char **argv)
{
	int c, p;

	if (argc != 5) {
		fprintf(stderr, "usage: train_dataset DIR TRAIN TEST SEED\n");
		return 2;
	}
	/* The patterns are those of every seed: only samples differ. */
	state = 1;
	for (c = 0; c < CLASSES; c++)
		for (p = 0; p < PIXELS; p++)
			pattern[c][p] = (uint8_t)next(96);
	state = strtoull(argv[4], NULL, 10);
	return make(argv[1], "train", (uint32_t)atoi(argv[2])) ||
	       make(argv[1], "t10k", (uint32_t)atoi(argv[3]));
}
