# Training loops with the orders of calls of real programs (torch_orders.py) log the ends of their steps; recorded steps must match.
. "$(dirname "$0")/lib.sh"

TORCH='
	# GPROF_FRAMEWORKS: a Python of yours that has what the judges lack.
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python" ${GPROF_FRAMEWORKS:+"$GPROF_FRAMEWORKS"}; do
		"$python" -c "from importlib.util import find_spec as f; import sys; exit(not all(map(f, sys.argv[1:])))" $modules 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "not to be had here: $modules"
	# KIND, options of gprof-run, then what the check wants.  A busy machine takes the processor away between two clocks: a second look decides.
	once() {
		HF_HUB_OFFLINE=1 gprof-run -f -q $2 -o t -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_orders.py" ends "$1" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace report -r steps --all-steps --format csv t.gtrace >steps 2>notes
		shift 2
		"$judge" "$GPROF_TOP/test/e2e/torch_orders_check.py" steps ends "$@" 2>why
	}
	counts() {
		once "$@" || once "$@" || fail "$1 $2: $(tail -n 1 why)"
	}
'
PLAIN="modules='torch sympy'
$TORCH"
FRAMEWORKS="modules='torch sympy transformers accelerate lightning'
$TORCH"

it 'in loops of several epochs, accumulation, two optimizers, found afterwards and live' "$PLAIN"'
	for kind in plain epochs gan; do
		counts $kind ""
		counts $kind "--step torch"
	done
	counts epochs "--schedule wait=2,active=3,repeat=1" 2 3
'

it 'where batches are fetched ahead, as Trainer does, or validated first, as Lightning does' "$PLAIN"'
	for kind in ahead sanity evaluation; do
		counts $kind ""
		counts $kind "--step torch"
	done
	counts ahead "--schedule wait=2,active=3,repeat=1" 2 3
	gprof-trace report -r health t.gtrace >health
	says "nothing is known to be missing" health
	counts sanity "--schedule wait=2,active=3,repeat=1" 2 3
'

it 'of an evaluation that was taken for inference the schedule begins anew, and health tells of its window' "$PLAIN"'
	counts evaluation "--schedule wait=2,active=3,repeat=1" 2 3
	gprof-trace report -r health t.gtrace >health
	says window_unstepped health
	says "contains no optimizer step" health
'

it 'in inference of two epochs' "$PLAIN"'
	counts inference ""
	counts inference "--step torch"
	# The fourth batch shows that it is inference, and the schedule counts it as its first step.
	counts inference "--step torch --schedule wait=2,active=3,repeat=1" 5 3
	counts inference "--schedule wait=2,active=3,repeat=1" 5 3 3
'

it 'where record_function scopes are named' "$PLAIN"'
	counts scopes "--step torch:my_part*"
	counts scopes "--step nvtx:my_part*@PyTorch --schedule wait=2,active=3,repeat=1" 2 3
	counts scopes "--step part=torch:my_*"
	is part "$(sed -n 2p steps | cut -d, -f2)" "kind"
'

it 'of Trainer with accumulation 1, 2 and 8, Lightning with validation, accelerate' "$FRAMEWORKS"'
	counts trainer:1 ""
	counts trainer:2 "--step torch"
	counts trainer:8 ""
	counts trainer:8 "--schedule wait=2,active=3,repeat=1" 2 3
	counts lightning ""
	counts lightning "--schedule wait=2,active=3,repeat=1" 2 3
	counts accelerate "--step torch"
'
