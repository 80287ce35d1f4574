# The tb_ reports on real Kineto traces, compared with numbers that PyTorch's TensorBoard plugin computed from them.
. "$(dirname "$0")/lib.sh"

it 'equals the TensorBoard plugin on every trace, but for what it gets wrong' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/tb/golden/torch_tb_profiler" ] || skip "no answers of torch_tb_profiler in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/e2e/tb_golden.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'takes an empty value for the 0 of the plugin only in the fields that a trace may not tell' '
	PYTHONPATH=$GPROF_TOP/test/e2e python3 -B -c "if True:
		from tb_golden import Judge
		def bad(view, field, want):
			judge = Judge()
			judge.value(view, [\"trace\", field], want, \"\")
			return len(judge.bad)
		print(bad(\"steps\", \"DataLoader\", 0), bad(\"steps\", \"Total\", 0), bad(\"operators\", \"tc_self_ratio\", 0.0),
		      bad(\"operators\", \"calls\", 0), bad(\"steps\", \"DataLoader\", 5), bad(\"kernels\", \"Tensor Cores Used\", \"yes\"))" data >said
	is "0 1 0 1 1 1" "$(cat said)" "what differs"
'

it 'says unknown, not 0, of what a trace cannot know' '
	event() {
		printf "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %s, \"tid\": 7, \"ts\": %s, \"dur\": %s, \"args\": {%s}}" "$@"
	}
	printf "{\"traceEvents\": [%s, %s]}" "$(event user_annotation ProfilerStep#4 1 0 100 "")" \
		"$(event kernel k 0 10 20 "\"device\": 0, \"stream\": 7, \"correlation\": 3")" >a.json
	gprof-trace report -r tb_steps --format csv a.json >out 2>err
	is "a,,4,20000,0,0,,0,,,80000,100000" "$(sed -n 2p out)" "its only step"
	says "not known: loading" err
	gprof-trace report -r tb_gpu_summary --format csv a.json >out 2>err
	is "a,,0,,,,20.00,,," "$(sed -n 2p out)" "its GPU"
	printf "{\"traceEvents\": [%s]}" "$(event cuda_sync x 0 10 20 "")" >none.json
	gprof-trace report -r tb_steps,tb_gpu_summary --format csv none.json >out 2>err
	says "no kernels" err
'

it 'tells waiting for another rank from transfer' '
	event() {
		printf "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %s, \"tid\": 7, \"ts\": %s, \"dur\": %s, \"args\": {%s}}" "$@"
	}
	for rank in 0 1; do
		printf "{\"distributedInfo\": {\"rank\": $rank}, \"traceEvents\": [%s, %s, %s]}" \
			"$(event user_annotation ProfilerStep#1 1 0 100 "")" "$(event user_annotation nccl:all_reduce 1 10 2 "\"External id\": 5")" \
			"$(event kernel k 0 $((20 + rank * 30)) $((40 - rank * 30)) "\"device\": 0, \"stream\": 7, \"correlation\": 3, \"External id\": 5")" >r$rank.json
	done
	gprof-trace report -r tb_distributed --format csv r0.json r1.json >out 2>err
	is "r0,0,1,0,0,42000,58000,12000,30000" "$(sed -n 2p out)" "the rank that comes early"
	is "r1,1,1,0,0,12000,88000,12000,0" "$(grep "^r1,1,1" out)" "the rank that comes late"
	says "It does not find the late rank; report ranks does" err
	never_says "waiting least" err
	gprof-trace report -r tb_steps r0.json r1.json >out
	says "all 2 workers: 2 steps of 0.100 ms" out
	gprof-trace report -r tb_distributed --format csv r0.json >out 2>err
	is "r0,0,1,0,0,42000,58000,," "$(sed -n 2p out)" "one rank alone"
	says "give the traces of all ranks" err
'

it 'reads traces of ours too, and what they did not keep is no step' '
	need "$GPROF_BUILD/test/programs/sample_trace" "test programs are not built (make programs)"
	"$GPROF_BUILD/test/programs/sample_trace" loop.gtrace loop >/dev/null
	gprof-trace report -r tb_steps --format csv loop.gtrace >out 2>err
	is "2 3 4 5 6 7 8 9 average" "$(tail -n +2 out | cut -d , -f 3 | xargs)" "steps, without two of warm-up"
	is "550000,150000,0,,20000,,,1980000,2700000" "$(grep ",3," out | cut -d , -f 4-)" "of one step"
	says "not known: CPU work" err
	gprof-trace export --format kineto -o loop.json loop.gtrace >/dev/null
	for report in tb_kernels tb_kernels_by_operator; do
		gprof-trace report -r $report --format csv loop.gtrace 2>/dev/null | cut -d , -f 2- >ours
		gprof-trace report -r $report --format csv loop.json 2>/dev/null | cut -d , -f 2- >exported
		same ours exported
	done
'
