/* Decoding of other kinds of records: graphs, memory, MIG devices, compilations.  Records are built as in cupti_activity.c. */
#include "inject/cupti/cupti_activity.h"
#include "inject/cupti/cupti_unified.h"

#include <string.h>

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

TEST(whole_graphs_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		uint32_t size = v->version >= 21 ? 56 : v->version >= 17 ? 48 : 0;
		const struct graph_row *row;
		uint8_t *r;

		cupti_fake(v->version);
		r = cupti_fake_record(51, size ? size : 48);
		put32(r, 4, 777);
		put64(r, 8, 5000);
		put64(r, 16, 9000);
		put32(r, 24, 1);
		put32(r, 28, 42);
		put32(r, 32, 2);
		put32(r, 36, 3);
		if (size == 56)
			put32(r, 48, 6);
		cupti_fake_deliver();
		row = fake_row(ROW_graph, 0);
		if (!size) {
			CHECK(!row && health(HEALTH_record_unknown) == 1);
			continue;
		}
		if (!CHECK(row != NULL))
			continue;
		CHECK_EQ(row->start, 5000);
		CHECK_EQ(row->duration, 4000);
		CHECK_EQ(row->corr, 777);
		CHECK_EQ(row->device, 1);
		CHECK_EQ(row->graph, 42);
		CHECK_EQ(row->context, 2);
		CHECK_EQ(row->stream, 3);
		CHECK_EQ(row->end_device, size == 56 ? 6 : 1);
		CHECK(guest->arena->flags & PROCESS_KERNELS);
	}
}

TEST(memory_and_pools_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		uint32_t size = v->version >= 24 ? 128 : v->version >= 17 ? 120 : v->version >= 15 ? 112 : 0;
		uint32_t pool_size = v->version >= 130000 ? 80 : v->version >= 17 ? 72 : 64;
		const struct memory_row *row;
		const struct mempool_row *pool;
		uint8_t *r;

		cupti_fake(v->version);
		r = cupti_fake_record(49, size ? size : 112);
		put32(r, 4, 1);
		put32(r, 8, 3);
		put32(r, 12, 777);
		put64(r, 16, 0x7f0000000000);
		put64(r, 24, 1 << 20);
		put64(r, 32, 5000);
		put32(r, 52, 1);
		put32(r, 56, 2);
		put32(r, 60, 3);
		put64(r, 64, (uintptr_t)"table");
		put32(r, 72, 1);
		put32(r, 80, 1);
		put64(r, 88, 0x9000);
		put64(r, 104, 32 << 20);
		if (size >= 120)
			put64(r, 112, 4 << 20);
		r = cupti_fake_record(50, pool_size);
		put32(r, 4, 3);
		put32(r, 8, 2);
		put32(r, 12, 778);
		put32(r, 20, 1);
		put64(r, 24, 17);
		put64(r, 32, 0x9000);
		put64(r, 40, 64);
		put64(r, 48, 128);
		put64(r, 56, 6000);
		if (pool_size >= 72)
			put64(r, 64, 32);
		cupti_fake_deliver();
		row = fake_row(ROW_memory, 0);
		pool = fake_row(ROW_mempool, 0);
		if (!size) {
			CHECK(!row && !pool && health(HEALTH_record_unknown) == 2);
			continue;
		}
		if (!CHECK(row && pool))
			continue;
		CHECK_EQ(row->start, 5000);
		CHECK_EQ(row->address, 0x7f0000000000);
		CHECK_EQ(row->bytes, 1 << 20);
		CHECK_EQ(row->pool, 0x9000);
		CHECK_EQ(row->pool_size, 32 << 20);
		CHECK_EQ(row->pool_used, size >= 120 ? 4 << 20 : 0);
		CHECK_EQ(row->corr, 777);
		CHECK_EQ(row->device, 1);
		CHECK_EQ(row->context, 2);
		CHECK_EQ(row->stream, 3);
		CHECK_EQ(row->operation, 1);
		CHECK_EQ(row->mem_kind, 3);
		CHECK_EQ(row->flags, MEMORY_ASYNC);
		CHECK_STR(fake_string(row->name), "table");
		CHECK_EQ(pool->start, 6000);
		CHECK_EQ(pool->operation, 3);
		CHECK_EQ(pool->type, 2);
		CHECK_EQ(pool->corr, 778);
		CHECK_EQ(pool->device, 1);
		CHECK_EQ(pool->keep, 17);
		CHECK_EQ(pool->address, 0x9000);
		CHECK_EQ(pool->size, 64);
		CHECK_EQ(pool->threshold, 128);
		CHECK_EQ(pool->used, pool_size >= 72 ? 32 : 0);
	}
}

/* A pool of another process has an id where ours have a size. */
TEST(memory_of_an_imported_pool_has_no_size_of_it)
{
	const struct memory_row *row;
	uint8_t *r;

	cupti_fake(130001);
	r = cupti_fake_record(49, 128);
	put64(r, 32, 5000);
	put32(r, 80, 2);
	put64(r, 88, 0x9000);
	put64(r, 104, 4242);
	put64(r, 112, 99);
	cupti_fake_deliver();
	row = fake_row(ROW_memory, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->pool, 0x9000);
	CHECK_EQ(row->pool_size, 0);
	CHECK_EQ(row->pool_used, 0);
	CHECK_EQ(row->flags, MEMORY_IMPORTED);
}

TEST(a_device_says_whether_it_is_a_mig_instance_where_the_version_can)
{
	for (uint32_t size = 144; size <= 184; size += size < 176 ? 32 : 8) {
		const struct device_row *d;
		uint8_t *r;

		cupti_fake(size < 176 ? 15 : 18);
		r = cupti_fake_record(8, size);
		put32(r, 68, 32768);
		put64(r, 136, (uintptr_t)(size >= 184 ? strdup("GPU") : "GPU"));
		if (size >= 176) {
			r[144] = 1;
			r[145] = 1;
			put32(r, 152, 7);
			put32(r, 156, 2);
			put64(r, 160, 0x0807060504030201);
			put64(r, 168, 0x100f0e0d0c0b0a09);
		}
		cupti_fake_deliver();
		d = fake_row(ROW_device, 0);
		if (!CHECK(d != NULL))
			continue;
		CHECK_EQ(d->max_registers_block, 32768);
		CHECK_EQ(d->flags, size >= 176 ? DEVICE_MIG | DEVICE_VISIBLE | DEVICE_KNOWN : 0);
		CHECK_EQ(d->gpu_instance, size >= 176 ? 7 : 0);
		CHECK_EQ(d->compute_instance, size >= 176 ? 2 : 0);
		CHECK_EQ(d->mig_high, size >= 176 ? 0x0102030405060708 : 0);
		CHECK_EQ(d->mig_low, size >= 176 ? 0x090a0b0c0d0e0f10 : 0);
	}
}

TEST(compilations_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		uint32_t size = v->version >= 22 ? 72 : v->version >= 18 ? 64 : 0;
		const struct jit_row *row;
		uint8_t *r;

		cupti_fake(v->version);
		r = cupti_fake_record(52, size ? size : 64);
		put32(r, 4, 1);
		put32(r, 8, 3);
		put32(r, 12, 2);
		put64(r, 16, 5000);
		put64(r, 24, 9000);
		put32(r, 32, 777);
		put64(r, 40, 42);
		put64(r, 48, 1 << 20);
		put64(r, 56, (uintptr_t)"/cache");
		if (size == 72)
			put32(r, 68, 4242);
		cupti_fake_deliver();
		row = fake_row(ROW_jit, 0);
		if (!size) {
			CHECK(!row && health(HEALTH_record_unknown) == 1);
			continue;
		}
		if (!CHECK(row != NULL))
			continue;
		CHECK_EQ(row->start, 5000);
		CHECK_EQ(row->duration, 4000);
		CHECK_EQ(row->job, 42);
		CHECK_EQ(row->bytes, 1 << 20);
		CHECK_EQ(row->corr, 777);
		CHECK_EQ(row->device, 2);
		CHECK_EQ(row->entry, 1);
		CHECK_EQ(row->operation, 3);
		CHECK_EQ(row->tid, size == 72 ? 4242 : 0);
		CHECK_STR(fake_string(row->path), "/cache");
	}
}

/* A counter of unified memory; what its kind ignores is filled with rubbish. */
static void put_unified(uint32_t size, uint32_t kind, uint64_t value, uint32_t source, uint32_t flags)
{
	uint8_t *r = cupti_fake_record(25, size);

	put32(r, 4, kind);
	put64(r, 8, value);
	put64(r, 16, 5000);
	put64(r, 24, kind == 3 || kind == 5 || kind == 7 ? 17 : 9000);
	put64(r, 32, 0x7f0000200000);
	put32(r, 40, source);
	if (size < 48)
		return;
	put32(r, 44, 1);
	put32(r, 48, 0xabababab);
	put32(r, 56, flags);
	if (size >= 104)
		put64(r, 64, kind == 5 ? 0x300000001 : 0x5555);
}

TEST(unified_memory_of_every_cupti_version_becomes_rows)
{
	static const struct unified_row want[] = {
		{ .kind = 1, .bytes = 65536, .source = UINT32_MAX, .target = 1, .cause = 2, .duration = 4000 },
		{ .kind = 2, .bytes = 65536, .source = 1, .target = 1, .cause = 4, .duration = 4000 },
		{ .kind = 3, .pc = 65536, .source = UINT32_MAX, .target = UINT32_MAX, .access = 2 },
		{ .kind = 4, .faults = 65536, .source = 1, .target = UINT32_MAX, .access = 3, .duration = 4000 },
		{ .kind = 5, .bytes = 65536, .source = UINT32_MAX, .target = UINT32_MAX, .devices = 3, .flags = 1 },
		{ .kind = 6, .source = UINT32_MAX, .target = UINT32_MAX, .flags = 1, .duration = 4000 },
		{ .kind = 7, .bytes = 65536, .source = 1, .target = 1, .cause = 5 },
		{ .kind = 8, .bytes = 65536, .source = 1, .target = 1, .cause = 1, .duration = 4000 },
		{ .kind = 9, .source = UINT32_MAX, .target = UINT32_MAX, .duration = 4000 }, /* of a later version: that it was, and when */
	};
	static const uint32_t source[] = { UINT32_MAX, 1, 77, 1, 3, UINT32_MAX, 1, 1, 1 }, flags[] = { 2, 4, 2, 3, 1, 1, 5, 1, 1 };

	EACH_VERSION(v) {
		uint32_t size = v->version >= 26 ? 104 : 64;

		cupti_fake(v->version);
		for (uint32_t i = 0; i < 9; i++)
			put_unified(size, i + 1, 65536, source[i], flags[i]);
		cupti_fake_deliver();
		for (size_t i = 0; i < 9; i++) {
			const struct unified_row *row = fake_row(ROW_unified, i);
			struct unified_row w = want[i];

			w.start = 5000;
			w.address = 0x7f0000200000;
			if (i == 4 && size == 104)
				w.devices = 0x300000001;
			CHECK(row && memcmp(row, &w, sizeof w) == 0);
		}
		CHECK_EQ(health(HEALTH_record_unknown), 0);
		CHECK_EQ(health(HEALTH_zero_time), 0);
	}
}

TEST(a_counter_of_unified_memory_in_the_layout_of_before_cuda_7_is_counted_not_misread)
{
	cupti_fake(18);
	put_unified(40, 1, 65536, 1, 0);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_unified), 0);
	CHECK_EQ(health(HEALTH_record_unknown), 1);
}

static struct {
	int result, enabled, calls;
	uint32_t counters;              /* bits of kinds */
} asked;

static int configure(struct cupti_unified_config *config, uint32_t count)
{
	asked.calls++;
	asked.counters = 0;
	for (uint32_t i = 0; i < count; i++)
		asked.counters |= config[i].enable << config[i].kind;
	return count > 4 && asked.result == RESULT_INVALID_PARAMETER ? asked.result :
	       asked.result == RESULT_INVALID_PARAMETER ? RESULT_OK : asked.result;
}

static int enable(int kind)
{
	asked.enabled = kind;
	return RESULT_OK;
}

static void start_unified(int result, bool cpu, bool gpu)
{
	cupti_fake(130001);
	asked.result = result;
	asked.calls = asked.enabled = 0;
	guest->config.um_cpu_faults = cpu;
	guest->config.um_gpu_faults = gpu;
	tracer.fn.ActivityConfigureUnifiedMemoryCounter = configure;
	tracer.fn.ActivityEnable = enable;
	cupti_unified_start(false);
}

TEST(counters_of_unified_memory_are_asked_for_once_the_driver_is_up)
{
	start_unified(RESULT_OK, false, false);
	CHECK_EQ(asked.calls, 0);
	start_unified(RESULT_OK, true, false);
	CHECK_EQ(asked.counters, 0x1ee);
	CHECK_EQ(asked.enabled, 25);
	cupti_unified_start(true);
	CHECK_EQ(asked.calls, 1);
	start_unified(RESULT_NOT_INITIALIZED, true, true);      /* too early */
	CHECK_EQ(asked.enabled, 0);
	CHECK_EQ(health(HEALTH_cupti_kind), 0);
	asked.result = RESULT_OK;
	cupti_unified_start(true);
	CHECK_EQ(asked.counters, 0x1fe);
	CHECK_EQ(asked.enabled, 25);
	start_unified(RESULT_INVALID_PARAMETER, true, true);    /* it does not know the later ones */
	CHECK_EQ(asked.counters, 0x1e);
	CHECK_EQ(asked.enabled, 25);
	CHECK_EQ(health(HEALTH_cupti_kind), 0);
}

TEST(unified_memory_that_cannot_be_counted_is_named)
{
	start_unified(RESULT_UNIFIED_MPS, true, true);
	CHECK_EQ(asked.enabled, 0);
	CHECK_EQ(health(HEALTH_cupti_kind), 1);
	CHECK(strstr(guest->arena->health[HEALTH_cupti_kind].detail, "not supported under MPS") != NULL);
	start_unified(RESULT_NOT_INITIALIZED, true, true);
	cupti_unified_start(true);
	CHECK_EQ(health(HEALTH_cupti_kind), 1);
	cupti_fake(130001);
	guest->config.um_cpu_faults = 1;
	cupti_unified_start(false);     /* the function is missing */
	CHECK_EQ(health(HEALTH_cupti_kind), 1);
}

TEST(records_that_come_unasked_are_left_out_and_are_not_unknown)
{
	EACH_VERSION(v) {
		cupti_fake(v->version);
		cupti_fake_record(36, v->version >= 130101 ? 80 : v->version >= 26 ? 56 : 24);  /* of an event, with those of waits */
		cupti_fake_record(18, 144);             /* a kernel that a kernel launched */
		if (v->version >= 26)
			cupti_fake_record(53, 56);      /* a graph that a kernel launched */
		cupti_fake_deliver();
		CHECK_EQ(health(HEALTH_record_unknown), 0);
		CHECK_EQ(health(HEALTH_device_kernels), 1);
		CHECK_EQ(fake_count(ROW_kernel) + fake_count(ROW_graph), 0);
		cupti_fake_record(36, 16);              /* too short for any version */
		cupti_fake_deliver();
		CHECK_EQ(health(HEALTH_record_unknown), 1);
	}
}

TEST(a_green_context_is_a_context_from_13_2_on)
{
	const struct context_row *row;
	uint8_t *r;

	cupti_fake(130301);
	r = cupti_fake_record(59, 152);
	put32(r, 4, 3);
	put32(r, 8, 1);
	put32(r, 12, 2);
	cupti_fake_deliver();
	row = fake_row(ROW_context, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->id, 3);
	CHECK_EQ(row->device, 2);
	CHECK_EQ(row->null_stream, STREAM_NONE);
}
