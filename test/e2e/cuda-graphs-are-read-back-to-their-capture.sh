#!/bin/sh
. "$(dirname "$0")/lib.sh"

it 'kernels replayed by one thread are found in the ranges in which another captured them' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced graph_layers 4
	as_the_gpu_says
	is 21 "$(rows graph_node)" "nodes: seven captured, seven in each executable graph"
	gprof-trace report -r cuda_graph_kern_sum -f csv t.gtrace | tail -n +2 | cut -d , -f 3,9- | sort >got
	sed "1d; /^graph launches/d" out | sed "s/\(.*\),\(.*\),\([0-9]*\)$/\3,\1,\2/" | sort >want
	same want got
'

it 'replayed rows name in the export where they were captured' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced graph_layers 1
	gprof-trace export -o k.json t.gtrace
	for where in "layer 0" "layer 1"; do
		is 2 "$(grep "\"name\": \"spin_attention" k.json | grep -c "\"captured in\": \"$where\"")" "kernels of $where"
	done
	is 8 "$(grep "\"name\": \"spin_mlp" k.json | grep -c "\"captured in\": \"mlp\"")" "kernels of mlp"
	is 2 "$(grep "\"name\": \"spin_attention" k.json | grep "graph node id" | grep -vc "captured in")" "kernels outside of ranges"
'

it 'a trace whose kernels are of no graph says so' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced driver_api 10
	gprof-trace report -r cuda_graph_kern_sum t.gtrace >report
	says "no kernel of this trace came from a CUDA graph" report
'
