. "$(dirname "$0")/lib.sh"
LIMIT=600      # it builds the tree

it 'profiles a training loop, says where the trace is and how to look at it' '
	need make
	need python3
	need "$GPROF_BUILD/sim/libcuda.so.1"
	! nvidia-smi -L 2>/dev/null | grep -q "^GPU " || skip "there is a GPU here"
	B=${GPROF_BUILD#"$GPROF_TOP"/} sh "$GPROF_TOP/scripts/demo.sh" >out 2>&1 || fail "$(tail -n 30 out)"
	says "on a simulated GPU" out
	says "sgemm" out
	says "AllReduce" out
	says ":forward" out
	says "cuLaunchKernel" out
	says "ui.perfetto.dev" out
	test -s "$GPROF_BUILD/demo/train.gtrace"
	python3 -m json.tool "$GPROF_BUILD/demo/train.json" /dev/null
'
