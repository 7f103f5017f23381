# SPDX-License-Identifier: BSD-3-Clause
# The trainer's parts: files that are damaged, gradients, the command line.
UNIT_TRAIN = \
	tests/unit/train_checkpoint \
	tests/unit/train_data \
	tests/unit/train_model \
	tests/unit/train_options

if TRAINER
if CRITERION
TESTS += $(UNIT_TRAIN)
check_PROGRAMS += $(UNIT_TRAIN)
endif
endif

unit_train_flags = -I$(top_srcdir)/tools/train $(train_CPPFLAGS)
unit_train_libs = tools/train/libtrain.la libtutti.la $(CRITERION_LIBS)

tests_unit_train_checkpoint_CPPFLAGS = $(unit_train_flags)
tests_unit_train_checkpoint_CFLAGS = $(train_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_train_checkpoint_LDADD = $(unit_train_libs)
tests_unit_train_data_CPPFLAGS = $(unit_train_flags)
tests_unit_train_data_CFLAGS = $(train_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_train_data_LDADD = $(unit_train_libs) $(ZLIB_LIBS)
tests_unit_train_model_CPPFLAGS = $(unit_train_flags)
tests_unit_train_model_CFLAGS = $(train_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_train_model_LDADD = $(unit_train_libs) -lm
tests_unit_train_options_CPPFLAGS = $(unit_train_flags)
tests_unit_train_options_CFLAGS = $(train_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_train_options_LDADD = $(unit_train_libs)
