# Numbers of reports, compared value by value with numbers that test/oracle/ computes from the original files; exact in ns.
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
LIMIT=600

it 'prints of made-up traces what the oracle computes from their files' '
	python3 "$GPROF_TOP/test/oracle/made.py" made
	python3 "$GPROF_TOP/test/oracle/check_traces.py" made >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints on the page what the oracle computes, rounded' '
	python3 "$GPROF_TOP/test/oracle/made.py" made
	python3 "$GPROF_TOP/test/oracle/check_page.py" made >said || { cat said; fail "not equal"; }
	tail -n 1 said
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/traces" ] || skip "no traces of real programs in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/oracle/check_page.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints of made-up training loops of every kind what the oracle computes' '
	python3 "$GPROF_TOP/test/oracle/made_loops.py" made 0 300
	python3 "$GPROF_TOP/test/oracle/check_traces.py" made loop- phases >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints of real loops on a CPU, and of two ranks, the phases that the oracle computes from their export' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	mkdir -p real/hta/traces/loops real/hta/traces/ranks
	recorded() {
		folder=$1
		shift
		gprof-run -f -q -t torch-ops -o t -- "$judge" -W ignore "$@" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace export -t kineto -o "real/hta/traces/$folder/t.json" t.gtrace >out 2>&1 || fail "$(cat out)"
	}
	loops=$GPROF_TOP/test/e2e/torch_loops.py
	recorded loops "$loops" clocks 3 mlp accumulate closure lbfgs huggingface no_loader between inference
	# All columns but step, kind, process.
	gprof-trace report -r phases --format csv t.gtrace 2>err | cut -d, -f3-25 >own
	gprof-trace report -r phases --format csv real/hta/traces/loops/t.json 2>err | cut -d, -f3-25 | cmp - own || fail "the export has other phases than the trace"
	[ "$(wc -l <own)" -ge 10 ] || fail "steps: $(wc -l <own)"
	recorded ranks -m torch.distributed.run --standalone --nproc_per_node=2 "$loops" clocks 3 ddp ddp_between
	python3 "$GPROF_TOP/test/oracle/check_traces.py" real "" phases >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'has a function or a written exception for every column that own reports print, and every quantity of docs/reference/numbers.md' '
	python3 "$GPROF_TOP/test/oracle/made.py" made
	python3 "$GPROF_TOP/test/oracle/check_columns.py" "$GPROF_TOP/docs/reference/numbers.md" made/hta/traces/made-0/rank0.json >said || { cat said; fail "not all"; }
	tail -n 1 said
'

it 'prints of every trace what the oracle computes from its file' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	[ -d "$data/hta/traces" ] || skip "no traces of real programs in GPROF_TEST_DATA"
	python3 "$GPROF_TOP/test/oracle/check_traces.py" "$data" >said || { cat said; fail "not equal"; }
	tail -n 1 said
'

it 'prints of programs on the simulated GPU what the simulator says' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	for program in streams copies many_kernels launches threads vector_add; do
		exits 0 traced $program
		python3 "$GPROF_TOP/test/oracle/check_sim.py" t.gtrace truth >said || { echo $program; cat said; fail "not equal"; }
	done
'

it 'prints of steps, launch delays, queues, ranks and windows on the simulated GPU what the program and the simulator say' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	train="python3 $GPROF_TOP/test/programs/train.py --no-torch --clock clock"
	run() { rm -f clock truth; gprof-run -q -f -o t "$@" >out 2>err; }
	equal() { python3 "$GPROF_TOP/test/oracle/check_sim.py" t.gtrace truth clock "$@" >said || { cat said; fail "not equal"; }; tail -n 1 said; }
	# shellcheck disable=SC2086
	run -- $train
	equal
	# shellcheck disable=SC2086
	run --step "nvtx:step *" --schedule wait=2,warmup=1,active=3,repeat=2 -- $train --steps 16
	equal 3,4,5,9,10,11
	export SIM_DEVICES=2
	run -- sh -c "RANK=1 LOCAL_RANK=1 $train --steps 8 --layers 4 & RANK=0 LOCAL_RANK=0 $train --steps 8; wait"
	equal
'
