# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/api/api.h \
	lib/api/coll.c lib/api/coll.h \
	lib/api/coll_v.c \
	lib/api/group.c \
	lib/api/info.c \
	lib/api/life.c \
	lib/api/mem.c \
	lib/api/redop.c
