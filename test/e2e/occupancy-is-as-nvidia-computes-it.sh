#!/bin/sh
. "$(dirname "$0")/lib.sh"

# Half of the devices lack the maximum number of blocks per multiprocessor, as in files of torch.profiler.
it 'cuda_occupancy.h finds as many blocks for 200000 random launches on 13 kinds of GPU' '
	header=${CUDA:-/usr/local/cuda}/include/cuda_occupancy.h
	need "$header"
	cat >compare.c <<-EOF
	#include <stdio.h>
	#include <stdlib.h>
	#include <cuda_occupancy.h>
	#include "cli/model/gpu/occupancy.h"
	#define KINDS 13

	static const struct { int major, minor, warps, blocks, shared, block_shared; } kinds[KINDS] = {
		{ 6, 0, 64, 32, 64, 48 }, { 6, 1, 64, 32, 96, 48 }, { 7, 0, 64, 32, 96, 96 }, { 7, 5, 32, 16, 64, 64 },
		{ 8, 0, 64, 32, 164, 163 }, { 8, 6, 48, 16, 100, 99 }, { 8, 9, 48, 24, 100, 99 }, { 9, 0, 64, 32, 228, 227 },
		{ 10, 0, 64, 32, 228, 227 }, { 12, 0, 48, 24, 100, 99 },
		{ 8, 7, 48, 16, 164, 163 }, { 10, 3, 64, 32, 228, 227 }, { 11, 0, 48, 24, 228, 227 },
	};

	int main(void)
	{
		int bad = 0, none = 0;

		for (int i = 0; i < 200000; i++) {
			int k = rand() % KINDS, threads = 1 + rand() % 1024, registers = 16 + rand() % 240, limit = kinds[k].block_shared * 1024;
			int shared = rand() % 3 ? rand() % (limit + 1) : 0;
			struct device_row d = { .cc_major = kinds[k].major, .cc_minor = kinds[k].minor, .warp = 32, .max_warps_sm = kinds[k].warps,
						.max_blocks_sm = rand() % 2 ? kinds[k].blocks : 0, .max_registers_sm = 65536, .max_shared_sm = kinds[k].shared << 10 };
			struct config_row c = { .block_x = threads, .block_y = 1, .block_z = 1, .registers = registers, .dynamic_shared = shared };
			cudaOccDeviceProp p = { .computeMajor = kinds[k].major, .computeMinor = kinds[k].minor, .maxThreadsPerBlock = 1024,
						.maxThreadsPerMultiprocessor = kinds[k].warps * 32, .regsPerBlock = 65536, .regsPerMultiprocessor = 65536,
						.warpSize = 32, .sharedMemPerBlock = 48 << 10, .sharedMemPerMultiprocessor = kinds[k].shared << 10,
						.numSms = 80, .sharedMemPerBlockOptin = limit, .reservedSharedMemPerBlock = kinds[k].major >= 8 ? 1024 : 0 };
			cudaOccFuncAttributes f = { .maxThreadsPerBlock = 1024, .numRegs = registers, .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
						    .maxDynamicSharedSizeBytes = limit };
			cudaOccDeviceState state = { 0 };
			cudaOccResult theirs;
			struct occupancy ours;

			state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
			if (cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &p, &f, &state, threads, shared) != CUDA_OCC_SUCCESS ||
			    !theirs.activeBlocksPerMultiprocessor) {
				none++;         /* a launch that the driver refuses */
				continue;
			}
			if (!occupancy_of(&c, &d, &ours) || (int)ours.blocks != theirs.activeBlocksPerMultiprocessor) {
				if (bad++ < 5)
					printf("%d.%d: %d threads, %d registers, %d shared: %d, not %d\\\\n", kinds[k].major, kinds[k].minor,
					       threads, registers, shared, (int)ours.blocks, theirs.activeBlocksPerMultiprocessor);
			}
		}
		printf("%d of %d differ, %d cannot run\\\\n", bad, 200000 - none, none);
		return bad || none > 100000;
	}
	EOF
	${CC:-cc} -std=gnu11 -w -O1 -I"${header%/*}" -iquote "$GPROF_TOP" -o compare compare.c "$GPROF_TOP/cli/model/gpu/occupancy.c"
	./compare
'

it 'the export has the estimate that Kineto writes, the report the theoretical one' '
	. "$GPROF_TOP/test/e2e/cuda/sim.sh"
	exits 0 traced streams
	gprof-trace export -o k.json t.gtrace
	is 41 "$(grep "\"cat\": \"kernel\"" k.json | grep -c "\"est. achieved occupancy %\": 0")" "kernels of one block of 64 threads"
	gprof-trace report -r occupancy -f csv t.gtrace 2>/dev/null | tail -n +2 | cut -d , -f 3,5-8 >got
	printf "40,66.7,blocks,16,0.00\n1,66.7,blocks,16,0.00\n" >want
	same want got
'

it 'the occupancy of imported kernels is the one that torch.profiler estimated beside each of them' '
	data=${GPROF_TEST_DATA:-$GPROF_TOP/../shared/data}
	need "$data/hta/traces"
	python3 "$GPROF_TOP/test/e2e/occupancy_check.py" "$GPROF_BUILD/bin/gprof-trace" "$data"/hta/traces/hta-nccl-a100/*.gz \
		"$data"/hta/traces/dlrm-v100-8rank/*.gz "$data"/hta/traces/hta-ns-resolution/*.gz "$data"/hta/traces/param-*/*.gz \
		"$data"/hta/traces/tl-h100-*/*.gz "$data"/tb/traces/*/*.gz >out
	tail -n 3 out
	grep -qE "^[1-9][0-9]{4,} kernels, 0 differ" out
'
