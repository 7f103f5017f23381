# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What the check scripts share.  A check is called with the source tree as
# its working folder, prints one line a fault, and ends 0, 1, or 77 when a
# tool it needs is not there.
set -u

faults=0

# One fault, with the place first: "file:line: what is wrong".
fault() {
	printf '%s\n' "$*"
	faults=$((faults + 1))
}

# Faults from the lines of a command.
fault_lines() {
	local line
	while IFS= read -r line; do
		fault "$line"
	done
}

skip() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

finish() {
	if [ "$faults" -ne 0 ]; then
		printf '%d fault(s)\n' "$faults"
		exit 1
	fi
	exit 0
}

# Lanes that repeat the tests for another compiler need not read the tree
# again.
[ -z "${CHECKS_SKIP-}" ] || skip "asked not to read the tree"

# A folder that is gone at the end.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# shellcheck disable=SC2034
build=$(cd "${top_builddir:-.}" && pwd) || exit 99
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 99

# The files people write: those of git where there is git, else all that
# neither autotools nor make produce.
source_files() {
	if [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard |
			while IFS= read -r f; do
				[ -f "$f" ] && printf '%s\n' "$f"
			done
		return
	fi
	# Programs are files without a dot, as .gitignore has it.
	find . -type f ! -path './.git/*' ! -path './.git' \
		! -path './build-aux/*' ! -path './autom4te.cache/*' \
		! -path '*/.libs/*' ! -path '*/.deps/*' ! -path './_*' \
		! -name 'aclocal.m4' ! -name 'configure' ! -name 'configure~' \
		! -name 'config.h' ! -name 'config.h.in' ! -name 'config.h.in~' \
		! -name 'config.log' ! -name 'config.status' \
		! -name 'libtool' ! -name 'Makefile' ! -name 'Makefile.in' \
		! -name 'stamp-h1' ! -name 'tutti.pc' ! -name 'libtool.m4' \
		! -name 'lt*.m4' ! -name 'registry.inc' ! -name '*.o' ! -name '*.lo' \
		! -name '*.la' ! -name '*.log' ! -name '*.trs' \
		! -name '.dirstamp' ! -name '*.tar.xz' |
		sed 's|^\./||' | grep -vE '^(tools|perf|tests/[^/]*)/([^/]*/)*[^./]+$'
}

# C files without comments, and with empty strings and character constants,
# as "file:line:text".
strip_c() {
	awk '
	FNR == 1 { comment = 0 }
	{
		out = ""
		line = $0
		while (line != "") {
			if (comment) {
				i = index(line, "*/")
				if (!i)
					break
				line = substr(line, i + 2)
				comment = 0
				continue
			}
			if (!match(line, /\/\*|\/\/|"|\047/)) {
				out = out line
				break
			}
			out = out substr(line, 1, RSTART - 1)
			token = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			if (token == "//")
				break
			if (token == "/*") {
				comment = 1
				out = out " "
				continue
			}
			out = out token token
			while (line != "") {
				c = substr(line, 1, 1)
				line = substr(line, c == "\\" ? 3 : 2)
				if (c == token)
					break
			}
		}
		print FILENAME ":" FNR ":" out
	}' "$@"
}

# The public header without comments, directives and what continues them.
bare_header() {
	strip_c include/tutti.h | cut -d : -f 3- | awk '
		/^[ \t]*#/ || more { more = /\\$/; next } { print }'
}

# Files people write, by extended regular expression of the whole path.
files_like() {
	source_files | grep -E "^($1)\$" | sort
}

# Functions that tutti.h declares with prefix $1 (tutti or ptutti).
declared() {
	bare_header | grep -oE "\b$1[A-Z][A-Za-z0-9]*\(" |
		tr -d '(' | sort -u
}
