# Reports that print the same quantity of the same trace print the same number; the list is PAIRS in test/oracle/check_pairs.py.
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
LIMIT=600

it 'prints the same number for the same quantity of made-up traces' '
	python3 "$GPROF_TOP/test/oracle/made.py" made
	python3 "$GPROF_TOP/test/oracle/check_pairs.py" made >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints the same number for the same quantity of real traces' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/traces" ] || skip "no traces of real programs in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/oracle/check_pairs.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints the same number for the same quantity of a recording' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need "$GPROF_TOP/test/programs/train.py"
	gprof-run -q -f -o t -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	agree() { python3 "$GPROF_TOP/test/oracle/check_pairs.py" t.gtrace >said || { cat said; fail "not equal"; }; tail -n 1 said; }
	agree
	gprof-run -q -f --cudabacktrace=all --python-launch-site -o t -- python3 "$GPROF_TOP/test/programs/train.py" --steps 8 >out 2>err
	agree
	says "GPU time: lines, cuda_gpu_kern_sum" said
	says "GPU time: stacks; kernels, copies and memory sets" said
	gprof-trace export -f -o t.json t.gtrace >out
	python3 "$GPROF_TOP/test/oracle/check_stacks.py" t.gtrace t.json >said || { cat said; fail "not equal"; }
	gprof-run -q -f --step "nvtx:step *" --schedule wait=2,warmup=1,active=3,repeat=2 -o t -- python3 "$GPROF_TOP/test/programs/train.py" --steps 16 >out 2>err
	agree
	says "number of steps: windows, steps" said
	traced graphs || fail "graphs: exit status $?"
	agree
	says "kernels of graphs: cuda_graph_kern_sum, cuda_gpu_trace" said
'
