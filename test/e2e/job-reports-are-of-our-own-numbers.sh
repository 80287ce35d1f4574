#!/bin/sh
# The numbers of the job reports agree with each other, with the page, and with exports of the same traces.
. "$(dirname "$0")/lib.sh"

# busy and span of the first rank of temporal are those of the page, for a process on one GPU.
BUSY='
	page_busy() { gprof-trace report "$1" 2>/dev/null | tr "\n" " " | tr -s " " | grep -o "busy [0-9.]* %" | head -n 1 | cut -d " " -f 2; }
	temporal_busy() { gprof-trace report -r temporal --format csv "$1" 2>/dev/null | sed -n 2p | cut -d , -f 4; }
	same_busy() {
		page=$(page_busy "$1")
		is "$page" "$(temporal_busy "$1")" "busy percent of $1, on the page and in temporal"
		[ ! "$page" ] || compared=$((compared + 1))
	}
	compared=0
'

it 'busy is one number on the page and in temporal, for traces of other profilers' "$BUSY"'
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces
	[ -d "$data" ] || skip "no traces of real jobs in GPROF_TEST_DATA"
	for trace in "$data"/*/*; do same_busy "$trace"; done
	[ $compared -gt 25 ] || fail "only $compared traces have a busy GPU"
'

it 'shares of all ranks together are rounded as those of one are' '
	python3 - <<-END
		import json
		for rank, busy in (0, 200), (1, 200):           # 400 of 600, 280 of 398
		    events = [dict(ph="X", cat="kernel", name=n, pid=0, tid=s, ts=t, dur=d, args=dict(device=0, stream=s, correlation=t)) for n, s, t, d in (
		        ("ncclDevKernel_AllReduce", 8, 1000, busy - 1), ("gemm", 7, 1000, 140), ("gemm", 7, 1299, 1))]
		    json.dump(dict(traceEvents=events, distributedInfo=dict(rank=rank)), open("rank%d.json" % rank, "w"))
	END
	gprof-trace report -r temporal,overlap rank0.json rank1.json >out
	says "all 2 ranks: busy 66.7 % of their spans" out
	says "all 2 ranks: 70.4 % of communication ran while a compute kernel ran" out
'

it 'busy is one number on the page and in temporal, for a loop on the simulated GPU, whole and in windows' "$BUSY"'
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -o whole -- python3 "$GPROF_TOP/test/programs/train.py" >out
	gprof-run -q -o parts --schedule wait=2,warmup=1,active=3,repeat=2 -- python3 "$GPROF_TOP/test/programs/train.py" >out
	for trace in whole parts; do same_busy $trace.gtrace; done
	is 2 $compared "traces with a busy GPU"
	gprof-trace report -r temporal parts.gtrace >said
	says "the recorded time, in 2 windows" said
	# What is between two windows is in no span, however long each of them takes.
	gprof-trace report -r temporal --format json parts.gtrace >t.json 2>/dev/null
	gprof-trace report -r windows --format json parts.gtrace >w.json 2>/dev/null
	python3 -c "
import json
span = json.load(open(\"t.json\"))[0][\"span_ns\"]
windows = json.load(open(\"w.json\"))
assert len(windows) == 2 and 0 < span <= sum(w[\"duration_ns\"] for w in windows), (span, windows)"
'

it 'kinds of rows add up to busy, overlap to what temporal has, and both to what HTA calls idle' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces
	[ -d "$data" ] || skip "no traces of real jobs in GPROF_TEST_DATA"
	for set in "$data"/*; do
		gprof-trace report -r temporal,overlap,kernel_types --format json "$set" >all.json 2>/dev/null
		python3 -c "
import json
every = json.load(open(\"all.json\"))
temporal, overlap, kinds = (every[n] for n in (\"temporal\", \"overlap\", \"kernel_types\"))
assert sum(k[\"time_ns\"] for k in kinds) == sum(t[\"busy_ns\"] or 0 for t in temporal)
for t, o in zip(temporal, overlap):
    assert t[\"rank\"] == o[\"rank\"] and t[\"comm_ns\"] == o[\"comm_ns\"] and t[\"comm_exposed_ns\"] == o[\"comm_exposed_ns\"]
    if t[\"span_ns\"] is None: continue
    assert t[\"busy_ns\"] + t[\"idle_ns\"] == t[\"span_ns\"]
    assert o[\"overlap_ns\"] + o[\"comm_exposed_ns\"] == o[\"comm_ns\"]
    alone = sum(k[\"time_ns\"] for k in kinds if \"compute\" in k[\"kernel_type\"].split(\" overlapping \"))
    assert alone == sum(t[\"compute_ns\"] or 0 for t in temporal)
" || fail "$set"
	done
'

it 'a selected step has in temporal what steps has of it, and its own annotations alone' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces/hta-nccl-a100
	need "$GPROF_BUILD/sim/libcuda.so.1"
	LD_LIBRARY_PATH=$GPROF_BUILD/sim gprof-run -q -o loop -- python3 "$GPROF_TOP/test/programs/train.py" >out
	for trace in loop.gtrace "$data"; do
		[ -e "$trace" ] || continue
		gprof-trace report -r steps --format csv "$trace" 2>notes | cut -d , -f 1 | sed 1d | tail -n 3 >numbers
		is 3 "$(wc -l <numbers)" "steps of $trace"
		gprof-trace report -r steps --format json "$trace" >steps.json 2>notes
		while read -r step; do
			gprof-trace report -r temporal,cpu_annotations --step "$step" --format json "$trace" >part.json 2>notes
			python3 -c "
import json, sys
part, step = json.load(open(\"part.json\")), [s for s in json.load(open(\"steps.json\")) if s[\"step\"] == int(sys.argv[1])][0]
temporal = part[\"temporal\"][0]
pairs = {\"span_ns\": \"wall_ns\", \"busy_ns\": \"gpu_busy_ns\", \"idle_ns\": \"gpu_idle_ns\"}
for name in temporal:
    if name.endswith(\"_ns\"): assert temporal[name] == step[pairs.get(name, name)] and temporal[name] is not None, (name, temporal, step)
named = [a[\"name\"] for a in part[\"cpu_annotations\"] if a[\"name\"].startswith(\"ProfilerStep\")]
assert named == [\"ProfilerStep#\" + sys.argv[1]], named" "$step" || fail "step $step of $trace"
		done <numbers
	done
	exits 2 gprof-trace report -r hta_temporal_breakdown --step 3 loop.gtrace 2>err
	says "counts whole traces" err
'

# A process with PyTorch and no GPU is a rank, too.
it 'recordings on the CPU alone give what their exports give' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	cat >loop.py <<-END
		import sys, torch
		torch.manual_seed(0)
		wide = int(sys.argv[1])
		model = torch.nn.Sequential(torch.nn.Linear(16, wide), torch.nn.ReLU(), torch.nn.Linear(wide, 1))
		optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
		for step in range(4):
		    optimizer.zero_grad()
		    loss = model(torch.randn(8, 16)).square().mean()
		    if wide > 32:
		        loss = loss + model[0].weight.abs().sum() * 1e-3
		    loss.backward()
		    optimizer.step()
	END
	for wide in 32 64; do
		gprof-run -q -t torch,torch-ops -o r$wide -- "$judge" -W ignore loop.py $wide >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace export -o r$wide.json r$wide.gtrace >out
	done
	for report in compare_traces ops_diff; do
		gprof-trace report -r $report --format csv r32.gtrace r64.gtrace >own 2>notes
		gprof-trace report -r $report --format csv r32.json r64.json >file 2>notes
		[ "$(wc -l <own)" -gt 20 ] || fail "$report has too little: $(cat own)"
		same own file
	done
	says "added,aten::abs" own
	says "unchanged,aten::addmm" own
	for report in cpu_annotations hta_cpu_user_annotation_breakdown hta_critical_path; do
		gprof-trace report -r $report --format csv r32.gtrace >own 2>notes
		gprof-trace report -r $report --format csv r32.json >file 2>notes
		[ "$(wc -l <own)" -gt 2 ] || fail "$report has too little: $(cat own)"
		same own file
	done
	# Phases of a recording and of its export differ by calls that only one of them names; what they add up to does not.
	sum() { gprof-trace report -r critical_path --format csv "$1" 2>notes | awk -F, "NR > 1 { n += \$2 } END { print NR, n }"; }
	is "$(sum r32.gtrace)" "$(sum r32.json)" "rows and time of the critical path"
	[ "$(sum r32.json | cut -d " " -f 1)" -gt 3 ] || fail "too little: $(sum r32.json)"
	gprof-trace report -r temporal --format csv r32.gtrace >own 2>notes
	is "0,,,,,,,,,,," "$(sed -n 2p own)" "GPU times of a trace without GPU rows"
	says "no GPU times: CUDA was not recorded" notes
'

it 'titles and help of the hta_ reports say how they differ' '
	gprof-trace report list --all | grep "^  hta_" >list
	[ "$(wc -l <list)" -gt 20 ] || fail "too few: $(cat list)"
	is "" "$(grep -v "as HTA counts" list)" "reports that do not say whose numbers they have"
	gprof-trace report list --all | grep "^  hta_temporal_breakdown" >one
	says "last step left out, whole microseconds" one
'

it 'an export and its import keep the complete steps, and make none of an incomplete one' '
	need "$GPROF_BUILD/sim/libcuda.so.1"
	export LD_LIBRARY_PATH=$GPROF_BUILD/sim
	gprof-run -q -o parts --schedule wait=1,warmup=1,active=3,repeat=2 -- python3 "$GPROF_TOP/test/programs/train.py" >out
	complete() { gprof-trace report -r steps -f csv "$1" 2>err | awk -F , "NR > 1 && \$NF { print \$1, \$7 }"; }
	gprof-trace report -r steps -f csv parts.gtrace 2>err | grep -q ",0$" || fail "no step is incomplete"
	gprof-trace export -o parts.json parts.gtrace
	complete parts.gtrace >before
	complete parts.json >after
	[ -s before ] || fail "no step is complete"
	is "$(cat before)" "$(cat after)" "steps and their length"
'
