#include "inject/cupti/cupti_graph.h"

#include "test/unit/inject/cupti_fake.h"
#include "test/unit/test.h"

/* A node is a number in the fake library; 0xbad has none. */
static int get_node_id(void *node, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)node << 32 | 5;
	return (uintptr_t)node == 0xbad ? 1 : RESULT_OK;
}

static void *node(uintptr_t n)
{
	return (void *)n;
}

static void tell(uint32_t cbid, uintptr_t n, uintptr_t original, int type)
{
	struct cupti_graph_data graph = { .node = node(n), .original_node = node(original), .node_type = type };
	struct cupti_resource_data d = { .descriptor = &graph };

	cupti_callback(NULL, DOMAIN_RESOURCE, cbid, &d);
}

static void begin(void)
{
	struct stream *s;

	cupti_fake(130001);
	tracer.fn.GetGraphNodeId = get_node_id;
	s = stream_enter();
	s->slot->stack[0].id = 4711;
	s->slot->depth = 1;
	stream_leave(s);
}

TEST(a_captured_node_keeps_its_range_thread_and_call)
{
	const struct graph_node_row *row;
	int64_t before, after;

	begin();
	stream_self.scratch = (uint64_t)42 << 32 | DOMAIN_RUNTIME << 16 | 1;
	before = clock_now();
	tell(RESOURCE_GRAPH_NODE_CREATED, 7, 0, 2);
	after = clock_now();
	stream_self.scratch = 0;
	row = fake_row(ROW_graph_node, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->node, 7ull << 32 | 5);
	CHECK_EQ(row->original, 0);
	CHECK_EQ(row->range, 4711);
	CHECK_EQ(row->thread, 1);
	CHECK_EQ(row->corr, 42);
	CHECK_EQ(row->type, 2);
	CHECK_EQ(row->step, -1);
	CHECK(row->start >= before && row->start <= after);
}

TEST(a_cloned_node_names_its_original_and_no_range)
{
	const struct graph_node_row *row;

	begin();
	tell(RESOURCE_GRAPH_NODE_CLONED, 9, 7, 0);
	row = fake_row(ROW_graph_node, 0);
	if (!CHECK(row != NULL))
		return;
	CHECK_EQ(row->node, 9ull << 32 | 5);
	CHECK_EQ(row->original, 7ull << 32 | 5);
	CHECK_EQ(row->range, 0);
	CHECK_EQ(row->corr, 0);
}

TEST(nodes_are_kept_before_recording_begins)
{
	begin();
	fake_order(0);
	tell(RESOURCE_GRAPH_NODE_CREATED, 7, 0, 0);
	CHECK_EQ(fake_count(ROW_graph_node), 1);
}

TEST(a_node_without_an_id_is_no_row)
{
	begin();
	tell(RESOURCE_GRAPH_NODE_CREATED, 0xbad, 0, 0);
	tell(RESOURCE_GRAPH_NODE_CREATED, 0, 0, 0);
	tell(RESOURCE_GRAPH_NODE_CLONED, 9, 0xbad, 0);
	tell(RESOURCE_GRAPH_NODE_CLONED, 9, 0, 0);
	CHECK_EQ(fake_count(ROW_graph_node), 0);
}

static void instantiate(int domain, uint32_t cbid, uint64_t flags)
{
	struct cupti_instantiate_params p = { .flags = flags };
	struct cupti_call_data d = { .params = &p };

	cupti_graph_instantiated(domain, cbid, &d);
}

TEST(graphs_that_kernels_may_launch_are_counted)
{
	uint64_t device = INSTANTIATE_DEVICE_LAUNCH | 8, host = 8;

	begin();
	instantiate(DOMAIN_RUNTIME, 418, host);
	instantiate(DOMAIN_RUNTIME, 437, (uint64_t)(uintptr_t)&host);
	instantiate(DOMAIN_DRIVER, 656, 0);
	CHECK_EQ(health(HEALTH_device_graphs), 0);
	instantiate(DOMAIN_RUNTIME, 443, device);
	instantiate(DOMAIN_RUNTIME, 436, (uint64_t)(uintptr_t)&device);
	instantiate(DOMAIN_DRIVER, 643, device);
	instantiate(DOMAIN_DRIVER, 657, (uint64_t)(uintptr_t)&device);
	CHECK_EQ(health(HEALTH_device_graphs), 4);
}

/* Runtime and driver calls that make a graph out of another. */
TEST(nodes_that_a_call_copies_are_told_by_their_clones_alone)
{
	static const struct {
		int domain;
		uint32_t cbid;
	} calls[] = { { DOMAIN_RUNTIME, 310 }, { DOMAIN_RUNTIME, 418 }, { DOMAIN_RUNTIME, 436 }, { DOMAIN_RUNTIME, 443 }, { DOMAIN_RUNTIME, 301 },
		      { DOMAIN_RUNTIME, 335 }, { DOMAIN_DRIVER, 513 }, { DOMAIN_DRIVER, 523 }, { DOMAIN_DRIVER, 578 }, { DOMAIN_DRIVER, 643 },
		      { DOMAIN_DRIVER, 656 }, { DOMAIN_DRIVER, 561 }, { DOMAIN_DRIVER, 696 } };

	for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls; i++) {
		bool closed = i % 2;
		uint64_t data = 0;
		int result = 0;
		struct cupti_call_data d = { .site = SITE_ENTER, .function = "f", .result = &result, .data = &data, .corr = 7 };
		int domain = calls[i / 2].domain;
		uint32_t cbid = calls[i / 2].cbid;

		begin();
		if (closed)
			fake_order(0);
		cupti_callback(NULL, domain, cbid, &d);
		if (domain == DOMAIN_RUNTIME)           /* which calls the driver */
			cupti_callback(NULL, DOMAIN_DRIVER, 643, &d);
		tell(RESOURCE_GRAPH_NODE_CREATED, 7, 0, 13);
		CHECK_EQ(fake_count(ROW_graph_node), 0);
		tell(RESOURCE_GRAPH_NODE_CLONED, 7, 5, 13);
		CHECK_EQ(fake_count(ROW_graph_node), 1);
		d.site = SITE_EXIT;
		if (domain == DOMAIN_RUNTIME)
			cupti_callback(NULL, DOMAIN_DRIVER, 643, &d);
		cupti_callback(NULL, domain, cbid, &d);
		CHECK_EQ(fake_count(ROW_api), closed ? 0 : 1);
		tell(RESOURCE_GRAPH_NODE_CREATED, 9, 0, 0);
		CHECK_EQ(fake_count(ROW_graph_node), 2);
	}
}
