# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/exec/exec.c lib/exec/exec.h \
	lib/exec/program.c lib/exec/program.h
