#!/bin/sh
# A Kineto file into a trace of ours, and from the file to a first answer; beside HTA's loading of the same file where the judges'
# environment has HTA (traceinsight).  The file is our own export, or those named in GPROF_BENCH_KINETO.  GB are of JSON, unpacked.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
judge=${B:-build}/judges/bin/python

# cpu ROUNDS COMMAND...: median seconds of CPU time, user and system, on one core.
cpu() {
	rounds=$1
	shift
	for _ in $(seq "$rounds"); do
		taskset -c 0 /usr/bin/env bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' _ "$@" 2>&1
	done | awk '{ print $1 + $2 }' | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

wall() {
	rounds=$1
	shift
	for _ in $(seq "$rounds"); do
		begin=$(date +%s%N)
		"$@" >/dev/null 2>&1 || exit 1
		echo $(($(date +%s%N) - begin))
	done | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] / 1e9 }'
}

rate() { awk -v bytes="$2" -v s="$3" -v what="$1" -v note="$4" 'BEGIN { printf "%s\t%.2f\tGB/s\t%s\n", what, bytes / s / 1e9, note }'; }

by_zlib() {
	python3 - "$1" <<-'END'
		import sys, time, zlib
		packed = open(sys.argv[1], "rb").read()
		def unpack():
		    begin, z, data = time.process_time(), zlib.decompressobj(31), packed
		    while z.decompress(data, 1 << 18):
		        data = z.unconsumed_tail
		    return time.process_time() - begin
		print(min(unpack() for _ in range(7)))
	END
}

one() {
	file=$1 name=$2
	bytes=$(wc -c <"$file")
	rate "$name: import, CPU time of one core" "$bytes" "$(cpu 5 gprof-trace import -f -o "$work/t" "$file")" "goal 1; $bytes bytes"
	rate "$name: import, wall time of both cores" "$bytes" "$(wall 5 gprof-trace import -f -o "$work/t" "$file")" ""
	gzip -6 <"$file" >"$work/f.json.gz"
	rate "$name: import of .gz, CPU time of one core" "$bytes" "$(cpu 5 gprof-trace import -f -o "$work/t" "$work/f.json.gz")" ""
	rate "$name: import of .gz, wall time of both cores" "$bytes" "$(wall 5 gprof-trace import -f -o "$work/t" "$work/f.json.gz")" "goal 0.4"
	rate "$name: unpacking alone, as import does it" "$bytes" "$(unpack 7 "$work/f.json.gz")" "CPU time, the least of 7"
	rate "$name: zlib alone, called from Python" "$bytes" "$(by_zlib "$work/f.json.gz")" "reference, the same"
	rate "$name: gzip -dc alone" "$bytes" "$(cpu 3 gzip -dc "$work/f.json.gz")" "reference"
	answer=$(wall 5 gprof-trace report -r cuda_gpu_kern_sum "$work/f.json.gz")
	printf '%s: from the .gz to the kernel table\t%.0f\tms\t\n' "$name" "$(awk -v s="$answer" 'BEGIN { print s * 1000 }')"
	"$judge" -c 'import hta' 2>/dev/null || { echo "HTA is not in $judge: not compared"; return; }
	mkdir -p "$work/rank" && cp "$work/f.json.gz" "$work/rank/"
	"$judge" - "$work/rank" "$answer" "$name" <<-'END' 2>/dev/null || echo "HTA could not load it"
		import logging, sys, time
		logging.disable(logging.CRITICAL)
		from hta.trace_analysis import TraceAnalysis
		begin = time.time()
		TraceAnalysis(trace_dir=sys.argv[1])
		took = time.time() - begin
		print(f"{sys.argv[3]}: HTA's loading of the .gz, imports not counted\t{took * 1000:.0f}\tms\t{took / float(sys.argv[2]):.0f} x ours")
	END
}

if [ "${GPROF_BENCH_KINETO-}" ]; then
	for path in $GPROF_BENCH_KINETO; do
		case $path in *.gz) gzip -dc "$path" >"$work/in.json" ;; *) cp "$path" "$work/in.json" ;; esac
		one "$work/in.json" "$(basename "$path")"
	done
else
	synth_trace "$work/synth.gtrace" 200000 >/dev/null && gprof-trace export --format kineto -o "$work/synth.json" "$work/synth.gtrace" >/dev/null || exit 1
	one "$work/synth.json" "own export"
fi
