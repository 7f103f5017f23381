# SPDX-License-Identifier: BSD-3-Clause
# The manual.  tests/check-api.sh tells of a page that is not listed.

dist_man_MANS += \
	man/man1/tutti.1 \
	man/man1/tutti-info.1 \
	man/man1/tutti-perf.1 \
	man/man1/tutti-run.1 \
	man/man1/tutti-sim.1 \
	man/man1/tutti-topo.1 \
	man/man1/tutti-train.1 \
	man/man3/tuttiAllGather.3 \
	man/man3/tuttiAllGatherv.3 \
	man/man3/tuttiAllReduce.3 \
	man/man3/tuttiAlltoAll.3 \
	man/man3/tuttiAlltoAllv.3 \
	man/man3/tuttiBarrier.3 \
	man/man3/tuttiBroadcast.3 \
	man/man3/tuttiCommAbort.3 \
	man/man3/tuttiCommCount.3 \
	man/man3/tuttiCommDeregister.3 \
	man/man3/tuttiCommDestroy.3 \
	man/man3/tuttiCommFinalize.3 \
	man/man3/tuttiCommGetAsyncError.3 \
	man/man3/tuttiCommInitEnv.3 \
	man/man3/tuttiCommInitRank.3 \
	man/man3/tuttiCommInitRankConfig.3 \
	man/man3/tuttiCommInitUser.3 \
	man/man3/tuttiCommQuery.3 \
	man/man3/tuttiCommRegister.3 \
	man/man3/tuttiCommSplit.3 \
	man/man3/tuttiCommUserRank.3 \
	man/man3/tuttiGather.3 \
	man/man3/tuttiGatherv.3 \
	man/man3/tuttiGetErrorString.3 \
	man/man3/tuttiGetLastError.3 \
	man/man3/tuttiGetUniqueId.3 \
	man/man3/tuttiGetVersion.3 \
	man/man3/tuttiGroupEnd.3 \
	man/man3/tuttiGroupStart.3 \
	man/man3/tuttiMemAlloc.3 \
	man/man3/tuttiMemFree.3 \
	man/man3/tuttiRecv.3 \
	man/man3/tuttiRedOpCreatePreMulSum.3 \
	man/man3/tuttiRedOpCreateUser.3 \
	man/man3/tuttiRedOpDestroy.3 \
	man/man3/tuttiReduce.3 \
	man/man3/tuttiReduceScatter.3 \
	man/man3/tuttiReduceScatterv.3 \
	man/man3/tuttiScatter.3 \
	man/man3/tuttiScatterv.3 \
	man/man3/tuttiSend.3 \
	man/man7/tutti.7 \
	man/man7/tutti-algorithms.7 \
	man/man7/tutti-schedules.7 \
	man/man7/tutti-settings.7

EXTRA_DIST += man/mksettings
