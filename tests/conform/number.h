/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of every data type as doubles, by another way than the library's:
 * the small floats through their fields, one value at a time. */
#ifndef TESTS_CONFORM_NUMBER_H
#define TESTS_CONFORM_NUMBER_H

#include <stddef.h>

#include "tutti.h"

size_t number_size(tuttiDataType_t type);
/* Store `v` (exactly representable, or rounded to nearest even). */
void number_store(tuttiDataType_t type, void *base, size_t i, double v);
double number_load(tuttiDataType_t type, const void *base, size_t i);

#endif
