# SPDX-License-Identifier: BSD-3-Clause
# The reference trainer.  It sees the public header and nothing of lib/.
# All but main() is a library of its own, for the unit tests.
if TRAINER
bin_PROGRAMS += tools/tutti-train
noinst_LTLIBRARIES += tools/train/libtrain.la
endif

train_CPPFLAGS = -I$(top_srcdir)/include
train_CFLAGS = $(TUTTI_CFLAGS) -fno-math-errno $(OPENBLAS_CFLAGS) \
	$(ZLIB_CFLAGS)

tools_train_libtrain_la_SOURCES = \
	tools/train/checkpoint.c \
	tools/train/data.c \
	tools/train/model.c \
	tools/train/options.c \
	tools/train/plot.c \
	tools/train/ranks.c \
	tools/train/report.c \
	tools/train/setup.c \
	tools/train/sha256.c \
	tools/train/train.c tools/train/train.h
tools_train_libtrain_la_CPPFLAGS = $(train_CPPFLAGS)
tools_train_libtrain_la_CFLAGS = $(train_CFLAGS)
tools_train_libtrain_la_LIBADD = libtutti.la $(OPENBLAS_LIBS) $(ZLIB_LIBS) -lm

tools_tutti_train_SOURCES = tools/train/main.c
tools_tutti_train_CPPFLAGS = $(train_CPPFLAGS)
tools_tutti_train_CFLAGS = $(train_CFLAGS)
tools_tutti_train_LDADD = tools/train/libtrain.la libtutti.la
