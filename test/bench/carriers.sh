#!/bin/sh
# Rows per second from a program that does nothing else into the file, through shared memory and through the pipe: 3 million ranges of one
# thread, from the start of the program to the finished trace.  The two run in turn, medians of 5.
set -u
pair=$(command -v nvtx_pair) || { echo "no NVTX headers: not measured"; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for i in 1 2 3 4 5; do
	for carrier in shm pipe; do
		begin=$(date +%s%N)
		gprof-run -q -f --transport=$carrier --arena-size=2G -o "$work/$carrier" -- "$pair" >"$work/said" 2>/dev/null || exit 1
		took=$(($(date +%s%N) - begin))
		rows=$(gprof-trace info "$work/$carrier.gtrace" | awk '$1 == "range" { gsub(",", "", $2); print $2 }')
		echo "$rows $took $(cat "$work/said")" >>"$work/$carrier.runs"
	done
done

for carrier in shm pipe; do
	sort -n -k 2 "$work/$carrier.runs" | awk -v carrier=$carrier '
		{ rows[NR] = $1; took[NR] = $2; pair[NR] = $3 }
		END { m = int((NR + 1) / 2); printf "ranges from the program into the file, %s\t%.1f\tM rows/s\t%d of 3000000 kept, %.0f ns for push and pop\n",
			carrier == "shm" ? "shared memory" : "pipe", rows[m] / took[m] * 1e3, rows[m], pair[m] }'
done
