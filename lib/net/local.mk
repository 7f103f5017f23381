# SPDX-License-Identifier: BSD-3-Clause
# Transports, best first: one line each, the file that defines its table.
TUTTI_XPORTS = \
	lib/net/shm/shm.c \
	lib/net/tcp/tcp.c

libtutti_core_la_SOURCES += \
	lib/net/net.c lib/net/xport.h lib/net/chan.h \
	lib/net/shm/shm.h \
	lib/net/shm/node.c lib/net/shm/node.h \
	lib/net/shm/mem.c lib/net/shm/mem.h \
	lib/net/shm/fdpass.c lib/net/shm/fdpass.h \
	lib/net/stream.c lib/net/stream.h \
	lib/net/tcp/hello.c lib/net/tcp/hello.h \
	lib/net/tcp/meet.c lib/net/tcp/meet.h \
	$(TUTTI_XPORTS)

nodist_libtutti_core_la_SOURCES += lib/net/registry.inc
BUILT_SOURCES += lib/net/registry.inc
CLEANFILES += lib/net/registry.inc
lib/net/registry.inc: lib/net/local.mk lib/mkregistry
	@mkdir -p lib/net
	$(AM_V_GEN)$(top_srcdir)/lib/mkregistry $(TUTTI_XPORTS) > $@.tmp && mv $@.tmp $@
