#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for version in 18 22 130001; do
	it "compilations and loads of modules are rows, as CUPTI version $version writes them" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version OPTIONS='-t cuda-jit'
		exits 0 traced driver_api 10
		as_the_gpu_says
		is '2 1 10' \"\$(rows jit) \$(rows module) \$(rows kernel)\" 'compilations, modules, kernels'
		gprof-trace report -r cuda_jit -f csv t.gtrace | tail -n +2 >csv
		is 'compile,cache store,module load' \"\$(cut -d , -f 3 csv | paste -s -d ,)\" 'what was done'
		is 'PTX to cubin,PTX to cubin,' \"\$(cut -d , -f 4 csv | paste -s -d ,)\" 'from what'
		is 2 \"\$(grep -c ',/sim/ComputeCache\$' csv)\" 'rows that name the cache'
	"
done

it 'without it there are no such rows, and the report says how to get them' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced driver_api 10
	as_the_gpu_says
	is "0 0" "$(rows jit) $(rows module)" "compilations and modules"
	gprof-trace report -r cuda_jit t.gtrace >report
	says "record with -t cuda-jit" report
'
