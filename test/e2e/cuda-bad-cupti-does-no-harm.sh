#!/bin/sh
# A faulty CUPTI: wrong versions, errors, missing and damaged records.  Valid records are kept, losses are counted with a reason, and the
# program is not disturbed.
. "$(dirname "$0")/lib.sh"

sim='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
'

it 'a libcupti that says a newer version than its records have: what is too short is counted, not misread' "$sim"'
	export SIM_CUPTI_VERSION=130001 SIM_CUPTI_LAYOUT=18
	exits 0 traced driver_api 100
	is 0 "$(rows kernel)" "kernels read from records that are too short"
	# 100 kernels, two copies; waits and overhead are shorter too.  Sets have not changed since.
	[ "$(health record_unknown)" -ge 102 ] || fail "$(health record_unknown) unknown records"
	is 1 "$(rows memset)" sets
	is 0 "$("$P/sim_rows" late t.gtrace truth 2>&1)" "API rows at a wrong time"
	[ "$(rows api)" -ge 106 ] || fail "$(rows api) calls"
	gprof-trace report t.gtrace >page
	says "activity records of an unknown kind or size were skipped" page
'

it 'a libcupti that says an older version than its records have: they are read all the same' "$sim"'
	export SIM_CUPTI_VERSION=18 SIM_CUPTI_LAYOUT=130001
	exits 0 traced driver_api 100
	as_the_gpu_says
	is "" "$(health record_unknown)" "unknown records"
'

it 'records that are longer than any version that we know are read' "$sim"'
	export SIM_CUPTI_VERSION=130400
	exits 0 traced driver_api 100
	as_the_gpu_says
	is "" "$(health record_unknown)" "unknown records"
'

it 'a version from before CUDA 11 is not used, and that is said' "$sim"'
	export SIM_CUPTI_VERSION=12
	exits 0 traced driver_api 100
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	detail cupti_symbol >said
	says "version 12 is older than that of CUDA 11.0" said
'

# The stand-in without some of its functions.
without='
	need cc
	# without NAME...: a libcupti that has all functions but these
	without() {
		objects=
		for o in $(sed -n "s/^SIM_CUPTI *:= //p" "$GPROF_TOP/test/sim/sim.mk"); do objects="$objects $GPROF_BUILD/sim-obj/$o.o"; done
		mkdir -p lacking
		for o in $objects; do
			options=
			for name do options="$options -L $name"; done
			objcopy $options "$o" "lacking/${o##*/}"
		done
		cc -shared -o lacking/libcupti.so.13 lacking/*.o -Wl,--version-script="$GPROF_TOP/test/sim/cupti.map" \
			-Wl,-soname,libcupti.so.13 -Wl,-z,nodelete -Wl,--no-undefined -ldl -lpthread 2>log || fail "$(cat log)"
		for name do
			! nm -D lacking/libcupti.so.13 | grep -q " $name@" || fail "$name is still there"
		done
	}
'

it 'functions that are optional may be missing, all at once' "$sim$without"'
	need objcopy
	optional=$(sed -n "s/^CUPTI_FN(false, *\([A-Za-z0-9_]*\),.*/cupti\1/p" "$GPROF_TOP/inject/cupti/cupti_api.def")
	[ "$(echo "$optional" | wc -l)" -ge 6 ] || fail "no optional functions in cupti_api.def"
	without $optional
	OPTIONS="--cupti-lib $PWD/lacking/libcupti.so.13"
	exits 0 traced driver_api 100
	"$P/sim_rows" rows t.gtrace | grep -v " node " | sort >got
	"$P/sim_rows" truth truth | grep -v " node " | sort >want
	same want got
	is "" "$(health cupti_symbol)$(health cupti_error)" trouble
'

for function in $(sed -n "s/^CUPTI_FN(true, *\([A-Za-z0-9_]*\),.*/cupti\1/p" "$GPROF_TOP/inject/cupti/cupti_api.def"); do
	it "without $function CUPTI is not used, and it is named" "$sim$without function=$function"'
		need objcopy
		without "$function"
		OPTIONS="--cupti-lib $PWD/lacking/libcupti.so.13"
		exits 0 traced driver_api 5
		detail cupti_symbol >said
		is "$function" "$(cat said)"
		is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	'
done

for kind in '10 CONCURRENT_KERNEL kernel' '1 MEMCPY memcpy' '2 MEMSET memset' '38 SYNCHRONIZATION sync' '17 OVERHEAD overhead' \
	'8 DEVICE device' '9 CONTEXT -' '37 STREAM -' '49 MEMORY2 memory' '50 MEMORY_POOL mempool' '52 JIT jit'; do
	it "an activity kind that is refused is named, and the rest goes on: ${kind#* }" "$sim set -- $kind"'
		number=$1 name=$2 row=$3
		export SIM_REFUSE_KINDS=$number
		OPTIONS="-t cuda,cuda-jit --cuda-memory-usage=true"
		exits 0 traced memory_use 2
		OPTIONS="-t cuda,cuda-jit --cuda-memory-usage=true"
		exits 0 traced driver_api 20
		detail cupti_kind >said
		says "$name: CUPTI error" said
		is 1 "$(health cupti_kind)" "kinds refused"
		as_the_gpu_says
		[ "$row" = - ] || is 0 "$(rows "$row")" "rows of the refused kind"
		# Contexts and streams are known from callbacks then.
		[ "$(rows context)" -ge 1 ] && [ "$(rows stream)" -ge 1 ] || fail "no contexts or streams"
	'
done

it 'all activity kinds refused: calls are there, and each kind is named' "$sim"'
	export SIM_REFUSE_KINDS=10,1,22,2,38,17,8,9,37
	exits 0 traced driver_api 20
	is 9 "$(health cupti_kind)" "kinds refused"
	as_the_gpu_says
	[ "$(rows api)" -ge 26 ] || fail "$(rows api) calls"
'

it 'buffers that come back empty, or end between two records, lose nothing' "$sim"'
	export SIM_EMPTY_BUFFERS=1 SIM_BUFFER_RECORDS=7
	exits 0 traced driver_api 100
	as_the_gpu_says
	for bytes in 1 4 7 8 12 40; do
		export SIM_TAIL_BYTES=$bytes
		exits 0 traced driver_api 100
		as_the_gpu_says
		is "" "$(health record_unknown)" "unknown records with $bytes bytes behind the last one"
	done
'

it 'times that run backwards are no times: the rows stay, and are counted' "$sim"'
	export SIM_NEGATIVE=5
	exits 0 traced driver_api 100
	as_the_gpu_says
	is "$(grep -c "\"zeroed\":true.*\"fate\":\"recorded\"" truth)" "$(health zero_time)" "rows without time"
	gprof-trace report -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_api_sum -f csv t.gtrace >report
	! grep -q -- ",-[0-9]" report || fail "a negative time: $(grep -- ",-[0-9]" report | head -n 3)"
'

for step in -20000 20000; do
	it "a clock that is set by $step ms in the middle loses no row, and no report shows nonsense" "$sim step=$step"'
		export SIM_CLOCK_STEP_MS=$step,50
		exits 0 traced driver_api 100
		as_the_gpu_says
		gprof-trace report -r cuda_gpu_kern_sum,cuda_gpu_trace,cuda_api_sum -f csv t.gtrace >report 2>&1
		! grep -q -- ",-[0-9]" report || fail "a negative time: $(grep -- ",-[0-9]" report | head -n 3)"
		gprof-trace report t.gtrace >page
		gprof-trace export -o t.json t.gtrace >log 2>&1 || fail "$(cat log)"
	'
done

it 'a clock that drifts is kept as CUPTI gives it' "$sim"'
	export SIM_CLOCK_DRIFT_PPM=200
	exits 0 traced driver_api 300
	as_the_gpu_says
'

it 'kernels without a name are kept' "$sim"'
	export SIM_NULL_NAME=4
	exits 0 traced driver_api 100
	as_the_gpu_says
	is 25 "$("$P/sim_rows" rows t.gtrace | grep -c " kernel .* \$")" "kernels without a name"
	gprof-trace report -r cuda_gpu_kern_sum t.gtrace >report
	gprof-trace export -o t.json t.gtrace >log 2>&1 || fail "$(cat log)"
'

it 'memory of names is used again for names of another module, and long names are whole' "$sim"'
	exits 0 traced module_names 5
	as_the_gpu_says
	for i in 0 1 2 3 4; do
		is $((i + 1)) "$(grep -c " kernel .* kernel_of_module_00000$i\$" got)" "kernels of module $i"
	done
	is 2 "$(grep -c " kernel .* n\{5000\}\$" got)" "kernels with 5000 letters"
'

it 'a copy that the driver does with a kernel is that kernel' "$sim"'
	export SIM_COPY_AS_KERNEL=1
	exits 0 traced launches 5
	as_the_gpu_says
	is 5 "$(grep -c " kernel .* copy_kernel\$" got)" "kernels that copy"
'

it 'launches in clusters, cooperative ones, shared memory and priorities are told apart, copies to a peer too' "$sim"'
	export SIM_DEVICES=2
	exits 0 traced launches 5
	as_the_gpu_says
	gprof-trace dump t.gtrace >rows
	grep -q "^config .*cluster_x=2 .*launch_type=0" rows || fail "no clusters"
	grep -q "^config .*launch_type=1" rows || fail "no cooperative launch"
	grep -q "^config .*dynamic_shared=3072" rows || fail "no dynamic shared memory"
	grep -q "^stream .*priority=-[1-9]" rows || fail "no priority"
	grep -q "^memcpy .*kind=10 .*src_device=0 dst_device=1" rows || fail "no copy to a peer"
'

it 'records that come minutes late, when the program ends, are all there' "$sim"'
	export SIM_DELAY_MS=600000
	exits 0 traced driver_api 300
	as_the_gpu_says
'

for own in 0 1; do
	for version in 22 130001; do
		it "64 threads at once, buffers of their own: $own, CUPTI version $version" "$sim own=$own version=$version"'
			export SIM_PER_THREAD=$own SIM_CUPTI_VERSION=$version
			exits 0 traced threads 64 20
			as_the_gpu_says
			is 1280 "$(rows kernel)" kernels
		'
	done
done

it 'what a callback costs is paid for the calls that are recorded, and for no others' "$sim"'
	export SIM_CUPTI_COST_NS=300000
	begin=$(date +%s%N)
	exits 0 traced many_kernels 200
	took=$(($(date +%s%N) - begin))
	"$P/sim_rows" rows t.gtrace | sort >got
	"$P/sim_rows" truth truth | sort >want
	same want got
	told=$(grep -c "\"told\":true" truth)
	[ "$took" -ge $((told * 2 * 300000)) ] || fail "$told calls were told and cost nothing"
	! grep "\"told\":true" truth | grep -qE "cudaGetLastError|CallConfiguration|cudaGetDevice\"" || fail "helper calls are paid for"
	# A launch is a runtime and a driver call; nothing else is told 200 times.
	[ "$told" -le 420 ] || fail "$told calls were told for 200 launches"
'

it 'every switch of the simulator is written down, and some test uses it; every test that its page names is there' '
	cd "$GPROF_TOP"
	page=test/sim/README.md
	for switch in $(grep -ohE "\"SIM_[A-Z_]+\"" test/sim/*.c | tr -d "\"" | sort -u); do
		grep -q "\`$switch" $page || fail "$switch is not in $page"
		grep -rqw "$switch" test/e2e test/sim/selfcheck.sh || fail "no test uses $switch"
	done
	for name in $(sed -n "/^## Manners/,/^## The truth/s/.*|\([^|]*\)|$/\1/p" $page | tr -c "a-z-" "\n" | grep -E "^(cuda|every)-[a-z-]+"); do
		[ -e "test/e2e/$name.sh" ] || fail "there is no test $name"
	done
	for name in $(sed -n "/^## Bad input/,\$p" docs/explanation/cupti-traps.md | grep -oE "[a-z-]+\.sh"); do
		[ -e "test/e2e/$name" ] || fail "there is no test $name"
	done
'
