#!/bin/sh
# The critical path of a step: compared with the simulated GPU's truth file and with files whose path is known.  In real traces its pieces
# must cover each step without gap or overlap.
. "$(dirname "$0")/lib.sh"
LIMIT=600

SIMULATED='
need "$GPROF_BUILD/sim/libcuda.so.1"
need "$GPROF_BUILD/test/programs/libnvtx_shim.so" "test programs are not built (make programs)"
# record SCENARIO
record() {
	SIM_TRUTH=$1.truth LD_LIBRARY_PATH=$GPROF_BUILD/sim gprof-run -o "$1" -- python3 "$GPROF_TOP/test/e2e/critical_path_program.py" \
		"$1" "$1.times" >out 2>err || fail "$(cat out err)"
}
compare() { python3 "$GPROF_TOP/test/e2e/critical_path_check.py" "$1.gtrace" "$1.truth" "$1.times" >found; }
'

for scenario in gpu communication launches loader events context; do
	it "is what the simulated GPU did and the host waited for: $scenario" "$SIMULATED
	scenario=$scenario"'
		record $scenario
		# A call that another program delays between the two readings of its time may have another cause in each.
		compare $scenario || fail "only times differ: $(cat found)"
		says host found
		case $scenario in
		communication) says "GPU communication" found ;;
		launches) ;;
		*) grep -q "GPU com" found || fail "nothing of the GPU is on the path" ;;
		esac
	'
done

it 'another path is noticed: that of a program that waits for no events' "$SIMULATED"'
	record communication
	grep -v event_wait communication.truth >less
	mv less communication.truth
	exits 1 compare communication
	says "GPU communication is" found
'

it 'is the known one in files of torch.profiler' '
	python3 "$GPROF_TOP/test/e2e/critical_path_kineto.py" >out || fail "$(cat out)"
'

it 'is of the median step, or of the one that is asked for' "$SIMULATED"'
	record events
	gprof-trace report -r steps -f csv events.gtrace 2>/dev/null | tail -n +2 | sort -t , -k 7n >steps
	median=$(sed -n 3p steps | cut -d , -f 1)       # of five
	gprof-trace report -r critical_path events.gtrace >out
	says "step $median of process $(cut -d , -f 5 steps | head -n 1), the median of 5 complete steps: " out
	gprof-trace report -r critical_path:4 events.gtrace >out
	says "step 4 of process" out
	says "one of 5 complete steps" out
	is "$(grep "^4," steps | cut -d , -f 7)" "$(gprof-trace report -r critical_path:4 -f csv events.gtrace 2>/dev/null |
		awk -F , "NR > 1 { n += \$2 } END { print n }")" "the sum of its kinds"
	gprof-trace report -r critical_path:17 events.gtrace >out
	says "step 17 is not one of the complete recorded steps (5)" out
	exits 2 gprof-trace report -r critical_path:slow events.gtrace 2>err
	says "report critical_path has no variant" err
	gprof-trace report -r critical_path_segments:4 events.gtrace >out
	says "work on the host" out
'

it 'is of the first of several ranks, or of the process that is asked for' "$SIMULATED"'
	record events
	for rank in 0 1; do
		gprof-trace export -f -o "$rank.json" events.gtrace >said
		python3 -c "
import json, sys
file = json.load(open(sys.argv[1]))
file[\"distributedInfo\"] = dict(rank=int(sys.argv[2]))
json.dump(file, open(sys.argv[1], \"w\"))" "$rank.json" "$rank"
	done
	gprof-trace report -r critical_path 0.json 1.json >out
	says "of process 1, the median" out
	gprof-trace report -r critical_path --process 2 0.json 1.json >out
	says "of process 2, the median of 5 complete steps" out
	never_says "work launched before it is missing" out
'

TORCH='
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not f(\"torch\"))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
'

it 'a slow loader is on the path: the batch itself, or the worker that makes it' "$TORCH"'
	for workers in 0 1; do
		gprof-run -f -q -t torch,torch-ops -o t -- "$judge" -W ignore "$GPROF_TOP/test/e2e/critical_path_loader.py" $workers >out 2>&1 ||
			fail "$(tail -n 5 out)"
		gprof-trace report -r critical_path -f csv t.gtrace >path$workers 2>notes
	done
	is "host: data loading" "$(sed -n 2p path0 | cut -d , -f 1)" "without a worker"
	is "host: loader worker" "$(sed -n 2p path1 | cut -d , -f 1)" "with one"
	for workers in 0 1; do
		# A batch takes 60 ms or more; what else a step does takes a few.
		[ "$(sed -n 2p path$workers | cut -d , -f 2)" -gt 30000000 ] || fail "$(cat path$workers)"
	done
	never_says "was recorded" notes
'

it 'says which waits were not recorded' '
	python3 - <<-END
		import json
		events = [dict(ph="X", cat=c, name=n, pid=1, tid=1, ts=t, dur=d, args=a) for c, n, t, d, a in (
		    ("user_annotation", "ProfilerStep#1", 1000, 1000, {}),
		    ("cuda_runtime", "cudaStreamWaitEvent", 1010, 5, dict(correlation=1)),
		    ("cuda_runtime", "cudaStreamSynchronize", 1100, 5, dict(correlation=2)),
		    ("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1200, 50, {}))]
		events.append(dict(ph="X", cat="kernel", name="gemm", pid=0, tid=7, ts=1050, dur=10, args=dict(device=0, stream=7, correlation=9)))
		json.dump(dict(traceEvents=events), open("a.json", "w"))
	END
	gprof-trace report -r critical_path a.json >out
	says "GPU rows whose launch call was not recorded: 1;" out
	says "synchronising calls with an unknown stream or event: 1;" out
	says "event waits with an unknown event: 1;" out
	says "DataLoader workers were not recorded" out
	gprof-trace report -r hta_critical_path a.json >out
	says "percentages are shares of the longest chain, not of the step" out
'

it 'is that of the oracle in each real trace, to the nanosecond' '
	DATA=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	need "$DATA/hta/traces" "no shared traces ($DATA)"
	for folder in "$DATA"/hta/traces/* "$DATA"/tb/traces/*; do
		find "$folder" -type f -name "*.json*" | sort | head -n 1
	done >files
	xargs python3 -B "$GPROF_TOP/test/oracle/critical.py" <files >out || fail "$(cat out)"
	[ "$(sed -n "s/compared: //p" out)" -ge 20 ] || fail "$(cat out)"
	# It can tell: without the rule for full queues a GPU-bound step is bound by the host.
	sed "s/^SLACK, FULL = 1000, 1000/SLACK, FULL = 1000, 5000/" "$GPROF_TOP/test/oracle/critical.py" >other.py
	PYTHONPATH=$GPROF_TOP/test/oracle exits 1 python3 -B other.py "$(grep ns-resolution files)" >out
	says "wants [(" out
'

# Kinds add up to the step's wall in every file, whatever was recorded; and what the GPU waits for is not the GPU's.
it 'tiles a step of each real trace' '
	DATA=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	need "$DATA/hta/traces" "no shared traces ($DATA)"
	for folder in "$DATA"/hta/traces/* "$DATA"/tb/traces/*; do
		file=$(find "$folder" -type f -name "*.json*" | sort | head -n 1)
		gprof-trace report -r critical_path_segments -f csv "$file" >segments 2>notes
		[ "$(wc -l <segments)" -gt 1 ] || continue
		wall=$(sed -n "s/.*: \([0-9.]*\) ms\( on the host; the rows add up to that\)\{0,1\}\$/\1/p" notes | head -n 1)
		python3 -c "
import csv, sys
at = 0
for s in csv.DictReader(open(\"segments\")):
    if int(s[\"start_ns\"]) != at or int(s[\"duration_ns\"]) <= 0:
        sys.exit(\"not a tile: %s\" % s)
    at += int(s[\"duration_ns\"])
sys.exit(0 if \"%.3f\" % (at / 1e6) == \"$wall\" else \"%d ns are not $wall ms\" % at)
" 2>why || fail "$file: $(cat why)"
	done
	gprof-trace report -r critical_path -f csv "$DATA"/tb/traces/resnet50-w0-1623143089861/*.json.gz >out 2>/dev/null
	is "host: data loading" "$(sed -n 2p out | cut -d , -f 1)" "what a ResNet with a slow loader waits for"
'
