# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/topo/build.c \
	lib/topo/hwloc.c \
	lib/topo/place.c \
	lib/topo/sysfs.c \
	lib/topo/topo.c lib/topo/topo.h lib/topo/topo_impl.h \
	lib/topo/xml.c
