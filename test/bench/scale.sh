#!/bin/sh
# Time and memory against the length of a trace: 10^5, 10^6, 10^7 kernels, each with its launch (LONG=1: what folds as it reads at 10^8 too,
# the others at 10^7).  `plain`: a launch and a kernel of 40 names, ranges for layers and steps.  `job`: four ranks, 800 names, 4 streams
# at once, 2 threads, each kernel in two operators of PyTorch.  The last column is the largest growth of CPU time over one decade, of
# those that take 0.05 s and more: 10 is a straight line, more than 12 is suspect and marked.
set -u
work=${GPROF_BENCH_TRACES:-$(mktemp -d)} || exit 1
[ "${GPROF_BENCH_TRACES-}" ] || trap 'rm -rf "$work"' EXIT
job='names=800 streams=4 threads=2 processes=4 ops=1'

trace() {       # trace SHAPE EXPONENT: makes it once, prints its path
	file=$work/$1-$2.gtrace
	keys=
	[ "$1" = job ] && keys=$job
	# shellcheck disable=SC2086
	[ -s "$file" ] || synth_trace "$file" "1$(printf '%0*d' "$2" 0)" $keys >/dev/null || exit 1
	echo "$file"
}

# row SHAPE MOST WHAT...: WHAT of gprof-trace on traces of 10^5 .. 10^MOST kernels.
row() {
	shape=$1 most=$2
	shift 2
	for exponent in 5 6 7 8; do
		[ "$exponent" -le "$most" ] || break
		file=$(trace "$shape" "$exponent") || exit 1
		rounds=3
		[ "$exponent" -ge 7 ] && rounds=2
		measure "$rounds" gprof-trace "$@" "$file" || exit 1
	done | awk -v name="$(echo "$*" | sed 's/^report -r //; s/ -f -o .*//') ($shape)" '
		{ cells = cells sprintf(" | %6.2f %6.2f %6d", $1, $2, $3); cpu[NR] = $2; n = NR }
		END {
			for (i = 2; i <= n; i++)
				if (cpu[i - 1] >= 0.05 && cpu[i] / cpu[i - 1] > grows)
					grows = cpu[i] / cpu[i - 1]
			for (i = n; i < 4; i++)
				cells = cells sprintf(" | %6s %6s %6s", "", "", "")
			printf "%-34s%s | %s\n", name, cells, grows ? sprintf("%.1f%s", grows, grows > 12 ? " <- more than linear?" : "") : "-"
		}'
}

fold=7 hold=6
[ "${LONG-}" ] && fold=8 && hold=7
head=' |   wall    cpu    MiB'
printf '%-34s | 10^5                 | 10^6                 | 10^7                 | 10^8                 | x a decade, at most\n' kernels
printf '%-34s%s%s%s%s |\n' 's, s, MiB' "$head" "$head" "$head" "$head"
for what in 'report -r cuda_gpu_kern_sum' 'report -r cuda_api_sum' 'report -r nvtx_pushpop_sum' 'report -r occupancy' info check; do
	# shellcheck disable=SC2086
	row plain "$fold" $what
done
row job "$fold" report -r cuda_gpu_kern_sum
for what in report 'report -r launch_sites' 'report -r steps'; do
	# shellcheck disable=SC2086
	row plain 7 $what
done
for what in 'report -r cuda_gpu_trace' 'report -r temporal' 'report -r idle' 'report -r overlap' 'report -r queue_length' 'report -r launch_delay_sum' \
	'report -r hta_critical_path' 'report -r critical_path' 'report -r hta_kernel_breakdown_all' 'report -r tb_steps' 'export -f -o /dev/null'; do
	# shellcheck disable=SC2086
	row plain "$hold" $what
done
for what in 'report -r phases' 'report -r ops' 'report -r aten_kernels' 'report -r tb_operators'; do
	# shellcheck disable=SC2086
	row job "$hold" $what
done
