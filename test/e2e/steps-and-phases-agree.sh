#!/bin/sh
# Steps and phases, compared with steps_check.py, which computes unions of intervals from the original files.
. "$(dirname "$0")/lib.sh"

it 'steps and phases of real traces have the communication and idle time that the files have' '
	need python3
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces
	[ -d "$data" ] || skip "no real traces at $data"
	for trace in hta-nccl-a100 tl-mi300-resnet-act-ckpt dlrm-v100-8rank hta-sampled-2rank param-resnet-2080ti; do
		for file in "$data/$trace"/*.json.gz; do
			gprof-trace report -r steps -f csv "$file" >steps.csv 2>/dev/null
			gprof-trace report -r phases -f csv "$file" >phases.csv 2>/dev/null
			python3 "$GPROF_TOP/test/e2e/steps_check.py" "$file" steps.csv phases.csv >>said || fail "$file: $(tail -n 5 said)"
		done
	done
	says "hta-nccl-a100: 3 steps, communication 15.6 ms per step, 84 % exposed" said
	says "tl-mi300-resnet-act-ckpt: 3 steps, communication 13.4 ms per step, 80 % exposed" said
	says "dlrm-v100-8rank: 1 steps, communication 5.8 ms per step, 95 % exposed" said
'

it 'phases of a step are in the unit of the step' '
	python3 - <<-END
		import json
		events = [dict(ph="X", cat=c, name=n, pid=1, tid=1, ts=t, dur=d, args={}) for c, n, t, d in (
		    ("user_annotation", "ProfilerStep#1", 1000, 1800),
		    ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1000, 1230),
		    ("cpu_op", "aten::linear", 2300, 100),
		    ("user_annotation", "Optimizer.step#SGD.step", 2600, 200))]
		json.dump(dict(traceEvents=events), open("a.json", "w"))
	END
	gprof-trace report -r phases a.json >out
	says "step #1, 1.80 ms: data 1.23 ms, " out
	says "optimizer 0.20" out
'
