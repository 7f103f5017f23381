# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/boot/boot.h lib/boot/boot_impl.h \
	lib/boot/address.c \
	lib/boot/auth.c lib/boot/auth.h \
	lib/boot/bounded.c \
	lib/boot/derive.c \
	lib/boot/env.c \
	lib/boot/id.c \
	lib/boot/join.c \
	lib/boot/link.c lib/boot/link.h \
	lib/boot/member.c \
	lib/boot/pmi1.c \
	lib/boot/pmix.c \
	lib/boot/ranks.c \
	lib/boot/root.c lib/boot/root_impl.h \
	lib/boot/session.c \
	lib/boot/slurm.c \
	lib/boot/sock.c lib/boot/sock.h \
	lib/boot/wire.h
