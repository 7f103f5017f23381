# SPDX-License-Identifier: BSD-3-Clause
# The same work on other libraries.  Not part of "all": it needs them.  A
# library that is not installed is left out with a line that says so.
EXTRA_DIST += \
	perf/compare/README.md \
	perf/compare/compare.sh \
	perf/compare/peer.h \
	perf/compare/peer_gloo.cc \
	perf/compare/peer_mpi.c \
	perf/compare/report.awk
CLEANFILES += \
	perf/compare/peer-gloo \
	perf/compare/peer-mpich \
	perf/compare/peer-ompi

compare_src = $(top_srcdir)/perf/compare
compare_mpi = -O2 -g -o $@ $(compare_src)/peer_mpi.c -lm

.PHONY: compare
compare: all perf/compare/peer-ompi perf/compare/peer-mpich \
		perf/compare/peer-gloo
	@echo "Now run $(compare_src)/compare.sh here; -h tells how."

perf/compare/peer-ompi: perf/compare/peer_mpi.c perf/compare/peer.h \
		perf/measure.h
	@mkdir -p perf/compare
	@if command -v mpicc.openmpi >/dev/null; then \
		mpicc.openmpi -DPEER_NAME='"ompi"' $(compare_mpi); \
	else echo "no mpicc.openmpi: Open MPI is left out"; fi

perf/compare/peer-mpich: perf/compare/peer_mpi.c perf/compare/peer.h \
		perf/measure.h
	@mkdir -p perf/compare
	@if command -v mpicc.mpich >/dev/null; then \
		mpicc.mpich -DPEER_NAME='"mpich"' $(compare_mpi); \
	else echo "no mpicc.mpich: MPICH is left out"; fi

perf/compare/peer-gloo: perf/compare/peer_gloo.cc perf/compare/peer.h \
		perf/measure.h
	@mkdir -p perf/compare
	@if printf '#include <gloo/context.h>\nint main() {}\n' | \
		$(CXX) -std=c++17 -x c++ - -o $@ -lgloo 2>/dev/null; then \
		$(CXX) -std=c++17 -O2 -g -o $@ $(compare_src)/peer_gloo.cc \
			-lgloo; \
	else echo "no libgloo-dev: Gloo is left out"; fi
