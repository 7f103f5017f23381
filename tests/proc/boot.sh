#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks as processes that find each other, or must not: cases 1, 2, 6 to 11,
# 78 and 86, news between ranks, and the launchers that can be imitated or are
# there.  BOOTRANK names the program; its head says what it does.
set -u
bootrank=${BOOTRANK:-${top_builddir:-.}/tests/proc/bootrank}
dir=$(mktemp -d) || exit 1
failures=0
pids=()
# Two fixed ports, for the cases that need some.
port_a=$((10000 + $$ % 4000))
port_b=$((14000 + $$ % 4000))
pid_r0=
pid_r1=

cleanup()
{
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null
	done
	wait 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

fail()
{
	echo "FAILED: $what: $*"
	failures=$((failures + 1))
	[ $failures -gt 3 ] && return
	for f in "$dir"/*.out; do
		[ -s "$f" ] && sed "s|^|    $(basename "$f"): |" "$f"
	done
}

# Begin a case: nothing of the one before is left.
begin()
{
	what=$*
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null
		wait "$p"
	done 2>/dev/null
	pids=()
	rm -f "$dir"/*.out
}

# serve NAME: start a meeting point; its id is in $id.
serve()
{
	local name=${1:-root}

	rm -f "$dir/$name.in" "$dir/$name.id"
	mkfifo "$dir/$name.in"
	"$bootrank" serve >"$dir/$name.id" 2>"$dir/$name.log" \
		<"$dir/$name.in" &
	server=$!
	pids+=("$server")
	exec {hold}>"$dir/$name.in"
	for _ in $(seq 100); do
		[ "$(wc -l <"$dir/$name.id")" = 1 ] && break
		sleep 0.02
	done
	id=$(cat "$dir/$name.id")
}

# End it in order.
unserve()
{
	exec {hold}>&-
	wait "$server" 2>/dev/null
}

# rank NAME ARGUMENTS...: a process in the background, output in NAME.out.
rank()
{
	local name=$1

	shift
	"$bootrank" "$@" >"$dir/$name.out" 2>"$dir/$name.log" </dev/null &
	pids+=($!)
	eval "pid_$name=$!"
}

# expect NAME CODE [PATTERN]: how it ended.
expect()
{
	local name=$1 code=$2 pattern=${3:-} got p

	eval "p=\$pid_$name"
	wait "$p" 2>/dev/null
	got=$?
	[ "$got" = "$code" ] || fail "$name ended with $got, not $code"
	[ -z "$pattern" ] || grep -qE "$pattern" "$dir/$name.out" ||
		fail "$name does not say '$pattern'"
}

# within SECONDS COMMAND...: the command takes no longer.
within()
{
	local most=$1 t0 t1

	shift
	t0=$(date +%s%N)
	"$@"
	t1=$(date +%s%N)
	[ $(((t1 - t0) / 1000000)) -le "$((most * 1000))" ] ||
		fail "took $(((t1 - t0) / 1000000)) ms, over $most s"
}

# ---- Plain joining --------------------------------------------------------

begin "8 ranks join, exchange and leave"
serve
for r in 0 1 2 3 4 5 6 7; do
	rank "r$r" join "$id" 8 $r 10000 listen gather gather gather quiet leave
done
for r in 0 1 2 3 4 5 6 7; do
	expect "r$r" 0
done
unserve

begin "case 1: strangers of every kind during 20 inits"
serve
port=$("$bootrank" port "$id")
for kind in rst fin garbage half; do
	rank "s$kind" strangers "$port" $kind 400
done
rank sdrip strangers "$port" drip 50
unserve_later=$hold
for i in $(seq 20); do
	serve "root$i"
	p=$("$bootrank" port "$id")
	rank "t$i" strangers "$p" rst 20
	for r in 0 1 2; do
		rank "r$r" join "$id" 3 $r 10000 gather leave
	done
	for r in 0 1 2; do
		expect "r$r" 0
	done
	wait "$(eval "echo \$pid_t$i")"
	unserve
done
exec {unserve_later}>&-
# Each meeting point may say one line in 10 s.
export TUTTI_DEBUG=INFO
serve
port=$("$bootrank" port "$id")
for kind in rst fin garbage half; do
	rank "s$kind" strangers "$port" $kind 100
	expect "s$kind" 0
done
sleep 0.2
[ "$(grep -c 'turned away' "$dir/root.log")" = 1 ] ||
	fail "strangers made $(grep -c 'turned away' "$dir/root.log") lines"
unserve
unset TUTTI_DEBUG

begin "case 2: 20 inits under 1000 signals a second"
export BOOTRANK_SIGNALS=1
for i in $(seq 20); do
	serve
	for r in 0 1 2 3; do
		rank "r$r" join "$id" 4 $r 20000 gather leave
	done
	for r in 0 1 2 3; do
		expect "r$r" 0
	done
	unserve
done
unset BOOTRANK_SIGNALS

begin "case 6: a kernel without IPv6"
export BOOTRANK_NO_IPV6=1
serve
for r in 0 1 2; do
	rank "r$r" join "$id" 3 $r 10000 gather leave
done
for r in 0 1 2; do
	expect "r$r" 0
	[ -s "$dir/r$r.log" ] && fail "$(cat "$dir/r$r.log")"
done
[ -s "$dir/root.log" ] && fail "$(cat "$dir/root.log")"
unserve
unset BOOTRANK_NO_IPV6

# ---- Claims that cannot be right ------------------------------------------

begin "case 7: a rank twice"
serve
rank a join "$id" 4 0 20000
rank b join "$id" 4 1 20000
sleep 0.3
rank c join "$id" 4 1 20000
within 5 expect c 5 "two processes claim rank 1 of 4: pid [0-9]+ on host"
within 5 expect a 5 "two processes claim rank 1 of 4"
within 5 expect b 5 "two processes claim rank 1 of 4"
# Who comes later hears the same.
rank d join "$id" 4 2 20000
within 5 expect d 5 "two processes claim rank 1 of 4"
unserve

begin "case 7: sizes that differ"
serve
rank a join "$id" 4 0 20000
sleep 0.3
rank b join "$id" 3 1 20000
within 5 expect b 5 "rank 0 .* says 4, rank 1 .* says 3"
within 5 expect a 5 "rank 0 .* says 4, rank 1 .* says 3"
unserve

for bad in 4 -1; do
	begin "case 7: rank $bad of 4"
	serve
	rank a join "$id" 4 0 20000
	sleep 0.3
	rank b join "$id" 4 $bad 20000
	within 5 expect b 4 "rank $bad of 4"
	within 5 expect a 5 "rank $bad .* 4 ranks"
	unserve
done

begin "case 8: an id used again, after and during its communicator"
serve
for r in 0 1; do
	rank "r$r" join "$id" 2 $r 20000 gather sleep=1500 gather leave again
done
sleep 0.7
rank late join "$id" 2 1 20000
within 5 expect late 5 "in use|used before"
rank other join "$id" 3 2 20000
within 5 expect other 5 "in use|used before"
# The living communicator took no harm, and its ranks cannot use it again.
for r in 0 1; do
	expect "r$r" 5 "used before"
	[ "$(grep -c '^result 0' "$dir/r$r.out")" = 2 ] ||
		fail "an exchange beside a second use failed"
done
rank after join "$id" 2 0 20000
within 5 expect after 5 "used before"
unserve

begin "case 9: builds that differ"
serve
rank a join "$id" 3 0 20000
sleep 0.3
TUTTI_DEBUG_PROTOCOL=7 rank b join "$id" 3 1 20000
within 5 expect b 5 "protocol 7, .*protocol 1,"
within 5 expect a 5 "protocol 7, .*protocol 1,"
unserve

begin "case 10: two jobs with one port"
export TUTTI_PORT=$port_a
serve first
one=$id
rank second serve
within 5 expect second 2 "port $port_a"
unset TUTTI_PORT
for r in 0 1; do
	rank "r$r" join "$one" 2 $r 10000 gather leave
done
for r in 0 1; do
	expect "r$r" 0
done
unserve

begin "case 10: a rank of job B at the meeting point of job A"
serve A
a=$id
hold_a=$hold
serve B
forged=$("$bootrank" forge "$a" "$id")
rank r0 join "$a" 2 0 10000 gather leave
sleep 0.2
rank lost join "$forged" 2 1 10000
within 5 expect lost 5 "another job"
rank r1 join "$a" 2 1 10000 gather leave
expect r0 0
expect r1 0
unserve
exec {hold_a}>&-

# ---- Somebody does not come -----------------------------------------------

begin "case 11: ranks that never come"
serve
for r in 0 1 2 4 5 6; do
	rank "r$r" join "$id" 11 $r 1500
done
for r in 0 1 2 4 5 6; do
	within 6 expect "r$r" 8 "missing: 3, 7-10;"
done
unserve

begin "case 11: the meeting point's process is gone"
serve
kill -9 "$server"
rank r0 join "$id" 2 0 20000
within 6 expect r0 6 ":[0-9]+ \(Connection refused\).*has ended"
unserve

begin "case 11: the meeting point does not answer"
serve
kill -STOP "$server"
rank r0 join "$id" 2 0 1500
within 6 expect r0 8 ":[0-9]+ \(no answer\)"
kill -9 "$server"
unserve

begin "a rank dies before all have joined"
serve
rank r0 join "$id" 3 0 20000
rank r1 join "$id" 3 1 20000
sleep 0.5
kill -9 "$pid_r1"
within 5 expect r0 6 "rank 1 \(pid [0-9]+ .* ended before"
unserve

begin "the meeting point runs out of descriptors"
mkfifo "$dir/small.in"
(
	ulimit -n 24
	exec "$bootrank" serve <"$dir/small.in" >"$dir/small.id" \
		2>"$dir/small.log"
) &
server=$!
pids+=("$server")
exec {hold}>"$dir/small.in"
sleep 0.3
id=$(cat "$dir/small.id")
for r in $(seq 0 31); do
	rank "r$r" join "$id" 32 "$r" 8000
done
clear=0
for r in $(seq 0 31); do
	eval "wait \$pid_r$r"
	got=$?
	[ $got = 0 ] && fail "rank $r joined"
	grep -q "limit is 24 open files" "$dir/r$r.out" &&
		clear=$((clear + 1))
done
[ $clear -ge 10 ] || fail "only $clear ranks were told of the limit"
unserve

# ---- News -----------------------------------------------------------------

begin "a death is told, even while a child of the dead lives"
serve
rank r0 join "$id" 3 0 10000 listen gather await-death leave
rank r1 join "$id" 3 1 10000 gather sleep=200 fork kill
rank r2 join "$id" 3 2 10000 gather listen await-death leave
within 5 expect r0 0 "news death 1 6 rank 1 \(pid"
wait "$pid_r1"
unserve

begin "news that came before anybody listened is kept"
serve
rank r0 join "$id" 3 0 10000 gather sleep=700 listen await-death \
	await-error await-abort leave
rank r1 join "$id" 3 1 10000 gather error abort die
rank r2 join "$id" 3 2 10000 gather listen await-error await-abort leave
expect r0 0 'news error 1 8 told by 1\\x0a\\x01'
expect r2 0 'news abort 1 8'
grep -q 'news death 1' "$dir/r0.out" || fail "no death"
unserve

begin "an exchange with a dead rank fails at once"
serve
rank r0 join "$id" 3 0 10000 gather gather
rank r1 join "$id" 3 1 10000 gather sleep=300 die
rank r2 join "$id" 3 2 10000 gather sleep=900 gather
within 5 expect r0 6 "rank 1 .* died before the exchange"
within 5 expect r2 6 "rank 1 .* died before the exchange"
unserve

begin "an exchange that one rank does not join names it"
serve
rank r0 join "$id" 3 0 1000 gather gather
rank r1 join "$id" 3 1 1000 gather sleep=3000
rank r2 join "$id" 3 2 1000 gather gather
expect r0 8 "1 of 3 ranks did not take part: 1"
expect r2 8 "1 of 3 ranks did not take part: 1"
unserve

begin "who leaves in order is no death"
serve
rank r0 join "$id" 3 0 10000 listen gather sleep=800 quiet leave
rank r1 join "$id" 3 1 10000 gather leave
rank r2 join "$id" 3 2 10000 gather leave
expect r0 0
expect r1 0
expect r2 0
unserve

begin "the meeting point's process is killed"
serve
rank r0 join "$id" 2 0 10000 listen gather await-root-lost gather
rank r1 join "$id" 2 1 10000 gather sleep=600 listen await-root-lost leave
sleep 0.5
kill -9 "$server"
within 5 expect r0 6 "news root-lost -1 6"
expect r1 0
unserve

# host ACTION...: rank 0 of 3 makes the id, which is then in $id.
host()
{
	rm -f "$dir/host.id"
	rank r0 host "$dir/host.id" 3 0 10000 "$@"
	for _ in $(seq 100); do
		[ -s "$dir/host.id" ] && break
		sleep 0.02
	done
	sleep 0.05
	id=$(cat "$dir/host.id")
}

begin "case 59: the rank beside the meeting point exits after its last call"
for i in $(seq 10); do
	host gather gather leave
	rank r1 join "$id" 3 1 10000 gather gather leave
	rank r2 join "$id" 3 2 10000 listen gather gather \
		await-root-lost quiet leave
	expect r0 0
	expect r1 0
	expect r2 0 "news root-lost 0 0 .* ended after its ranks had left"
done

begin "the rank beside the meeting point aborts and exits at once"
for i in $(seq 10); do
	host gather abort die
	rank r1 join "$id" 3 1 10000 gather listen await-abort leave
	rank r2 join "$id" 3 2 10000 listen gather await-abort leave
	expect r0 0
	expect r1 0 "news abort 0"
	expect r2 0 "news abort 0"
done

begin "the rank beside the meeting point dies"
host gather sleep=200 kill
rank r1 join "$id" 3 1 10000 listen gather await-root-lost leave
rank r2 join "$id" 3 2 10000 gather listen await-root-lost leave
wait "$pid_r0"
expect r1 0 "news root-lost 0 6 .* in rank 0's process .* is gone"
expect r2 0 "news root-lost 0 6"

# ---- Launchers ------------------------------------------------------------

begin "tutti run's variables, three communicators one after another"
serve
for r in 0 1 2; do
	TUTTI_RANK=$r TUTTI_SIZE=3 TUTTI_LOCAL_RANK=$r TUTTI_UNIQUE_ID=$id \
		rank "r$r" env 10000 gather env gather leave env gather leave
done
for r in 0 1 2; do
	expect "r$r" 0
	[ "$(grep -c '^result 0' "$dir/r$r.out")" = 5 ] ||
		fail "not all steps passed"
done
unserve

begin "case 86: the secret is in no log"
serve
export TUTTI_DEBUG=TRACE
for r in 0 1; do
	TUTTI_RANK=$r TUTTI_SIZE=2 TUTTI_UNIQUE_ID=$id \
		rank "r$r" env 10000 gather leave
done
expect r0 0
expect r1 0
unset TUTTI_DEBUG
# Its place in the id: bytes 24 to 39.
grep -qi "${id:48:32}" "$dir"/*.log && fail "the secret was logged"
unserve

# slurm RANK SIZE: the variables of one task.
slurm()
{
	export SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID=$1 \
		SLURM_NTASKS=$2 SLURM_LOCALID=$1 \
		SLURM_STEP_NODELIST="n[007]" SLURM_STEP_TASKS_PER_NODE="$2"
}

begin "case 78: Slurm's variables alone, twice"
for r in 2 1 0; do
	(slurm $r 3 && exec "$bootrank" env 10000 gather env gather leave) \
		>"$dir/r$r.out" 2>"$dir/r$r.log" &
	pids+=($!)
	eval "pid_r$r=$!"
	sleep 0.3
done
for r in 0 1 2; do
	expect "r$r" 0 "joined $r 3"
done

begin "case 78: 4 tasks of Slurm, and nobody to reach"
(slurm 0 4 && SLURM_STEP_NODELIST='n[1,2],m3' \
	SLURM_STEP_TASKS_PER_NODE='2(x2)' exec "$bootrank" env 10000) \
	>"$dir/a.out" 2>&1 &
eval "pid_a=$!"
within 5 expect a 5 "none of Slurm's nodes"
(slurm 1 4 && unset SLURM_STEP_NODELIST && exec "$bootrank" env 10000) \
	>"$dir/b.out" 2>&1 &
eval "pid_b=$!"
within 5 expect b 5 "no list of nodes"
PMI_RANK=0 PMI_SIZE=4 rank c env 10000
within 5 expect c 5 "PMI_FD"
PMI_RANK=0 PMI_SIZE=4 PMI_FD=97 rank d env 10000
within 5 expect d 5 "PMI_FD=97"
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 rank e env 10000
within 5 expect e 5 "Open MPI"
TUTTI_RANK=0 TUTTI_SIZE=4 rank f env 10000
within 5 expect f 5 "TUTTI_UNIQUE_ID"
rank g env 1000 gather
expect g 0 "joined 0 1"

begin "torchrun's variables, with a secret"
for r in 2 1 0; do
	RANK=$r WORLD_SIZE=3 LOCAL_RANK=$r MASTER_ADDR=127.0.0.1 \
		MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$$ \
		TUTTI_SECRET=00112233445566778899aabbccddeeff \
		rank "r$r" env 10000 gather env gather leave
	sleep 0.2
done
for r in 0 1 2; do
	expect "r$r" 0 "joined $r 3"
done

begin "torchrun's variables, but another secret"
for r in 1 0; do
	RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29501 \
		TUTTI_SECRET=00112233445566778899aabbccddee0$r \
		TUTTI_PORT=$port_b rank "r$r" env 2000
	sleep 0.3
done
within 5 expect r1 5 "another job"
expect r0 8 "missing: 1;"

begin "MPICH's launcher"
if command -v mpirun.mpich >/dev/null; then
	timeout 60 mpirun.mpich -n 3 "$bootrank" env 20000 gather env gather \
		leave >"$dir/mpich.out" 2>&1 || fail "status $?"
	[ "$(grep -c '^result 0' "$dir/mpich.out")" = 9 ] ||
		fail "not all steps passed"
else
	echo "skipped: $what is not installed"
fi

begin "Open MPI's launcher, by PMIx"
if command -v mpirun.openmpi >/dev/null &&
	ldconfig -p | grep -q libpmix.so.2; then
	# The library itself forgets some bytes.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	export ASAN_OPTIONS
	timeout 60 mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 \
		"$bootrank" env 20000 gather env gather leave \
		>"$dir/openmpi.out" 2>&1 || fail "status $?"
	[ "$(grep -c '^result 0' "$dir/openmpi.out")" = 9 ] ||
		fail "not all steps passed"
	# A server that is not there: the address of a closed port.
	PMIX_RANK=0 PMIX_NAMESPACE=nowhere PMIX_SERVER_URI41="nowhere.0;\
tcp4://127.0.0.1:1" PMIX_SERVER_URI4="nowhere.0;tcp4://127.0.0.1:1" \
		OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 \
		rank dead env 10000
	within 12 expect dead 5 "PMIx"
else
	echo "skipped: $what is not installed"
fi

begin end
if [ $failures -gt 0 ]; then
	echo "$failures failure(s)"
	exit 1
fi
echo "all passed"
