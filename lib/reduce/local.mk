# SPDX-License-Identifier: BSD-3-Clause
# Each instruction set is a library of its own, for its own flags.
libtutti_core_la_SOURCES += \
	lib/reduce/average.c \
	lib/reduce/convert.c lib/reduce/convert.h lib/reduce/convert.inc \
	lib/reduce/copy.c lib/reduce/copy.inc \
	lib/reduce/dispatch.c \
	lib/reduce/fpstate.h \
	lib/reduce/kernel.inc \
	lib/reduce/reduce.h lib/reduce/reduce_impl.h \
	lib/reduce/scalar.c \
	lib/reduce/table.inc \
	lib/reduce/vector.h

if AVX2
libtutti_core_la_SOURCES += lib/reduce/cpu.c
noinst_LTLIBRARIES += libtutti-avx2.la
libtutti_avx2_la_SOURCES = lib/reduce/avx2.c
libtutti_avx2_la_CFLAGS = $(AM_CFLAGS) $(AVX2_CFLAGS)
libtutti_core_la_LIBADD += libtutti-avx2.la
endif

if AVX512
noinst_LTLIBRARIES += libtutti-avx512.la
libtutti_avx512_la_SOURCES = lib/reduce/avx512.c
libtutti_avx512_la_CFLAGS = $(AM_CFLAGS) $(AVX512_CFLAGS)
libtutti_core_la_LIBADD += libtutti-avx512.la
endif

if NEON
noinst_LTLIBRARIES += libtutti-neon.la
libtutti_neon_la_SOURCES = lib/reduce/neon.c
libtutti_neon_la_CFLAGS = $(AM_CFLAGS) $(NEON_CFLAGS)
libtutti_core_la_LIBADD += libtutti-neon.la
endif
