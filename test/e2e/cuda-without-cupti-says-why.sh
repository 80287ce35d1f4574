#!/bin/sh
. "$(dirname "$0")/lib.sh"

it 'another tool that holds CUPTI is named' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_HOLDER="CUPTI for somebody"
	exits 0 traced driver_api 10
	is "CUPTI for somebody" "$(detail cupti_busy)"
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	is 0 "$(grep -c "\"told\":true" truth)" "calls that CUPTI told us"
'

it 'an older CUPTI that cannot name the other tool is busy all the same' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_HOLDER=somebody SIM_CUPTI_VERSION=22
	exits 0 traced driver_api 10
	is 1 "$(health cupti_busy)"
'

it 'from 13.2 on a CUPTI that another tool holds does not even tell its version' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	release 13.3.75
	export SIM_CUPTI_HOLDER="CUPTI for somebody"
	exits 0 traced driver_api 10
	is "CUPTI for somebody" "$(detail cupti_busy)"
	is "" "$(health cupti_symbol)$(health cupti_error)"
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
'

it 'a CUPTI that keeps its version to itself is busy, or its error is said' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	release 13.3.75
	export SIM_CUPTI_FAIL=cuptiGetVersion=39
	exits 0 traced driver_api 10
	is 1 "$(health cupti_busy)"
	export SIM_CUPTI_FAIL=cuptiGetVersion=999,cuptiGetResultString=999
	exits 0 traced driver_api 10
	is "cuptiGetVersion: CUPTI_ERROR_UNKNOWN (999)" "$(detail cupti_error)"
	is "" "$(health cupti_symbol)"
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
'

it 'an error that CUPTI has no text for is said with its number' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_FAIL=cuptiSetThreadIdType=77,cuptiGetResultString=999
	exits 0 traced driver_api 10
	is "cuptiSetThreadIdType: unknown error (77)" "$(detail cupti_error)"
	is 10 "$(rows kernel)" kernels
'

for version in 13.2.75 13.3.75; do
	it "$version is used as soon as there is a driver" "version=$version"'
		. "$GPROF_TOP/test/e2e/cuda/sim.sh"
		release "$version"
		exits 0 traced driver_api 10
		as_the_gpu_says
	'
done

it '13.2 with a driver of CUDA 12 would crash the program, and is not used' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	release 13.2.75
	export SIM_DRIVER_VERSION=12080
	OPTIONS="--cupti-lib $GPROF_BUILD/sim/13.2"
	exits 0 traced driver_api 10
	detail cupti_error >said
	says "crashes with a driver of CUDA 12.8" said
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
'

for error in 15 999; do
	it "a driver that CUPTI does not work with ($error) is said, with its error" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_FAIL=cuptiSubscribe=$error,cuptiSubscribe_v2=$error
		exits 0 traced driver_api 10
		is 1 \"\$(health cupti_error)\"
		detail cupti_error >said
		says 'cuptiSubscribe' said
		says '($error)' said
	"
done

it 'a refused kind is named and the others go on' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_FAIL=cuptiActivityEnable=35
	exits 0 traced driver_api 10
	is 9 "$(health cupti_kind)" "refused kinds"
	detail cupti_kind >said
	says "CONCURRENT_KERNEL" said
	[ "$(rows api)" -ge 10 ] || fail "$(rows api) calls"
	is 1 "$(rows context)" "contexts, from callbacks"
	[ "$(rows stream)" -ge 1 ] || fail "no stream rows from callbacks"
'

it 'a release of CUPTI with known faults is named, and used' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_CUPTI_RELEASE=13.0.48
	exits 0 traced driver_api 10
	is 1 "$(health cupti_flawed)"
	detail cupti_flawed >said
	says 13.0.85 said
	is 10 "$(rows kernel)" kernels
'

it 'no device is no trouble' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_NO_DEVICE=1
	traced driver_api 10 || :
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
	is "" "$(health cupti_error)$(health cupti_missing)"
'

it 'a --cupti-lib that cannot be opened is said, and another is found' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	printf "not a library" >libcupti.so.13
	OPTIONS="--cupti-lib $PWD/libcupti.so.13"
	exits 0 traced driver_api 10
	detail cupti_error >said
	says "--cupti-lib" said
	as_the_gpu_says
'

it 'a folder given as --cupti-lib is searched' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	mkdir place none
	ln -s "$GPROF_BUILD/sim/libcupti.so.13" place/
	OPTIONS="--cupti-lib $PWD/place"
	exits 0 traced driver_api 10
	is "" "$(health cupti_error)" "errors"
	as_the_gpu_says
	gprof-run -q --cupti-lib=none -o none -- true 2>err
	says "no libcupti.so.N in the folder" err
'

it 'a --cupti-lib that lacks functions is named with the first that is missing' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	need cc
	echo "int cuptiGetVersion(unsigned *v); int cuptiGetVersion(unsigned *v) { *v = 18; return 0; }" >some.c
	cc -shared -fPIC -o some.so some.c
	OPTIONS="--cupti-lib $PWD/some.so"
	exits 0 traced driver_api 10
	is cuptiGetResultString "$(detail cupti_symbol)"
	is "0 0" "$(rows kernel) $(rows api)" "kernels and calls"
'

it 'without any libcupti the package for this driver is named' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	mkdir stack
	cp "$GPROF_BUILD/sim/libcuda.so.1" stack
	LD_LIBRARY_PATH=$PWD/stack
	ldconfig -p 2>/dev/null | grep libcupti | grep -qv "=> /usr/local/cuda" && skip "a libcupti is installed where the loader looks"
	hide=true
	[ ! -e /usr/local/cuda ] || {
		unshare -rm true 2>/dev/null || skip "cannot hide /usr/local/cuda here"
		hide="mount -t tmpfs none $(readlink -f /usr/local/cuda)/lib64"
		hide="$hide; for d in /usr/local/cuda*/extras /usr/local/cuda*/targets; do [ ! -d \$d ] || mount -t tmpfs none \$d; done"
	}
	exits 0 unshare -rm sh -euc "$hide; exec gprof-run -q -f -o t -- $P/driver_api 10" >out 2>err
	is 1 "$(health cupti_missing)"
	detail cupti_missing >said
	says "pip install nvidia-cuda-cupti (driver: CUDA 13.0)" said
'
