# FLOP of convolutions, compared case by case with torch.utils.flop_counter; also for a file of torch.profiler, which has non-tensor inputs.
. "$(dirname "$0")/lib.sh"

it 'forward alone and with a backward pass, whatever gradients that made' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	mkdir theirs
	"$judge" -W ignore "$GPROF_TOP/test/e2e/torch_convolutions.py" theirs >out 2>err || fail "$(tail -n 5 err)"
	gprof-run -q -o t -t torch-ops --torch-shapes -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_convolutions.py" >out 2>err ||
		fail "$(tail -n 5 err)"

	# The first number of the shapes is the size of the batch, and that the number of the case.
	sort theirs/flops >flops
	[ "$(wc -l <flops)" -gt 35 ] || fail "only $(wc -l <flops) numbers"
	gprof-trace export -o ours.json t.gtrace >out
	for trace in t.gtrace theirs/run.pt.trace.json ours.json; do
		gprof-trace report -r ops_by_shape --format json $trace >ops.json 2>notes
		python3 -c "
import collections, json, re
sums = collections.Counter()
for row in json.load(open(\"ops.json\")):
    if row[\"flops\"] is not None: sums[row[\"name\"], re.search(\"[0-9]+\", row[\"input_dims\"])[0]] += row[\"flops\"]
for (name, case), flops in sums.items(): print(name, case, flops, sep=\"\t\")" | sort >got
		same flops got
		never_says "flops is unknown" notes
	done

	# Every operator has the inputs that torch.profiler writes; so has its file after we read it.
	gprof-trace export -o again.json theirs/run.pt.trace.json >out
	for file in ours.json again.json; do
		python3 "$GPROF_TOP/test/e2e/pytorch_values.py" theirs/run.pt.trace.json $file >values
		is "" "$(cat values)" "operators of $file with other inputs"
	done
'
