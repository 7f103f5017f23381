/* SPDX-License-Identifier: BSD-3-Clause */
/* The narrow floating-point types from and to float32, one at a time. */
#include "config.h"

#include "reduce/convert.h"
#include "reduce/reduce.h"

float tutti_f16_to_f32(uint16_t x)
{
	return f16_widen(x);
}

uint16_t tutti_f16_from_f32(float x)
{
	return f16_narrow(x);
}

float tutti_bf16_to_f32(uint16_t x)
{
	return bf16_widen(x);
}

uint16_t tutti_bf16_from_f32(float x)
{
	return bf16_narrow(x);
}

float tutti_e4m3_to_f32(uint8_t x)
{
	return e4m3_widen(x);
}

uint8_t tutti_e4m3_from_f32(float x)
{
	return e4m3_narrow(x);
}

float tutti_e5m2_to_f32(uint8_t x)
{
	return e5m2_widen(x);
}

uint8_t tutti_e5m2_from_f32(float x)
{
	return e5m2_narrow(x);
}
