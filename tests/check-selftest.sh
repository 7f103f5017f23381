#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The checks themselves: faults are planted one at a time in a copy of the
# tree, and the check meant for each must name it.
# Commands to plant faults are meant to expand later.
# shellcheck disable=SC2016
. "$(dirname "$0")/checklib.sh"

here=$PWD
mkdir "$scratch/clean" "$scratch/build"
source_files | tar -T - -cf - | tar -xf - -C "$scratch/clean"

# plant CHECK PATTERN COMMAND: after COMMAND in a copy of the tree, CHECK
# fails with a line that matches PATTERN.
planted=0
plant() {
	local check=$1 pattern=$2 status
	rm -rf "$scratch/tree"
	cp -r "$scratch/clean" "$scratch/tree"
	(cd "$scratch/tree" && eval "$3") || {
		fault "could not plant: $3"
		return
	}
	top_srcdir=$scratch/tree top_builddir=$scratch/build \
		bash "$here/tests/check-$check.sh" >"$scratch/out" 2>&1
	status=$?
	[ $status -eq 77 ] && return
	planted=$((planted + 1))
	[ $status -eq 1 ] || fault "check-$check ended $status after: $3"
	grep -qE -e "$pattern" "$scratch/out" ||
		fault "check-$check did not name the fault of: $3"
}

plant header 'alone' 'sed -i "/#include <stddef.h>/d" include/tutti.h'
plant header 'alone.cc' 'sed -i "/#define TUTTI_MAJOR/a typedef struct { int class; } tuttiBad;" include/tutti.h'

plant layers 'sched may not include comm' 'echo "#include \"comm/comm.h\"" >>lib/sched/sched.h'
plant layers 'base may not include trace' 'echo "#include \"trace/trace.h\"" >>lib/base/bits.h'
plant layers 'only topo' 'echo "#include <hwloc.h>" >>lib/boot/boot.h'
plant layers 'only net/verbs' 'mkdir -p lib/net/tcp; echo "#include <infiniband/verbs.h>" >lib/net/tcp/x.c'
plant layers 'is no room' 'mkdir lib/extra; echo "#include \"base/log.h\"" >lib/extra/x.c'
plant layers 'write "room' 'echo "#include \"bits.h\"" >>lib/base/log.h'
plant layers 'tutti.h only' 'echo "#include \"base/log.h\"" >perf/x.c'
plant layers 'link libtutti.la' 'echo "x_LDADD = libtutti-core.la" >>perf/local.mk'

plant words 'C11 atomics' 'echo "static volatile int flag;" >>lib/base/bits.h'
plant words 'only lib/base/log.c' 'echo "void f(void) { fprintf(stderr, \"x\"); }" >>lib/base/io.c'
plant words 'only lib/base/log.c' 'echo "void f(void) { exit(1); }" >>lib/base/io.c'
plant words 'signals alone' 'echo "void f(void) { signal(13, 0); }" >>lib/base/io.c'
plant words 'safer function' 'echo "void f(char *s) { sprintf(s, \"x\"); }" >>lib/base/io.c'
plant words 'macro with return' 'printf "#define TRY(x) \\\\\n\tif (x) \\\\\n\t\treturn 1\n" >>lib/base/bits.h'
plant words 'TO''DO' 'echo "/* TO''DO: later */" >>lib/base/bits.h'

plant heads 'no SPDX' 'sed -i 1d lib/base/io.c'
plant heads 'no comment' 'printf "/* SPDX-License-Identifier: BSD-3-Clause */\n#include <stddef.h>\n" >lib/base/x.c'
plant heads 'no newline' 'printf "int x;" >>lib/base/io.h'
plant heads 'blank at the end' 'echo "int x; " >>lib/base/io.h'

plant paths 'README.md' 'echo "see /hom""e/me/tutti" >>README.md'
plant shell 'see above' 'printf "#!/bin/sh\nrm \$1/x\n" >tools/x.sh; chmod +x tools/x.sh'
plant spelling 'README.md' 'echo "We will rec""ieve it." >>README.md'

plant api 'not in tutti.h' 'sed -i "/ptuttiBarrier(/d" include/tutti.h'
plant api 'not in lib/libtutti.map' 'sed -i "/ptuttiBarrier;/d" lib/libtutti.map'
plant api 'in lib/libtutti.map, not' 'sed -i "s/^\tptuttiBarrier;/&\n\ttuttiBarrier2;/" lib/libtutti.map'
plant api 'no such page' 'rm man/man3/tuttiBarrier.3'
plant api 'headings are' 'sed -i "/^.SH CONCURRENCY/d" man/man3/tuttiBarrier.3'
plant api 'not the prototype' 'sed -i "s/tuttiBarrier(tuttiComm_t/tuttiBarrier(int/" man/man3/tuttiBarrier.3'
plant api 'not under NAME' 'sed -i "s/^tuttiBarrier /barrier /" man/man3/tuttiBarrier.3'
plant api 'page of nothing' 'cp man/man3/tuttiBarrier.3 man/man3/tuttiBarrier2.3'
plant api 'is not there' 'echo ".so man3/tuttiNone.3" >man/man3/tuttiBarrier.3'

plant algorithms 'allreduce magic: not in' 'echo "TUTTI_ALGOS += lib/algo/allreduce_magic.c" >>lib/algo/local.mk'
plant algorithms 'broadcast magic: in' 'sed -i "/^.SS broadcast/a .TP\n.B magic" man/man7/tutti-algorithms.7; echo "# lib/algo/x_y.c" >>lib/algo/local.mk'

plant roff 'tuttiBarrier.3' 'printf ".SH\n.FOO bar\n.RE\n" >>man/man3/tuttiBarrier.3'
plant examples 'tuttiBarrier.3' 'sed -i "/^.SH EXAMPLE/,/^.EE/s/tuttiComm_t/tuttiComn_t/" man/man3/tuttiBarrier.3'
plant examples 'README.md' 'sed -i "/^\`\`\`c/a #include <nothing.h>" README.md'
plant settings 'TUTTI_TIMOUT' 'echo "TUTTI_TIMOUT" >>README.md'

# Checks of built files: a library and a builder made for the purpose.
cc=${CC:-cc}
mkdir -p "$scratch/build/.libs" "$scratch/build/lib/algo"
library() {
	sed -n 's/^\tp\(tutti.*\);/int p\1(void) { return 0; }/p' \
		lib/libtutti.map >"$scratch/l.c"
	sed -n "s/^\tp\(tutti.*\);/int \1(void) __attribute__((weak, alias(\"p\1\")));/p" \
		lib/libtutti.map >>"$scratch/l.c"
	sed -i "$1" "$scratch/l.c"
	# shellcheck disable=SC2086
	# shellcheck disable=SC2086
	$cc -fPIC -shared -o "$scratch/build/.libs/libtutti.so" "$scratch/l.c"
}
library 's/^int ptuttiBarrier.*/&\nint tutti_secret(void) { return 1; }/'
plant symbols 'tutti_secret: given' true
library '/ tuttiBarrier(/d'
plant symbols 'tuttiBarrier: in the map' true
library 's/^int tuttiBarrier.*/int tuttiBarrier(void) { return 0; }/'
plant symbols 'tuttiBarrier: not weak' true
library 's/^int tuttiBarrier.*/int tuttiBarrier(void) __attribute__((weak, alias("ptuttiSend")));/'
plant symbols 'not the same function' true

builder() {
	printf '%s\n' "$1" >"$scratch/b.c"
	# shellcheck disable=SC2086
	# shellcheck disable=SC2086
	$cc -c -o "$scratch/build/lib/$2/b.o" "$scratch/b.c"
}
builder 'void *malloc(unsigned long n); void *f(void) { return malloc(3); }' algo
plant purity 'may not use malloc' true
mkdir "$scratch/build/lib/sched"
builder 'char *getenv(char *n); char *g(void) { return getenv("X"); }' sched
plant purity 'environment: getenv' true

mkdir -p "$scratch/build/tools"
printf '#!/bin/sh\necho .TP\necho .B TUTTI_NEW\n' >"$scratch/build/tools/tutti"
chmod +x "$scratch/build/tools/tutti"
plant settings 'TUTTI_NEW' true
rm "$scratch/build/tools/tutti"

# A program with an option that its page does not have, and without others.
mkdir -p "$scratch/build/perf"
printf '#!/bin/sh\necho "  --bogus X  no such option"\n' \
	>"$scratch/build/perf/tutti-perf"
chmod +x "$scratch/build/perf/tutti-perf"
plant usage 'does not know --bogus' true
plant usage 'help does not know --inplace' true
printf '#!/bin/sh\necho "  --lr X  rate (default: 7)"\n' \
	>"$scratch/build/tools/tutti-train"
chmod +x "$scratch/build/tools/tutti-train"
plant usage 'default of --lr is 7' true

printf '%d faults planted\n' "$planted"
[ "$planted" -gt 30 ] || fault "too few faults were planted"
finish
