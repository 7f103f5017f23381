/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `tutti info`. */
#ifndef TUTTI_TOOLS_INFO_H
#define TUTTI_TOOLS_INFO_H

#include <stdbool.h>

/* The table of settings: for people, as JSON, as roff for the manual. */
void info_settings_text(void);
void info_settings_json(void);
void info_settings_man(void);

/* The registry of algorithms. */
void info_algorithms_text(void);
void info_algorithms_json(void);

#endif
