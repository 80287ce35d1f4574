# What reports print against what test/oracle/ computes from the original files: value by value, exact in ns.
# not sanitized: two hundred megabytes of JSON
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
LIMIT=300

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

it 'has a function or a written exception for every column that own reports print, and every quantity of docs/numbers.md' '
	python3 "$GPROF_TOP/test/oracle/made.py" made
	python3 "$GPROF_TOP/test/oracle/check_columns.py" "$GPROF_TOP/docs/numbers.md" made/hta/traces/made-0/rank0.json >said || { cat said; fail "not all"; }
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
	rm truth
	gprof-run -q -f -o t -- python3 "$GPROF_TOP/test/programs/train.py" >out 2>err
	python3 "$GPROF_TOP/test/oracle/check_sim.py" t.gtrace truth >said || { cat said; fail "not equal"; }
	tail -n 1 said
'
