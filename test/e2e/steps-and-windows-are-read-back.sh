#!/bin/sh
. "$(dirname "$0")/lib.sh"
SAMPLE='need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
sample() { "$GPROF_BUILD/test/programs/sample_trace" "$1.gtrace" "$1" >"$1.has"; }
# Prints the sum of column 3 (instances, calls) of a summary.
rows() { gprof-trace report -f csv -r "$@" loop.gtrace 2>/dev/null | awk -F, "NR > 1 { n += \$3 } END { print n + 0 }"; }
'

it 'each step has what ran in it and what it launched, and unknown is empty, never 0' "$SAMPLE"'
	sample loop
	gprof-trace report -r steps -f csv loop.gtrace >got 2>err
	cat >want <<-END
		step,kind,name,window,process,start_ns,wall_ns,gpu_busy_ns,gpu_idle_ns,compute_ns,comm_ns,comm_exposed_ns,memcpy_ns,memset_ns,launched_start_ns,launched_end_ns,launched_busy_ns,api_ns,launches,kernels,warmup,complete
		2,train,batch 102,1,1,22000000,1000000,7000,993000,7000,0,0,0,0,24000000,24700000,700000,20000,3,3,0,1
		7,train,batch 107,2,1,52000000,5000000,700000,4300000,250000,300000,300000,300000,0,54000000,54700000,700000,20000,3,3,0,1
		1,val,,2,1,102000000,1000000,700000,300000,250000,300000,300000,300000,0,104000000,104700000,700000,20000,3,3,0,1
	END
	for step in 2,train 7,train 1,val; do
		is "$(grep "^$step" want)" "$(grep "^$step" got)" "row $step"
	done
	is "$(head -n 1 want)" "$(head -n 1 got)" columns
	is 11 "$(wc -l <got)" "lines: the head, 8 of training, 2 of validation"
	says "steps of kind train outside the recorded windows: 2; --all-steps lists them" err
	gprof-trace report -r steps -f csv --all-steps loop.gtrace >all 2>/dev/null
	is 13 "$(wc -l <all)" "lines with warm-up"
	is "0,train,batch 100,,1,10000000,1000000,,,,,,,,,,,,,,1,1" "$(sed -n 2p all)" "a step of which no row was kept"
	gprof-trace report -r steps -f json loop.gtrace 2>/dev/null | grep -q "\"step\": 0, \"kind\": \"val\", \"name\": null" || fail "no name is not null"
'

it 'the table names the slow step and what made it slow, without warm-up' "$SAMPLE"'
	sample loop
	gprof-trace report -r steps --sort step:asc loop.gtrace >got
	says "8 steps of kind train (excluded: 2 warm-up, 0 incomplete)" got
	says "1 of 8 steps are outliers" got
	says "step 7 (batch 107): 5.00 ms, 4.00 ms above the median of 1.00 ms; gpu_idle is 3.30 ms above its median" got
	says "steps are those of --step and --schedule" got
	gprof-trace report -r steps -f csv --step train=6:7 loop.gtrace 2>/dev/null | tail -n +2 >part
	gprof-trace report -r steps -f csv loop.gtrace 2>/dev/null | grep "^[67],train," | cmp - part || fail "steps that are selected have other numbers"
'

it 'every report and export can be of some steps or a window, and sums are theirs' "$SAMPLE"'
	sample loop
	is 31 "$(rows cuda_gpu_kern_sum)" "kernels"
	is 3 "$(rows cuda_gpu_kern_sum --step val=1)" "of one step"
	is 12 "$(rows cuda_gpu_kern_sum --step train=2:5)" "of four steps"
	is 13 "$(rows cuda_gpu_kern_sum --window 1)" "of the window around them"
	is 18 "$(rows cuda_gpu_kern_sum --window 2)" "of the other"
	is 30 "$(rows cuda_gpu_kern_sum --step :)" "of all steps"
	is "2" "$(gprof-trace report -r steps -f csv --window 2 loop.gtrace 2>/dev/null | tail -n +2 | cut -d , -f 4 | sort -u)" "steps of a window"
	gprof-trace export -o all.json loop.gtrace >/dev/null
	is "" "$(grep -o "ProfilerStep#[01]\"" all.json)" "steps of which nothing was kept, in the export"
	is 6 "$(rows cuda_gpu_kern_sum --step 8:)" "of the steps from the eighth on"
	is 16 "$(rows cuda_api_sum --step train=:5)" "calls"
	is 4 "$(rows cuda_api_sum --step 3 --window 1)" "calls of a step in a window"
	is 4 "$(gprof-trace report -f csv -r cuda_gpu_trace --step 7 loop.gtrace 2>/dev/null | grep -c "^5")" "rows of the step"
	gprof-trace report -r health --step 3 loop.gtrace >got
	says "this report covers the whole program" got
	for name in $(gprof-trace report list -f csv | sed "1d; s/,.*//"); do
		gprof-trace report -r "$name" --step train=3:4 loop.gtrace >/dev/null 2>err || grep -q "takes 2 traces" err ||
			grep -q "^gprof-trace: report tb_.* counts whole traces, as TensorBoard" err ||
			fail "report $name of a part"
	done
	gprof-trace export --step train=2:5 -o part.json loop.gtrace >/dev/null
	is 12 "$(grep -c "\"cat\": \"kernel\"" part.json)" "kernels in the export"
	is "2 3 4 5" "$(grep -o "ProfilerStep#[0-9]*" part.json | cut -d "#" -f 2 | xargs)" "steps in the export"
'

it 'a step or window that is not there is named, with what is there, and nothing is written' "$SAMPLE"'
	sample loop
	sample empty
	exits 1 gprof-trace report -r cuda_api_sum --step 77 loop.gtrace >out 2>err
	says "has no step 77; it has train=0 to 9, val=0 to 1" err
	exits 1 gprof-trace report -r cuda_api_sum --step test=1 loop.gtrace >>out 2>err
	says "has no step test=1; it has train=0 to 9, val=0 to 1" err
	exits 1 gprof-trace report -r cuda_api_sum --step 3 --window 2 loop.gtrace >>out 2>err
	says "has no step 3 in that window; it has train=6 to 9, val=0 to 1" err
	exits 1 gprof-trace report -r cuda_api_sum --window 0 loop.gtrace >>out 2>err
	says "no window 0" err
	exits 2 gprof-trace report -r cuda_api_sum --window first loop.gtrace >>out 2>err
	exits 1 gprof-trace export --window 3 -o no.json loop.gtrace >>out 2>err
	says "has no window 3; it has 1 to 2" err
	exits 1 gprof-trace report -r cuda_api_sum --step 1 empty.gtrace >>out 2>err
	says "has no steps: no" err
	is 1 "$(wc -l <err)" "lines"
	for wrong in x 5:2 =3 train= 1:2:3 -1 99999999999; do
		exits 2 gprof-trace report -r cuda_api_sum --step="$wrong" loop.gtrace >>out 2>err
		says "--step" err
	done
	is "" "$(cat out)" output
	[ ! -e no.json ] || fail "a file of nothing"
'

it 'windows are listed with what is in each, and info says how steps were found' "$SAMPLE"'
	sample loop
	sample marks
	gprof-trace report -r windows -f csv loop.gtrace >got
	is "1,schedule,,1,21900000,30000000,4,13,17,1" "$(sed -n 2p got)" "window 1"
	is "2,schedule,,1,46000000,65000000,6,18,25,0" "$(sed -n 3p got)" "window 2"
	gprof-trace info loop.gtrace >got
	says "steps      10 of kind train, 2 of kind val; steps are those of --step and --schedule (batch 100, ...)" got
	says "** Windows (windows):" got
	gprof-trace info marks.gtrace >got
	says "steps      3; steps are marks with the names of steps (step 0, ...)" got
	gprof-trace report loop.gtrace >got
	tr -s " \n" " " <got >flat
	says "8 of kind train (and 2 not recorded), median 1.00 ms, slowest #7 at 5.00 ms: GPU " flat
'

it 'steps that cross ranges are exported on a track of their own' "$SAMPLE"'
	need python3
	sample marks
	gprof-trace export marks.gtrace >/dev/null
	python3 "$GPROF_TOP/test/e2e/kineto_check.py" marks.json >got
	says "steps 2" got              # the last one has no end
	python3 -c "
import json
events = json.load(open(\"marks.json\"))[\"traceEvents\"]
steps = [e for e in events if e[\"name\"].startswith(\"ProfilerStep#\")]
assert [e[\"name\"][13:] for e in steps] == [\"0\", \"1\"], steps
track = {(e[\"pid\"], e[\"tid\"]) for e in steps}
assert [e[\"args\"][\"name\"] for e in events if e[\"ph\"] == \"M\" and e[\"name\"] == \"thread_name\" and (e[\"pid\"], e[\"tid\"]) in track] == [\"steps\"]
"
'
