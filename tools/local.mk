# SPDX-License-Identifier: BSD-3-Clause
bin_PROGRAMS += tools/tutti
tools_tutti_SOURCES = \
	tools/commands.h \
	tools/descent.c tools/descent.h \
	tools/info.c tools/info.h tools/info_algorithms.c \
	tools/info_settings.c tools/info_why.c \
	tools/json.c tools/json.h \
	tools/keeper.h tools/launch.h tools/launch_env.c \
	tools/launch_front.c tools/launch_keep.c tools/launch_start.c \
	tools/machine.c tools/machine.h \
	tools/options.c tools/options.h \
	tools/placement.c tools/placement.h \
	tools/run.c \
	tools/seats.c tools/seats.h \
	tools/sim.c tools/sim.h tools/sim_curve.c tools/sim_draw.c \
	tools/sim_file.c tools/sim_print.c tools/sim_prove.c \
	tools/sim_query.c tools/sim_shape.c tools/sim_verify.c \
	tools/svg.c tools/svg.h \
	tools/topo.c tools/topo.h tools/topo_svg.c tools/topo_text.c \
	tools/tutti.c
tools_tutti_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tools_tutti_LDADD = libtutti-core.la -lm
include tools/train/local.mk
