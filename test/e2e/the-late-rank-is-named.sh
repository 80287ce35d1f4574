# Report `ranks` and the page's line about it, compared with the plan of a simulated job, the truth file, and files of torch.profiler.
. "$(dirname "$0")/lib.sh"
JOB='. "$GPROF_TOP/test/e2e/cuda/sim.sh"
unset SIM_TRUTH
check() { python3 "$GPROF_TOP/test/e2e/ranks_check.py" "$@"; }
job() {
	rm -rf meeting truth.jsonl
	SIM_TRUTH=$PWD/truth.jsonl SIM_DEVICES=4 gprof-run -f -o job -- python3 "$GPROF_TOP/test/programs/ranks.py" "$@" >plan 2>page
	# rank=pid of all ranks
	pids=$(sed -n "s/^rank \([0-9]*\) pid \([0-9]*\) .*/\1=\2/p" plan)
}
# Waits of the report against those planned, 1 ns for each clock that was converted, and how often each rank was last.
as_planned() {
	gprof-trace report -r ranks --format csv "$@" 2>said | cut -d , -f 1,12,14 | tail -n +2 | tr , " " >got
	sed -n "s/^rank \([0-9]*\) .* wait \([0-9]*\) last \([0-9]*\)/\1 \2 \3/p" plan | paste -d " " got - >both
	is "$(grep -c "^rank" plan)" "$(awk "\$1 == \$4 && \$3 == \$6 && \$2 - \$5 < 100 && \$5 - \$2 < 100" both | wc -l)" "ranks as planned"
}
'

it 'a rank that comes late is named, by how much, and what each rank waits is as planned' "$JOB"'
	job --late 2
	is late "$(check job.gtrace -- truth truth.jsonl $pids)"
	as_planned job.gtrace
	says "rank 2 arrives last: it waits " said
	says "rank 2 arrives last: it waits " page
'

it 'broadcasts and sends, planned the other way round, are not counted' "$JOB"'
	job --late 0 --ranks 2
	is late "$(check job.gtrace -- truth truth.jsonl $pids)"
	says "rank 0 arrives last" page
'

it 'without a delay no rank is named, and the page says nothing' "$JOB"'
	job
	is nobody "$(check job.gtrace -- truth truth.jsonl $pids)"
	never_says "  ranks " page
	gprof-trace report job.gtrace >page
	never_says "  ranks " page
'

it 'traces of ranks recorded apart are one job when they are given together' "$JOB"'
	python3 "$GPROF_TOP/test/programs/ranks.py" --late 1 --ranks 2 --with "gprof-run -f -q -o part --" >plan
	as_planned part.rank0.gtrace part.rank1.gtrace
	says "rank 1 arrives last" said
	gprof-trace report -r ranks part.rank0.gtrace >said
	says "no rank is judged: give the traces of several ranks" said
	gprof-trace report -r ranks part.rank0.gtrace part.rank0.gtrace >said
	says "no rank is judged: rank 0 occurs twice" said
'

it 'is as the definitions say on jobs made by chance, with sequence numbers and without' '
	for seed in $(seq 1 24); do
		mkdir "$seed"
		python3 "$GPROF_TOP/test/e2e/ranks_jobs.py" "$seed" "$seed"
		python3 "$GPROF_TOP/test/e2e/ranks_check.py" "$seed" -- kineto "$seed"/* >>verdicts || fail "seed $seed"
	done
	# All steps selected: the same waits, by sequence numbers too.  Seed 2 has no collective in a step.
	for seed in 1 3 4 5 7 9; do
		gprof-trace report -r ranks --format csv "$seed" 2>/dev/null | cut -d , -f 11-14 >whole
		gprof-trace report -r ranks --format csv --step 0: "$seed" 2>/dev/null | cut -d , -f 11-14 >steps
		same whole steps
	done
	gprof-trace report -r ranks --step 0: 2 >steps
	says "no rank is judged: there are no kernels of collectives" steps
	for verdict in late nobody few unequal counts; do
		grep -q "^$verdict" verdicts || fail "no job with the verdict $verdict"
	done
'

it 'names rank 7 of a real job, and says why it names none of another' '
	traces=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}/hta/traces
	[ -d "$traces" ] || skip "no traces in GPROF_TEST_DATA"
	check() { python3 "$GPROF_TOP/test/e2e/ranks_check.py" "$1" -- kineto "$1"/*; }
	is late "$(check "$traces/dlrm-v100-8rank")"
	gprof-trace report -r ranks,tb_distributed "$traces/dlrm-v100-8rank" >said
	says "rank 7 arrives last: it waits 1.53 ms in collectives per step, the other ranks 3.28 ms to 11.1 ms (one step;" said
	never_says "worker2_step_12," said
	says "It does not find the late rank; report ranks does" said
	gprof-trace report "$traces/dlrm-v100-8rank" >page
	says "rank 7 arrives last" page
	is apart "$(check "$traces/hta-sampled-2rank")" "ranks of which a part was kept"
	gprof-trace report "$traces/hta-sampled-2rank" >page
	never_says "arrives last" page
	check "$traces/hta-nccl-a100" >/dev/null
	check "$traces/tl-mi300-resnet-act-ckpt" >/dev/null
	check "$traces/../minimal/traces/nccl-cpu_op" >/dev/null
'
