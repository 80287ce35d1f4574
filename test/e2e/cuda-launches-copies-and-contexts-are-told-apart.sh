#!/bin/sh
# Rows and tables distinguish kinds of launches, copies, waits and contexts.  cuda-every-row-of-every-program.sh checks the fields of rows.
# also on the pipe
. "$(dirname "$0")/lib.sh"

it 'cooperative launches, clusters and the priorities of streams are in the rows' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced launches 1
	gprof-trace dump t.gtrace >dump
	config_of() { sed -n "s/^kernel .* name=\"[^\"]*$1.* config=\([0-9]*\).*/\1/p" dump | sort -u; }
	one() { grep "^config .* id=$(config_of $1) " dump | grep -o "$2=[0-9]*" | cut -d = -f 2 | paste -s -d " "; }
	is "0 1 0" "$(one spin_plain launch_type) $(one spin_cooperative launch_type) $(one spin_cluster launch_type)" "launch types"
	is "2 1 1" "$(one spin_cluster "cluster_[xyz]")" "the cluster"
	is "1 1 1" "$(one spin_plain "cluster_[xyz]")" "no cluster"
	is "1 2 3 8 4 2" "$(one spin_plain "grid_[xyz]") $(one spin_plain "block_[xyz]")" "grid and block"
	is "0 1024" "$(one spin_plain dynamic_shared) $(one spin_shared dynamic_shared)" "shared memory"
	is 2 "$(grep "^stream " dump | grep -v "flags=3" | grep -o "priority=[-0-9]*" | sort -u | wc -l)" "priorities of streams"
'

it 'pageable memory is told from pinned, and copies between devices from others' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_DEVICES=2
	exits 0 traced copies
	gprof-trace report -r cuda_gpu_trace -f csv t.gtrace | cut -d , -f 15,16,21 | grep memcpy | sort | uniq -c | sed "s/^ *//" >kinds
	cat >want <<EOF
1 Device,Device,[CUDA memcpy Device-to-Device]
1 Device,Device,[CUDA memcpy Peer-to-Peer]
1 Device,Pageable,[CUDA memcpy Device-to-Host]
1 Device,Pinned,[CUDA memcpy Device-to-Host]
1 Managed,Device,[CUDA memcpy Device-to-Device]
2 Pageable,Device,[CUDA memcpy Host-to-Device]
2 Pinned,Device,[CUDA memcpy Host-to-Device]
EOF
	same want kinds
	gprof-trace export -o t.json t.gtrace >/dev/null 2>&1
	says "\"fromDevice\": 0, \"inDevice\": 0, \"toDevice\": 1" t.json
'

for version in 18 130001; do
	it "every context and stream has its device, one after the other, as CUPTI version $version writes them" "version=$version"'
		. "$GPROF_TOP/test/e2e/cuda/sim.sh"
		export SIM_DEVICES=2 SIM_CUPTI_VERSION=$version
		exits 0 traced contexts
		as_the_gpu_says
		gprof-trace dump t.gtrace >dump
		is "$(sed -n "s/^contexts,//p" out)" "$(grep "^context " dump | grep -o " id=[0-9]*" | sort -u | wc -l)" contexts
		is "$(sed -n "s/^kernels,//p" out)" "$(rows kernel)" kernels
		# A kernel names a context that is there, and that context the device of the kernel.
		grep "^context " dump | sed "s/.* id=\([0-9]*\) .*device=\([0-9]*\).*/\1 \2/" | sort -u >contexts
		grep "^kernel " dump | sed "s/.* device=\([0-9]*\) .*context=\([0-9]*\) .*/\2 \1/" | sort -u >used
		is "" "$(comm -13 contexts used)" "kernels of unknown contexts"
		is 2 "$(cut -d " " -f 2 used | sort -u | wc -l)" devices
		# Streams have their numbers in their context.
		grep "^stream " dump | sed "s/.* id=\([0-9]*\) .*context=\([0-9]*\) .*/\2 \1/" | sort -u >streams
		grep "^kernel " dump | sed "s/.* context=\([0-9]*\) .*stream=\([0-9]*\) .*/\1 \2/" | sort -u >used
		is "" "$(comm -13 streams used)" "kernels of unknown streams"
		gprof-trace report -r health -f csv t.gtrace >csv 2>/dev/null
		is 0 "$(grep -c no_kernel csv)" "launches without kernels"
	'
done

it 'a program that resets its device goes on with a new context' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced exit_paths reset 50
	as_the_gpu_says
	is 50 "$(rows kernel)" kernels
'

it 'the table of waits adds up to what was waited for' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced streams 4 10
	gprof-trace report -r cuda_sync_sum -f csv t.gtrace >csv
	for kind in "1 Event Sync" "2 Stream Wait Event" "3 Stream Sync" "4 Context Sync"; do
		grep "\"type\":\"sync\".*\"fate\":\"recorded\"" truth | grep "\"kind\":${kind%% *}," |
			sed "s/.*\"start\":\([0-9]*\),\"end\":\([0-9]*\),.*/\1 \2/" >spans
		[ -s spans ] || continue
		# A time of the GPU is converted to that of the trace: each may be a nanosecond off, and the rate of its clock a millionth.
		want=$(while read -r start end; do echo $((end - start)); done <spans | awk "{ s += \$1 } END { printf \"%d,%d\", s, NR }")
		got=$(grep ",${kind#* }\$" csv | cut -d , -f 2,3)
		is "${want#*,}" "${got#*,}" "${kind#* }, how many"
		off=$((${want%,*} - ${got%,*}))
		[ "${off#-}" -le $((${want#*,} + ${want%,*} / 1000000)) ] || fail "${kind#* } is $got, not $want"
	done
	is "$(rows sync)" "$(tail -n +2 csv | awk -F , "{ n += \$3 } END { print n }")" "rows in all"
'

it 'what CUPTI and the driver did besides is in the table of overhead' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced many_kernels
	gprof-trace report -r overhead -f csv t.gtrace >csv 2>/dev/null
	is "$(grep -c "\"type\":\"overhead\".*\"fate\":\"recorded\"" truth)" "$(grep "^cupti," csv | awk -F , "{ n += \$4 } END { print n }")" "overhead rows"
	says "lazy function loading" csv
'

it 'launches of which nothing came are found, though nobody counted them' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	export SIM_LOSE_KERNELS=10
	exits 0 traced exit_paths return 55
	is 50 "$(rows kernel)" kernels
	gprof-trace report -r health -f csv t.gtrace >csv 2>/dev/null
	is 5 "$(grep no_kernel csv | cut -d , -f 4)" "launches without kernels"
'

for program in graphs graph_layers graph_update vector_add threads; do
	it "no launch of $program is taken for lost" "what=$program"'
		. "$GPROF_TOP/test/e2e/cuda/sim.sh"
		exits 0 traced $what
		gprof-trace report -r health -f csv t.gtrace >csv 2>/dev/null
		is 0 "$(grep -c no_kernel csv)" "launches without kernels"
		OPTIONS="--cuda-graph-trace=graph"
		exits 0 traced $what
		gprof-trace report -r health -f csv t.gtrace >csv 2>/dev/null
		is 0 "$(grep -c no_kernel csv)" "with whole graphs"
	'
done
