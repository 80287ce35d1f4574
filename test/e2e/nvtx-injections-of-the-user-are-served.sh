#!/bin/sh
# A tool that the user has set in NVTX_INJECTION64_PATH also gets every NVTX call, with the handles that it returned.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'another NVTX tool receives the calls that it would without us, with its own handles' '
	program=$GPROF_BUILD/test/programs/nvtx_handles other=$GPROF_BUILD/test/programs/libnvtx_other.so
	need "$program" "NVTX programs are not built"
	export NVTX_INJECTION64_PATH=$other
	NVTX_OTHER=$PWD/alone "$program" >/dev/null
	NVTX_OTHER=$PWD/behind gprof-run -q -o run -- "$program" >depths
	test -s alone || fail "the other tool saw nothing even alone"
	same alone behind
	never_says "?" behind
	is "0 0 0 0" "$(cat depths)" "depths: ours"
	gprof-trace report -r nvtx_sum --format csv run.gtrace | tail -n +2 | awk -F, "{ print \$9, \$10, \$3 }" | sort >actual
	printf "%s\n" "PushPop :plain 1" "PushPop solver:inner 1" "PushPop solver:registered 1" "StartEnd :one 1" "StartEnd :two 1" >expected
	same expected actual
	gprof-trace dump run.gtrace >rows
	says "nvtx.chained=$other" rows
	never_says "reason=26" rows
	never_says "reason=6 " rows
'

it 'what is not recorded is served all the same, and one that cannot be served is said' '
	program=$GPROF_BUILD/test/programs/nvtx_handles other=$GPROF_BUILD/test/programs/libnvtx_other.so
	need "$program" "NVTX programs are not built"
	NVTX_INJECTION64_PATH=$other NVTX_OTHER=$PWD/alone "$program" >/dev/null
	NVTX_INJECTION64_PATH=$other NVTX_OTHER=$PWD/none gprof-run -q -o run -t cuda -- "$program" >/dev/null
	same alone none
	NVTX_INJECTION64_PATH=$PWD/missing.so gprof-run -q -f -o run -- "$program" >/dev/null
	gprof-trace dump -k health run.gtrace >rows
	says "reason=26 text=\"$PWD" rows
	is 3 "$(gprof-trace report -r nvtx_pushpop_sum --format csv run.gtrace | tail -n +2 | wc -l)" "ranges, all the same"
	NVTX_INJECTION64_PATH=$other NVTX_OTHER_REFUSES=1 gprof-run -q -f -o run -- "$program" >/dev/null
	gprof-trace dump -k health run.gtrace >rows
	says "initialization failed (returned 0)" rows
'

it 'a forked child is served too' '
	program=$GPROF_BUILD/test/programs/nvtx_payloads other=$GPROF_BUILD/test/programs/libnvtx_other.so
	need "$program" "NVTX programs are not built"
	export NVTX_INJECTION64_PATH=$other
	NVTX_OTHER=$PWD/alone "$program" >/dev/null
	NVTX_OTHER=$PWD/behind gprof-run -q -o run -- "$program" >/dev/null
	same alone behind
	says "push comm:forked" behind
	is 2 "$(gprof-trace dump -k attribute run.gtrace | grep -c "nvtx.chained=")" "processes that say so"
'
