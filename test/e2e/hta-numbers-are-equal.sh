# The hta_ reports on real Kineto traces against what Holistic Trace Analysis printed for them.
# not sanitized: two hundred megabytes of JSON
. "$(dirname "$0")/lib.sh"

it 'equals HTA on every trace and in every report' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/golden" ] || skip "no answers of HTA in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/e2e/hta_golden.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'gives the same numbers for a job as a folder, as files, and as one imported trace' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces/dlrm-v100-8rank
	[ -d "$data" ] || skip "no traces of real jobs in GPROF_TEST_DATA"
	gprof-trace import -q -o job "$data"/*
	gprof-trace report -r hta_temporal_breakdown,hta_queue_length_summary --format csv job.gtrace >one
	gprof-trace report -r hta_temporal_breakdown,hta_queue_length_summary --format csv "$data" >folder
	gprof-trace report -r hta_temporal_breakdown,hta_queue_length_summary --format csv "$data"/* >files
	is 9 "$(sed "/^$/,\$d" one | wc -l)" "a row for each of eight ranks"
	cmp one folder
	cmp one files
'

it 'says what these reports do not take' '
	printf "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2}]}" >a.json
	exits 2 gprof-trace report -r temporal --step 1 a.json 2>err
	says "it takes no --step" err
	gprof-trace report -r temporal,hta_temporal_breakdown --format csv a.json >out 2>err
	says "rank 0 has no GPU rows" err
	gprof-trace report list >ours
	gprof-trace report list --all >all
	never_says hta_ ours
	says hta_temporal_breakdown all
	gprof-trace import -o own a.json >said
	exits 2 gprof-trace report -r temporal,cuda_gpu_kern_sum own.gtrace a.json 2>err
	says "one trace at a time" err
	exits 2 gprof-trace report -r temporal,cuda_gpu_kern_sum nothing.gtrace a.json 2>err
	says "nothing.gtrace" err
'

it 'reads memory timelines' '
	printf "[[-1, 1, 512, 7], [-1, 1, 100, 0], [5, 2, 64, 4], [5, 3, -64, 4], [9, 4, -512, 7], [9, 1, 2]]" >t.raw.json
	gprof-trace report -r memory_by_category --format csv t.raw.json >out 2>err
	is "5,100,0,0,0,0,0,0,512" "$(sed -n 2p out)"
	is "5,100,0,0,0,0,0,0,512" "$(sed -n 3p out)"
	is "9,100,0,0,0,0,0,0,0" "$(sed -n 4p out)"
	says "1 parts that are no JSON" err
'

# What is exported and imported again is what was recorded, but that a file holds microseconds with three decimals.
it 'gives the same numbers for a trace and for its Kineto file' '
	need "$GPROF_BUILD/test/programs/streams" "needs nvcc to build test/programs"
	need "$GPROF_BUILD/sim/libcuda.so.1"
	LD_LIBRARY_PATH=$GPROF_BUILD/sim gprof-run -q -o run -- "$GPROF_BUILD/test/programs/streams" 4 10 >said
	gprof-trace export -o run.json run.gtrace
	reports=temporal,idle,kernel_types,kernel_breakdown,launch_delay_sum,queue_length,hta_temporal_breakdown,hta_idle_time_breakdown
	gprof-trace report -r $reports --format csv run.gtrace >own
	gprof-trace report -r $reports --format csv run.json >file
	[ "$(wc -l <own)" -gt 30 ] || fail "too little: $(cat own)"
	same own file
'
