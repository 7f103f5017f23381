#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The same work on Tutti, Open MPI, MPICH and Gloo, in alternating rounds
# (A B C D, A B C D, ...), so that a machine whose speed drifts does not
# favour one of them.  Each peer is run with several settings, and the best
# one counts at each size.  Every run gets a session of its own, with the
# highest weight that the kernel grants, and is over, with all its processes,
# before the next begins.  README.md says more.
#
# Functions are called by made-up names and by traps:
# shellcheck disable=SC2317

here=$(dirname "$0")

usage() {
	cat <<-EOF
	usage: compare.sh [OPTION]...   in the build directory, after "make compare"
	  -p OP         all_reduce, reduce_scatter, all_gather, broadcast,
	                reduce, sendrecv, barrier (all_reduce)
	  -n RANKS      (2)
	  -b MIN -e MAX -f FACTOR
	                sizes (8, 64M, 4)
	  -i ITERS      iterations (20)
	  -r ROUNDS     (3)
	  -l SECONDS    longest time of one run (300)
	  --alloc malloc|tutti
	                Tutti's buffers (tutti; the peers then get huge pages)
	  --inplace     in place (out of place)
	  --peers LIST  some of ompi,mpich,gloo (all that are there)
	  --plain       peers with their defaults only
	  --out PREFIX  results in PREFIX.jsonl and PREFIX.svg (compare-OP-RANKS)
	  --strict      exit 1 if Tutti is over 5 % slower than a peer anywhere
	EOF
}

refuse() {
	echo "compare.sh: $*" >&2
	exit 2
}

# A size such as 64M in bytes; nothing if it is none.
bytes() {
	echo "$1" | awk '/^[0-9]+[KMGkmg]?$/ {
		n = $0 + 0
		for (i = index("KMG", toupper(substr($0, length($0)))); i; i--)
			n *= 1024
		printf "%.0f", n
	}'
}

# Refuse unless $2 is a whole number, at least $3.
number() {
	case $2 in
	'' | *[!0-9]*) refuse "$1 takes a whole number, not \"$2\"." ;;
	esac
	[ "$2" -ge "$3" ] || refuse "$1 takes a number from $3 on, not $2."
}

op=all_reduce ranks=2 min=8 max=64M factor=4 iters=20 rounds=3 limit=300
alloc=tutti inplace="" peers="" plain="" out="" strict=""

while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--inplace) inplace=--inplace; shift; continue ;;
	--plain) plain=1; shift; continue ;;
	--strict) strict=1; shift; continue ;;
	-p | -n | -b | -e | -f | -i | -r | -l | --alloc | --peers | --out)
		[ $# -gt 1 ] || refuse "$1 needs a value." ;;
	*) refuse "there is no option \"$1\"; -h lists them." ;;
	esac
	case $1 in
	-p) op=$2 ;;
	-n) ranks=$2 ;;
	-b) min=$2 ;;
	-e) max=$2 ;;
	-f) factor=$2 ;;
	-i) iters=$2 ;;
	-r) rounds=$2 ;;
	-l) limit=$2 ;;
	--alloc) alloc=$2 ;;
	--peers) peers=$2 ;;
	--out) out=$2 ;;
	esac
	shift 2
done

case $op in
all_reduce | reduce_scatter | all_gather | broadcast | reduce) ;;
sendrecv | barrier)
	[ -z "$inplace" ] || refuse "$op has no form in place." ;;
*) refuse "\"$op\" is not an operation of the comparison; -h lists them." ;;
esac
case $alloc in
tutti) huge=--huge ;;
malloc) huge= ;;
*) refuse "--alloc takes malloc or tutti, not \"$alloc\"." ;;
esac
for name in $(echo "$peers" | tr , ' '); do
	case $name in
	ompi | mpich | gloo) ;;
	*) refuse "there is no peer \"$name\": give some of ompi,mpich,gloo." ;;
	esac
done
number -n "$ranks" 1
number -f "$factor" 2
number -i "$iters" 1
number -r "$rounds" 1
number -l "$limit" 1
b=$(bytes "$min") e=$(bytes "$max")
[ -n "$b" ] || refuse "-b $min is not a size."
[ -n "$e" ] || refuse "-e $max is not a size."
[ "$b" -gt 0 ] || refuse "-b must be over 0."
[ "$b" -le "$e" ] || refuse "the smallest size, $min, is over the largest, $max."
if [ ! -x perf/tutti-perf ] || [ ! -x tools/tutti ]; then
	refuse "run it in the build directory, after \"make compare\"."
fi
: "${out:=compare-$op-$ranks}"
: >"$out.jsonl" || refuse "$out.jsonl cannot be written."

work=$(mktemp -d) || exit 1
child=

# The processes of session $1.
members() {
	sed -n "s/^\([0-9]*\) (.*) [A-Y] [0-9-]* [0-9-]* $1 .*/\1/p" \
		/proc/[0-9]*/stat 2>/dev/null
}

# End what the current run has started, politely first.
sweep() {
	[ -n "$child" ] || return 0
	for signal in TERM KILL; do
		left=$(members "$child")
		# shellcheck disable=SC2086
		[ -z "$left" ] || kill -$signal $left 2>/dev/null
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			[ -n "$(members "$child")" ] || break 2
			sleep 0.2
		done
	done
	child=
}

leave() {
	sweep
	rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Run "$@" in a session of its own; what it prints goes to $work/out.
run() {
	# shellcheck disable=SC2016
	setsid sh -c '{ echo -20 >/proc/self/autogroup; } 2>/dev/null
		exec "$@"' sh timeout -k 5 "$limit" "$@" \
		>"$work/out" 2>"$work/err" </dev/null &
	child=$!
	wait $child
	status=$?
	sweep
	return $status
}

# Take the rows of the last run: round, peer, setting, bytes, us, wrong.
take() {
	sed -n 's/.*"bytes":\([0-9]*\),.*"inplace":\([a-z]*\),.*"time_us":\([0-9.]*\),.*"wrong":\([0-9]*\).*/\1 \2 \3 \4/p' "$3" |
		awk -v r="$round" -v p="$1" -v s="$2" -v i="${inplace:-no}" '
			($2 == "true") == (i != "no") {
				print r, p, s, $1, $3, $4
			}' >>"$work/rows"
}

# One run of a peer: name, setting, command.  A failure is told once.
peer() {
	name=$1 setting=$2
	shift 2
	run "$@"
	status=$?
	take "$name" "$setting" "$work/out"
	if [ "$status" -ne 0 ] && [ ! -e "$work/told-$name-$setting" ]; then
		: >"$work/told-$name-$setting"
		echo "$name ($setting) ended with status $status in round" \
			"$round: $(grep -v '^[-[:space:]]*$' "$work/err" |
			head -n 1)" >&2
	fi
}

# Ranks are bound to a CPU each, as the MPI libraries do it for theirs.
# shellcheck disable=SC2016,SC2086
run_tutti() {
	if [ "$ranks" -le "$cpus" ]; then
		bind='set -- $cpu_list -- "$@"
			shift "$TUTTI_LOCAL_RANK"
			cpu=$1
			while [ "$1" != -- ]; do shift; done
			shift
			exec taskset -c "$cpu" "$@"'
	else
		bind='exec "$@"'
	fi
	run tools/tutti run -n "$ranks" -- sh -c "$bind" sh \
		perf/tutti-perf "$op" -b "$b" -e "$e" -f "$factor" \
		-n "$iters" --alloc "$alloc" $inplace --json "$work/json"
	status=$?
	if [ $status -ne 0 ]; then
		cat "$work/err" >&2
		echo "compare.sh: tutti-perf ended with status $status." >&2
		exit 1
	fi
	take tutti - "$work/json"
}

# Large temporary vectors from malloc would be mapped and unmapped at each
# call; these keep them, for the peers' benefit.
tunables=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184
work_args="$op -b $b -e $e -f $factor -n $iters $inplace $huge"

# shellcheck disable=SC2086
run_ompi() {
	if [ "$ranks" -le "$cpus" ]; then
		place="--bind-to core"
	else
		place="--oversubscribe --bind-to none"
	fi
	if [ "$(id -u)" -eq 0 ]; then
		export OMPI_ALLOW_RUN_AS_ROOT=1
		export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	fi
	start="env GLIBC_TUNABLES=$tunables mpirun.openmpi -n $ranks $place"
	ours="perf/compare/peer-ompi $work_args"
	peer ompi default $start $ours
	[ -z "$plain" ] || return 0
	peer ompi no-cma $start \
		--mca btl_vader_single_copy_mechanism none $ours
	peer ompi ucx env UCX_TLS=posix,cma,self $start --mca pml ucx \
		--mca pml_ucx_tls any --mca pml_ucx_devices any $ours
}

# shellcheck disable=SC2086
run_mpich() {
	place=
	[ "$ranks" -gt "$cpus" ] || place="-bind-to core"
	start="env GLIBC_TUNABLES=$tunables mpirun.mpich -n $ranks $place"
	ours="perf/compare/peer-mpich $work_args"
	peer mpich default $start $ours
	if [ -n "$plain" ] || [ "$op" != all_reduce ]; then
		return 0
	fi
	peer mpich rec-dbl env MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=mpir \
		MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling \
		$start $ours
}

# shellcheck disable=SC2086
run_gloo() {
	peer gloo hd perf/compare/peer-gloo -N "$ranks" $work_args
}

# Leave out what is not there, and say so.
have() {
	case ,${peers:-ompi,mpich,gloo}, in
	*,"$1",*) ;;
	*) return 1 ;;
	esac
	if [ ! -x "perf/compare/peer-$1" ]; then
		echo "$1 is left out: perf/compare/peer-$1 is not built" \
			"(see perf/compare/README.md)." >&2
		return 1
	fi
	if [ -n "$2" ] && ! command -v "$2" >/dev/null; then
		echo "$1 is left out: $2 is not installed." >&2
		return 1
	fi
	if [ "$1" = gloo ]; then
		case $op in
		reduce | sendrecv)
			echo "gloo is left out: it has no $op of this kind." >&2
			return 1 ;;
		esac
	fi
}

cpus=$(nproc)
# "0-2,5" as "0 1 2 5": the CPUs that this script may use.
cpu_list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status |
	tr , '\n' | awk -F- '{ for (i = $1; i <= $NF; i++) printf "%d ", i }')
export cpu_list
TMPDIR=$work
export TMPDIR
list=
have ompi mpirun.openmpi && list="$list ompi"
have mpich mpirun.mpich && list="$list mpich"
have gloo "" && list="$list gloo"

: >"$work/rows"
round=1
while [ "$round" -le "$rounds" ]; do
	printf 'round %d of %d: tutti' "$round" "$rounds" >&2
	run_tutti
	for name in $list; do
		printf ' %s' "$name" >&2
		"run_$name"
	done
	echo >&2
	round=$((round + 1))
done

form="out of place"
[ -z "$inplace" ] || form="in place"
awk -v op="$op" -v ranks="$ranks" -v alloc="$alloc" -v rounds="$rounds" \
	-v form="$form" -v peers="$list" -v json="$out.jsonl" \
	-v data="$work/plot" -f "$here/report.awk" "$work/rows"
verdict=$?

if ! command -v gnuplot >/dev/null; then
	echo "No plot: gnuplot is not installed."
elif [ "$op" != barrier ] && [ -n "$list" ]; then
	gnuplot <<-EOF && echo "Rows in $out.jsonl, plot in $out.svg."
		set terminal svg size 900,700 dynamic background "white"
		set output "$out.svg"
		set multiplot layout 2,1 title \
			"$op, float32, $ranks ranks, $form, Tutti's buffers from $alloc" noenhanced
		set logscale x 2
		set format x "%.0b%B"
		set xlabel "bytes"
		set grid
		set key outside right top
		set datafile missing "-"
		set logscale y
		set ylabel "time, us"
		plot for [i=2:$(($(echo "$list" | wc -w) + 2))] "$work/plot" \
			using 1:i with linespoints linewidth 2 \
			title columnheader(i) noenhanced
		unset logscale y
		set yrange [0:2<*]
		set ylabel "best peer's time / Tutti's"
		plot "$work/plot" using 1:$(($(echo "$list" | wc -w) + 3)) \
			with linespoints linewidth 2 title "over 1: Tutti is faster", \
			1 with lines dashtype 2 notitle
		unset multiplot
	EOF
fi
[ -z "$strict" ] || exit $verdict
exit 0
