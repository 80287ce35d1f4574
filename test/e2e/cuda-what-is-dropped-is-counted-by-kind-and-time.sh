#!/bin/sh
. "$(dirname "$0")/lib.sh"

it 'when nobody empties the arena, every row that is not kept is counted by kind, with its time span' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_BUFFER_RECORDS=100   # a whole buffer at once is more than this small arena keeps free for GPU rows
	gprof-run -q -f -o t --arena-size 1M -- sh -c "echo \$GPROF_SESSION >session; exec $P/driver_api 100000 go" >out 2>err &
	run=$!
	within 20 grep -q waiting out
	collector=$(grep -lF "$(cat session)" /proc/[0-9]*/cmdline 2>/dev/null | while IFS=/ read -r x proc pid rest; do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != gprof-collector ] || echo "$pid"
	done)
	kill -STOP "$collector"
	touch go
	within 40 grep -q "^spin_ptx,100000" out
	kill -CONT "$collector"
	exits 0 wait $run
	kept=$(rows kernel) lost=$(drops kernel)
	[ "$lost" -gt 0 ] || fail "no kernel was dropped"
	is "$(grep -c "\"type\":\"kernel\".*\"fate\":\"recorded\"" truth)" "$((kept + lost))" "kernels kept and dropped"
	is "$(grep -c "\"type\":\"api\".*\"told\":true" truth)" "$(($(rows api) + $(drops api)))" "calls kept and dropped"
	gprof-trace report -r health -f csv t.gtrace >csv 2>/dev/null
	grep "dropped,$lost," csv >line
	awk -F , "{ exit !(\$5 > 0 && \$6 > \$5) }" line || fail "no time span: $(cat line)"
	says "kernels were not kept" line
	grep "API calls were not kept" csv >calls
	is "api first" "$(cut -d , -f 5 calls line | paste -s -d " " | awk "{ print \$1 <= \$2 ? \"api first\" : \"kernels first\" }")" "what was dropped first"
	gprof-trace report t.gtrace >page
	says "rows (where, and what helps: report -r health)" page
'

it 'what the GPU did up to the end of the recorded time is there, though the program is killed then' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need "$P/exit_paths" "needs nvcc"
	OPTIONS="--duration 1 --kill sigkill --cuda-flush-interval 60000"
	exits 137 traced exit_paths exit 20 30000
	is 20 "$(rows kernel)" kernels
'
