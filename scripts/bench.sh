#!/bin/sh
# `make bench`: runs every bench that is built ($B/bench/*) and the ones below, and prints one table.  bench.sh WORD...: only those
# whose name has one of the words.  Compare ratios, not nanoseconds: each ratio was taken within one run, its sides in turn.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
rows=$work/rows
PATH=$PWD/$B/bin:$PWD/$B/tools:$PATH
export B
status=0
words=$*

wanted() {
	[ "$words" ] || return 0
	for word in $words; do
		case $1 in *"$word"*) return 0 ;; esac
	done
	return 1
}

# section NAME COMMAND...: its rows go to the table; a bench that fails is named there.
section() {
	name=$1
	shift
	wanted "$name" || return 0
	echo "bench: $name" >&2
	printf '%s\n' "[$name]" >>"$rows"
	if ! "$@" >>"$rows" 2>"$work/err"; then
		printf 'failed: %s\n' "$(tail -n 1 "$work/err")" >>"$rows"
		status=1
	fi
}

a_program() {
	alternate 41 '/bin/true' /bin/true 'gprof-run -- /bin/true' "gprof-run -f -o $work/true -- /bin/true 2>/dev/null"
}

many_processes() {
	loop='i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done'
	alternate 9 '200 x /bin/true under sh' "$loop" \
		'the same under gprof-run' "gprof-run -f -o $work/loop -- sh -c '$loop' 2>/dev/null"
}

for program in "$B"/bench/*; do
	case $program in *.d) continue ;; esac
	[ -x "$program" ] && section "${program##*/}" "$program"
done
section run-true a_program
section run-200-execs many_processes
for script in test/bench/*.sh; do
	[ -e "$script" ] && section "$(basename "$script" .sh)" sh "$script"
done

echo "$(uname -srm), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%Y-%m-%d)"
awk -F '\t' '
	/^\[/ { print ""; print; next }
	NF >= 3 { printf "  %-58s %14s %-10s %s\n", $1, $2, $3, $4; next }
	{ print "  " $0 }
' "$rows"
exit $status
