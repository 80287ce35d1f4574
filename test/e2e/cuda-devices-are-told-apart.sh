#!/bin/sh
# also on the pipe
. "$(dirname "$0")/lib.sh"

for version in 18 130001; do
	it "every device of a process has its number, UUID and properties, as CUPTI version $version writes them" "
		. \"\$GPROF_TOP/test/e2e/cuda/sim.sh\"
		export SIM_CUPTI_VERSION=$version SIM_DEVICES=3
		exits 0 traced vector_add
		is 3 \"\$(rows device)\" devices
		gprof-trace report -r cuda_devices -f csv t.gtrace >csv
		is '0 1 2' \"\$(tail -n +2 csv | cut -d , -f 3 | paste -s -d ' ')\" numbers
		is 3 \"\$(tail -n +2 csv | cut -d , -f 4 | grep -E '^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\$' | sort -u | wc -l)\" UUIDs
		is 'no,84,25769.804,6.291,1695,8.6' \"\$(tail -n 1 csv | cut -d , -f 5-10)\" properties
	"
done

it 'a MIG instance is named with its own UUID' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_MIG=1 SIM_DEVICES=2
	exits 0 traced vector_add
	gprof-trace report -r cuda_devices -f csv t.gtrace | tail -n +2 | cut -d , -f 5 >mig
	is "7/1 8/1" "$(cut -d " " -f 1 mig | paste -s -d " ")" instances
	is 2 "$(cut -d " " -f 2 mig | grep -cE "^MIG-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")" UUIDs
'
