#!/bin/bash
# processes.sh RUNS [OPTIONS OF gprof-run...]: starts 8, 50, 200 and 1,000 processes at once (SIZES="8 50" names others), RUNS times each, beside
# a load of 4 busy loops (LOAD=N), and looks for every row of every process in the trace.  Each process makes 100 ranges, sleeps 0.3 s,
# and makes 1,000 more.  Says of each run that is not whole what is missing, and at last how many runs and rows there were.
# Not part of `make check`: 200 runs of each size take hours.
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${GPROF_BUILD:-$here/build}
runs=${1:?how many runs?}
shift
spawned=$build/test/programs/spawned
[ -x "$spawned" ] || { echo "$spawned is not built: make host-programs needs NVTX's headers"; exit 77; }
PATH=$build/bin:$PATH
folder=$(mktemp -d) || exit 1
busy=
for _ in $(seq "${LOAD:-4}"); do
	while :; do :; done &
	busy="$busy $!"
done
trap 'kill $busy 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cd "$folder" || exit 1

# What is known to be missing, but that the pipe was used: "COUNT REASON;..."
missing() {
	gprof-trace report -r health --format csv t.gtrace 2>/dev/null | tail -n +2 | cut -d, -f3 | grep -v pipe_used | sort | uniq -c |
		sed 's/^ *//' | tr '\n' ';'
}

failed=0
for size in ${SIZES:-8 50 200 1000}; do
	whole=0 all=0 longest=0
	for run in $(seq "$runs"); do
		gprof-run -q -f -o t "$@" -- "$spawned" "$size" 100 300 1000 >out 2>err
		status=$?
		rows=$(gprof-trace dump -k range t.gtrace | wc -l)
		seen=$(gprof-trace report -r processes --format csv t.gtrace 2>/dev/null | tail -n +2 | wc -l)
		lost=$(missing)
		ms=$(sed -n 's/^longest //p' out)
		[ "${ms:-0}" -le "$longest" ] || longest=$ms
		all=$((all + rows))
		if [ $status -eq 0 ] && [ "$rows" -eq $((size * 1100)) ] && [ "$seen" -eq $((size + 1)) ] && [ -z "$lost" ]; then
			whole=$((whole + 1))
		else
			failed=1
			echo "size $size, run $run: status $status, $rows of $((size * 1100)) rows, $seen of $((size + 1)) processes, missing: ${lost:-nothing}"
			[ -z "${KEEP-}" ] || cp t.gtrace "$KEEP/processes-$size-$run.gtrace"
		fi
	done
	echo "size $size: $whole of $runs runs whole, $all of $((size * 1100 * runs)) rows; a first range took at most $longest ms"
done
exit $failed
