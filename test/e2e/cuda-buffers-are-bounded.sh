#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for setting in '256 130001 per thread' '64 130001 per thread' '63 130001 shared' '256 26 per thread' '256 18 shared'; do
	# shellcheck disable=SC2086
	set -- $setting
	it "40 threads lose nothing with $1 buffers and CUPTI version $2: ${setting#* * }" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$2 OPTIONS='--cuda-buffer-limit $1'
		exits 0 traced threads 40 20
		as_the_gpu_says
		is 800 \"\$(rows kernel)\" kernels
		\"\$P/count_rows\" t.gtrace >facts
		says 'cupti.buffers=${setting#* * }' facts
		is '' \"\$(health buffers_full)\$(health cupti_dropped)\$(health cupti_error)\" trouble
	"
done

it 'a CUPTI that will not be told keeps its own choice' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_FAIL=cuptiActivitySetAttribute=1
	OPTIONS="--cuda-buffer-limit 63"
	exits 0 traced threads 40 20
	as_the_gpu_says
	"$P/count_rows" t.gtrace >facts
	says "cupti.buffers=per thread" facts
'

it 'more threads than there are buffers share one, if the limit is small' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-buffer-limit 4"
	exits 0 traced threads 100 20
	as_the_gpu_says
	is 2000 "$(rows kernel)" kernels
'

it 'with more threads at once than buffers each record is there or counted' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_SLOW_LAUNCH_US=2000
	OPTIONS="--cuda-buffer-limit 64"
	exits 0 traced threads 100 10
	as_the_gpu_says
	lost=$(grep -c "\"type\":\"kernel\".*\"fate\":\"dropped\"" truth || :)
	is 1000 "$(($(rows kernel) + lost))" "kernels kept and lost"
	[ "$lost" -eq 0 ] || [ "$(health cupti_dropped)" -ge "$lost" ] || fail "$lost lost, $(health cupti_dropped) counted"
'

it 'a kernel that runs across the end of the recorded time keeps its end' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--duration 1 --cuda-flush-interval 60000"
	exits 0 traced exit_paths across 20 700
	is 21 "$(rows kernel)" kernels
	is "" "$(health zero_time)" "kernels without time"
	"$P/sim_rows" rows t.gtrace | grep " kernel " | sort >got
	"$P/sim_rows" truth truth | grep " kernel " | sort >want
	same want got
'

it 'a flush that hangs at the end of the recorded time does not hold up the program' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_FLUSH_HANG=1
	OPTIONS="--duration 1"
	begin=$(date +%s)
	exits 7 traced exit_paths exit 20 1500
	[ $(($(date +%s) - begin)) -le 7 ] || fail "it took too long"
	is 1 "$(health flush_timeout)" timeouts
'

it 'cudaProfilerStop hands over what is complete, and what still runs keeps its end' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-flush-interval 60000"
	exits 0 traced profiler_calls 4
	as_the_gpu_says
	is "8 0" "$(rows kernel) $(health zero_time | wc -l)" "kernels, and those without time"
'

it 'cudaProfilerStop waits half a second at most for a CUPTI that hangs, and once' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_FLUSH_HANG=1
	begin=$(date +%s)
	exits 0 traced profiler_calls 20
	[ "$(sed -n "s/^longest //p" err)" -lt 2000 ] || fail "$(cat err)"
	[ $(($(date +%s) - begin)) -le 6 ] || fail "it took too long"
	is "1 1" "$(health window_late) $(health flush_timeout)" "what was waited for in vain"
'

it 'the flush interval is in milliseconds, and 0 is the usual one' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	for ms in 0 50 3600000; do
		OPTIONS="--cuda-flush-interval=$ms"
		exits 0 traced driver_api 10
		"$P/count_rows" t.gtrace | sed -n "s/.*setting.flush_ms=//p" >setting
		is "${ms#0}" "$(cat setting)" "what differs from the usual 1000"
		as_the_gpu_says
	done
'

for bad in --cuda-flush-interval=-1 --cuda-flush-interval=soon --cuda-flush-interval= --cuda-flush-interval=3600001 \
	--cuda-flush-interval=1.5 --cuda-flush-interval=99999999999999999999 --cuda-buffer-limit=0 --cuda-buffer-limit=-3 \
	--cuda-buffer-limit=4097 --cuda-buffer-limit=1M --cuda-buffer-limit=; do
	it "refuses $bad in one line, before anything is started" "
		exits 2 gprof-run -o t '$bad' -- touch started 2>err
		test ! -e started
		is 1 \"\$(wc -l <err)\" lines
		says '${bad%%=*} needs' err
	"
done
