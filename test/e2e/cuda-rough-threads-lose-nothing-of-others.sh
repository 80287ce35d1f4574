#!/bin/sh
# Threads that end inside a CUDA call, and signals that interrupt a hook: no row of the program is lost.
# also on the pipe
. "$(dirname "$0")/lib.sh"

sim='
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	# Rows of the GPU; calls that were left without their end have none, and those of the handler may be inside of others.
	compare() {
		"$P/sim_rows" rows t.gtrace | grep -v " api " | sort >got
		"$P/sim_rows" truth truth | grep -v " api " | sort >want
		[ -s want ] || fail "the simulated GPU did nothing"
		same want got
		"$P/sim_rows" rows t.gtrace | grep " api " | grep -v " api 1 $1 " | sort >got
		"$P/sim_rows" truth truth | grep " api " | grep -v " api 1 $1 " | sort >want
		same want got
	}
'

it 'a storm of signals, whose handler calls NVTX and CUDA, loses no call and no kernel of the program' "$sim"'
	exits 0 traced rough_cuda storm 3000
	compare 780
	grep -q "\"name\":\"cuEventElapsedTime_v2\"" truth || fail "the handler called nothing"
	gprof-trace dump t.gtrace >rows
	is "$(sed -n "s/^spin_rough,//p" out)" "$(grep -c "^kernel " rows)" kernels
	is "$(sed -n "s/^spin_rough,//p" out)" "$(grep -c "^range .*\"launch\"" rows)" ranges
	made=$(sed -n "s/^marks,//p" out)
	kept=$(grep -c "^mark .*\"in the handler\"" rows)
	nested=$(health nested)
	[ "$kept" -le "$made" ] && [ $((kept + ${nested:-0})) -ge "$made" ] || fail "$made marks were made in the handler, $kept kept, ${nested:-0} refused inside of a hook"
'

it 'threads that are cancelled while they wait for the GPU leave their kernels behind' "$sim"'
	exits 0 traced rough_cuda cancel 20
	compare 126
	is 40 "$(rows kernel)" kernels
'

it 'threads that leave from inside a CUDA call by pthread_exit leave their kernels behind' "$sim"'
	exits 0 traced rough_cuda leave 20
	compare 527
	is 40 "$(rows kernel)" kernels
'
