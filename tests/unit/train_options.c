/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trainer's command line: what is right is taken, and whatever is wrong
 * is refused in one sentence that says what to do.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "train.h"

static char why[WHY_MAX];
static struct options opt;

/* Parse up to four words, NULL ends them. */
static int parse(const char *a, const char *b, const char *c, const char *d)
{
	char *argv[] = { (char *)"tutti-train", (char *)a, (char *)b,
			 (char *)c, (char *)d, NULL };
	int argc = 0;

	while (argv[argc])
		argc++;
	why[0] = '\0';
	return options_parse(&opt, argc, argv, why);
}

static void refused(const char *a, const char *b, const char *text)
{
	cr_expect_eq(parse(a, b, NULL, NULL), -1, "%s %s", a, b ? b : "");
	cr_expect(strstr(why, text), "no \"%s\" in: %s", text, why);
	cr_expect(!strchr(why, '\n'), "more than one line: %s", why);
}

Test(train_options, defaults)
{
	cr_assert_eq(parse(NULL, NULL, NULL, NULL), 0, "%s", why);
	cr_expect_gt(opt.epochs, 0);
	cr_expect_gt(opt.batch, 0);
	cr_expect_eq(opt.steps, 0);
	cr_expect_eq(opt.hidden, 2);
	cr_expect_eq(opt.width[0], 256);
	cr_expect_eq(opt.width[1], 128);
}

Test(train_options, both_ways_to_give_a_value)
{
	cr_assert_eq(parse("--steps", "60", "--batch=512", NULL), 0, "%s", why);
	cr_expect_eq(opt.steps, 60);
	cr_expect_eq(opt.batch, 512);
	cr_expect_eq(opt.epochs, 0, "steps alone decide");
	cr_assert_eq(parse("--bucket", "1M", "--model", "mlp:7"), 0, "%s", why);
	cr_expect_eq(opt.bucket_bytes, 1 << 20);
	cr_expect_eq(opt.hidden, 1);
	cr_expect_eq(opt.width[0], 7);
	cr_assert_eq(parse("--seed", "18446744073709551615", NULL, NULL), 0,
		     "%s", why);
	cr_expect_eq(opt.seed, UINT64_MAX);
}

Test(train_options, flags_that_do_not_exist)
{
	refused("--bacth", "256", "--batch");
	refused("--acumulate=2", NULL, "--accumulate");
	refused("--checkpoints", "x", "--checkpoint");
	refused("-n", "2", "not a flag");
	refused("data", NULL, "not a flag");
	refused("--", NULL, "not a flag");
}

Test(train_options, values_that_are_wrong)
{
	refused("--batch", "0", "--batch 0");
	refused("--batch", "-1", "whole number");
	refused("--batch", "1.5", "whole number");
	refused("--batch", "12x", "whole number");
	refused("--batch", "99999999999999999999", "whole number");
	refused("--batch", NULL, "needs a value");
	refused("--batch=", NULL, "whole number");
	refused("--data=", NULL, "needs a value");
	refused("--steps", "0", "--steps 0");
	refused("--epochs", "0", "--epochs 0");
	refused("--accumulate", "0", "--accumulate 0");
	refused("--lr", "nan", "--lr nan");
	refused("--lr", "-0.1", "--lr -0.1");
	refused("--momentum", "1.1", "from 0 to 1");
	refused("--bucket", "4T", "4K or 1M");
	refused("--bucket", "3", "from 4");
	refused("--quiet=yes", NULL, "takes no value");
}

Test(train_options, models_that_do_not_exist)
{
	refused("--model", "gpt", "mlp:");
	refused("--model", "mlp:", "whole number");
	refused("--model", "mlp:0", "whole number");
	refused("--model", "mlp:5,,6", "whole number");
	refused("--model", "mlp:5,", "whole number");
	refused("--model", "mlp:5x", "whole number");
	refused("--model", "mlp: 5", "whole number");
	refused("--model", "mlp:99999999", "whole number");
	refused("--model", "mlp:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "at most");
}

Test(train_options, what_does_not_go_together)
{
	refused("--mode", "zero1", "not in this version");
	refused("--mode", "ddpp", "must be ddp");
	refused("--checkpoint-every", "5", "--checkpoint FILE");
	cr_expect_eq(parse("--emulate-compute", "5", "--resume", "x"), -1);
	cr_expect(strstr(why, "--resume"), "%s", why);
}
