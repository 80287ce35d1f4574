#!/bin/sh
# kineto_client profiles itself with CUPTI as torch.profiler does.  Its output must be the same with and without gprof-run.
# also on the pipe
. "$(dirname "$0")/lib.sh"

SIM='. "$GPROF_TOP/test/e2e/cuda/sim.sh"
need "$P/kineto_client" "kineto_client is not built (make programs)"
# alike MODE WORD...: it prints the same with us, in that mode, as without us.  Alone it has a CUPTI whose clock callback works as documented.
alike() {
	mode=$1
	shift
	code=0
	# Where kinds must stay on, yield is share.
	[ $mode != yield ] || release "${SIM_CUPTI_RELEASE-13.3.75}"
	SIM_TRUTH= SIM_IDEAL=1 "$P/kineto_client" "$@" >alone 2>&1 || code=$?
	OPTIONS="--cupti=$mode ${MORE-}"
	exits $code traced kineto_client "$@"
	same alone out
}
'
export SIM

for mode in yield share; do
	export mode
	for words in "" "early" "clock" "early clock finalize" "callbacks" "early callbacks" "threads=8" "inside" "finalize" "graphs" \
		"small kernels=200" "leave" "atexit" "atexit clock small kernels=200" "single" "single early clock" "cycles=6 kernels=3" "teardown" "teardown clock cycles=3" "second" "fork" "forkearly"; do
		export words
		it "--cupti=$mode: its tables are the same ($words)" 'eval "$SIM"; alike $mode $words'
	done

	it "--cupti=$mode: threads that switch everything at once hang nobody and lose no call" '
		eval "$SIM"
		alike $mode toggle=4 threads=4 kernels=400
		is 1600 "$(gprof-trace report -r cuda_api_sum -f csv t.gtrace | sed -n "s/^[^,]*,[^,]*,\([0-9]*\),.*,cuLaunchKernel\$/\1/p")"
		[ $mode = yield ] || is 1600 "$(rows kernel)" "kernels"
	'

	it "--cupti=$mode: calls of the API are recorded all the time" '
		eval "$SIM"
		alike $mode
		is "$(grep "\"type\":\"api\"" truth | grep "\"outermost\":true" | grep -c "cuLaunchKernel\"")" \
			"$(gprof-trace report -r cuda_api_sum -f csv t.gtrace | sed -n "s/^[^,]*,[^,]*,\([0-9]*\),.*,cuLaunchKernel\$/\1/p")"
	'
done

it '--cupti=share: every row is what the GPU did, nothing is missing' '
	eval "$SIM"
	alike share kernels=100
	as_the_gpu_says
	is "" "$(health cupti_yielded)$(health record_unknown)$(health cupti_dropped)$(health zero_time)"
'

it '--cupti=share: every row is there with a clock of its own, too' '
	eval "$SIM"
	alike share clock finalize
	as_the_gpu_says
'

for how in SIM_BUFFER_RECORDS=1 SIM_BUFFER_RECORDS=3 SIM_CUPTI_VERSION=18 SIM_CUPTI_VERSION=22 SIM_CUPTI_VERSION=26 SIM_DELAY_MS=30 \
	SIM_CORRELATION_START=4294967250 SIM_SHUFFLE=5; do
	export how
	it "--cupti=share: both see everything with $how" '
		eval "$SIM"
		export "$how"
		alike share kernels=60
		as_the_gpu_says
	'
done

it '--cupti=share: records of kinds that neither knows go to the profiler, not always all' '
	eval "$SIM"
	export SIM_UNKNOWN_KIND=7
	SIM_TRUTH= "$P/kineto_client" kernels=60 | sed "s/others.*//" >alone
	OPTIONS=--cupti=share
	exits 0 traced kineto_client kernels=60
	grep -q "others [1-9]" out || fail "no such record arrived"
	sed "s/others.*//" out >with
	same alone with
	[ "$(health record_unknown)" -gt 0 ]
'

it '--cupti=yield: the GPU rows outside of its profiles are there, and the gaps have a name and times' '
	eval "$SIM"
	alike yield kernels=30
	# Four before, five after each profile; the two that run before its flush are in the gap.
	is 14 "$(rows kernel)" "kernels"
	is 2 "$(health cupti_yielded)" "gaps"
	detail cupti_yielded >said
	grep -qE "^kineto_client, 2 times, [0-9.]+ s: [0-9.]+-[0-9.]+ [0-9.]+-[0-9.]+$" said || fail "$(cat said)"
	is "" "$(health zero_time)$(health cupti_dropped)"
'

for version in 26 130101; do
	export version
	it "--cupti=yield: CUPTI asks it for as many buffers as it would without us, at version $version" '
		eval "$SIM"
		export SIM_CUPTI_VERSION=$version
		for each in 0 1 2; do
			alike yield each=$each threads=12
		done
		grep "asked for" alone
	'
done

it '--cupti=yield: where disabling kernels may hang (13.0 before Update 1) both are served instead' '
	eval "$SIM"
	export SIM_CUPTI_RELEASE=13.0.48
	alike yield
	as_the_gpu_says
	is "" "$(health cupti_yielded)"
'

it '--cupti=yield: a profiler that ends with the program keeps CUPTI until then, and that is said' '
	eval "$SIM"
	alike yield leave
	is 4 "$(rows kernel)" "kernels"
	detail cupti_yielded >said
	says "has held CUPTI since" said
'

it '--cupti=yield: one that never flushes is asked for its buffers, and activity is ours again' '
	eval "$SIM"
	MORE="--cuda-flush-interval=50"
	alike yield noflush
	is 2 "$(health cupti_yielded)"
	[ "$(rows kernel)" -ge 1 ] || fail "no kernels"
	detail cupti_yielded >said
	never_says "has held CUPTI since" said
'

for mode in yield share; do
	export mode
	it "--cupti=$mode: a profiler in a library that Python loads is served as well" '
		eval "$SIM"
		need "$P/libkineto_client.so"
		[ $mode = share ] || release 13.3.75
		cat >load.py <<-EOF
			import ctypes, sys
			words = [w.encode() for w in sys.argv[1:]]
			sys.exit(ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * len(words))(*words)))
		EOF
		for words in "" "early clock finalize" "teardown"; do
			SIM_TRUTH= SIM_IDEAL=1 python3 load.py "$P/libkineto_client.so" $words >alone
			exits 0 gprof-run -q -f -o t --cupti=$mode -- python3 load.py "$P/libkineto_client.so" $words >out
			same alone out
		done
		[ $mode = share ] || says "libkineto_client.so" "$(detail cupti_yielded >said; echo said)"
	'
done

it '--cupti=keep: it is refused as another profiler would refuse it, and health says who asked' '
	eval "$SIM"
	SIM_CUPTI_HOLDER=other "$P/kineto_client" >alone 2>&1 || code=$?
	OPTIONS=--cupti=keep
	exits $code traced kineto_client
	same alone out
	says "error 39" out
	is kineto_client "$(detail cupti_refused)"
'

it '--cupti=keep: one that came before us keeps CUPTI, and is not disturbed' '
	eval "$SIM"
	alike keep early
	is 1 "$(health cupti_busy)"
	is 0 "$(rows kernel)" "kernels"
'

it 'without CUDA in the recording nothing stands between it and CUPTI' '
	eval "$SIM"
	MORE="-t nvtx"
	export SIM_IDEAL=1
	alike share early clock
	alike yield
	is "" "$(health cupti_yielded)"
'

it 'refused buffers are its own loss alone' '
	eval "$SIM"
	SIM_TRUTH= "$P/kineto_client" refuse | sed "s/, dropped.*//" >alone
	OPTIONS=--cupti=share
	exits 0 traced kineto_client refuse
	sed "s/, dropped.*//" out >with
	same alone with
	as_the_gpu_says
	alike yield refuse
'

it 'a trace of a yielding run says on its page that kernels are missing, and why' '
	eval "$SIM"
	alike yield
	gprof-run -f -o t --cupti=yield "$P/kineto_client" 2>page >out
	tr -s " \n" " " <page >words
	says "own profiler" words
	says "kineto_client, 2 times" words
	says "cupti=yield" words
	for report in cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_trace; do
		gprof-trace report -r $report t.gtrace >table
		grep -q "process 1: GPU rows are missing from the time in which .* used CUPTI (kineto_client, 2 times, [0-9. s:-]*)" table ||
			fail "$report does not say it"
	done
'

it 'the object passes everything on where there is no session' '
	eval "$SIM"
	"$P/kineto_client" early clock >alone
	LD_PRELOAD=$GPROF_BUILD/lib/gprof/libgprof_inject.so "$P/kineto_client" early clock >with
	same alone with
'
