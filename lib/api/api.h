/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share: the second name of every function. */
#ifndef TUTTI_API_API_H
#define TUTTI_API_API_H

#include "tutti.h"

/* tuttiX is a weak alias of ptuttiX, in the file that defines ptuttiX. */
#define TUTTI_ALIAS(type, name, args) \
	type name args __attribute__((weak, alias("p" #name)))

#endif
