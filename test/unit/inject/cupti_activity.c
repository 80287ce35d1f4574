/* Decoding of activity records.  Records are built at offsets taken from NVIDIA's structs, independently of cupti_layout.c. */
#include "inject/cupti/cupti_activity.h"

#include <stdlib.h>
#include <string.h>

#include "inject/capture/windows.h"
#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

static uint8_t *put_kernel(uint32_t size, uint64_t start, uint64_t end, const char *name)
{
	uint8_t *r = cupti_fake_record(10, size);

	put16(r, 6, 40);
	put64(r, 16, start);
	put64(r, 24, end);
	put64(r, 32, end);
	put32(r, 40, 2);
	put32(r, 44, 3);
	put32(r, 48, 7);
	for (unsigned i = 0; i < 6; i++)
		put32(r, 52 + 4 * i, 10 + i);
	put32(r, 76, 1024);
	put32(r, 80, 2048);
	put32(r, 84, 16);
	put32(r, 92, 555);
	put64(r, 104, (uintptr_t)name);
	r[136] = 1;
	put32(r, 140, 65536);
	if (size >= 160) {
		put64(r, 144, 0x1122334455667788);
		put32(r, 156, 99);
	}
	if (size >= 200)
		for (unsigned i = 0; i < 3; i++)
			put32(r, 176 + 4 * i, 2 + i);
	return r;
}

TEST(a_kernel_of_every_cupti_version_becomes_its_row)
{
	EACH_VERSION(v) {
		const struct kernel_row *row;
		const struct config_row *config;

		cupti_fake(v->version);
		put_kernel(v->kernel, 5000, 7500, "_Z4spinv");
		cupti_fake_deliver();
		row = fake_row(ROW_kernel, 0);
		config = fake_row(ROW_config, 0);
		if (!CHECK(row && config))
			continue;
		CHECK_EQ(row->start, 5000);
		CHECK_EQ(row->duration, 2500);
		CHECK_EQ(row->graph_node, 0x1122334455667788);
		CHECK_EQ(row->graph, v->version >= 14 ? 99 : 0);
		CHECK_EQ(row->corr, 555);
		CHECK_EQ(row->device, 2);
		CHECK_EQ(row->context, 3);
		CHECK_EQ(row->stream, 7);
		CHECK_EQ(row->config, config->id);
		CHECK_STR(fake_string(row->name), "_Z4spinv");
		CHECK_EQ(config->grid_x, 10);
		CHECK_EQ(config->grid_z, 12);
		CHECK_EQ(config->block_x, 13);
		CHECK_EQ(config->block_z, 15);
		CHECK_EQ(config->static_shared, 1024);
		CHECK_EQ(config->dynamic_shared, 2048);
		CHECK_EQ(config->local, 16);
		CHECK_EQ(config->registers, 40);
		CHECK_EQ(config->launch_type, 1);
		CHECK_EQ(config->shared_executed, 65536);
		CHECK_EQ(config->cluster_x, v->version >= 18 ? 2 : 0);
		CHECK_EQ(config->cluster_z, v->version >= 18 ? 4 : 0);
		CHECK_EQ(health(HEALTH_record_unknown), 0);
		CHECK(guest->arena->flags & PROCESS_KERNELS);
	}
}

/* A copy between devices has its correlation id elsewhere. */
static void put_copy(uint32_t kind, uint32_t size)
{
	uint8_t *r = cupti_fake_record(kind, size);
	unsigned node = kind == 22 ? 72 : 64;

	r[4] = kind == 22 ? 10 : 1;
	r[5] = 2;
	r[6] = 3;
	r[7] = 1;
	put64(r, 8, 1 << 20);
	put64(r, 16, 5000);
	put64(r, 24, 6000);
	put32(r, 32, 1);
	put32(r, 36, 2);
	put32(r, 40, 3);
	put32(r, 44, kind == 22 ? 4 : 777);
	if (kind == 22) {
		put32(r, 52, 5);
		put32(r, 60, 777);
	}
	if (size >= node + 8)
		put64(r, node, 123456789012);
	if (size >= node + 12)
		put32(r, node + 8, 42);
	if (kind == 1 && size >= 96)
		put64(r, 88, 17);
}

TEST(copies_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		cupti_fake(v->version);
		put_copy(1, v->memcpy);
		put_copy(22, v->memcpy2);
		cupti_fake_deliver();
		for (size_t peer = 0; peer < 2; peer++) {
			const struct memcpy_row *row = fake_row(ROW_memcpy, peer);

			if (!CHECK(row != NULL))
				continue;
			CHECK_EQ(row->start, 5000);
			CHECK_EQ(row->duration, 1000);
			CHECK_EQ(row->bytes, 1 << 20);
			CHECK_EQ(row->kind, peer ? 10 : 1);
			CHECK_EQ(row->src_kind, 2);
			CHECK_EQ(row->dst_kind, 3);
			CHECK_EQ(row->flags, MEMCPY_ASYNC | (peer ? MEMCPY_PEER : 0));
			CHECK_EQ(row->device, 1);
			CHECK_EQ(row->context, 2);
			CHECK_EQ(row->stream, 3);
			CHECK_EQ(row->corr, 777);
			CHECK_EQ(row->src_device, peer ? 4 : 0);
			CHECK_EQ(row->dst_device, peer ? 5 : 0);
			CHECK_EQ(row->graph_node, 123456789012);
			CHECK_EQ(row->graph, v->version >= 14 ? 42 : 0);
			CHECK_EQ(row->copies, !peer && v->version >= 26 ? 17 : 0);
		}
	}
}

TEST(memory_sets_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		const struct memset_row *row;
		uint8_t *r;

		cupti_fake(v->version);
		r = cupti_fake_record(2, v->memset);
		put32(r, 4, 0xab);
		put64(r, 8, 4096);
		put64(r, 16, 5000);
		put64(r, 24, 5100);
		put32(r, 32, 1);
		put32(r, 36, 2);
		put32(r, 40, 3);
		put32(r, 44, 888);
		put16(r, 48, 1);
		put16(r, 50, 3);
		put64(r, 64, 31);
		if (v->memset >= 80)
			put32(r, 72, 42);
		cupti_fake_deliver();
		row = fake_row(ROW_memset, 0);
		if (!CHECK(row != NULL))
			continue;
		CHECK_EQ(row->value, 0xab);
		CHECK_EQ(row->bytes, 4096);
		CHECK_EQ(row->duration, 100);
		CHECK_EQ(row->corr, 888);
		CHECK_EQ(row->mem_kind, 3);
		CHECK_EQ(row->flags, 1);
		CHECK_EQ(row->graph_node, 31);
		CHECK_EQ(row->graph, v->version >= 14 ? 42 : 0);
	}
}

TEST(waits_and_overheads_of_every_cupti_version_become_rows)
{
	EACH_VERSION(v) {
		const struct overhead_row *o;
		const struct sync_row *s;
		uint8_t *r;

		cupti_fake(v->version);
		r = cupti_fake_record(38, v->sync);
		put32(r, 4, 3);
		put64(r, 8, 5000);
		put64(r, 16, 9000);
		put32(r, 24, 444);
		put32(r, 28, 1);
		put32(r, 32, 7);
		put32(r, 36, 0xffffffff);
		if (v->sync >= 56)
			put32(r, 48, 600);
		r = cupti_fake_record(17, v->overhead);
		put32(r, 4, 5 << 16);
		put32(r, 8, 2);
		put32(r, 12, 1111);
		put32(r, 16, 2222);
		put32(r, 20, 3333);
		put64(r, 24, 6000);
		put64(r, 32, 6001);
		if (v->overhead >= 48)
			put32(r, 40, 445);
		if (v->overhead >= 56)
			put64(r, 48, (uintptr_t)malloc(24));    /* ours to free: the leak check sees it otherwise */
		cupti_fake_deliver();
		s = fake_row(ROW_sync, 0);
		o = fake_row(ROW_overhead, 0);
		if (!CHECK(s && o))
			continue;
		CHECK_EQ(s->type, 3);
		CHECK_EQ(s->duration, 4000);
		CHECK_EQ(s->corr, 444);
		CHECK_EQ(s->stream, 7);
		CHECK_EQ(s->event, 0xffffffff);
		CHECK_EQ(s->result, v->version >= 26 ? 600 : 0);
		CHECK_EQ(o->kind, 5 << 16);
		CHECK_EQ(o->object, 2222);
		CHECK_EQ(o->corr, v->version >= 20 ? 445 : 0);
	}
}

TEST(an_overhead_names_the_object_that_its_kind_says)
{
	static const uint32_t expected[] = { [1] = 101, [2] = 102, [3] = 101, [4] = 102, [5] = 103 };

	cupti_fake(130001);
	for (uint32_t kind = 1; kind <= 5; kind++) {
		uint8_t *r = cupti_fake_record(17, 56);

		put32(r, 8, kind);
		put32(r, 12, 101);
		put32(r, 16, 102);
		put32(r, 20, 103);
		put64(r, 24, 6000);
		put64(r, 32, 6001);
	}
	cupti_fake_deliver();
	for (uint32_t kind = 1; kind <= 5; kind++) {
		const struct overhead_row *o = fake_row(ROW_overhead, kind - 1);

		if (CHECK(o != NULL))
			CHECK_EQ(o->object, expected[kind]);
	}
}

TEST(devices_contexts_and_streams_become_definitions)
{
	static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	const struct context_row *c;
	const struct stream_row *s;
	const struct device_row *d;
	uint8_t *r;

	cupti_fake(130001);
	fake_order(0);                  /* kept although nothing is recorded */
	r = cupti_fake_record(8, 184);
	put64(r, 8, 936096000);
	put64(r, 16, 24ull << 30);
	put32(r, 28, 6291456);
	put32(r, 32, 32);
	put32(r, 36, 1695000);
	put32(r, 44, 84);
	put32(r, 52, 48);
	put32(r, 56, 16);
	put32(r, 60, 102400);
	put32(r, 64, 65536);
	put32(r, 72, 49152);
	put32(r, 76, 1024);
	put32(r, 104, 8);
	put32(r, 108, 6);
	put32(r, 112, 1);
	memcpy(r + 120, uuid, 16);
	put64(r, 136, (uintptr_t)strdup("Some GPU"));   /* ours to free from this size on */
	r = cupti_fake_record(9, 32);
	put32(r, 4, 1);
	put32(r, 8, 1);
	put16(r, 12, 1);
	put16(r, 14, 7);
	r = cupti_fake_record(37, 24);
	put32(r, 4, 1);
	put32(r, 8, 13);
	put32(r, 12, (uint32_t)-5);
	put32(r, 16, 2);
	cupti_fake_deliver();
	d = fake_row(ROW_device, 0);
	c = fake_row(ROW_context, 0);
	s = fake_row(ROW_stream, 0);
	if (!CHECK(d && c && s))
		return;
	CHECK_EQ(d->uuid_high, 0x0102030405060708);
	CHECK_EQ(d->uuid_low, 0x090a0b0c0d0e0f10);
	CHECK_EQ(d->memory, 24ull << 30);
	CHECK_EQ(d->bandwidth, 936096000);
	CHECK_EQ(d->id, 1);
	CHECK_STR(fake_string(d->name), "Some GPU");
	CHECK_EQ(d->sm_count, 84);
	CHECK_EQ(d->cc_major * 10 + d->cc_minor, 86);
	CHECK_EQ(d->clock_khz, 1695000);
	CHECK_EQ(d->l2_bytes, 6291456);
	CHECK_EQ(d->warp, 32);
	CHECK_EQ(d->max_threads_block, 1024);
	CHECK_EQ(d->max_warps_sm, 48);
	CHECK_EQ(d->max_blocks_sm, 16);
	CHECK_EQ(d->max_shared_sm, 102400);
	CHECK_EQ(d->max_registers_sm, 65536);
	CHECK_EQ(d->max_shared_block, 49152);
	CHECK_EQ(c->id, 1);
	CHECK_EQ(c->device, 1);
	CHECK_EQ(c->null_stream, 7);
	CHECK_EQ(c->api, 1);
	CHECK_EQ(s->id, 13);
	CHECK_EQ(s->context, 1);
	CHECK_EQ(s->priority, -5);
	CHECK_EQ(s->flags, 2);
}

TEST(a_device_name_of_an_older_cupti_is_not_ours_to_free)
{
	static const char name[] = "Some GPU";  /* free() of it would abort */
	uint8_t *r;

	cupti_fake(17);
	r = cupti_fake_record(8, 176);
	put64(r, 136, (uintptr_t)name);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_device), 1);
}

TEST(records_of_unknown_kinds_are_counted_and_the_others_read)
{
	cupti_fake(130001);
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_record(4242, 40);
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_record(5, 40);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 2);
	CHECK_EQ(health(HEALTH_record_unknown), 2);
}

TEST(a_record_shorter_than_its_version_says_is_not_read)
{
	cupti_fake(130001);
	cupti_fake_record(10, 144);
	cupti_fake_record(1, 8);
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_record(9, 8);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 1);
	CHECK_EQ(fake_count(ROW_memcpy) + fake_count(ROW_context), 0);
	CHECK_EQ(health(HEALTH_record_unknown), 3);
}

TEST(a_library_that_stands_still_is_not_followed)
{
	cupti_fake(130001);
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_state.stand_still = 1;
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 1);
	CHECK_EQ(health(HEALTH_record_unknown), 1);
}

TEST(a_rest_of_the_buffer_that_the_library_cannot_read_is_counted)
{
	static const struct { uint32_t n; int byte, unknown; } tails[] = {
		{ 1, 0xee, 0 }, { 7, 0xee, 0 },         /* shorter than a record */
		{ 8, 0, 0 }, { 12, 0, 0 }, { 216, 0, 0 },       /* zeroes are no record */
		{ 8, 0xee, 1 }, { 12, 0xee, 1 }, { 216, 0xee, 1 },
	};

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		cupti_fake(130001);
		put_kernel(216, 5000, 6000, "a");
		put_kernel(216, 6000, 7000, "b");
		cupti_fake_tail(tails[i].n, tails[i].byte);
		cupti_fake_deliver();
		CHECK_EQ(fake_count(ROW_kernel), 2);
		CHECK_EQ(health(HEALTH_record_unknown), tails[i].unknown);
	}
}

TEST(rows_without_times_are_kept_without_them_and_counted)
{
	static const uint64_t times[][2] = { { 0, 0 }, { 5000, 0 }, { 0, 6000 }, { 6000, 5000 } };

	cupti_fake(130001);
	for (size_t i = 0; i < 4; i++)
		put_kernel(216, times[i][0], times[i][1], "a");
	put_kernel(216, 5000, 5000, "a");
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 5);
	CHECK_EQ(health(HEALTH_zero_time), 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, i))->start, 0);
		CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, i))->duration, 0);
	}
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 4))->start, 5000);
}

static void put_call(uint32_t corr, uint64_t start, uint64_t end)
{
	put32(put_kernel(216, start, end, "a"), 92, corr);
}

TEST(what_no_call_of_the_recorded_time_began_is_left_out)
{
	cupti_fake(130001);
	fake_order_at(0, 900);
	windows_call(&stream_self, 10);
	fake_order_at(ORDER_ALL, 1000);
	windows_call(&stream_self, 20);
	fake_order_at(0, 8000);
	windows_call(&stream_self, 30);
	put_call(19, 2000, 3000);
	put_call(20, 500, 600);         /* by its call: the GPU's clock may be off */
	put_call(29, 9000, 9500);
	put_call(30, 2000, 3000);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 2);
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 0))->corr, 20);
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 1))->corr, 29);
}

TEST(what_no_call_is_known_of_is_kept_by_its_time)
{
	cupti_fake(130001);
	fake_order_at(0, 900);
	fake_order_at(ORDER_ALL, 1000);
	fake_order_at(0, 8000);
	put_call(0, 999, 2000);
	put_call(0, 1000, 2000);
	put_call(0, 7999, 9000);
	put_call(0, 8000, 9000);
	put_call(0, 0, 0);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 2);
	CHECK_EQ(health(HEALTH_zero_time), 0);
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 0))->start, 1000);
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 1))->start, 7999);
}

TEST(a_clock_that_was_set_back_loses_no_row_of_a_process_that_was_recorded_from_its_start)
{
	cupti_fake(130001);
	put_kernel(216, 500, 600, "early");
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 1);
}

TEST(what_cupti_dropped_is_counted)
{
	cupti_fake(130001);
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_state.dropped = 12;
	cupti_fake_deliver();
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_deliver();
	CHECK_EQ(health(HEALTH_cupti_dropped), 12);
}

TEST(a_name_and_a_configuration_are_described_once)
{
	static const char name[] = "_Z6kernelILi256EEvPf", same[] = "_Z6kernelILi256EEvPf";

	cupti_fake(130001);
	for (int i = 0; i < 1000; i++)
		put_kernel(216, 5000, 6000, i & 1 ? name : same);
	put32(put_kernel(216, 5000, 6000, name), 52, 77);
	put_kernel(216, 5000, 6000, NULL);
	cupti_fake_deliver();
	put_kernel(216, 5000, 6000, name);
	cupti_fake_deliver();
	CHECK_EQ(fake_count(ROW_kernel), 1003);
	CHECK_EQ(fake_count(ROW_string), 1);
	CHECK_EQ(fake_count(ROW_config), 2);
	CHECK_EQ(((const struct kernel_row *)fake_row(ROW_kernel, 1001))->name, 0);
}

TEST(rows_of_a_buffer_that_comes_inside_a_hook_are_counted_as_dropped)
{
	struct stream *s;

	cupti_fake(130001);
	s = stream_enter();
	put_kernel(216, 5000, 6000, "a");
	cupti_fake_record(38, 56);
	cupti_fake_deliver();
	stream_leave(s);
	CHECK_EQ(fake_count(ROW_kernel), 0);
	CHECK_EQ(guest->arena->drops[ROW_kernel].count, 1);
	CHECK_EQ(guest->arena->drops[ROW_sync].count, 1);
}

TEST(a_cupti_older_than_cuda_11_is_refused)
{
	struct cupti_layouts l;

	CHECK_EQ(cupti_layouts_choose(&l, 12), -1);
	CHECK_EQ(cupti_layouts_choose(&l, 0), -1);
	CHECK_EQ(cupti_layouts_choose(&l, 13), 0);
	CHECK_EQ(cupti_layouts_choose(&l, 139999), 0);
}
