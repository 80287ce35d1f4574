#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'each pair is printed as the program measured it, and our rows agree' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced event_pairs 4
	as_the_gpu_says
	sed -i "/^expect/d" out
	is "24 12" "$(rows event_record) $(rows event_elapsed)" "records and questions"
	gprof-trace report -r cuda_events -f csv t.gtrace >csv 2>notes
	tail -n +2 csv | cut -d , -f 2 >got
	tail -n +2 out | cut -d , -f 2 >want
	same want got
	tail -n +2 out | cut -d , -f 1 >how
	tail -n +2 csv | paste -d , how - >both
	# A float has 24 bits: 4 ns of 30 ms.  On an idle stream the moment at which the GPU came by is a guess.
	awk -F , "\$1 != \"idle\" && (\$5 > 4 || \$5 < -4) || \$1 == \"idle\" && (\$5 > 2000000 || \$5 < -2000000) { print; bad = 1 } END { exit bad }" both ||
		fail "$(cat both)"
'

it 'events that nobody asks about are recorded, and the report says that nobody asked' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced streams
	gprof-trace report -r cuda_events t.gtrace >report
	is "4 0" "$(rows event_record) $(rows event_elapsed)" "records and questions"
	says "never asked for the time between two" report
	exits 0 traced vector_add
	gprof-trace report -r cuda_events t.gtrace >report
	says "recorded no CUDA events" report
'

it 'work of a stream that is more urgent than others says so in the export' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced event_pairs 4
	gprof-trace export -o k.json t.gtrace
	is "16 8" "$(grep "\"cat\": \"kernel\"" k.json | grep -c "\"stream priority\": -1") $(grep "\"cat\": \"kernel\"" k.json | grep -vc "stream priority")" \
		"kernels of the urgent stream, others"
'
