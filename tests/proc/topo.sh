#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `tutti topo`, `tutti info --why` and jobs on made-up machines: what is shown,
# drawn and saved; domains that all ranks agree on; mistakes in one sentence.
. "${top_srcdir:-.}/tests/proc/proc.sh"
fixtures=${top_srcdir:-.}/tests/fixtures
perf=$(cd "${top_builddir:-.}" && pwd)/perf/tutti-perf
unset HWLOC_XMLFILE HWLOC_SYNTHETIC TUTTI_TOPO TUTTI_TOPO_XML \
	TUTTI_TOPO_SYNTHETIC TUTTI_ALGO

if command -v python3 >/dev/null; then
	json() {
		python3 -c 'import json, sys; json.load(sys.stdin)'
	}
	xml() {
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.stdin)'
	}
else
	json() {
		grep -q '^[[{]' && return
	}
	xml() {
		grep -q '</svg>' && return
	}
fi

# ---- Shown ------------------------------------------------------------------

expect_status 0 "$tutti" topo
expect_line "$work/out" '^this machine, ' 'title'
expect_line "$work/out" '^  usable .* CPU' 'counts'
expect_line "$work/out" '^Machine$' 'tree'

# The files, as whole machines, and all of them as JSON and drawn.
for f in "$fixtures"/*.xml; do
	expect_status 0 "$tutti" topo --xml "$f" -n 12 --svg "$work/a.svg"
	expect "$(wc -c <"$work/err")" 0 "bytes on stderr for $f"
	expect "$(grep -c '^  *[0-9]* *0  ' "$work/out")" 12 "ranks of $f"
	xml <"$work/a.svg" || fault "the drawing of $f is not XML"
	expect_line "$work/a.svg" '>rank 11<\|>rank [0-9,]*11<' "ranks in $f"
done
for f in 2s16c-nic 2s16c-odd; do
	expect_status 0 "$tutti" topo --xml "$fixtures/$f.xml" -n 5 \
		--nodes 3+2 --json
	json <"$work/out" || fault "topo --json of $f is not JSON"
done

expect_status 0 "$tutti" topo --xml "$fixtures/2s16c-odd.xml" -n 4
expect_line "$work/out" '^  usable    2 packages, 2 NUMA domains, 2 L3 caches, 8 cores, 8 CPUs$' 'counts of allowed CPUs'
expect_line "$work/out" '^  allowed   8 of 16 CPUs, .*: 0-2,9,12-15$' 'restriction'
expect_line "$work/out" 'Core 3: CPU 3 (not allowed)$' 'a core that is not allowed'
expect_line "$work/out" 'Core 2: CPU 2  <- rank 1$' 'a rank in its core'
expect_line "$work/out" '^4 ranks on 1 node in 2 domains$' 'domains'
expect_status 0 "$tutti" topo --xml "$fixtures/2s16c-nic.xml"
expect_line "$work/out" '^  mlx5_1  *RDMA  *0000:b0:00.0  *near NUMA domain 1$' 'a device'
expect_status 0 "$tutti" topo --synthetic 'pack:2 [numa] core:2 pu:1' -n 8 --nodes 2
expect_line "$work/out" '^8 ranks on 2 nodes in 4 domains$' 'domains of two nodes'

# What affinity leaves (case 73).
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
	first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	expect_status 0 taskset -c "$first" "$tutti" topo
	expect_line "$work/out" "^  allowed   1 of .*by affinity: $first\$" 'affinity'
fi

# ---- Saved and read again ---------------------------------------------------

expect_status 0 "$tutti" topo --save "$work/here.xml"
expect_status 0 "$tutti" topo --xml "$work/here.xml"
expect_status 0 "$tutti" topo --synthetic 'pack:2 [numa] core:2 pu:2' \
	--save "$work/made.xml"
expect_status 0 "$tutti" topo --xml "$work/made.xml" --save "$work/again.xml"
cmp "$work/made.xml" "$work/again.xml" || fault 'a copy of a machine differs'
expect_line "$work/out" '^  usable    2 packages, 2 NUMA domains, 4 cores, 8 CPUs$' 'a saved machine'
if command -v lstopo-no-graphics >/dev/null; then
	lstopo-no-graphics -i "$work/made.xml" --only core >"$work/cores" ||
		fault 'hwloc does not read what was saved'
	expect "$(wc -l <"$work/cores")" 4 'cores that hwloc sees'
fi

# ---- Mistakes ---------------------------------------------------------------

# Status, and one sentence in so many lines.
wrong() {
	want=$1 lines=$2
	shift 2
	expect_status "$want" "$tutti" "$@"
	expect "$(wc -l <"$work/err")" "$lines" "lines of: $*"
	expect "$(wc -c <"$work/out")" 0 "bytes of output of: $*"
}
head -c 900 "$fixtures/1s2c.xml" >"$work/cut.xml"
printf '<svg xmlns="http://www.w3.org/2000/svg"/>' >"$work/foreign.xml"
printf '\000\377\001' >"$work/bytes.xml"
: >"$work/empty.xml"
for f in cut foreign bytes empty missing; do
	wrong 1 1 topo --xml "$work/$f.xml"
	expect_line "$work/err" "^tutti topo: $work/$f.xml is not a topology: " "$f"
	wrong 1 1 info --why all_reduce 8 -n 2 --xml "$work/$f.xml"
done
wrong 1 1 topo --xml "$work"
wrong 1 1 topo --synthetic nonsense
expect_line "$work/err" '"nonsense" is not a synthetic topology' 'nonsense'
wrong 1 1 topo --synthetic 'pack:1000 core:1000 pu:1'
expect_line "$work/err" 'more than 4096 CPUs' 'a huge machine'
wrong 1 1 topo --save /nonexistent/x.xml
expect_line "$work/err" 'cannot write /nonexistent/x.xml: No such file' 'save'
wrong 1 1 topo --svg /nonexistent/x.svg
wrong 2 2 topo --xml a --synthetic b
wrong 2 2 topo --nodes 2
wrong 2 2 topo -n 3 --nodes 5
wrong 2 2 topo -n 0
wrong 2 2 topo extra
[ ! -w /dev/full ] || wrong 1 1 topo --save /dev/full

# ---- Why --------------------------------------------------------------------

expect_status 0 "$tutti" info --why all_reduce 1K -n 4
expect_line "$work/out" '^all_reduce of 256 float, sum: direct1$' 'a choice'
expect_line "$work/out" '^  because one message each' 'a reason'
expect_line "$work/out" '^\* direct1  *1  *3K$' 'the cost of the chosen one'
expect_line "$work/out" '^  ring  *6  *1536$' 'the cost of another'
expect_status 0 env TUTTI_ALGO=all_reduce:ring "$tutti" info --why \
	all_reduce 1K -n 4
expect_line "$work/out" ': ring$' 'a forced choice'
expect_status 0 env TUTTI_ALGO=all_reduce:ring:1M-2M "$tutti" info --why \
	all_reduce 1K -n 4
expect_line "$work/out" ': direct1$' 'a choice forced for other sizes'
expect_status 1 env TUTTI_ALGO=all_gather:recursive "$tutti" info --why \
	all_gather 1K -n 11
expect_line "$work/err" 'cannot serve this call' 'a choice that cannot be'
expect_status 0 "$tutti" info --why reduce_scatter 4K -n 4 --nodes 2 \
	--type double --op max --json
json <"$work/out" || fault 'info --why --json is not JSON'
expect_line "$work/out" '"count": 128,' 'elements of a block'
for op in all_reduce reduce broadcast all_gather reduce_scatter alltoall \
	gather scatter barrier sendrecv; do
	expect_status 0 "$tutti" info --why $op 64K -n 6 --nodes 4+2
	expect_status 0 "$tutti" info --why $op --table "$fixtures"/*.xml
	expect "$(grep -c '\.xml ' "$work/out")" \
		"$(find "$fixtures" -name '*.xml' | wc -l)" "rows for $op"
	expect "$(awk 'length > 100' "$work/out")" '' "wide rows for $op"
done
# Two sockets with a NUMA domain each go by levels where a flat machine of as
# many cores does not.
expect_status 0 "$tutti" info --why all_reduce --table \
	"$fixtures"/2s16c.xml "$fixtures"/0s8l2-16c.xml
expect_line "$work/out" '^2s16c.xml  *16  *1  *2  .*, hier$' 'two sockets'
expect_line "$work/out" '^0s8l2-16c.xml  *16  *1  *0  .*, direct2$' 'flat'
expect_status 0 "$tutti" info --why all_reduce --table --json -n 9 \
	"$fixtures"/2*.xml
json <"$work/out" || fault 'info --why --table --json is not JSON'
wrong 2 2 info --why all_reduce
wrong 2 2 info --why all_reduce 8
wrong 2 2 info --why allreduce 8 -n 2
expect_line "$work/err" 'must be one of all_reduce, ' 'operations'
wrong 2 2 info --why all_reduce 8x -n 2
wrong 2 2 info --why all_reduce 8 -n 2 --type string
wrong 2 2 info --why all_reduce 8 -n 2 --op plus
wrong 2 2 info -n 2
wrong 1 1 info --why sendrecv 8 -n 1

# ---- Jobs on made-up machines -----------------------------------------------

# What node 0's rank 0 says of its node.
domains_of() {
	TUTTI_DEBUG=INFO run --timeout 60 "$@" "$perf" all_reduce -b 1K \
		-e 4K -n 2 -w 0 >"$work/out" 2>"$work/err" || {
		fault "a job failed: $*"
		sed 's/^/    /' "$work/err"
	}
	sed -n 's/.* rank 0 info: ranks of this node: //p' "$work/out" "$work/err"
}
two='pack:2 [numa] core:2 pu:1'
expect "$(TUTTI_TOPO_SYNTHETIC=$two domains_of -n 4)" \
	'2 domains, one for each package, of 2 ranks at most' 'four ranks'
expect "$(TUTTI_TOPO_SYNTHETIC=$two domains_of -n 7 --nodes 4+3)" \
	'2 domains, one for each package, of 2 ranks at most' 'two nodes'
expect "$(TUTTI_TOPO_SYNTHETIC=$two TUTTI_TOPO=flat domains_of -n 4)" \
	'not divided: rank 0 may run in several packages, or where it sits is not known; bind ranks to have them grouped (TUTTI_TOPO=flat)' 'switched off'
expect "$(TUTTI_TOPO_XML=$fixtures/1s2c.xml domains_of -n 4)" \
	'not divided: all ranks sit in one last-level cache' 'one socket'
expect "$(TUTTI_TOPO_XML=$work/cut.xml domains_of -n 3 | cut -c 1-11)" \
	'not divided' 'a damaged file'
cat "$work/err" >>"$work/out"
expect "$(grep -c 'cut.xml is not a topology' "$work/out")" \
	3 'warnings about a damaged file'
# One rank with another machine, or none, leaves the node whole on all.
cat >"$work/differ" <<'END'
#!/bin/sh
[ "$TUTTI_RANK" != 3 ] || TUTTI_TOPO_SYNTHETIC=$OTHER
export TUTTI_TOPO_SYNTHETIC
exec "$@"
END
chmod +x "$work/differ"
for OTHER in 'pack:4 core:2 pu:1' nonsense; do
	export OTHER
	TUTTI_DEBUG=INFO TUTTI_TOPO_SYNTHETIC=$two run --timeout 60 -n 4 \
		"$work/differ" "$perf" all_reduce -b 1K -e 1K -n 2 -w 0 \
		>"$work/out" 2>&1 || fault "a job failed with $OTHER"
	expect "$(grep -c 'ranks of this node: not divided: rank 3 ' "$work/out")" \
		4 "ranks that leave the node whole for $OTHER"
done

finish
