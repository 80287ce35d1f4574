#!/bin/sh
# selfcheck.sh BUILD: tests the simulated CUDA: callbacks and records that a minimal CUPTI client gets agree with the truth file.
set -u
B=$1
P=$B/test/programs
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

# run [VARIABLE=VALUE ...] PROGRAM ...: runs it with the client.  The client's counts are in $dir/out, the truth file is $dir/truth.
run() {
	rm -f "$dir/out" "$dir/truth"
	env LD_LIBRARY_PATH="$B/sim" SIM_TRUTH="$dir/truth" CUDA_INJECTION64_PATH="$B/sim/selfcheck.so" \
		SELFCHECK_OUT="$dir/out" "$@" >"$dir/stdout" 2>"$dir/stderr"
}
got() { sed -n "s/^$1 //p" "$dir/out"; }
truth() { grep -c "$1" "$dir/truth"; }
is() { [ "$2" "$3" "$4" ] || { echo "    $1: $2 $3 $4 is not so"; ok=no; }; }
verdict() {
	if [ $ok = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok $1"; cat "$dir/stderr"; fi
}

counts_agree() {
	for type in kernel memcpy memset sync overhead; do
		is $type "$(got $type)" = "$(truth "\"type\":\"$type\".*\"fate\":\"recorded\"")"
	done
	for domain in runtime driver; do
		is "$domain calls" "$(got $domain)" = "$(truth "\"domain\":\"$domain\".*\"told\":true")"
	done
	is dropped "$(got dropped)" = "$(truth '"fate":"dropped"')"
	is zeroed "$(got zeroed)" = "$(truth '"zeroed":true.*"fate":"recorded"')"
	is unbalanced "$(got unbalanced)" = 0
}

# agrees NAME [VARIABLE=VALUE ...] PROGRAM ...: runs it and compares all counts; sets ok
agrees() {
	name=$1
	shift
	ok=yes
	run "$@" || ok=no
	counts_agree
}

for program in vector_add streams threads many_kernels nvtx_cuda graphs driver_api; do
	[ -x "$P/$program" ] || continue
	agrees $program "$P/$program"
	verdict "every record and callback of $program arrives"
done
for version in 18 22 26 130001; do
	agrees v SIM_CUPTI_VERSION=$version "$P/driver_api" 100
	is unknown "$(got unknown)" = 0
	verdict "records of CUPTI version $version are walked to their end"
done
agrees zero SIM_ZERO_TIMESTAMPS=7 "$P/driver_api" 100
is zeroed "$(got zeroed)" -ge 14
verdict "records without times come as often as asked"
agrees drop SIM_MAX_BUFFERS=1 SIM_DELAY_MS=5000 "$P/driver_api" 1000
is dropped "$(got dropped)" -gt 0
verdict "records beyond the buffer limit are counted as dropped"
agrees unknown SIM_UNKNOWN_KIND=3 "$P/driver_api" 30
is unknown "$(got unknown)" -ge 10
verdict "unknown kinds come between the others"
agrees one SIM_BUFFER_RECORDS=1 "$P/driver_api" 50
is buffers "$(got buffers)" -ge 50
verdict "buffers of one record come one by one"
agrees early SIM_BUFFER_RECORDS=1 SIM_SLOW_LAUNCH_US=3000 "$P/driver_api" 20
is early "$(got early)" -gt 10
verdict "a kernel may arrive before its launch has returned"
for own in 0 1; do
	agrees own SIM_PER_THREAD=$own "$P/driver_api" 50
	verdict "buffers may be each thread's own, or not ($own)"
done
agrees smallest SELFCHECK_BUFFER=256 "$P/driver_api" 50
is buffers "$(got buffers)" -ge 50
verdict "the smallest buffer takes a record"
agrees empty SIM_EMPTY_BUFFERS=1 "$P/driver_api" 50
verdict "buffers may come back empty"
for refused in SELFCHECK_BUFFER=128 SELFCHECK_ODD=1; do
	ok=yes
	run $refused "$P/driver_api" 5
	[ $? = 134 ] || ok=no
	verdict "a client's buffer is refused that is too small or in the wrong place ($refused)"
done
if [ -x "$P/vector_add" ]; then
	agrees long SIM_KERNEL_NS=add=7000000 "$P/vector_add"
	is long "$(sed -n 's/.*"type":"kernel".*"start":\([0-9]*\),"end":\([0-9]*\),.*/\2 - \1/p' "$dir/truth" | sed 's/.*/echo $((&))/' | sh)" = 7000000
	verdict "a kernel runs as long as asked"
fi
ok=yes
run SIM_MEMORY_MB=0 "$P/driver_api" 5 && ok=no
is refused "$(truth '"name":"cuMemAlloc_v2".*"result":2')" = 1
verdict "device memory has an end"
ok=yes
run SIM_VERBOSE=1 CUDA_INJECTION64_PATH=/nonexistent.so "$P/driver_api" 5 || ok=no
is said "$(grep -c nonexistent.so "$dir/stderr")" = 1
verdict "an injection that cannot be loaded is said on request"
agrees jitter SIM_CLOCK_JITTER_NS=2000 "$P/driver_api" 20
verdict "device times may be off"
if [ -x "$P/threads" ]; then
	agrees crowd "$P/threads" 32 100
	verdict "32 threads at once lose nothing"
fi
agrees wrap SIM_CORRELATION_START=4294967290 "$P/driver_api" 50
verdict "correlation ids may wrap"

ok=yes
run SIM_CUPTI_HOLDER=other "$P/driver_api" || ok=no
is told "$(truth '"told":true')" = 0
verdict "a second subscriber is refused"
ok=yes
run SIM_CUPTI_FAIL=cuptiActivityEnable=35 "$P/driver_api" || ok=no
is refused "$(truth 'InitializeInjection refused')" = 1
verdict "chosen functions fail"
ok=yes
run SIM_NO_DEVICE=1 "$P/driver_api" && ok=no
verdict "no device makes cuInit fail"
ok=yes
run SIM_FLUSH_HANG=1 timeout 1 "$P/driver_api"
[ $? = 124 ] || ok=no
verdict "a flush may hang"
if [ -x "$P/exit_paths" ]; then
	agrees running "$P/exit_paths" running
	is unfinished "$(got unfinished)" = 1
	verdict "a forced flush brings a running kernel without its end"
	ok=yes
	run "$P/fork_workers" 3 before || ok=no
	is kernels "$(truth '"type":"kernel"')" = 21
	verdict "children forked before cuInit have a GPU"
	ok=yes
	run "$P/fork_workers" 3 after || ok=no
	is kernels "$(truth '"type":"kernel"')" = 3
	verdict "children forked after cuInit have none"
fi
echo "sim-check: $passed passed, $failed failed"
[ $failed = 0 ]
