#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# tutti-perf: its bandwidths are those of its sizes and times by the formulas
# of nccl-tests, for all operations and 1, 2, 3 and 8 ranks (case 80); its
# flags, its JSON, bad input, and that wrong results are found.
. "${TUTTI_SRC:-${top_srcdir:-.}}/tests/proc/proc.sh"

build=$(cd "${top_builddir:-.}" && pwd)
perf=$build/perf/tutti-perf
faulty=$build/tests/proc/perf_faulty
[ -x "$perf" ] || {
	echo "$perf is not built"
	exit 99
}
json=$work/rows.json
quick="-n 3 -w 1"

# Without the launcher.
# shellcheck disable=SC2317 # called through expect_status
alone() {
	env PROC_MARK="$mark" "$@"
}

# Each line of a file is a fault.
faults_in() {
	while IFS= read -r line; do
		fault "$line"
	done <"$1"
}

# ---- Bandwidths (case 80) ------------------------------------------------
# What busbw is of algbw: operation, ranks.
factor() {
	case $1 in
	all_reduce) echo "2 * ($2 - 1) / $2" ;;
	reduce_scatter | all_gather | alltoall | gather | scatter)
		echo "($2 - 1) / $2" ;;
	barrier) echo 0 ;;
	*) echo 1 ;;
	esac
}

# Every row of the JSON against its own size and time.
check_json() {
	sed 's/[{}"]//g; s/[:,]/ /g' "$json" | awk -v op="$1" -v n="$2" '
		function off(is, want, us) {
			tol = 2e-6 + want * 1e-4 / us
			return is - want > tol || want - is > tol
		}
		{
			for (i = 1; i < NF; i += 2)
				v[$i] = $(i + 1)
			us = v["time_us"]
			algbw = v["bytes"] / us / 1000
			f = '"$(factor "$1" "$2")"'
			if (off(v["algbw_GBps"], algbw, us))
				print op ", " n " ranks, algbw: " $0
			if (off(v["busbw_GBps"], algbw * f, us))
				print op ", " n " ranks, busbw: " $0
			if (v["time_us_min"] > us || v["time_us_p99"] < us)
				print op ", " n " ranks, order of times: " $0
			if (v["op"] != op || v["ranks"] != n)
				print op ", " n " ranks, row: " $0
			if (v["wrong"] != 0)
				print op ", " n " ranks, wrong: " $0
		}
		END {
			if (!NR)
				print op ", " n " ranks: no row"
		}' >"$work/off" 2>&1
	faults_in "$work/off"
}

# Every row of the table; its times are rounded.
check_table() {
	awk -v op="$1" -v n="$2" '
		function off(is, want, us) {
			tol = 0.0055 + want * (0.0055 / us + 0.0006)
			return is - want > tol || want - is > tol
		}
		function form(us, algbw, busbw, wrong) {
			if (us == "N/A")
				return
			f = '"$(factor "$1" "$2")"'
			if (off(algbw, $1 / us / 1000, us))
				print op ", " n " ranks, algbw: " $0
			if (off(busbw, $1 / us / 1000 * f, us))
				print op ", " n " ranks, busbw: " $0
			if (wrong != 0)
				print op ", " n " ranks, wrong: " $0
			rows++
		}
		/^ *[0-9]/ {
			form($6, $7, $8, $9)
			form($10, $11, $12, $13)
		}
		END {
			if (!rows)
				print op ", " n " ranks: no row in the table"
		}' "$work/out" >"$work/off" 2>&1
	faults_in "$work/off"
}

for n in 1 2 3 8; do
	for op in all_reduce reduce_scatter all_gather broadcast reduce \
		alltoall gather scatter sendrecv barrier latency bandwidth; do
		want=0
		case $n$op in
		1sendrecv | 1latency | 1bandwidth) want=2 ;;
		esac
		# shellcheck disable=SC2086
		expect_status "$want" run -n $n "$perf" $op -b 4K -e 64K -f 16 \
			$quick --json "$json"
		if [ "$want" -ne 0 ]; then
			expect "$(grep -c "^tutti-perf: $op needs 2 ranks" \
				"$work/err")" 1 "$op alone"
			continue
		fi
		check_json $op $n
		case $op in
		latency | bandwidth) ;;
		*) check_table $op $n ;;
		esac
	done
done

# What the numbers mean stands above them.
expect_status 0 run -n 2 "$perf" all_reduce -b 8 -e 8 -n 7 -w 3
expect_line "$work/out" "slowest rank's, median over 7 iterations after 3" header
expect_line "$work/out" 'GB = 10^9' header
expect_line "$work/out" 'busbw  = algbw x 2(n-1)/n' header
expect_line "$work/out" '^# Out of bounds values : 0 OK' footer

# ---- JSON, sizes and flags -----------------------------------------------
keys() {
	head -n 1 "$json" | grep -o '"[a-zA-Z0-9_]*":' | tr -d '":' | tr '\n' ' '
}
sizes() {
	sed -n "s/.*\"bytes\":\([0-9]*\),.*\"inplace\":$1.*/\1/p" "$json" |
		tr '\n' ' '
}
all_keys="op bytes count dtype redop ranks nodes transport algo inplace alloc \
time_us time_us_min time_us_p99 algbw_GBps busbw_GBps wrong predicted_us "

# shellcheck disable=SC2086
expect_status 0 run -n 2 "$perf" all_reduce -b 1k -e 4K $quick --json "$json"
expect "$(keys)" "$all_keys" 'JSON keys'
expect "$(sizes false)" '1024 2048 4096 ' 'sizes out of place'
expect "$(sizes true)" '1024 2048 4096 ' 'sizes in place'
# shellcheck disable=SC2086
expect_status 0 run -n 2 "$perf" all_reduce -b 8 -e 1M -f 131072 $quick \
	--inplace --alloc tutti --dirty 0 -c 0 --hash --json "$json"
expect "$(keys)" "${all_keys}sha256 " 'JSON keys with --hash'
expect "$(sizes false)" '' 'out of place with --inplace'
expect "$(sizes true)" '8 1048576 ' 'sizes with --inplace'
expect "$(grep -c '"alloc":"tutti".*"wrong":null' "$json")" 2 'alloc, wrong'
# shellcheck disable=SC2086
expect_status 0 run -n 3 "$perf" reduce -b 64 -e 64 -d all -o all -r -1 -n 1 \
	-w 0 --json "$json"
expect "$(wc -l <"$json")" $((12 * 5 * 3 * 2)) 'types, operators and roots'
expect "$(grep -c '"wrong":0,' "$json")" $((12 * 5 * 3 * 2)) 'right results'

# One digest, whoever holds the result.
digests() {
	sed -n 's/.*"sha256":"\([0-9a-f]*\)".*/\1/p' "$json" | sort -u
}
expect_status 0 run -n 2 "$perf" all_reduce -b 4K -e 4K -n 1 --hash \
	--json "$json"
whole=$(digests)
expect "$(echo "$whole" | grep -cE '^[0-9a-f]{64}$')" 1 'digests of all_reduce'
for op in reduce reduce_scatter; do
	expect_status 0 run -n 2 "$perf" $op -b 4K -e 4K -n 1 --hash \
		--json "$json"
	expect "$(digests)" "$whole" "digest of $op"
done
whole=
for op in all_gather gather; do
	expect_status 0 run -n 3 "$perf" $op -b 6K -e 6K -n 1 --hash \
		--json "$json"
	expect "$(digests)" "${whole:=$(digests)}" "digest of $op"
done
for op in alltoall scatter; do
	expect_status 0 run -n 3 "$perf" $op -b 6K -e 6K -n 1 --hash \
		--json "$json"
	expect "$(digests | wc -l)" 1 "digests of $op, apart and in place"
done

# ---- Wrong results -------------------------------------------------------
expect_status 0 run -n 3 "$faulty" all_reduce -b 4K -e 4K -n 1 -w 0
export PERF_FAULT
for PERF_FAULT in value moved lost behind send; do
	kind=$PERF_FAULT
	expect_status 1 run -n 3 "$faulty" all_reduce -b 4K -e 4K -n 1 -w 0 \
		--json "$json"
	expect_line "$json" '"inplace":false.*"wrong":[1-9]' "fault: $kind"
	[ $kind = send ] ||
		expect_line "$json" '"inplace":true.*"wrong":[1-9]' \
			"fault: $kind, in place"
	expect_line "$work/out" 'FAILED' "fault: $kind"
done
PERF_FAULT=value
expect_status 1 run -n 3 "$faulty" all_reduce -b 4K -e 4K -n 1 -w 0 -c 0 --hash
expect "$(grep -c 'result of rank 2 is not that of rank 0' "$work/err")" 2 \
	'digests that differ'
unset PERF_FAULT

# ---- Bad input: one sentence, status 2 -----------------------------------
bad() {
	expect_status 2 alone "$perf" "$@"
	expect "$(wc -l <"$work/err")" 1 "lines about: $*"
	expect_line "$work/err" '^tutti-perf: .*\.$' "sentence about: $*"
	expect "$(cat "$work/out")" '' "output of: $*"
}

bad
bad all_redcue
bad alltoall -r
bad gather -r x
bad scatter -r 1
bad all_reduce all_reduce
bad all_reduce -x
bad all_reduce --no-such-flag
bad all_reduce --inplace=1
bad all_reduce -b
bad all_reduce -b 4X
bad all_reduce -b -4
bad all_reduce -b ''
bad all_reduce -e 4KB
bad all_reduce -e 99999999999999999999
bad all_reduce -e 9999999999999T
bad all_reduce -b 2K -e 1K
bad all_reduce -f 1
bad all_reduce -f 0
bad all_reduce -f 1.5
bad all_reduce -n 0
bad all_reduce -n 1e3
bad all_reduce -w -1
bad all_reduce -c 2
bad all_reduce --dirty yes
bad all_reduce -d float128
bad all_reduce -o xor
bad all_reduce --alloc new
bad broadcast -r 1
bad broadcast -r -2
bad broadcast -r one
bad sendrecv
bad barrier --inplace
bad latency --hash
bad all_reduce --json ''
bad all_reduce --json "$work/no/such/folder"
echo keep >"$json"
bad all_reduce -e 100000T --json "$json"
expect "$(cat "$json")" keep 'a file that must not be touched'

# All ranks see it, and one says it.
expect_status 2 run -n 3 "$perf" all_reduce -d float128
expect "$(grep -c '^tutti-perf: ' "$work/err")" 1 'sentences of three ranks'
expect_status 2 run -n 3 "$perf" broadcast -r 3
expect "$(grep -c '^tutti-perf: -r 3 is not a rank' "$work/err")" 1 'root'

# A full disk is no success.
if [ -w /dev/full ]; then
	expect_status 1 run -n 2 "$perf" all_reduce -b 8 -e 16 -n 1 \
		--json /dev/full
	expect "$(grep -c '^tutti-perf: /dev/full cannot be written' \
		"$work/err")" 1 'full disk'
fi

expect_status 0 alone "$perf" --help
expect_line "$work/out" '^usage: tutti-perf OP' help
expect_status 0 alone "$perf" --version
expect_line "$work/out" '^tutti-perf [0-9]*\.[0-9]*\.[0-9]*$' version

finish
