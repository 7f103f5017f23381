# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/base/bits.c lib/base/bits.h \
	lib/base/clock.h \
	lib/base/fail.c lib/base/fail.h \
	lib/base/futex.c lib/base/futex.h \
	lib/base/io.c lib/base/io.h \
	lib/base/log.c lib/base/log.h \
	lib/base/loop.c lib/base/loop.h \
	lib/base/settings.c lib/base/settings.h lib/base/settings.def
