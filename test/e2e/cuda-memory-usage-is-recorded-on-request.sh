#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for version in 18 26 130001; do
	it "every allocation, release and pool is a row, as CUPTI version $version writes it" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version OPTIONS=--cuda-memory-usage=true
		exits 0 traced memory_use 3
		as_the_gpu_says
		is '52 1' \"\$(rows memory) \$(rows mempool)\" 'rows of memory and of pools'
		is '' \"\$(health record_unknown)\$(health cupti_kind)\" trouble
	"
done

it 'the report says of each kind how often, how much at most, and what was left' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	OPTIONS=--cuda-memory-usage=true
	exits 0 traced memory_use 5
	gprof-trace report -r cuda_memory -f csv t.gtrace >csv
	tail -n +2 csv | cut -d , -f 3,4,5,8 | sort >got
	grep -v "^expect" out | tail -n +2 | while IFS=, read -r kind n freed peak; do
		echo "$kind,$n,$freed,$(awk "BEGIN { printf \"%.3f\", $peak * 1048576 / 1000000 }")"
	done | sort >want
	same want got
	is "1.049 2.097 3.146 4.194" "$(for k in Device, "Device (pool)," Pinned, Managed,; do tail -n +2 csv | grep -F "$k" | cut -d , -f 10; done | paste -s -d " ")" "what was left"
'

it 'without it there are no such rows, and the report says how to get them' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced memory_use 1
	as_the_gpu_says
	is "0 0" "$(rows memory) $(rows mempool)" "rows of memory and of pools"
	gprof-trace report -r cuda_memory t.gtrace >report
	says "record with --cuda-memory-usage=true" report
'
