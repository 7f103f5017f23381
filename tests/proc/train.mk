# SPDX-License-Identifier: BSD-3-Clause
# Process tests of the trainer, on a small made-up data set; the one on real
# data is skipped where the data set is not installed.
PROC_TRAIN = \
	tests/proc/train_input.sh \
	tests/proc/train_real.sh \
	tests/proc/train_resume.sh \
	tests/proc/train_same.sh

if TRAINER
check_PROGRAMS += tests/proc/train_dataset
TESTS += $(PROC_TRAIN)
endif

tests_proc_train_dataset_CFLAGS = $(TUTTI_CFLAGS) $(ZLIB_CFLAGS)
tests_proc_train_dataset_LDADD = $(ZLIB_LIBS)
EXTRA_DIST += $(PROC_TRAIN) tests/proc/trainlib.sh
