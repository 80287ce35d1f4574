# Operators, compared with torch.profiler on the same unmodified script, and with HTA and the TensorBoard plugin, which read its files.
. "$(dirname "$0")/lib.sh"

it 'by name, count, shape and arrow, to key_averages(), to HTA and to the TensorBoard plugin; FLOPs are those of flop_counter' '
	judge=
	for python in python3 "$GPROF_BUILD/judges/bin/python"; do
		"$python" -c "from importlib.util import find_spec as f; exit(not (f(\"torch\") and f(\"sympy\")))" 2>/dev/null && judge=$python && break
	done
	[ "$judge" ] || skip "torch is not to be had here"
	mkdir theirs ours
	"$judge" -W ignore "$GPROF_TOP/test/e2e/torch_net.py" theirs >out 2>err || fail "$(tail -n 5 err)"
	mv theirs/table theirs/flops .
	gprof-run -q -o t -t torch-ops --torch-shapes -- "$judge" -W ignore "$GPROF_TOP/test/e2e/torch_net.py" >out 2>err || fail "$(tail -n 5 err)"

	# Our trace, and torch.profiler'"'"'s file by the same code.  The counter knows no attention of the CPU.
	sort table >calls
	sort flops >flops.known
	for trace in t.gtrace theirs/run.pt.trace.json; do
		gprof-trace report -r ops --format json $trace >ops.json 2>notes
		python3 -c "
import json
for row in json.load(open(\"ops.json\")): print(row[\"name\"], row[\"calls\"], sep=\"\t\")" | sort >got
		same calls got
		python3 -c "
import json
for row in json.load(open(\"ops.json\")):
    if row[\"flops\"] is not None and \"attention\" not in row[\"name\"]: print(row[\"name\"], row[\"flops\"], sep=\"\t\")" | sort >got
		same flops.known got
		never_says "flops is unknown" notes
		is 3 "$(gprof-trace report -r phases --format csv $trace | grep -c ",train,")" "steps of $trace"
	done

	"$judge" -c "import hta.trace_analysis, torch_tb_profiler.profiler.data" 2>/dev/null || skip "HTA and the TensorBoard plugin are not to be had here"
	gprof-trace export -o ours/run.pt.trace.json t.gtrace >out
	for whose in theirs ours; do
		HTA_DISABLE_NS_ROUNDING=1 HOME=$PWD "$judge" "$GPROF_TOP/test/e2e/torch_says.py" $whose >$whose.said 2>err || fail "$(tail -n 5 err)"
	done
	[ "$(wc -l <theirs.said)" -gt 300 ] || fail "only $(wc -l <theirs.said) facts"
	same theirs.said ours.said
	python3 "$GPROF_TOP/test/e2e/kineto_check.py" ours/run.pt.trace.json >has
	says "steps 3" has
'
