/* Expected numbers are from NVIDIA's occupancy calculator (cuda_occupancy.h of CUDA 13.0), unless a comment names another source. */
#include "cli/model/gpu/occupancy.h"

#include "test/unit/cli/make_trace.h"
#include "test/unit/test.h"

#include <stdlib.h>

/* Compute capability, warps, blocks, KiB of shared memory. */
static struct device_row device(uint32_t major, uint32_t minor, uint32_t warps, uint32_t blocks, uint32_t shared)
{
	return (struct device_row){ .cc_major = major,
				    .cc_minor = minor,
				    .warp = 32,
				    .max_warps_sm = warps,
				    .max_blocks_sm = blocks,
				    .max_registers_sm = 65536,
				    .max_shared_sm = shared << 10,
				    .sm_count = 100 };
}

#define V100 device(7, 0, 64, 32, 96)
#define A100 device(8, 0, 64, 32, 164)
#define A6000 device(8, 6, 48, 16, 100)
#define H100 device(9, 0, 64, 32, 228)

static struct occupancy fill(struct device_row d, uint32_t threads, uint32_t registers, uint32_t shared)
{
	struct config_row c = {
		.block_x = threads, .block_y = 1, .block_z = 1, .registers = registers, .static_shared = shared
	};
	struct occupancy o;

	CHECK(occupancy_of(&c, &d, &o));
	return o;
}

#define FULL(d, threads, registers, shared, want_blocks, want_limits) do {                      \
	struct occupancy o_ = fill(d, threads, registers, shared);                              \
	CHECK_EQ(o_.blocks, want_blocks);                                                       \
	CHECK_EQ(o_.limits, want_limits);                                                       \
	CHECK_EQ(o_.warps, (want_blocks) * (((threads) + 31) / 32));                            \
} while (0)

TEST(occupancy_is_that_of_the_published_rules)
{
	FULL(H100, 256, 32, 0, 8, LIMIT_WARPS | LIMIT_REGISTERS);
	FULL(H100, 256, 33, 0, 6, LIMIT_REGISTERS);     /* one register more is 8 more a thread */
	FULL(H100, 128, 168, 0, 3, LIMIT_REGISTERS);
	FULL(H100, 384, 168, 0, 1, LIMIT_REGISTERS);
	FULL(H100, 1024, 64, 0, 1, LIMIT_REGISTERS);
	FULL(H100, 32, 16, 0, 32, LIMIT_BLOCKS);
	FULL(H100, 33, 16, 0, 32, LIMIT_WARPS | LIMIT_BLOCKS);
	FULL(H100, 128, 32, 48 << 10, 4, LIMIT_SHARED);
	FULL(H100, 128, 32, 227 << 10, 1, LIMIT_SHARED);        /* and the KiB that the system keeps: all of it */
	FULL(A100, 128, 32, 40 << 10, 4, LIMIT_SHARED);
	FULL(A6000, 256, 40, 0, 6, LIMIT_WARPS | LIMIT_REGISTERS);
	FULL(A6000, 128, 32, 16 << 10, 5, LIMIT_SHARED);
	FULL(V100, 128, 32, 16 << 10, 6, LIMIT_SHARED);         /* nothing is kept before 8.0 */
	FULL(V100, 128, 32, 1, 16, LIMIT_WARPS | LIMIT_REGISTERS);
}

TEST(the_shared_memory_that_the_driver_chose_counts)
{
	struct config_row c = {
		.block_x = 128, .block_y = 1, .block_z = 1, .registers = 16, .static_shared = 15 << 10
	};
	struct device_row d = H100;
	struct occupancy o;

	CHECK(occupancy_of(&c, &d, &o));
	CHECK_EQ(o.blocks, 14);
	c.shared_executed = 64 << 10;
	CHECK(occupancy_of(&c, &d, &o));
	CHECK_EQ(o.blocks, 4);
	c.shared_executed = 1 << 10;    /* less than one block needs: it cannot be */
	CHECK(occupancy_of(&c, &d, &o));
	CHECK_EQ(o.blocks, 14);
}

TEST(what_cannot_be_known_is_not_guessed)
{
	struct config_row c = { .block_x = 128, .block_y = 1, .block_z = 1 };
	struct device_row unknown = { 0 }, future = device(13, 0, 64, 32, 228), old = device(2, 0, 48, 8, 48);
	struct occupancy o;

	CHECK(!occupancy_of(&c, &unknown, &o));
	CHECK(!occupancy_of(&c, &future, &o));
	CHECK(!occupancy_of(&c, &old, &o));
	c.block_x = 0;
	future = H100;
	CHECK(!occupancy_of(&c, &future, &o));
}

TEST(the_report_says_how_full_and_why)
{
	struct making k;
	struct model *m;
	char *text;

	make_begin(&k);
	ROWS(&k, 0, process, { T0 + 1, 0, 1, 100, 100, 1, 0, PROCESS_CUDA });
	make_string(&k, 1, 1, "_Z6vecaddPfS_i");
	make_string(&k, 1, 2, "gemm");
	make_rows(&k, 1, ROW_device, (struct device_row[]){ H100 }, 1);
	ROWS(&k, 1, config,
	     { .id = 1,
	       .grid_x = 450,
	       .grid_y = 2,
	       .grid_z = 1,
	       .block_x = 128,
	       .block_y = 1,
	       .block_z = 1,
	       .registers = 168,
	       .static_shared = 1024,
	       .dynamic_shared = 512 },
	     { .id = 2,
	       .grid_x = 80,
	       .grid_y = 1,
	       .grid_z = 1,
	       .block_x = 256,
	       .block_y = 1,
	       .block_z = 1,
	       .registers = 32 });
	ROWS(&k, 1, kernel,
	     { T0 + 2000, 100, 0, 11, 2, 0, 1, 7, 1, 0, 0 }, { T0 + 2200, 500, 0, 12, 2, 0, 1, 7, 1, 0, 0 },
	     { T0 + 3000, 200, 0, 13, 1, 0, 1, 7, 2, 0, 0 }, { T0 + 4000, 200, 0, 13, 1, 0, 1, 7, 3, 0, 0 });
	make_end(&k);
	m = model_open(k.path, NULL);
	if (!CHECK(m != NULL))
		return;
	text = report_text(m, "occupancy", TABLE_CSV, NULL, 0);
	CHECK_STR(text,
		  "gpu_pct,gpu_ns,count,mean_ns,occupancy_pct,limited_by,blocks_per_sm,waves,grid,block,registers_per_thread,shared_bytes,"
		  "device,name\n"
		  "60.0,600,2,300.0,18.8,registers,3,3.00,450 2 1,128 1 1,168,1536,0,gemm\n"
		  "20.0,200,1,200.0,100.0,\"warps, registers\",8,0.10,80 1 1,256 1 1,32,0,0,\"vecadd(float*, float*, "
		  "int)\"\n"
		  "20.0,200,1,200.0,,,,,,,,,0,\"vecadd(float*, float*, int)\"\n");
	free(text);
	model_close(m);
	unmake(&k);
}
