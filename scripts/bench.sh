#!/bin/sh
# `make bench`: runs every benchmark in $B/bench and those below, and prints one table.  bench.sh WORD...: only benchmarks whose name
# contains one of the words.  Compare ratios, not nanoseconds: both sides of a ratio are measured alternately in one run.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
case $B in /*) here= ;; *) here=$PWD/ ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
rows=$work/rows
PATH=$here$B/bin:$here$B/tools:$PATH
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

# section NAME COMMAND...: adds the command's rows to the table, or a row that names the failed benchmark.
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

# A trace of 10^7 kernels and their launches, written with trace/file.h.
big=$work/big.gtrace

make_big() {
	[ -s "$big" ] || synth_trace "$big" "$1"
}

forget() {      # drops the file from the page cache
	sync "$big"
	dd if="$big" iflag=nocache count=0 status=none
}

reports() {
	make_big 10000000 || return 1
	report="gprof-trace report -r cuda_gpu_kern_sum --format csv $big"
	$report >/dev/null || return 1
	for i in 1 2 3 4 5; do
		forget
		start=$(date +%s%N)
		$report >"$work/report.csv" || return 1
		echo $((($(date +%s%N) - start) / 1000))
	done | sort -n | awk '{ a[NR] = $1 } END { printf "report cuda_gpu_kern_sum, 10^7 kernels, file cold\t%.1f\tms\tmedian of 5; goal 300\n", a[3] / 1000 }'
	alternate 7 'report cuda_gpu_kern_sum, 10^7 kernels, file warm' "$report" \
		'report cuda_api_sum of the same' "gprof-trace report -r cuda_api_sum --format csv $big"
	awk -F, 'NR > 1 { n += $3 } END { print "kernels counted: " n }' "$work/report.csv"
}

kineto() {
	small=$work/small.gtrace
	synth_trace "$small" 1000000 >/dev/null || return 1
	alternate 5 'export --format kineto, 10^6 kernels and launches' "gprof-trace export --format kineto -o - $small" \
		'the same into a file' "gprof-trace export --format kineto -f -o $work/k.json $small 2>/dev/null" >"$work/k.rows" || return 1
	cat "$work/k.rows"
	events=$(grep -c '"ph"' "$work/k.json")
	awk -F '\t' -v events="$events" 'NR < 3 {
		printf "Kineto events %s\t%.2f\tM/s\t%s\n", NR == 1 ? "made" : "made and stored", events / $2 / 1000,
			NR == 1 ? "goal 8; " events " events, one a line" : ""
	}' "$work/k.rows"
	ls -l "$work/k.json" | awk -v events="$events" '{ printf "bytes of a Kineto event\t%.0f\tB\t\n", $5 / events }'
}

for program in "$B"/bench/*; do
	case $program in *.d) continue ;; esac
	[ -x "$program" ] && section "${program##*/}" "$program"
done
section writer make_big 10000000
section reports reports
section kineto kineto
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
