# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/exec/arrive.c \
	lib/exec/combine.c \
	lib/exec/exec.c lib/exec/exec.h \
	lib/exec/fire.c \
	lib/exec/job.c lib/exec/job.h \
	lib/exec/program.c lib/exec/program.h
