#!/bin/sh
# Proves gprof-run on a real GPU, in under 8 minutes: programs that know what they did run under it, and its counts are held against
# theirs; then what it costs; then raw CUPTI buffers are kept for replay.  Writes one result file and names what failed.
#
#	scripts/gpu-check.sh                    build here, check, write test/gpu/results/DATE-GPU.md
#	GPROF_BUILD=DIR scripts/gpu-check.sh    with programs carried here: DIR from `make` and `gpu-check.sh --build` elsewhere
#	scripts/gpu-check.sh --build            only compile the GPU programs (needs nvcc, no GPU)
#	scripts/gpu-check.sh --sim              on the simulated stack: checks this script, says nothing about a GPU; no result file
#	... --out DIR                           results and raw buffers go there
set -u
cd "$(dirname "$0")/.." || exit 1
B=${GPROF_BUILD:-${B:-build}}
case $B in /*) ;; *) B=$PWD/$B ;; esac
CUDA=${CUDA:-${CUDA_HOME:-/usr/local/cuda}}
PATH=$B/bin:$PATH:$CUDA/bin
mode=real
out=

while [ $# -gt 0 ]; do
	case $1 in
	--build) mode=build ;;
	--sim) mode=sim ;;
	--out) out=${2:?--out needs a folder} && shift ;;
	*) echo "gpu-check: unknown option '$1'; see the head of $0" && exit 2 ;;
	esac
	shift
done

started=$(date +%s)
elapsed() { echo $(($(date +%s) - started)); }
say() { printf '%s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }

# ---- what is needed ----
build_programs() {
	runtimes='shared static'
	[ $mode = sim ] && runtimes=shared      # a static runtime talks to a real driver only
	has nvcc || { [ -x "$B/gpu/counts-shared" ] && return 0; }
	has nvcc || { say "gpu-check: no nvcc here and no programs in $B/gpu; set CUDA_HOME, or carry a folder made by gpu-check.sh --build"; exit 1; }
	mkdir -p "$B/gpu"
	for source in test/gpu/*.cu test/programs/*.cu; do
		for runtime in $runtimes; do
			program=$B/gpu/$(basename "$source" .cu)-$runtime
			[ "$program" -nt "$source" ] && [ "$program" -nt test/gpu/expect.h ] && [ "$program" -nt test/programs/spin.cuh ] && continue
			nvcc -O2 --cudart "$runtime" -Xlinker -rpath,"$CUDA/lib64" -o "$program" "$source" || exit 1
		done
	done
}

if [ $mode = real ] && ! { has nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }; then
	say "gpu-check: no GPU here (nvidia-smi -L lists none)"
	exit 1
fi
[ $mode = build ] || [ -x "$B/bin/gprof-run" ] || make -s B="$B" all || { say "gpu-check: cannot build; carry a build folder and set GPROF_BUILD"; exit 1; }
build_programs
[ $mode = build ] && exit 0
if [ $mode = sim ]; then
	[ -e "$B/sim/libcuda.so.1" ] || make -s B="$B" sim || exit 1
	export LD_LIBRARY_PATH="$B/sim"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-gpu.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=$work/failed
checks=$work/checks
costs=$work/costs
: >"$failed" >"$checks" >"$costs"

# ---- counts ----
# column FILE.csv WANTED-COLUMN KEY-COLUMN: "key<TAB>value" of each row, the version suffix of API names cut off.
column() {
	awk -v want="$2" -v key="$3" '
	function split_csv(line, out,    n, c, quoted, field, i) {
		n = 0; quoted = 0; field = ""
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (c == "\"") quoted = !quoted
			else if (c == "," && !quoted) { out[++n] = field; field = "" }
			else field = field c
		}
		out[++n] = field
		return n
	}
	NR == 1 { n = split_csv($0, head); for (i = 1; i <= n; i++) at[head[i]] = i; next }
	{ split_csv($0, row); name = row[at[key]]; sub(/^__/, "", name); sub(/_(v[0-9]+|ptsz|ptds).*$/, "", name); print name "\t" row[at[want]] }' "$1"
}

sum() { awk -F '\t' -v pattern="$1" '$1 ~ pattern { n += $2 } END { print n + 0 }'; }

report() { gprof-trace report -r "$1" --format csv "$work/$2.gtrace" 2>>"$work/$2.log"; }

# got TRACE KIND [NAME]: what the trace says.
got() {
	case $2 in
	kernels) report cuda_gpu_kern_sum "$1" >"$work/csv" && column "$work/csv" Instances Name | sum . ;;
	kernel) report cuda_gpu_kern_sum "$1" >"$work/csv" && column "$work/csv" Instances Name | sum "^$3(\\\\(|$)" ;;
	copies) report cuda_gpu_mem_time_sum "$1" >"$work/csv" && column "$work/csv" Count Operation | sum 'memcpy' ;;
	sets) report cuda_gpu_mem_time_sum "$1" >"$work/csv" && column "$work/csv" Count Operation | sum 'memset' ;;
	operation) report cuda_gpu_mem_time_sum "$1" >"$work/csv" && column "$work/csv" Count Operation | sum "$3" ;;
	range) report nvtx_pushpop_sum "$1" >"$work/csv" && column "$work/csv" Instances Range | sum "^:?$3\$" ;;
	api) report cuda_api_sum "$1" >"$work/csv" && column "$work/csv" 'Num Calls' Name | sum "^$3\$" ;;
	ranges) report nvtx_pushpop_sum "$1" >"$work/csv" && column "$work/csv" Instances Range | sum . ;;
	*) echo "?" ;;
	esac
}

row() {         # what, expected, ours
	verdict=ok
	[ "$2" = "$3" ] || { verdict='**FAILED**'; echo "$1: expected $2, got ${3:-nothing}" | tee -a "$failed" >&2; }
	echo "| $1 | $2 | ${3:-} | $verdict |" >>"$checks"
}

# The programs of test/programs print "name,count": a kernel with its arguments (perhaps behind the range it was captured in, then
# there are several lines of it), a kind of copy, a range.
expectations() {
	sed -n '/^expect /p
		s/"//g
		s/^[^(,]*,\([A-Za-z_0-9]*(\)/\1/
		s/^\([A-Za-z_0-9]*\)(.*),\([0-9]*\)$/expect kernel \1 \2/p
		s/^spin_ptx,\([0-9]*\)$/expect kernel spin_ptx \1/p
		s/^memcpy HtoD,\([0-9]*\)$/expect operation memcpy.Host-to-Device \1/p
		s/^memcpy DtoH,\([0-9]*\)$/expect operation memcpy.Device-to-Host \1/p
		s/^memset,\([0-9]*\)$/expect sets \1/p
		s/^range \([^,]*\),\([0-9]*\)$/expect range \1 \2/p' "$1" |
		awk '/^expect kernel / { n[$3] += $4; next } { print } END { for (name in n) print "expect kernel", name, n[name] }'
}

# compare NAME EXPECT-FILE: each "expect" line against the trace.
compare() {
	expectations "$2" >"$work/expectations"
	[ -s "$work/expectations" ] || row "$1: says what it did" "expectations" "$(tail -n 1 "$2")"
	while read -r _ kind a b; do
		if [ "$b" ]; then
			row "$1: $kind $a" "$b" "$(got "$1" "$kind" "$a")"
		else
			row "$1: $kind" "$a" "$(got "$1" "$kind")"
		fi
	done <"$work/expectations"
}

# check NAME COMMAND...: runs it under gprof-run with $options, compares.
check() {
	name=$1
	shift
	say "== $name ($(elapsed) s)"
	rm -f "$work/$name".gtrace
	# shellcheck disable=SC2086
	timeout -k 5 90 gprof-run -f -o "$work/$name" ${options-} -- "$@" >"$work/$name.out" 2>"$work/$name.log"
	row "$name: exit status" 0 $?
	compare "$name" "${expect:-$work/$name.out}"
	gprof-trace check "$work/$name.gtrace" >>"$work/$name.log" 2>&1
	row "$name: the file is whole" 0 $?
}

programs() {
	for runtime in $runtimes; do
		check "counts-$runtime" "$B/gpu/counts-$runtime"
		for source in test/programs/*.cu; do
			program=$(basename "$source" .cu)
			[ "$program" = exit_paths ] || check "$program-$runtime" "$B/gpu/$program-$runtime"
		done
		for end in _exit reset; do
			check "counts-$end-$runtime" "$B/gpu/counts-$runtime" "$end"
		done
	done
	[ ! -x "$B/test/programs/driver_api" ] || check driver_api "$B/test/programs/driver_api"
	check launches "$B/gpu/launch_loop-shared" 20000
}

has_torch() { [ $mode = real ] && has python3 && python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; }

torch() {
	has_torch || { echo "| PyTorch | | not here | skipped |" >>"$checks"; return; }
	say "== torch.profiler's own count ($(elapsed) s)"
	timeout -k 5 120 python3 test/gpu/torch_loop.py count >"$work/torch.expect" 2>"$work/torch.count.log" ||
		row "torch_loop.py under torch.profiler" "exit status 0" "$(tail -n 1 "$work/torch.count.log")"
	expect=$work/torch.expect check torch python3 test/gpu/torch_loop.py plain
	say "== torch.profiler and us at once ($(elapsed) s)"
	timeout -k 5 120 gprof-run -f -o "$work/both" -- python3 test/gpu/torch_loop.py count >"$work/both.out" 2>"$work/both.log"
	row "torch.profiler under gprof-run: exit status" 0 $?
	row "torch.profiler under gprof-run: counts what it counts without us" \
		"$(grep -v ranges "$work/torch.expect" | tr '\n' ' ')" "$(grep '^expect' "$work/both.out" | grep -v ranges | tr '\n' ' ')"
}

raw_buffers() {
	say "== raw buffers ($(elapsed) s)"
	keep=${out:-test/data/replay}/$label
	[ $mode = real ] || [ "$out" ] || keep=$work/replay/$label
	rm -rf "$work/raw" && mkdir -p "$work/raw" "$keep"
	options="--record-raw $work/raw" check counts-raw "$B/gpu/counts-shared"
	row "raw buffers were kept" yes "$(find "$work/raw" -type f -size +0 | grep -q . && echo yes || echo no)"
	find "$work/raw" -type f | while read -r file; do
		if has zstd; then zstd -q -f -19 "$file" -o "$keep/$(basename "$file").zst"; else gzip -9c "$file" >"$keep/$(basename "$file").gz"; fi
	done
	du -sh "$keep" | sed 's/^/raw buffers: /' >&2
}

# ---- costs: medians of interleaved runs; the program measures itself, so starting up does not count ----
figure() { awk '$1 == "figure" { print $3 }' "$1" | tail -n 1; }
median() { sort -n | awk '{ a[NR] = $1 } END { if (NR) print a[int((NR + 1) / 2)] }'; }

# cost TITLE ROUNDS COMMAND...: bare, loaded but recording nothing, recording; nsys where it is.
cost() {
	title=$1 rounds=$2
	shift 2
	rm -f "$work"/cost-*
	for round in $(seq "$rounds"); do
		[ "$(elapsed)" -lt 400 ] || { say "cost of $title: stopped after $((round - 1)) rounds, time is short"; break; }
		timeout 60 "$@" >"$work/o" 2>/dev/null && figure "$work/o" >>"$work/cost-1 bare"
		timeout 60 gprof-run -f -o "$work/cost" -t none -- "$@" >"$work/o" 2>/dev/null && figure "$work/o" >>"$work/cost-2 gprof-run -t none"
		timeout 60 gprof-run -f -o "$work/cost" -- "$@" >"$work/o" 2>/dev/null && figure "$work/o" >>"$work/cost-3 gprof-run"
		if has nsys; then
			timeout 60 nsys profile -f true -o "$work/nsys" -t cuda,nvtx "$@" >"$work/o" 2>/dev/null && figure "$work/o" >>"$work/cost-4 nsys -t cuda,nvtx"
		fi
		if [ "${beside-}" ]; then
			timeout 60 $beside >"$work/o" 2>/dev/null && figure "$work/o" >>"$work/cost-5 torch.profiler"
		fi
	done
	bare=$(median <"$work/cost-1 bare")
	for file in "$work"/cost-[1-5]*; do
		value=$(median <"$file")
		echo "| $title | ${file##*/cost-[1-5] } | $value | $(awk -v a="$value" -v b="$bare" 'BEGIN { if (b) printf "%.2f", a / b }') |" >>"$costs"
	done
}

what_it_costs() {
	say "== what it costs ($(elapsed) s)"
	if [ $mode = sim ]; then n=20000 rounds=1; else n=200000 rounds=5; fi
	cost "ns per launch, $n empty kernels" "$rounds" "$B/gpu/launch_loop-shared" "$n"
	! has_torch || beside="python3 test/gpu/torch_loop.py time profiler" cost "us per step, small PyTorch loop" 3 python3 test/gpu/torch_loop.py time
}

# ---- the result file ----
query() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1; }

describe_machine() {
	if [ $mode = sim ]; then
		echo "- simulated GPU"
	else
		echo "- GPU: $(query name), $(query memory.total), driver $(query driver_version), compute mode $(query compute_mode)"
		has nvcc && echo "- CUDA toolkit: $(nvcc --version | sed -n 's/.*release //p')"
	fi
	has_torch && python3 -c 'import torch; print("- PyTorch", torch.__version__, "with CUDA", torch.version.cuda)'
	echo "- $(uname -sr), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	echo "- clock source: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null || echo unknown)"
	gprof-run --version 2>&1 | sed 's/^/- /'
	[ ! -d .git ] || echo "- commit $(git rev-parse --short HEAD 2>/dev/null)"
}

code() { printf '```\n%s\n```\n' "$(cat)"; }

write_result() {
	echo "# $label, $(date -u +%Y-%m-%d)"
	echo
	describe_machine
	echo
	if [ -s "$failed" ]; then echo "**$(wc -l <"$failed") checks failed:**"; sed 's/^/- /' "$failed"; else echo "All checks passed."; fi
	printf '\nTook %s s.\n\n## Counts\n\n| what | expected | ours | |\n| --- | --- | --- | --- |\n' "$(elapsed)"
	cat "$checks"
	printf '\n## Costs\n\nMedians of interleaved runs; the program measures itself.\n\n| what | how | value | of bare |\n| --- | --- | --- | --- |\n'
	cat "$costs"
	printf '\n## Health and overhead of one run (counts-shared)\n\n'
	gprof-trace report -r health,overhead "$work/counts-shared.gtrace" 2>&1 | code
	for trace in torch both; do
		[ -e "$work/$trace.gtrace" ] || continue
		printf '\n## Health of %s\n\n' "$trace"
		gprof-trace report -r health "$work/$trace.gtrace" 2>&1 | code
	done
	printf '\n## The page after a run (counts-shared)\n\n'
	sed "s|$work/||g" "$work/counts-shared.log" | code
}

label=simulated
[ $mode = sim ] || label=$(query name | tr -c 'A-Za-z0-9\n' - | sed 's/^NVIDIA-//')
programs
torch
raw_buffers
what_it_costs
result=${out:-test/gpu/results}/$(date -u +%Y-%m-%d)-$label.md
[ $mode = real ] || result=${out:-$work}/$(date -u +%Y-%m-%d)-$label.md
mkdir -p "$(dirname "$result")"
write_result >"$result"
if [ $mode = real ] || [ "$out" ]; then say "gpu-check: wrote $result"; fi
total=$(wc -l <"$checks")
bad=$(wc -l <"$failed")
echo "$((total - bad)) passed, $bad failed in $(elapsed) s"
[ "$bad" -eq 0 ]
