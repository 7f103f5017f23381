/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and sizes of data types and operators. */
#include "config.h"

#include "base/bits.h"
#include "tutti.h"

static const struct {
	const char *name;
	size_t size;
} types[tuttiNumTypes] = {
	[tuttiInt8] = { "int8", 1 },
	[tuttiUint8] = { "uint8", 1 },
	[tuttiInt32] = { "int32", 4 },
	[tuttiUint32] = { "uint32", 4 },
	[tuttiInt64] = { "int64", 8 },
	[tuttiUint64] = { "uint64", 8 },
	[tuttiFloat16] = { "half", 2 },
	[tuttiFloat32] = { "float", 4 },
	[tuttiFloat64] = { "double", 8 },
	[tuttiBfloat16] = { "bfloat16", 2 },
	[tuttiFloat8e4m3] = { "f8e4m3", 1 },
	[tuttiFloat8e5m2] = { "f8e5m2", 1 },
};

static const char *const redops[TUTTI_REDOPS] = {
	"sum", "prod", "max", "min", "avg",
	[TUTTI_REDOP_PREMUL] = "premulsum",
	[TUTTI_REDOP_USER] = "function",
	[TUTTI_REDOP_ORDERED] = "function in rank order"
};

size_t tutti_type_size(int datatype)
{
	if (datatype < 0 || datatype >= tuttiNumTypes)
		return 0;
	return types[datatype].size;
}

const char *tutti_type_name(int datatype)
{
	if (datatype < 0 || datatype >= tuttiNumTypes)
		return "?";
	return types[datatype].name;
}

const char *tutti_redop_name(int op)
{
	if (op < 0 || op >= TUTTI_REDOPS)
		return "?";
	return redops[op];
}
