#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Arrows between the rooms point down only: every quoted include of lib/ is
# compared with the table below.  Foreign libraries have one room each, and
# programs that show how the library is used see its public header only.
. "$(dirname "$0")/checklib.sh"

# room: rooms it may include besides itself
table='
base:
trace: base
reduce: base
topo: base
boot: base
sched: base
net: base trace
algo: sched base
model: sched base
exec: sched net reduce trace base
comm: base trace reduce topo boot sched net algo model exec
api: comm trace base
'

declare -A may
while IFS=: read -r room rooms; do
	[ -z "$room" ] || may[$room]=" $room $rooms "
done <<<"$table"

# Every include as "file:line:header", quoted ones with their first quote.
includes() {
	grep -HnE '^[[:space:]]*#[[:space:]]*include' "$@" /dev/null |
		sed -E 's/^([^:]*:[0-9]+):[^"<]*(["<][^">]*)[">].*/\1:\2/'
}

mapfile -t lib < <(files_like 'lib/.*\.([ch]|def|inc)')
while IFS=: read -r file line header; do
	room=${file#lib/}
	room=${room%%/*}
	if [ -z "${may[$room]-}" ]; then
		fault "$file: $room is no room of the table in this script"
		continue
	fi
	case $header in
	'"config.h' | '"tutti.h') ;;
	'"'*/*)
		to=${header#\"}
		case ${may[$room]} in
		*" ${to%%/*} "*) ;;
		*) fault "$file:$line: $room may not include $to" ;;
		esac ;;
	'"'*)
		fault "$file:$line: write \"room/$(basename "${header#\"}")\"" ;;
	'<tutti.h')
		fault "$file:$line: write \"tutti.h\"" ;;
	'<hwloc'*)
		[ "$room" = topo ] ||
			fault "$file:$line: only topo may see hwloc" ;;
	'<infiniband'* | '<rdma/'*)
		case $file in
		lib/net/verbs/*) ;;
		*) fault "$file:$line: only net/verbs may see verbs" ;;
		esac ;;
	esac
done < <(includes "${lib[@]}")

mapfile -t users < <(files_like \
	'(perf|tools/train)/.*\.[ch]|tools/tutti-train.*\.[ch]')
while IFS=: read -r file line header; do
	to=${header#[\"<]}
	if [ "$to" != tutti.h ] && [ -e "lib/$to" ]; then
		fault "$file:$line: may include tutti.h only, not $to"
	fi
done < <(includes "${users[@]}")

mapfile -t makefiles < <(files_like '(perf|tools/train)/.*\.mk')
fault_lines < <(grep -n 'libtutti-core' "${makefiles[@]}" /dev/null |
	sed 's/$/: link libtutti.la, as a user does/')
finish
