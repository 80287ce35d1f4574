# Reports that print the same quantity of the same trace print the same number; the list is PAIRS in test/oracle/check_pairs.py.
# not sanitized: two hundred megabytes of JSON
. "$(dirname "$0")/lib.sh"

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
LIMIT=300

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
	python3 "$GPROF_TOP/test/oracle/check_pairs.py" t.gtrace >said || { cat said; fail "not equal"; }
	tail -n 1 said
'
