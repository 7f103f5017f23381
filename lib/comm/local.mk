# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/comm/ask.c \
	lib/comm/blocks.c \
	lib/comm/board.c \
	lib/comm/comm.c lib/comm/comm.h \
	lib/comm/domains.c \
	lib/comm/family.c \
	lib/comm/group.c \
	lib/comm/join.c \
	lib/comm/memory.c \
	lib/comm/peers.c \
	lib/comm/plan.c \
	lib/comm/redops.c \
	lib/comm/run.c lib/comm/run.h \
	lib/comm/split.c \
	lib/comm/wait.c lib/comm/wait.h
