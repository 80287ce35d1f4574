#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for version in 18 26 130001; do
	it "every transfer, page fault and quarrel is a row, as CUPTI version $version writes it" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version OPTIONS='--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults true'
		exits 0 traced managed 5
		as_the_gpu_says
		for kind in 1 2 3 4 5 6 7; do
			[ \"\$(grep -c \" unified \$kind \" got)\" -ge 3 ] || fail \"no rows of kind \$kind\"
		done
		is '' \"\$(health record_unknown)\$(health cupti_kind)\$(health zero_time)\" trouble
	"
done

it 'what goes from device to device is a row' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_DEVICES=2
	OPTIONS="--cuda-um-gpu-page-faults=true"
	exits 0 traced managed_devices
	as_the_gpu_says
	[ "$(grep -c " unified 8 " got)" -ge 1 ] || fail "no transfer between devices"
'

it 'the tables add up to what the GPU did' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true"
	exits 0 traced managed 3
	count() {
		grep "\"type\":\"unified\".*\"kind\":$1," truth | sed "s/.*\"value\":\([0-9]*\).*/\1/" | awk "{ n++; s += \$1 } END { print $2 }"
	}
	gprof-trace report -r um_total_sum -f csv t.gtrace >total 2>note
	is "Total HtoD Migration Size (MB),Total DtoH Migration Size (MB),Total CPU Page Faults,Total GPU PageFaults,Minimum Virtual Address,Maximum Virtual Address" "$(head -n 1 total)" columns
	is "$(awk "BEGIN { printf \"%.3f\", $(count 1 s) / 1000000 }")" "$(tail -n 1 total | cut -d , -f 1)" "to the device"
	is "$(awk "BEGIN { printf \"%.3f\", $(count 2 s) / 1000000 }")" "$(tail -n 1 total | cut -d , -f 2)" "to the host"
	is "$(count 3 n)" "$(tail -n 1 total | cut -d , -f 3)" "page faults of the CPU"
	is "$(count 4 s)" "$(tail -n 1 total | cut -d , -f 4)" "page faults of the GPU"
	says "thrashing 3 times, throttled 3 times" note
	gprof-trace report -r um_sum -f csv t.gtrace >pages 2>/dev/null
	is "Virtual Address,HtoD Migration size (MB),DtoH Migration size (MB),CPU Page Faults,GPU Page Faults,Migration Throughput (MB/s)" "$(head -n 1 pages)" columns
	# The memory is no multiple of anything, so a fault may have an address of its own; pieces come first, by speed.
	is "$(tail -n 1 total | cut -d , -f 1-4)" "$(tail -n +2 pages | awk -F , "{ a += \$2; b += \$3; c += \$4; d += \$5 } END { printf \"%.3f,%.3f,%d,%d\", a, b, c, d }")" "sums of the pages"
	gprof-trace report -r um_cpu_page_faults_sum -f csv t.gtrace >pcs 2>/dev/null
	is "$(grep "\"kind\":3," truth | sed "s/.*\"value\":\([0-9]*\).*/\1/" | sort | uniq -c | sort -k1,1nr -k2,2n | while read -r n pc; do printf "%d,0x%x\n" "$n" "$pc"; done)" \
		"$(tail -n +2 pcs)" "faults by instruction"
	gprof-trace report -r cuda_gpu_mem_size_sum -f csv t.gtrace >sizes
	is "$(tail -n 1 total | cut -d , -f 1),$(count 1 n)" "$(grep "memcpy Unified Host-to-Device" sizes | cut -d , -f 1,2)" "of copies"
	gprof-trace report -r cuda_gpu_trace -f csv t.gtrace >all
	is "$(($(count 1 n) + $(count 2 n)))" "$(grep -c "\[CUDA memcpy Unified" all)" "lines of transfers"
	gprof-trace report t.gtrace >page
	says "unified   $(tail -n 1 total | awk -F , "{ printf \"%d.%d MB to GPUs, %d.%d MB back, page faults of the CPU: %d\", int(\$1), int(\$1 * 10) % 10, int(\$2), int(\$2 * 10) % 10, \$3 }")" page
'

it 'transfers and page faults are on tracks of their own in the Kineto export' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need python3
	OPTIONS="--cuda-um-gpu-page-faults=true"
	exits 0 traced managed 3
	gprof-trace export -o t.json t.gtrace >/dev/null 2>&1
	python3 "$GPROF_TOP/test/e2e/kineto_check.py" t.json >facts
	is "$(grep -c "\"type\":\"unified\".*\"kind\":[124],.*\"fate\":\"recorded\"" truth)" \
		"$(sed -n "s/^unified_memory //p" facts)" "slices"
	says "\"name\": \"unified memory\"" t.json
	says "\"cause\": \"page fault\"" t.json
'

it 'only what was asked for is recorded, and the tables say what was not' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-um-cpu-page-faults=true"
	exits 0 traced managed 2
	as_the_gpu_says
	is 0 "$(grep -c " unified 4 " got)" "page faults of the GPU"
	gprof-trace report -r um_total_sum -f csv t.gtrace 2>note | tail -n 1 | cut -d , -f 4 >faults
	is "" "$(cat faults)" "page faults of the GPU that nobody counted"
	says "page faults of GPUs were not recorded" note
	OPTIONS=
	exits 0 traced managed 2
	as_the_gpu_says
	is 0 "$(rows unified)" rows
	gprof-trace report -r um_sum t.gtrace >report
	says "record with --cuda-um-cpu-page-faults=true" report
'

it 'a refusal is named, and the rest goes on' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS="--cuda-um-cpu-page-faults=true"
	for error in "28 not supported on this platform" "29 not supported on this GPU" "30 not supported where GPUs" "31 not supported under MPS"; do
		export SIM_CUPTI_FAIL="cuptiActivityConfigureUnifiedMemoryCounter=${error%% *}"
		exits 0 traced managed 1
		as_the_gpu_says
		is 2 "$(rows kernel)" kernels
		detail cupti_kind >why
		says "UNIFIED_MEMORY_COUNTER: CUPTI error ${error%% *}: ${error#* }" why
	done
'

it 'what this CUPTI has of it is recorded' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_UNIFIED_KINDS=4
	OPTIONS="--cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true"
	exits 0 traced managed 5
	as_the_gpu_says
	is "" "$(health cupti_kind)" refusals
	is 0 "$(grep -c " unified [5678] " got)" "rows of the other kinds"
'
