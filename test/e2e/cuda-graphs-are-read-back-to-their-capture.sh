#!/bin/sh
# also on the pipe
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

for version in 18 26 130001; do
	it "a launch is one row on request, as CUPTI version $version writes it, and reports say so" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version OPTIONS='--cuda-graph-trace=graph'
		exits 0 traced graph_layers 4
		as_the_gpu_says
		is '8 0 0' \"\$(rows graph) \$(rows kernel) \$(rows graph_node)\" 'launches, kernels, nodes'
		gprof-trace report -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_graph_kern_sum t.gtrace >report
		is 3 \"\$(grep -c '8 graph launches are one row each, 100.0 % of GPU time' report)\" 'notes'
		is 8 \"\$(grep -c 'CUDA graph [0-9]*]' report)\" 'lines of graphs'
		gprof-trace report t.gtrace >page
		says '8 graph launches are one row each, 100.0 % of GPU time' page
		never_says 'no kernels' page
		gprof-trace export -o k.json t.gtrace
		is 8 \"\$(grep '\"cat\": \"kernel\", \"name\": \"CUDA graph\"' k.json | grep -c '\"graph id\"')\" 'slices'
		is 16 \"\$(grep -o '\"cat\": \"ac2g\"' k.json | wc -l)\" 'ends of arrows from their launches'
	"
done

it 'a CUPTI that refuses whole graphs records their nodes, and health says so' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_VERSION=16 OPTIONS=--cuda-graph-trace=graph
	exits 0 traced graph_layers 1
	is "0 14 21" "$(rows graph) $(rows kernel) $(rows graph_node)" "launches, kernels, nodes"
	is 1 "$(health cupti_kind)" "kinds refused"
'

it 'words that nsys has behind the colon are taken and said to be without effect' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	gprof-run -f -o t --cuda-graph-trace=graph:host-and-device:nvtx-precapture -- "$P/graph_layers" 1 >out 2>err
	is 2 "$(rows graph)" launches
	says "--cuda-graph-trace=graph:host-and-device:nvtx-precapture: " err
	exits 2 gprof-run --cuda-graph-trace=all true 2>err
	says "must be node or graph" err
	exits 2 gprof-run --cuda-graph-trace=node:x true 2>err
'

it 'calls that make, change and free graphs are rows, and an updated node keeps what was noted when it was made' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced graph_update 4
	as_the_gpu_says
	gprof-trace report -r cuda_api_sum -f csv t.gtrace | tail -n +2 | grep -i "graph\|capture" | cut -d , -f 3,9 |
		sed "s/\(.*\),\([^_]*\).*/\2,\1/" | sort >got
	grep -v "^expect" out | sort >want
	same want got
	is 10 "$(gprof-trace report -r cuda_graph_kern_sum -f csv t.gtrace | tail -n +2 | cut -d , -f 3,9 | sed "s/,first$//")" "kernels, all of the first capture"
'
