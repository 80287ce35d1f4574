#!/bin/sh
# same.sh RECORDED.rows TRACE: does a trace say of a replayed recording what was decoded where it was made?  Prints the differences.
# Fields that rows have learned since then are not looked at.
set -eu
sh "$(dirname "$0")/rows.sh" "$2" >"${TMPDIR:-/tmp}/replayed.$$"
trap 'rm -f "${TMPDIR:-/tmp}/replayed.$$" "${TMPDIR:-/tmp}/known.$$"' EXIT
awk '
	function fields(line, pass,    out, name, at) {
		out = ""
		while (match(line, / [a-z_0-9]+=("([^"\\]|\\.)*"|[^ ]*)/)) {
			at = substr(line, RSTART, RLENGTH)
			name = substr(at, 2, index(at, "=") - 2)
			if (pass == 1) known[kind, name] = 1
			else if ((kind, name) in known) out = out at
			line = substr(line, RSTART + RLENGTH)
		}
		return out
	}
	{ kind = $1 }
	NR == FNR { fields($0, 1); next }
	{ print kind fields($0, 2) }' "$1" "${TMPDIR:-/tmp}/replayed.$$" | LC_ALL=C sort >"${TMPDIR:-/tmp}/known.$$"
LC_ALL=C sort "$1" | diff -u - "${TMPDIR:-/tmp}/known.$$"
