# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += lib/model/choice.c lib/model/model.h
