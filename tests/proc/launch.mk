# SPDX-License-Identifier: BSD-3-Clause
# Process tests of the launcher, `tutti info` and `tutti sim`: real processes, no
# library in them.
PROC_LAUNCH = \
	tests/proc/info.sh \
	tests/proc/launch_env.sh \
	tests/proc/launch_jobs.sh \
	tests/proc/launch_signals.sh \
	tests/proc/launch_status.sh \
	tests/proc/launch_tty.sh \
	tests/proc/sim.sh

TESTS += $(PROC_LAUNCH)
EXTRA_DIST += $(PROC_LAUNCH) tests/proc/proc.sh
