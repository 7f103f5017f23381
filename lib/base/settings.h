/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one table of TUTTI_* variables (settings.def), read once per process.
 * Unknown names and values that cannot be parsed are told once, with the
 * nearest known name.
 */
#ifndef TUTTI_BASE_SETTINGS_H
#define TUTTI_BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tutti.h"

enum tutti_setting_type {
	TUTTI_TYPE_INT,		/* decimal, may be negative */
	TUTTI_TYPE_BOOL,	/* 0 or 1 */
	TUTTI_TYPE_SECONDS,	/* decimal fraction allowed; kept in ms */
	TUTTI_TYPE_BYTES,	/* 64, 4K, 1M, 2G */
	TUTTI_TYPE_STRING,
	TUTTI_TYPE_CHOICE	/* one of `choices`, kept as its index */
};

enum tutti_setting {
#define X(name, type, def, min, max, choices, area, help) TUTTI_SET_##name,
#include "base/settings.def"
#undef X
	TUTTI_SETTINGS
};

struct tutti_setting_info {
	const char *name;	/* with the prefix TUTTI_ */
	enum tutti_setting_type type;
	const char *def;	/* default, as text */
	int64_t min, max;	/* of numbers, in the stored unit */
	const char *choices;	/* separated by |, for CHOICE */
	const char *area;	/* heading in the manual */
	const char *help;
};

const struct tutti_setting_info *tutti_setting_info(enum tutti_setting s);

/* Number, bool, milliseconds, bytes or index of the choice. */
int64_t tutti_setting(enum tutti_setting s);
/* Text as given or the default; "" if neither. */
const char *tutti_setting_text(enum tutti_setting s);
/* True if the environment gave a valid value. */
bool tutti_setting_given(enum tutti_setting s);

/* tuttiInvalidUsage, with the sentence, if any known variable has a value
 * that cannot be parsed or is out of range.  Called by every init. */
tuttiResult_t tutti_settings_check(void);

/* Read the environment again: for tests and for tools that set variables. */
void tutti_settings_reload(void);

/* Parse "64", "4K", "1M", "2G" (powers of 1024); false if it is not that or
 * overflows. */
bool tutti_parse_bytes(const char *text, int64_t *out);

#endif
