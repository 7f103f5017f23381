/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trainer's checkpoints: what is written is read back to the bit; one
 * that is damaged anywhere, or of another run, is refused and changes
 * nothing; a write that fails leaves the old one.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train.h"

static char dir[64], path[128], temporary[160], why[WHY_MAX];
static struct options opt;
static struct model m, other;

static const struct progress here = {
	.step = 70, .epoch = 2, .epoch_step = 10, .seed = 5, .batch = 32,
	.samples = 1000, .accumulate = 1, .ranks = 3,
	.lr = 0.25, .lr_decay = 0.5, .momentum = 0.75
};

static void make(void)
{
	char *argv[] = { (char *)"tutti-train", (char *)"--model=mlp:5,3" };
	size_t i;

	strcpy(dir, "/tmp/train-ckpt-XXXXXX");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run.ckpt", dir);
	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	cr_assert_eq(options_parse(&opt, 2, argv, why), 0, "%s", why);
	cr_assert_eq(model_create(&m, &opt, 6, 1, why), 0, "%s", why);
	cr_assert_eq(model_create(&other, &opt, 6, 1, why), 0, "%s", why);
	model_randomize(&m, 1);
	model_randomize(&other, 2);
	for (i = 0; i < m.params; i++)
		m.velocity[i] = (float)i / 3;
}

static void clean(void)
{
	unlink(path);
	unlink(temporary);
	rmdir(dir);
	model_destroy(&m);
	model_destroy(&other);
}

TestSuite(train_checkpoint, .init = make, .fini = clean, .timeout = 60);

static void write_it(void)
{
	cr_assert_eq(checkpoint_write(path, &here, &m, why), 0, "%s", why);
	cr_expect(access(temporary, F_OK));
}

/* Reading with these wishes fails, says `text`, and changes nothing. */
static void refused(struct progress want, const char *text)
{
	struct progress before = want;
	float *copy = malloc(other.params * sizeof(float));

	memcpy(copy, other.param, other.params * sizeof(float));
	cr_assert_eq(checkpoint_read(path, &want, &other, why), -1);
	cr_expect(strstr(why, text), "no \"%s\" in: %s", text, why);
	cr_expect(strstr(why, path), "no file name in: %s", why);
	cr_expect(!memcmp(&before, &want, sizeof(want)));
	cr_expect(!memcmp(copy, other.param, other.params * sizeof(float)));
	free(copy);
}

static size_t load(uint8_t *raw, size_t cap)
{
	FILE *file = fopen(path, "rb");
	size_t len = fread(raw, 1, cap, file);

	fclose(file);
	cr_assert_lt(len, cap);
	return len;
}

static void store(const uint8_t *raw, size_t len)
{
	FILE *file = fopen(path, "wb");

	cr_assert_eq(fwrite(raw, 1, len, file), len);
	fclose(file);
}

Test(train_checkpoint, comes_back_to_the_bit)
{
	struct progress got = here;

	got.step = 0;
	got.ranks = 1;		/* another number of ranks may go on */
	got.lr = 1;
	write_it();
	cr_assert_eq(checkpoint_read(path, &got, &other, why), 0, "%s", why);
	cr_expect(!memcmp(&got, &here, sizeof(got)));
	cr_expect(!memcmp(m.param, other.param, m.params * sizeof(float)));
	cr_expect(!memcmp(m.velocity, other.velocity,
			  m.params * sizeof(float)));
}

Test(train_checkpoint, every_damaged_byte_is_noticed)
{
	static uint8_t raw[1 << 16];
	size_t len, at;

	write_it();
	len = load(raw, sizeof(raw));
	for (at = 0; at < len; at++) {
		raw[at] ^= 1;
		store(raw, len);
		raw[at] ^= 1;
		refused(here, at < 8 ? "not a checkpoint" : "damaged");
	}
}

Test(train_checkpoint, every_cut_is_noticed)
{
	static uint8_t raw[1 << 16];
	size_t len, at;

	write_it();
	len = load(raw, sizeof(raw));
	for (at = 0; at < len; at += at < 16 ? 1 : 7) {
		store(raw, at);
		refused(here, at < 8 ? "not a checkpoint" : "damaged");
	}
	store(raw, len + 1);
	refused(here, "damaged");
}

Test(train_checkpoint, of_another_run)
{
	struct progress want = here;

	write_it();
	want.seed = 6;
	refused(want, "--seed 5");
	want = here;
	want.batch = 33;
	refused(want, "--batch 32");
	want = here;
	want.samples = 999;
	refused(want, "1000 training images");
}

Test(train_checkpoint, of_another_model)
{
	char *argv[] = { (char *)"tutti-train", (char *)"--model=mlp:5,4" };

	write_it();
	model_destroy(&other);
	cr_assert_eq(options_parse(&opt, 2, argv, why), 0, "%s", why);
	cr_assert_eq(model_create(&other, &opt, 6, 1, why), 0, "%s", why);
	refused(here, "6-5-3-10");
	cr_expect(strstr(why, "6-5-4-10"), "%s", why);
}

Test(train_checkpoint, that_is_not_there_or_no_file)
{
	refused(here, "No such file");
	cr_assert_eq(mkdir(path, 0700), 0);
	refused(here, "not a regular file");
	cr_expect_eq(checkpoint_probe(path, why), -1);
	cr_expect(strstr(why, "not a regular file"), "%s", why);
	rmdir(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	refused(here, "not a regular file");
}

Test(train_checkpoint, replaces_a_left_over_and_not_what_it_points_to)
{
	char victim[128];
	FILE *file;

	snprintf(victim, sizeof(victim), "%s/victim", dir);
	file = fopen(victim, "w");
	fputs("precious", file);
	fclose(file);
	cr_assert_eq(symlink(victim, temporary), 0);
	write_it();
	file = fopen(victim, "r");
	cr_expect_eq(fgetc(file), 'p');
	fclose(file);
	unlink(victim);
}

Test(train_checkpoint, cannot_be_written)
{
	cr_expect_eq(checkpoint_probe("/nonexistent/run.ckpt", why), -1);
	cr_expect(strstr(why, "/nonexistent/run.ckpt"), "%s", why);
	cr_expect_eq(checkpoint_write("/nonexistent/a", &here, &m, why), -1);
	cr_expect_eq(checkpoint_probe(path, why), 0, "%s", why);
	cr_expect(access(path, F_OK), "a probe must leave nothing");
	cr_expect(access(temporary, F_OK), "a probe must leave nothing");
}

Test(train_sha256, known_values)
{
	static const struct {
		const char *text;
		int times;
		const char *digest;
	} known[] = {
		{ "", 1, "e3b0c44298fc1c149afbf4c8996fb924"
			 "27ae41e4649b934ca495991b7852b855" },
		{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223"
			    "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  1, "248d6a61d20638b8e5c026930c3e6039"
		     "a33ce45964ff2167f6ecedd419db06c1" },
		{ "aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67"
					"f1809a48a497200e046d39ccc7112cd0" },
	};
	uint8_t digest[SHA256_BYTES];
	char text[SHA256_TEXT];
	struct sha256 s;
	size_t i;
	int n;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		sha256_init(&s);
		for (n = 0; n < known[i].times; n++)
			sha256_add(&s, known[i].text, strlen(known[i].text));
		sha256_end(&s, digest);
		sha256_text(digest, text);
		cr_expect_str_eq(text, known[i].digest);
	}
}
