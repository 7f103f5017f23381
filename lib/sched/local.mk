# SPDX-License-Identifier: BSD-3-Clause
libtutti_core_la_SOURCES += \
	lib/sched/algo.h \
	lib/sched/build.c lib/sched/sched_impl.h \
	lib/sched/emit.c lib/sched/emit.h \
	lib/sched/compose.c lib/sched/compose.h lib/sched/compose_impl.h \
	lib/sched/compose_phase.c \
	lib/sched/expr.c lib/sched/expr.h \
	lib/sched/levels.c \
	lib/sched/sched.c lib/sched/sched.h \
	lib/sched/shape.h \
	lib/sched/stats.c \
	lib/sched/text.c \
	lib/sched/verify.c lib/sched/verify.h lib/sched/verify_impl.h \
	lib/sched/verify_algo.c \
	lib/sched/verify_fire.c \
	lib/sched/verify_mail.c \
	lib/sched/verify_memory.c \
	lib/sched/verify_ready.c \
	lib/sched/verify_result.c \
	lib/sched/verify_turn.c
