# Training loops with the orders of calls of real programs (torch_orders.py) log the ends of their steps; recorded steps must match.
. "$(dirname "$0")/lib.sh"

TORCH='
	# GPROF_FRAMEWORKS: a Python of yours that has what the judges lack.
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python" ${GPROF_FRAMEWORKS:+"$GPROF_FRAMEWORKS"}; do
		"$python" -c "from importlib.util import find_spec as f; import sys; exit(not all(map(f, sys.argv[1:])))" $modules 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "not to be had here: $modules"
	once() {
		# shellcheck disable=SC2086
		HF_HUB_OFFLINE=1 gprof-run -f -q $options -o t -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_orders.py" "$@" >out 2>err || fail "$(tail -n 5 err)"
		gprof-trace report -r steps --all-steps --format csv t.gtrace >steps 2>notes
		gprof-trace report -r processes --format csv t.gtrace >processes
		python3 "$GPROF_TOP/test/e2e/torch_orders_check.py" steps processes "$@" >wrong 2>why
	}
	# Options of gprof-run, then what the check wants of each loop.  A busy machine takes the processor away between two clocks: a second look decides.
	counts() {
		options=$1
		shift
		once "$@" || { [ -s wrong ] && once $(cat wrong); } || fail "$options: $(cat why)"
	}
'
PLAIN="modules='torch sympy'
$TORCH"
FRAMEWORKS="modules='torch sympy transformers accelerate lightning'
$TORCH"

it 'in loops of several epochs, accumulation, two optimizers, batches fetched ahead, validation first, and inference' "$PLAIN"'
	counts "" plain epochs gan ahead sanity evaluation inference
'

it 'of the same loops, followed live' "$PLAIN"'
	counts "--step torch" plain epochs gan ahead sanity evaluation inference
'

it 'of the same loops, counted by a schedule' "$PLAIN"'
	# The fourth batch shows that it is inference, and the schedule counts it as its first step.
	counts "--schedule wait=2,active=3,repeat=1" epochs,2,3 sanity,2,3 inference,5,3,3
	counts "--step torch --schedule wait=2,active=3,repeat=1" inference,5,3
	counts "--schedule wait=2,active=3,repeat=1" ahead,2,3
	gprof-trace report -r health t.gtrace >health
	says "nothing is known to be missing" health
'

it 'of an evaluation that was taken for inference the schedule begins anew, and health tells of its window' "$PLAIN"'
	counts "--schedule wait=2,active=3,repeat=1" evaluation,2,3
	gprof-trace report -r health t.gtrace >health
	says window_unstepped health
	says "contains no optimizer step" health
'

it 'where record_function scopes are named' "$PLAIN"'
	counts "--step torch:my_part*" scopes
	counts "--step nvtx:my_part*@PyTorch --schedule wait=2,active=3,repeat=1" scopes,2,3
	counts "--step part=torch:my_*" scopes
	is part "$(sed -n 2p steps | cut -d, -f2)" "kind"
'

it 'of Trainer with accumulation 1, 2 and 8, Lightning with validation, accelerate' "$FRAMEWORKS"'
	counts "" trainer:1 trainer:8 lightning
	counts "--step torch" trainer:2 accelerate
	counts "--schedule wait=2,active=3,repeat=1" trainer:8,2,3 lightning,2,3
'
