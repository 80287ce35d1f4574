#!/bin/sh
. "$(dirname "$0")/lib.sh"
SAMPLE='need python3
need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
sample() { "$GPROF_BUILD/test/programs/sample_trace" "$1.gtrace" "$1" >"$1.has"; }
judge() { python3 "$GPROF_TOP/test/e2e/kineto_check.py" "$@"; }
'

it 'slices nest, arrows are whole, ids exist, and nothing is missing' "$SAMPLE"'
	sample one
	gprof-trace export one.gtrace >out 2>err
	says "one.json  (31 events" out
	says "does not contain: 1" err
	judge one.json >got
	sed -n "s/^calls/cuda_runtime/p; s/^flows/flow/p; s/^copies/gpu_memcpy/p; s/^sets/gpu_memset/p; s/^waits/cuda_sync/p
		s/^kernels/kernel/p; s/^marks/mark/p; s/^overhead/overhead/p; s/^steps/steps/p; s/^intervals/interval/p" one.has >want
	while read -r what n; do
		grep -qx "$what $n" got || fail "not $n of $what: $(cat got)"
	done <want
	says "rank None" got
'

it 'names with quotes, backslashes, line ends and broken UTF-8 come through' "$SAMPLE"'
	sample one
	gprof-trace export one.gtrace >/dev/null 2>&1
	python3 -c "
import json
names = {e[\"name\"] for e in json.load(open(\"one.json\"))[\"traceEvents\"]}
assert \"odd \\\"name\\\" \\\\ gr\u00fc\u00dfe \ufffd\n\" in names, names
assert \"vecadd(float*, float*, int)\" in names or \"_Z6vecaddPfS_i\" in names
assert {\"Memcpy HtoD (Pageable -> Device)\", \"Memcpy PtoP (Device -> Device)\", \"Memset (Device)\"} <= names
"
'

it 'steps are found and numbered; without steps one that says so covers everything' "$SAMPLE"'
	sample one
	sample steps
	gprof-trace export one.gtrace >/dev/null 2>&1
	gprof-trace export steps.gtrace >/dev/null 2>&1
	python3 -c "
import json
steps = lambda path: [e for e in json.load(open(path))[\"traceEvents\"] if e[\"name\"].startswith(\"ProfilerStep#\")]
one, made = steps(\"one.json\"), steps(\"steps.json\")
assert [e[\"name\"][13:] for e in one] == [\"0\", \"1\"] and [round(e[\"dur\"] * 1000) for e in one] == [1000000, 1001000], one
assert not any(\"Whole Trace\" in e[\"args\"] for e in one)
assert len(made) == 1 and round(made[0][\"dur\"] * 1000) == 5000000 and made[0][\"args\"][\"Whole Trace\"] == 1, made
"
'

it 'several processes with CUDA get a file each, named by rank, or one merged file' "$SAMPLE"'
	sample ranks
	gprof-trace export ranks.gtrace >out 2>/dev/null
	is "ranks.other.json ranks.rank0.json ranks.rank1.json" "$(echo ranks.*.json)" files
	grep -qE "\"distributedInfo\": \{\"rank\": 1, \"world_size\": 2\}" ranks.rank1.json || fail "no rank, or no blank before it"
	judge ranks.rank0.json >got
	says "rank 0" got
	judge ranks.rank1.json >got
	says "pids -1 0 210 230" got          # the worker is in the file of its parent
	judge ranks.other.json >got
	says "pids 100" got
	gprof-trace export --merged ranks.gtrace >out 2>/dev/null
	judge ranks.json >got
	says "pids -1 0 1 100 200 210 230" got
	says "kernel 14" got
	gprof-trace export --process 3 -o three.json ranks.gtrace >out 2>/dev/null
	judge three.json >got
	says "kernel 7" got
	exits 1 gprof-trace export --process 9 ranks.gtrace 2>err
	says "has no process number 9" err
	exits 1 gprof-trace export -o - ranks.gtrace 2>err
	says "to standard output; use --merged or --process N" err
'

it 'times can be whole microseconds, and slices still nest' "$SAMPLE"'
	sample one
	gprof-trace export --us one.gtrace >/dev/null 2>&1
	judge one.json integers >got
	says "kernel 7" got
'

it 'a file that is there is kept unless -f says otherwise, and half a file is never left' "$SAMPLE"'
	sample one
	echo precious >one.json
	exits 1 gprof-trace export one.gtrace 2>err
	says "'\''one.json'\'' exists" err
	is precious "$(cat one.json)"
	exits 0 gprof-trace export -f one.gtrace >/dev/null 2>&1
	judge one.json >/dev/null
	mkdir closed
	exits 1 gprof-trace export -o nowhere/x.json one.gtrace 2>err
	says "cannot write '\''nowhere/x.json'\'': No such file or directory" err
	is "one.gtrace one.has one.json" "$(echo one.*)" "what is left"
'

it 'a pipe or a device is written to, and stays what it is' "$SAMPLE"'
	sample one
	mkfifo pipe
	cat pipe >got &
	exits 0 gprof-trace export -f -o pipe one.gtrace >out
	wait $!
	[ -p pipe ] || fail "the pipe is gone"
	exits 0 gprof-trace export -f -o want.json one.gtrace >out
	grep -v traceName want.json >want
	grep -v traceName got >came
	same want came
	ln -s /dev/null sink
	exits 0 gprof-trace export -o sink one.gtrace >out
	[ -c sink ] || fail "the link no longer leads to a device"
'

it 'HTA reads it and agrees on times and counts' "$SAMPLE"'
	hta=$GPROF_BUILD/judges/bin/python
	need "$hta" "HTA is not here (scripts/setup.sh)"
	"$hta" -c "import hta.trace_analysis" 2>/dev/null || skip "HTA is not here (scripts/setup.sh)"
	sample ranks
	mkdir in
	gprof-trace export -o in/t.json ranks.gtrace >/dev/null 2>&1
	rm in/t.other.json
	"$hta" -W ignore "$GPROF_TOP/test/e2e/kineto_hta.py" in >got 2>err || fail "$(tail -n 5 err)"
	says "ranks [0, 1]" got
	# HTA leaves out the last step and what lies behind its begin, as in files of torch.profiler: of 7 kernels, 2 copies, 1 set and 1
	# wait for a stream the first step has 4, 2, 0 and 1; launches are those of its calls that have GPU rows, one line for each pair.
	says "rank 0 gpu rows 7 steps [0]" got
	says "rank 1 gpu rows 7 steps [0]" got
	says "launches 0: 4" got
'
