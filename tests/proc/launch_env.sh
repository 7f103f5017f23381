#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What `tutti run` gives to ranks: numbers, nodes, the secret, standard input,
# and nothing of another launcher's story.
# shellcheck disable=SC2016 # ranks expand what is in single quotes
. "${top_srcdir:-.}/tests/proc/proc.sh"

# "rank/size/local/node" of every rank, in rank order, on one line.
tell='echo "$TUTTI_RANK/$TUTTI_SIZE/$TUTTI_LOCAL_RANK/${TUTTI_NODE-none}"'
placed() {
	run "$@" sh -c "$tell" 2>"$work/err" | sort -n | tr '\n' ' '
}

# ---- Numbers and nodes -------------------------------------------------
expect "$(placed -n 3)" '0/3/0/none 1/3/1/none 2/3/2/none ' 'no nodes'
expect "$(placed -n 4 --nodes 2)" '0/4/0/0 1/4/1/0 2/4/0/1 3/4/1/1 ' '2 of 4'
expect "$(placed -n 5 --nodes 3)" '0/5/0/0 1/5/1/0 2/5/0/1 3/5/1/1 4/5/0/2 ' '3 of 5'
expect "$(placed -n 4 --nodes 1)" '0/4/0/0 1/4/1/0 2/4/2/0 3/4/3/0 ' '1 of 4'
expect "$(placed -n 4 --nodes 3+1)" '0/4/0/0 1/4/1/0 2/4/2/0 3/4/0/1 ' '3+1'
expect "$(placed -n 4 --nodes=0,1,0,1)" '0/4/0/0 1/4/0/1 2/4/1/0 3/4/1/1 ' 'interleaved'
expect "$(placed -n 3 --nodes 2,1,0)" '0/3/0/2 1/3/0/1 2/3/0/0 ' 'backwards'
expect "$(TUTTI_NODE=5 TUTTI_RANK=7 placed -n 1)" '0/1/0/none ' 'run inside a rank'

wrong_map() {
	expect_status 2 run -n "$1" --nodes "$2" touch "$work/started"
	expect_line "$work/err" "^tutti run: --nodes is \"$2\", $3" "--nodes $2"
	[ ! -e "$work/started" ] || fault "--nodes $2 started ranks"
}
wrong_map 4 0 'but 4 ranks can sit on 1 to 4 nodes$'
wrong_map 4 5 'but 4 ranks can sit on 1 to 4 nodes$'
wrong_map 4 3+2 'which is 5 ranks, but -n is 4$'
wrong_map 4 2+1 'which is 3 ranks, but -n is 4$'
wrong_map 4 4+0 'but a node needs at least one rank$'
wrong_map 4 2+ 'but sizes are written as in 3+1$'
wrong_map 4 2+x 'but sizes are written'
wrong_map 4 0,1,0 'which names the node of 3 ranks, but -n is 4$'
wrong_map 2 0,1,0 'which names the node of 3 ranks, but -n is 2$'
wrong_map 4 0,1,0,3 'which has node 3 but no rank on node 2$'
wrong_map 4 0,1,,1 'but the nodes of the ranks are written as in 0,1,0,1$'
wrong_map 4 two 'but must be a number of nodes'
wrong_map 4 99999999999999999999 'but must be a number of nodes'

# ---- The story of another launcher -------------------------------------
env SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_STEP_NODELIST=n1 SLURM_LOCALID=1 \
	SLURM_JOB_ID=4711 PMI_RANK=3 PMI_SIZE=8 PMIX_RANK=3 PMIX_NAMESPACE=x \
	OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 MPI_LOCALRANKID=1 \
	RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_ADDR=x MASTER_PORT=1 \
	TORCHELASTIC_RUN_ID=x OTHER_RANK=kept RANK_FILE=kept \
	"$tutti" run -n 1 env >"$work/out" 2>"$work/err" </dev/null
expect "$?" 0 'run under other launchers'
if grep -E '^(SLURM_(PROCID|NTASKS|STEP|LOCALID)|PMI|OMPI|MPI_|RANK=|WORLD|LOCAL_RANK|MASTER|TORCH)' "$work/out"; then
	fault 'variables of other launchers reach ranks'
fi
expect_line "$work/out" '^SLURM_JOB_ID=4711$' 'harmless variable'
expect_line "$work/out" '^OTHER_RANK=kept$' 'similar name'
expect_line "$work/out" '^RANK_FILE=kept$' 'similar name'

# ---- The secret: case 86 -----------------------------------------------
# Of the same size for all ranks, new for every job, on no command line.
expect_status 0 run -n 3 sh -c 'echo "$TUTTI_UNIQUE_ID"'
expect "$(sort -u "$work/out" | wc -l)" 1 'ids of one job'
id=$(head -n 1 "$work/out")
expect "${#id}" 256 'digits of the id'
# The search itself has the secret as an argument, so it begins afterwards.
expect_status 0 run -n 1 sh -c 'echo "$TUTTI_UNIQUE_ID"; seen=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n"); echo "$seen" | grep -cF "$TUTTI_UNIQUE_ID"; :'
expect "$(sed -n 2p "$work/out")" 0 'secrets on command lines'
[ "$(head -n 1 "$work/out")" != "$id" ] || fault 'two jobs with one secret'

# ---- Streams and descriptors -------------------------------------------
# Rank 0 reads standard input; the others see its end at once.
expect "$(echo hello | run -n 3 sh -c 'read -r x; echo "$TUTTI_RANK${x:-nothing}"' | sort | tr '\n' ' ')" \
	'0hello 1nothing 2nothing ' 'standard input'
# Its writer is told when rank 0 wants no more, not when the job ends.  (The
# function run would be one more reader.)
(
	yes
	echo "$?" >"$work/writer"
) 2>/dev/null | env PROC_MARK="$mark" "$tutti" run -n 2 sh -c '[ "$TUTTI_RANK" = 0 ] || {
	n=0
	until [ -e "$work/writer" ] || [ $n -ge 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	echo $n
}' >"$work/out"
[ "$(cat "$work/out")" -lt 50 ] || fault 'the writer of standard input hangs'
# Nothing is added to the output.
expect "$(run -n 2 printf ab </dev/null 2>&1)" abab 'output'
# Ranks get no descriptor of the launcher, also if 0 to 2 were closed.
fds='for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done'
expect "$(run -n 1 sh -c "$fds" </dev/null)" "$(sh -c "$fds" </dev/null)" 'descriptors'
run -n 2 sh -c 'echo fine >"$work/fine.$TUTTI_RANK"' <&- >&- 2>&-
expect "$?" 0 'closed standard streams'
for rank in 0 1; do
	[ -s "$work/fine.$rank" ] || fault "closed streams: no rank $rank"
done

# ---- Signals are as the user had them ----------------------------------
masks='grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status'
expect "$(run -n 1 sh -c "$masks" </dev/null)" "$(sh -c "$masks" </dev/null)" 'signal masks of ranks'

finish
