#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two hosts, made of network namespaces joined by a cable: cases 3, 5 and 6,
# and meeting points with addresses that others cannot reach.  A namespace
# lives as long as the process that holds it, so nothing can be left behind.
# And one host with few ports: case 72.
set -u
bootrank=$(readlink -f "${BOOTRANK:-${top_builddir:-.}/tests/proc/bootrank}")
failures=0
holders=()

skip()
{
	echo "skipped: $*"
	exit 77
}

for tool in unshare nsenter ip; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
unshare -n -m -u true 2>/dev/null || skip "no right to make namespaces"
[ -e /proc/net/if_inet6 ] || skip "this kernel has no IPv6"
dir=$(mktemp -d) || exit 1

cleanup()
{
	kill -9 "${holders[@]}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

fail()
{
	echo "FAILED: $what: $*"
	failures=$((failures + 1))
	sed 's|^|    |' "$dir"/*.out "$dir"/*.log 2>/dev/null
}

# on HOST COMMAND...
on()
{
	local host=$1

	shift
	eval "host=\$holder_$host"
	nsenter -t "$host" -n -m -u "$@"
}

new_host()
{
	unshare -n -m -u sleep 600 &
	holders+=($!)
	eval "holder_$1=$!"
	for _ in $(seq 100); do
		[ "$(readlink "/proc/$!/ns/net")" != \
			"$(readlink /proc/self/ns/net)" ] && break
		sleep 0.02
	done
	on "$1" hostname "host$1"
	# Its own name leads to a loopback address, as on many hosts.
	printf '127.0.0.1 localhost\n127.0.1.1 host%s\n' "$1" >"$dir/hosts$1"
	on "$1" mount --bind "$dir/hosts$1" /etc/hosts
	on "$1" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
		echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
	on "$1" ip link set lo up
}

# new_pair: hosts a and b with a cable, no address but what the kernel makes.
new_pair()
{
	kill -9 "${holders[@]}" 2>/dev/null
	wait "${holders[@]}" 2>/dev/null
	holders=()
	holder_a=
	holder_b=
	new_host a
	new_host b
	ip link add cable netns "$holder_a" type veth peer name cable netns \
		"$holder_b" || skip "no right to make a cable (veth)"
	on a ip link set cable up
	on b ip link set cable up
}

# meet MS: a serves and is rank 0, b is rank 1.  Sets $id, $first, $second.
meet()
{
	local limit=$1 root other

	rm -f "$dir"/*.out "$dir"/*.log "$dir/in"
	mkfifo "$dir/in"
	on a "$bootrank" serve <"$dir/in" >"$dir/id.out" 2>"$dir/root.log" &
	root=$!
	exec {hold}>"$dir/in"
	for _ in $(seq 100); do
		[ "$(wc -l <"$dir/id.out")" = 1 ] && break
		sleep 0.02
	done
	id=$(cat "$dir/id.out")
	on a "$bootrank" join "$id" 2 0 "$limit" gather address leave \
		>"$dir/a.out" 2>"$dir/a.log" </dev/null &
	other=$!
	on b "$bootrank" join "$id" 2 1 "$limit" gather address leave \
		>"$dir/b.out" 2>"$dir/b.log" </dev/null
	second=$?
	wait $other
	first=$?
	exec {hold}>&-
	wait $root
}

met()
{
	[ "$first$second" = 00 ] || fail "ended with $first and $second"
	grep -qE "address $1" "$dir/a.out" || fail "a does not tell $1"
	grep -qE "address $2" "$dir/b.out" || fail "b does not tell $2"
}

what="case 3: the own name leads to 127.0.1.1"
new_pair
on a ip addr add 10.77.0.1/24 dev cable
on b ip addr add 10.77.0.2/24 dev cable
meet 10000
met 10.77.0.1:0 10.77.0.2:0

what="a named interface"
on a ip link add other type veth peer name beyond
on a ip link set beyond up
on a ip addr add 10.78.0.1/24 dev other
on a ip link set other up
TUTTI_IFNAME="=cable" meet 10000
met 10.77.0.1:0 10.77.0.2:0
TUTTI_IFNAME="^oth,lo" meet 10000
met 10.77.0.1:0 10.77.0.2:0

what="the first address of the meeting point cannot be reached"
on a ip route add default dev other
on b ip route add 10.78.0.0/24 dev cable
on b ip neigh add 10.78.0.1 lladdr 02:00:00:00:00:99 dev cable
meet 15000
met 10.7[78].0.1:0 10.77.0.2:0

what="case 6: IPv6 is switched off"
for host in a b; do
	on $host sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
TUTTI_IFNAME=cable meet 10000
met 10.77.0.1:0 10.77.0.2:0
[ -z "$(cat "$dir"/*.log)" ] || fail "something was said"

what="case 5: link-local addresses and a local network's"
new_pair
on a ip addr add fd77::1/64 dev cable
on b ip addr add fd77::2/64 dev cable
sleep 0.5
meet 10000
met '\[fd77::1\]:0' '\[fd77::2\]:0'

what="case 5: nothing but link-local addresses"
new_pair
sleep 0.5
t0=$(date +%s)
meet 5000
[ $(($(date +%s) - t0)) -le 15 ] || fail "took too long"
met '\[fe80::.*%[0-9]+\]:0' '\[fe80::.*%[0-9]+\]:0'

what="case 3: loopback alone is no address for another host"
new_pair
on a ip link set cable down
on b ip link set cable down
meet 3000
[ "$second" = 6 ] || fail "b ended with $second"
grep -q "on its own host only, and this is hostb" "$dir/b.out" ||
	fail "b does not say why"

what="case 72: 20 jobs on end with 60 ports"
on a sh -c 'echo "30000 30059" >/proc/sys/net/ipv4/ip_local_port_range'
for i in $(seq 20); do
	rm -f "$dir"/*.out "$dir"/*.log "$dir/id"
	ranks=()
	on a "$bootrank" host "$dir/id" 6 0 10000 gather leave \
		>"$dir/r0.out" 2>&1 </dev/null &
	ranks+=($!)
	for _ in $(seq 200); do
		[ -s "$dir/id" ] && break
		sleep 0.01
	done
	for r in 1 2 3 4 5; do
		on a "$bootrank" join "$(cat "$dir/id")" 6 $r 10000 gather \
			leave >"$dir/r$r.out" 2>&1 </dev/null &
		ranks+=($!)
	done
	for p in "${ranks[@]}"; do
		wait "$p" || fail "job $i: a rank ended with $?"
	done
done

what="no interface at all"
on a ip link set lo down
on a "$bootrank" serve </dev/null >"$dir/id.out" 2>&1
[ $? = 2 ] || fail "an id without an address"
grep -q "lo (down" "$dir/id.out" || fail "the interfaces are not listed"

if [ $failures -gt 0 ]; then
	echo "$failures failure(s)"
	exit 1
fi
echo "all passed"
