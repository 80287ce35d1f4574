#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for how in return:0 exit:7 _exit:8 quick_exit:9 reset:0 printexit:0; do
	it "a program that ends by ${how%:*} loses nothing" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		exits ${how#*:} traced exit_paths ${how%:*} 500
		as_the_gpu_says
		is 500 \"\$(rows kernel)\" kernels
	"
done

it 'what the program prints at exit is printed' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced exit_paths printexit
	says "printed from atexit" out
	is "" "$(cat err | grep -v "the trace is")" "what is said on stderr"
'

it 'a kernel that still runs at the end is there, without its time' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced exit_paths running 10
	is 11 "$(rows kernel)" kernels
	is 1 "$(health zero_time)" "kernels without time"
'

for how in abort:134 segv:139 kill9:137; do
	it "a program that dies by ${how%:*} loses one flush interval of kernels at most, and no call" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		exits ${how#*:} traced exit_paths ${how%:*} 500 2500
		is 501 \"\$(rows api)\" calls
		is 500 \"\$(rows kernel)\" kernels
	"
done

for hang in 1 2; do
	it "a flush that never returns (SIM_FLUSH_HANG=$hang) costs the program two seconds" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_FLUSH_HANG=$hang
		begin=\$(date +%s)
		exits 7 traced exit_paths exit 50
		[ \$((\$(date +%s) - begin)) -le 6 ] || fail 'it took too long'
		is 1 \"\$(health flush_timeout)\" 'timeouts'
		is 51 \"\$(rows api)\" calls
	"
done

it 'a CUPTI that dies in the middle is not called again, and the trace says so' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_FATAL_AFTER=100
	exits 0 traced driver_api 300
	is 1 "$(health cupti_fatal)" "fatal errors"
	[ "$(rows api)" -ge 40 ] || fail "$(rows api) calls"
'
