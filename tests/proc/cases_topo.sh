#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Cases 73 to 76: few CPUs, no or a broken description of the machine, one that
# was given from outside, and nodes of unlike sizes.
#
# CASES_COUNT=1000 damages so many files instead of some; CASES_SEED=N others.
. "${top_srcdir:-.}/tests/proc/proc.sh"
fixtures=$(cd "${top_srcdir:-.}" && pwd)/tests/fixtures
build=$(cd "${top_builddir:-.}" && pwd)
cases=$build/tests/proc/cases
matrix=$build/tests/conform/matrix
export TUTTI_TIMEOUT=60 TUTTI_INIT_TIMEOUT=60
unset HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_THISSYSTEM HWLOC_FSROOT TUTTI_TOPO \
	TUTTI_TOPO_XML TUTTI_TOPO_SYNTHETIC TUTTI_ALGO

skip() {
	echo "skipped: $*"
}

# It succeeds, and says nothing.
well() {
	expect_status 0 "$@"
	expect "$(cat "$work/err")" "" "what was said by: $*"
}

# It succeeds, and every line it says is like the pattern, once a rank.
warned() {
	ranks=$1 pattern=$2
	shift 2
	expect_status 0 "$@"
	expect "$(grep -c -- "$pattern" "$work/err")" "$ranks" \
		"lines like \"$pattern\" of: $*"
	grep -v -- "$pattern" "$work/err" && fault "more was said by: $*"
}

# ---- Case 73: few CPUs -------------------------------------------------------

# Numbers of the CPUs of a mask, one a line: "0-2,7".
list_cpus() {
	echo "$1" | tr , '\n' | while IFS=- read -r a b; do
		seq "$a" "${b:-$a}"
	done
}

if command -v taskset >/dev/null; then
	mine=$(list_cpus "$(taskset -cp $$ | sed 's/.*: //')")
	last=$(echo "$mine" | tail -n 2 | paste -sd, -)
	every=$(echo "$mine" | sed -n 'n;p' | head -n 2 | paste -sd, -)
	for cpus in $last $every $(echo "$mine" | sed -n '1p;$p' | sort -u); do
		well taskset -c "$cpus" env PROC_MARK="$mark" "$tutti" run \
			-n 3 --timeout 60 "$cases" topo_bound
		well taskset -c "$cpus" "$tutti" topo
		expect_line "$work/out" "^  usable .* $(list_cpus "$cpus" |
			wc -l) CPU" "CPUs of $cpus"
	done
	# Ranks on CPUs of their own.
	cat >"$work/apart" <<-'END'
		cpu=$(($TUTTI_RANK % $(echo "$CPUS" | wc -l) + 1))
		exec taskset -c "$(echo "$CPUS" | sed -n "${cpu}p")" "$@"
	END
	CPUS=$mine well run -n 4 --timeout 60 sh "$work/apart" "$cases" topo_bound
	CPUS=$mine well run -n 5 --nodes 3+2 --timeout 60 sh "$work/apart" \
		"$cases" topo_bound
	# One that a foreign description has not.
	CPUS=$mine TUTTI_TOPO_SYNTHETIC='pack:1 core:1 pu:1' \
		well run -n 4 --timeout 60 sh "$work/apart" "$cases" topo_bound
else
	skip "case 73: there is no taskset"
fi

# A control group without the first CPU; version 1, or 2 where it is given.
make_cpuset() {
	for group in /sys/fs/cgroup/cpuset /sys/fs/cgroup; do
		[ -f "$group/cgroup.procs" ] || continue
		[ -f "$group/cpuset.cpus" ] || [ -f "$group/cpuset.cpus.effective" ] ||
			continue
		group=$group/tutti-test-$$
		mkdir "$group" 2>/dev/null || continue
		mems=$(cat "${group%/*}/cpuset.mems" 2>/dev/null)
		echo "${mems:-0}" >"$group/cpuset.mems"
		echo "$1" >"$group/cpuset.cpus" && return
		rmdir "$group"
	done 2>/dev/null
	return 1
}
cpu=$(list_cpus "$(cat /sys/devices/system/cpu/online)" | tail -n 1)
if [ "$cpu" -gt 0 ] && make_cpuset "$cpu"; then
	trap 'clean_up; rmdir "$group" 2>/dev/null' EXIT
	# shellcheck disable=SC2016 # for the inner shell
	in_group='echo $$ >"$0/cgroup.procs" && exec "$@"'
	well sh -c "$in_group" "$group" "$tutti" topo
	expect_line "$work/out" "^  allowed   1 of .* by the control group: $cpu\$" \
		"a control group"
	well sh -c "$in_group" "$group" env PROC_MARK="$mark" "$tutti" run \
		-n 3 --timeout 60 "$cases" topo_bound
	rmdir "$group" || fault "processes are left in $group"
else
	skip "case 73: no control group of CPUs can be made"
fi

# ---- Case 74: no or broken information ---------------------------------------

# Run a line in a mount namespace, bound to one CPU, so that the machine is
# looked at.
hidden() {
	line=$1
	shift
	env PROC_MARK="$mark" unshare --user --map-root-user --mount \
		sh -c "$line"' && exec taskset -c '"$cpu"' "$@"' sh "$@"
}
cpu=$(echo "${mine-0}" | tail -n 1)
sys=/sys/devices/system
if hidden "mount -t tmpfs none $sys/node" true 2>"$work/err"; then
	for what in cpu node; do
		reason="the topology of this machine is not known: $sys/$what "
		well hidden "mount -t tmpfs none $sys/$what" "$tutti" topo
		expect_line "$work/out" "$reason" "a flat machine without $what"
		warned 3 "$reason.*; ranks are not grouped" \
			hidden "mount -t tmpfs none $sys/$what" "$tutti" run -n 3 \
			--timeout 60 "$cases" topo_bound
		expect_status 1 hidden "mount -t tmpfs none $sys/$what" \
			"$tutti" topo --save "$work/none.xml"
		expect "$(wc -l <"$work/err")" 1 "lines about saving"
	done
	# Nothing about memory, and CPUs as they are.
	mkdir "$work/cpu"
	no_node="mount --bind $sys/cpu $work/cpu && mount -t tmpfs none $sys &&
		mkdir $sys/cpu && mount --bind $work/cpu $sys/cpu"
	well hidden "$no_node" "$tutti" topo
	expect_line "$work/out" '^  usable .* 1 core, 1 CPU' 'no NUMA nodes'
	well hidden "$no_node" "$tutti" run -n 3 --timeout 60 "$cases" topo_bound
	# An empty list, and a list of what is not there.
	for list in '' 0-3; do
		hidden "mount -t tmpfs none $sys/node && echo $list >$sys/node/online" \
			"$tutti" run -n 3 --timeout 60 "$cases" topo_bound \
			>"$work/out" 2>"$work/err"
		expect $? 0 "status with the list \"$list\" of nodes"
	done
	# Neither.
	warned 3 "the topology of this machine is not known" \
		hidden "mount -t tmpfs none $sys" "$tutti" run -n 3 \
		--timeout 60 "$cases" topo_bound
	warned 3 "the topology of this machine is not known" \
		hidden "mount -t tmpfs none /sys" "$tutti" run -n 3 \
		--timeout 60 "$cases" topo_bound
else
	skip "case 74: no mount namespace: $(cat "$work/err")"
fi
TUTTI_TOPO_SYNTHETIC='pu:1' well run -n 3 --timeout 60 "$cases" topo_bound
HWLOC_SYNTHETIC='pu:1' well run -n 3 --timeout 60 "$cases" topo_bound
well "$tutti" topo --synthetic pu:1 -n 3
# A device that is not on PCI is near no domain.
tac "$fixtures/2s16c-nic.xml" | sed '0,/<\/object>/ s|</object>|&\
<object type="OSDev" name="rxe0" osdev_type="3"/>|' | tac >"$work/virtual.xml"
well "$tutti" topo --xml "$work/virtual.xml"
expect_line "$work/out" 'rxe0 .*not on PCI .*near no NUMA domain more than' \
	'a virtual device'

# ---- Case 75: from outside ---------------------------------------------------

# Each of the ways to name a file: ignored with a warning that has its name and
# the reason, and refused where it was asked for.
refused() {
	name=$1 reason=$2
	for var in HWLOC_XMLFILE ${3-}; do
		# shellcheck disable=SC2086 # a command or nothing
		warned 3 "$name is not a topology: $reason.*; ranks are not grouped" \
			env PROC_MARK="$mark" "$var=$name" $as "$tutti" run -n 3 \
			--timeout 60 "$cases" topo_bound
	done
	# shellcheck disable=SC2086 # a command or nothing
	expect_status 1 $as "$tutti" topo --xml "$name"
	expect_line "$work/err" "^tutti topo: $name is not a topology: $reason" \
		"the refusal of $name"
	expect "$(wc -l <"$work/err")" 1 "lines about $name"
}
as=
mkfifo "$work/fifo"
: >"$work/empty.xml"
head -c 4000 /dev/zero >"$work/zero.xml"
tr -c 'a' '<' </dev/zero 2>/dev/null | head -c 100000 >"$work/brackets.xml"
printf '\377\376<\000' >"$work/wide.xml"
refused "$work/fifo" "it is not a file" TUTTI_TOPO_XML
refused "$work" "it is not a file"
refused /dev/zero "it is not a file"
refused "$work/missing.xml" "No such file" TUTTI_TOPO_XML
refused "$work/empty.xml" "line 1: " TUTTI_TOPO_XML
refused "$work/zero.xml" "line 1: "
refused "$work/brackets.xml" "line 1: "
refused "$work/wide.xml" "line 1: "
ln -s loop "$work/loop"
refused "$work/loop" "Too many levels"

# Unreadable, which root never sees.
cp "$fixtures/1s2c.xml" "$work/secret.xml"
chmod 000 "$work/secret.xml"
if [ "$(id -u)" -ne 0 ]; then
	refused "$work/secret.xml" "Permission denied"
elif setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$cases" --plain 2>"$work/err" ||
	[ ! -s "$work/err" ]; then
	chmod 755 "$work"
	as="setpriv --reuid 65534 --regid 65534 --clear-groups"
	refused "$work/secret.xml" "Permission denied"
	as=
else
	skip "case 75: nobody cannot run it: $(head -n 1 "$work/err")"
fi

# Descriptions that are none.
var=TUTTI_TOPO_SYNTHETIC
for text in nonsense 'pack:2 core:' 'pack:0 pu:1' 'pu:1000000' \
	'pack:2 (core:2 pu:1' "$(printf 'pu:1\377')"; do
	warned 3 'is not a synthetic topology: .*; ranks are not grouped' \
		env PROC_MARK="$mark" "$var=$text" "$tutti" run -n 3 \
		--timeout 60 "$cases" topo_bound
	var=HWLOC_SYNTHETIC
	expect_status 1 "$tutti" topo --synthetic "$text"
	expect "$(wc -l <"$work/err")" 1 "lines about $text"
done

# A host of 512 CPUs: taken for the machine, and nobody is bound by it.
well "$tutti" topo --synthetic 'pack:8 [numa] l3:4 core:8 pu:2' \
	--save "$work/512.xml"
for map in 1 3+1; do
	for var in TUTTI_TOPO_XML HWLOC_XMLFILE; do
		well env PROC_MARK="$mark" "$var=$work/512.xml" "$tutti" run \
			-n 4 --nodes $map --timeout 60 "$cases" topo_bound
	done
done
# As if it were this machine.
HWLOC_THISSYSTEM=1 HWLOC_XMLFILE=$work/512.xml \
	well run -n 4 --timeout 60 "$cases" topo_bound

# Cut at 50 places, and changed at random: ignored with a warning, or taken.
CASES_SEED=${CASES_SEED:-$(date +%s)} CASES_COUNT=${CASES_COUNT:-100}
export CASES_SEED CASES_COUNT
CASES_XML=$fixtures/1s2c.xml CASES_DIR=$work expect_status 0 \
	run -n 3 --timeout 120 "$cases" topo_files
echo "seed $CASES_SEED: $(grep -c 'changed-.* is not a topology' "$work/err") of" \
	"3 x $CASES_COUNT changed files refused"
expect "$(grep -c 'cut-.*\.xml is not a topology: .*; ranks are not grouped' \
	"$work/err")" 150 "warnings about cut files"
grep -v '\.xml is not a topology: .*; ranks are not grouped' "$work/err" &&
	fault "more was said about damaged files"

# ---- Case 76: nodes of unlike sizes ------------------------------------------

# What is forced has a size for each form, and no v-forms.
levels=all_reduce:leader:0-1K,all_reduce:hier,reduce:hier,broadcast:hier
levels=$levels,all_gather:hier,reduce_scatter:hier,barrier:hier
for map in "4 1+3" "4 0,1,1,1" "15 7+8" "8 5+1+2" "8 0,1,2,0,2,0,0,0"; do
	n=${map% *} map=${map#* }
	well run -n "$n" --nodes "$map" --timeout 120 "$matrix" --few
	TUTTI_ALGO=$levels well run -n "$n" --nodes "$map" --timeout 120 \
		"$matrix" --few
done
finish
