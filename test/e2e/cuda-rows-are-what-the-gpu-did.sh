#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for program in vector_add streams threads many_kernels graphs graph_layers graph_update nvtx_cuda driver_api; do
	it "every row of $program is what the GPU did, and none is missing" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		exits 0 traced $program
		as_the_gpu_says
		is 1 \"\$(rows device)\" 'device rows'
		is '' \"\$(health record_unknown)\$(health cupti_error)\$(health nested)\" 'trouble'
		is 1 \"\$(flagged 800)\" 'processes marked as simulated'
	"
done

for version in 18 22 26 130001; do
	it "records of CUPTI version $version are read as that version writes them" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version
		exits 0 traced driver_api 300
		as_the_gpu_says
		\"\$P/count_rows\" t.gtrace >facts
		says 'cupti.version=$version' facts
		is '' \"\$(health record_unknown)\"
	"
done

it 'the order, number and lateness of buffers do not matter' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_SHUFFLE=7 SIM_BUFFER_RECORDS=3 SIM_DELAY_MS=30
	exits 0 traced threads
	as_the_gpu_says
'

it 'a record that comes before its call has returned is kept' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_BUFFER_RECORDS=1 SIM_SLOW_LAUNCH_US=300
	exits 0 traced driver_api 50
	as_the_gpu_says
'

it 'correlation ids may wrap' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CORRELATION_START=4294967200
	exits 0 traced driver_api 300
	as_the_gpu_says
'

it 'a clock of CUPTI that settles only after the first context does no harm' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CLOCK_EARLY_NS=50000000
	exits 0 traced driver_api 300
	as_the_gpu_says
'

it 'device times that are off are kept as CUPTI gives them, and no report shows a negative time' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CLOCK_JITTER_NS=200000
	exits 0 traced driver_api 300
	"$P/sim_rows" rows t.gtrace | awk "{ \$4 = \$5 = \"\" } /kernel/" | sort >got
	"$P/sim_rows" truth truth | awk "{ \$4 = \$5 = \"\" } /kernel/" | sort >want
	same want got
	gprof-trace report -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_api_sum -f csv t.gtrace >report
	! grep -q -- ",-[0-9]" report || fail "a negative time: $(grep -- ",-[0-9]" report | head -n 3)"
'

it 'records of unknown kinds are counted, the others are all there' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_UNKNOWN_KIND=3
	exits 0 traced driver_api 300
	as_the_gpu_says
	[ "$(health record_unknown)" -ge 100 ] || fail "only $(health record_unknown) unknown records"
'

it 'rows to which CUPTI gave no time are counted and kept without one' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_ZERO_TIMESTAMPS=7
	exits 0 traced driver_api 300
	as_the_gpu_says
	is "$(grep -c "\"zeroed\":true.*\"fate\":\"recorded\"" truth)" "$(health zero_time)" "rows without time"
'

it 'what CUPTI dropped is counted, the rest is there' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_MAX_BUFFERS=1 SIM_DELAY_MS=5000
	exits 0 traced driver_api 8000
	as_the_gpu_says
	is "$(dropped)" "$(health cupti_dropped)" "dropped records"
'

it 'without a free buffer records are lost and counted' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_DELAY_MS=5000
	OPTIONS="--cuda-buffer-limit 1"
	exits 0 traced driver_api 8000
	as_the_gpu_says
	[ "$(health buffers_full)" -ge 1 ] || fail "buffers_full is not counted"
	is "$(dropped)" "$(health cupti_dropped)" "dropped records"
'

it 'an older CUPTI that may not be refused a buffer gets smaller ones instead' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_DELAY_MS=5000 SIM_CUPTI_VERSION=22
	OPTIONS="--cuda-buffer-limit 1"
	exits 0 traced driver_api 8000
	as_the_gpu_says
	is "" "$(health buffers_full)$(health cupti_dropped)" "what was lost"
'

it 'a flush hands over what the program did up to now, while it runs' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-flush-interval 100"
	traced exit_paths kill9 200 1500 || :
	is 200 "$(rows kernel)" "kernels before the kill"
	is 201 "$(rows api)" "calls before the kill"
'

it 'raw buffers are kept on request' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	mkdir raw
	OPTIONS="--record-raw $PWD/raw"
	exits 0 traced driver_api 100
	as_the_gpu_says
	set -- raw/*.gpraw
	is GPRAWBUF "$(head -c 8 "$1")" "start of the raw file"
	is 600 "$(stat -c %a "$1")" "mode of the raw file"
'

it "CUDA_INJECTION64_PATH alone is enough" '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	gprof-run -q -f -o t -- env -u LD_PRELOAD "$P/driver_api" 100 >out 2>err
	as_the_gpu_says
	is 100 "$(rows kernel)" kernels
'

it 'what began before recording was switched on is left out' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--delay 1"
	exits 7 traced exit_paths exit 20 1500
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	is "1 1" "$(rows device) $(rows context)" "devices and contexts"
	OPTIONS="--duration 1"
	exits 7 traced exit_paths exit 20 1500
	as_the_gpu_says
'

it '-t nvtx leaves CUPTI alone' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="-t nvtx"
	exits 0 traced driver_api 10
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	is 0 "$(flagged 8)" "processes with CUPTI up"
	is 0 "$(grep -c "\"told\":true" truth)" "calls that CUPTI told us"
'
