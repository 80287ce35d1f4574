# The hta_ reports on real Kineto traces, compared with the numbers that Holistic Trace Analysis printed for these traces.
. "$(dirname "$0")/lib.sh"

it 'equals HTA on every trace and in every report' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/golden" ] || skip "no answers of HTA in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/e2e/hta_golden.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'gives the numbers of HTA in reports of ours, too, where both mean the same' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/golden" ] || skip "no answers of HTA in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/e2e/own_golden.py" "$data" >said || { cat said; fail "not equal"; }
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
	exits 2 gprof-trace report -r temporal,hta_temporal_breakdown --step 1 a.json 2>err
	says "report hta_temporal_breakdown counts whole traces, as Holistic Trace Analysis does: it takes no --step" err
	exits 2 gprof-trace report -r tb_steps --process 1 a.json 2>err
	says "report tb_steps counts whole traces, as TensorBoard'\''s plugin does: it takes no --process" err
	gprof-trace report -r temporal,hta_temporal_breakdown --format csv a.json >out 2>err
	says "rank 0 has no GPU rows" err
	gprof-trace report list >ours
	gprof-trace report list --all >all
	never_says hta_t ours
	says hta_temporal_breakdown all
	gprof-trace import -o own a.json >said
	exits 2 gprof-trace report -r temporal,cuda_gpu_kern_sum own.gtrace a.json 2>err
	says "this command reads one trace" err
	exits 2 gprof-trace report -r temporal,cuda_gpu_kern_sum nothing.gtrace a.json 2>err
	says "nothing.gtrace" err
	for report in aten_kernels:foo compare_traces:GPUU compare_traces:CPU.GPU ops_diff:iterx; do
		exits 2 gprof-trace report -r $report a.json a.json 2>err
		is 1 "$(wc -l <err)"
		says "has no variant '\''${report#*:}'\''; it has" err
	done
	exits 2 gprof-trace report -r hta_aten_op_kernels_and_delay.foo a.json 2>err
'

# Each is what HTA makes of such a file.
EVENTS='
	x() { printf "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %s, \"tid\": %s, \"ts\": %s, \"dur\": %s, \"args\": {%s}}" "$@"; }
	file() { printf "{\"distributedInfo\": {\"rank\": %s}, \"traceEvents\": [\n" "$1"; sed "2,\$s/^/,/"; printf "]}\n"; }
	say() { x "$@"; echo; }
'

it 'has a GPU row on the track that the file names, and takes 7.0 for 7' "$EVENTS"'
	{
		say cuda_runtime cudaMemcpyAsync 40 41 1000 5 "\"correlation\": 3.0"
		say gpu_memcpy "Memcpy HtoD (Pinned -> Device)" 4000000 70 1010 4 \
			"\"device\": 1, \"stream\": 7.0, \"correlation\": 3, \"bytes\": 8, \"memory bandwidth (GB/s)\": 2.5"
	} | file 0 >a.json
	gprof-trace report -r hta_memory_bw_time_series,hta_queue_length_time_series --format csv a.json >out
	says "0,10,4000000,Memcpy HtoD,2.5" out
	is "0,1,10,4000000,70,7,0" "$(tail -n 1 out)"
'

it 'has a wait on the GPU of its pid, whatever GPU had its context first' "$EVENTS"'
	{
		say cuda_runtime cudaLaunchKernel 1 1 10 5 "\"correlation\": 1"
		say kernel k 3 7 20 5 "\"device\": 3, \"context\": 1, \"stream\": 7, \"correlation\": 1"
		say cuda_runtime cudaLaunchKernel 1 1 30 5 "\"correlation\": 2"
		say cuda_sync "Stream Sync" 0 7 40 5 "\"context\": 1, \"stream\": 7, \"correlation\": 2"
	} | file 0 >a.json
	gprof-trace report -r hta_queue_length_time_series --format csv a.json >out
	is "0,3,30,0,7,7,0" "$(tail -n 1 out)"
'

# At 20 a and d end, b begins and z takes no time: HTA wants a before b, b before z, and z before a.
it 'nests rows as HTA does where its comparison goes round in a circle' "$EVENTS"'
	{
		say cpu_op a 1 1 10 10 ""; say cpu_op d 1 1 15 5 ""; say cpu_op b 1 1 20 30 ""; say cpu_op z 1 1 20 0 ""
		for k in 1 2 3; do say cuda_runtime cudaLaunchKernel 1 1 $((27 + 5 * k)) 2 "\"correlation\": $k"; done
		for k in 1 2 3; do say kernel k$k 0 7 $((30 + 10 * k)) 5 "\"stream\": 7, \"correlation\": $k"; done
	} | file 0 >a.json
	gprof-trace report -r hta_kernel_sequences:a --format csv a.json >out
	is "a|k1|k2|k3,1,15,10" "$(tail -n 1 out)"
	gprof-trace report -r hta_kernel_sequences:b --format csv a.json >out 2>err
	is 1 "$(wc -l <out)" "lines"
'

it 'has rows of one launch together where the last step is cut off, as HTA has them' "$EVENTS"'
	{
		say user_annotation "ProfilerStep#1" 1 1 0 100 ""; say user_annotation "ProfilerStep#2" 1 1 500 100 ""
		for corr in 1 2; do say cuda_runtime cudaLaunchKernel 1 1 $((corr * 10)) 5 "\"correlation\": $corr"; done
		for corr in 1 2 1; do say kernel k$corr 0 7 300 5 "\"stream\": 7, \"correlation\": $corr"; done
	} | file 0 >a.json
	gprof-trace report -r hta_queue_length_time_series --format csv a.json >out
	is "4 6 5" "$(sed -n "s/^0,\([0-9]*\),300,.*/\1/p" out | tr "\n" " " | sed "s/ $//")" "order of the rows at 300"
'

# A name in a file's name cannot have colons everywhere.
it 'finds operators by their names with _ for ::, the whole name first' "$EVENTS"'
	at=0
	{
		for n in 1 2 3; do
			for op in my_aten_add aten::add aten::addmm; do
				at=$((at + 20))
				say cpu_op $op 1 1 $at 9 ""
				for k in 1 2 3; do
					say cuda_runtime cudaLaunchKernel 1 1 $((at + k)) 1 "\"correlation\": $((at + k))"
					say kernel $op.kernel$k 0 7 $((at + 5)) 1 "\"stream\": 7, \"correlation\": $((at + k))"
				done
			done
		done
	} | file 0 >a.json
	gprof-trace report -r hta_kernel_sequences.aten_add --format csv a.json >out
	is "aten::add|aten::add.kernel1|aten::add.kernel2|aten::add.kernel3,3,9,27" "$(grep "^aten::add|" out)"
	says "aten::addmm|" out
	never_says my_aten out
	gprof-trace report -r hta_critical_path.aten_add.1 --format json a.json >out
	says "\"critical_nodes\": " out
	never_says "no annotation number" out
'

it 'compares the second step of a job, whatever rank had it' "$EVENTS"'
	mkdir one two
	{ say user_annotation "ProfilerStep#5" 1 1 0 100 ""; say cpu_op five 1 1 10 10 ""; say user_annotation "ProfilerStep#7" 1 1 100 100 "";
	  say cpu_op seven 1 1 110 10 ""; } | file 0 >one/0.json
	say user_annotation "ProfilerStep#6" 1 1 0 100 "" | file 1 >one/1.json
	{ say user_annotation "ProfilerStep#6" 1 1 0 100 ""; say cpu_op six 1 1 10 10 ""; } | file 0 >two/0.json
	gprof-trace report -r hta_compare_traces:CPU --format csv one two >out
	is 2 "$(grep -c "^[Ps].*,0,0,1,1" out)" "rank 0 of the first one has no step 6"
	never_says "five\|seven" out
'

it 'has a launch in an operator of its own thread, and kernels of stream 0 in their steps, where HTA has not' "$EVENTS"'
	{
		say user_annotation "ProfilerStep#1" 1 1 0 200 ""; say cpu_op aten::mine 1 1 5 100 ""; say cpu_op aten::other 1 2 10 100 ""
		say cuda_runtime cudaLaunchKernel 1 1 20 5 "\"correlation\": 1"
		say kernel k 0 0 50 5 "\"stream\": 0, \"correlation\": 1"
	} | file 0 >a.json
	gprof-trace report -r hta_aten_op_kernels_and_delay --format csv a.json >out
	says "aten::other,k,1,10.000,30.000" out
	gprof-trace report -r aten_kernels --format csv a.json >out
	is "0,aten::mine,1,15000,30000,k" "$(tail -n 1 out)"
	gprof-trace report -r compare_traces:GPU --format csv a.json a.json >out
	is "1,5000,1,5000,0,0,=,k" "$(tail -n 1 out)"
	gprof-trace report -r hta_compare_traces:GPU --format csv a.json a.json >out
	is 1 "$(wc -l <out)" "lines of HTA, which gives stream 0 no step"
'

it 'finds kernels below an operator at any depth, where HTA looks at one' "$EVENTS"'
	{
		say cpu_op aten::linear 1 1 10 20 ""; say cpu_op outer 1 1 100 50 ""; say cpu_op aten::linear 1 1 110 30 ""
		say cpu_op aten::linear_inside 1 1 111 25 ""
		for at in 11 12 13 114 115 116; do
			say cuda_runtime cudaLaunchKernel 1 1 $at 1 "\"correlation\": $at"
			say kernel k$((at % 100)) 0 7 $((at + 200)) 1 "\"stream\": 7, \"correlation\": $at"
		done
	} | file 0 >a.json
	gprof-trace report -r hta_kernel_sequences:aten::linear --format csv a.json >out
	is "aten::linear|k11|k12|k13,1,3,20" "$(tail -n +2 out)"
	gprof-trace report -r kernel_sequences:aten::linear --format csv a.json >out
	is "1,3000,20000,aten::linear|k11|k12|k13 1,3000,30000,aten::linear|k14|k15|k16" "$(tail -n +2 out | tr "\n" " " | sed "s/ $//")"
'

it 'keeps the last step and its nanoseconds, where HTA has neither' "$EVENTS"'
	{
		say user_annotation "ProfilerStep#1" 1 1 0 100.5 ""; say user_annotation "ProfilerStep#2" 1 1 500 100 ""
		for at in 10 510; do
			say cuda_runtime cudaLaunchKernel 1 1 $at 5 "\"correlation\": $at"
			say kernel k 0 7 $((at + 20)).25 4.5 "\"stream\": 7, \"correlation\": $at"
		done
	} | file 0 >a.json
	gprof-trace report -r temporal --format csv a.json >out 2>err
	is "0,504500,9000,1.8,495500,98.2,9000,1.8,0,0,0,0" "$(tail -n 1 out)"
	gprof-trace report -r hta_temporal_breakdown --format csv a.json >out
	is "0,0,3,0,3,0.00,100.00,0.00" "$(tail -n 1 out)"
	gprof-trace report -r cpu_annotations --format csv a.json >out
	is "0,100500,1,100500,100500,100500,ProfilerStep#1" "$(sed -n 2p out)"
'

it 'keeps kernels that rounding made shorter than nothing out of the others, as HTA does' "$EVENTS"'
	{
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do say kernel k$i 0 7 $((i * 100)) $((i * 2)) "\"stream\": 7, \"correlation\": $i"; done
		say kernel below 0 7 2000.25 0.5 "\"stream\": 7, \"correlation\": 20"
	} | file 0 >a.json
	gprof-trace report -r hta_kernel_breakdown_top10 --format csv a.json >out
	says "below,-1,-1,-1,0" out
	says "others," out
'

# The running sum of times is largest before those below 0: its quantile is one of all its values in order.
it 'takes the quantile of sums that rounding made fall, as HTA does' "$EVENTS"'
	{
		at=1000
		for i in 346 126 75 60 29 16 12 8 3; do at=$((at + 1000)); say kernel k$i 0 7 $at $i "\"stream\": 7, \"correlation\": $at"; done
		for i in 1 2; do say kernel below$i 0 7 2000$i.25 0.5 "\"stream\": 7, \"correlation\": $i"; done
	} | file 0 >a.json
	gprof-trace report -r hta_kernel_breakdown_top10 --format csv a.json >out
	says "others,3,3,3,0" out
	says "k8,8,8,8,0" out
'

it 'takes for the last step what HTA takes for it where a file counts from a small number' "$EVENTS"'
	{
		say user_annotation "ProfilerStep#1" 1 1 1000 100 ""; say user_annotation "ProfilerStep#2" 1 1 1100 100 ""
		for at in 1010 1110 2100 2300; do say cpu_op op$at 1 1 $at 10 ""; done
	} | file 0 >a.json
	# Its ends count from 0, its begins from the earliest: it keeps what begins up to 1200 us after that.
	gprof-trace report -r hta_critical_path:all --format json a.json >out
	says "\"nodes\": 6" out
'

it 'reads memory timelines' '
	printf "[[-1, 1, 512, 7], [-1, 1, 100, 0], [5, 2, 64, 4], [5, 3, -64, 4], [9, 4, -512, 7], [9, 1, 2]]" >t.raw.json
	gprof-trace report -r memory_by_category --format csv t.raw.json >out 2>err
	is "5,100,0,0,0,0,0,0,512" "$(sed -n 2p out)"
	is "5,100,0,0,0,0,0,0,512" "$(sed -n 3p out)"
	is "9,100,0,0,0,0,0,0,0" "$(sed -n 4p out)"
	says "1 parts that are not valid JSON" err
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
